// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "oclspkt/bands.hpp"
#include "oclspkt/cuts.hpp"
#include "oclspkt/error.hpp"

namespace oclspkt {

/// A line of this process that is continued on others.
struct CutLine {
  Index line = 0;    ///< its place in the set
  Index number = 0;  ///< in all processes together, see Cuts::number
  int chain = 0;     ///< index into CutLines::chains
  int place = 0;     ///< of this process in the chain
  int root = 0;      ///< place of the process that solves the interface system of the line
};

/// The cut lines of one process, in an order that is the same on all processes of a chain.
struct CutLines {
  std::vector<std::vector<int>> chains;  ///< sorted, each once
  std::vector<CutLine> lines;

  Index count() const { return static_cast<Index>(lines.size()); }
  const CutLine& operator[](Index c) const { return lines[static_cast<std::size_t>(c)]; }
  const std::vector<int>& chain(Index c) const { return chains[static_cast<std::size_t>((*this)[c].chain)]; }
  int parts(Index c) const { return static_cast<int>(chain(c).size()); }
  bool above(Index c) const { return (*this)[c].place > 0; }
  bool below(Index c) const { return (*this)[c].place + 1 < parts(c); }
  bool rooted(Index c) const { return (*this)[c].place == (*this)[c].root; }
};

/// Find the cut lines of this process. @throws InvalidInput that names the number that does not fit
CutLines find_cut_lines(const LineSet& lines, const Cuts& cuts, int rank, int size);

/// The numbers that this process sends and receives, in one message for each other process, and their places.
struct Route {
  struct Item {
    Index line = 0;   ///< index into CutLines
    int place = 0;    ///< of the other process in its chain
    Index count = 0;  ///< scalars
    Index at = 0;     ///< place of the first in the buffer of all messages
  };
  std::vector<Item> out, in;
  std::vector<Exchange::Leg> out_legs, in_legs;
  Index out_count = 0, in_count = 0;

  /// The route of these numbers in the other direction.
  Route back() const { return {in, out, in_legs, out_legs, in_count, out_count}; }
};

/// How many scalars the part at `place` of cut line c sends; lines with 0 are left out.
using CountOf = std::function<Index(Index c, int place)>;

/// The route from every part to the process that solves its interface system.
Route route_to_roots(const CutLines& cut, const CountOf& count);

/// The route across every cut, both ways. @param count  of the scalars that the part at `place` sends across one cut
Route route_across(const CutLines& cut, const CountOf& count);

/// A channel with its buffers.
template <typename S>
struct Wire {
  Route route;
  std::unique_ptr<Exchange::Channel> channel;
  AlignedArray<S> out, in;

  void open(Exchange& exchange, Route r) {
    route = std::move(r);
    out.resize(route.out_count);
    in.resize(route.in_count);
    channel = exchange.open(route.out_legs, route.in_legs, sizeof(S));
  }
  void start() { channel->start(out.data(), in.data()); }
  void finish() { channel->finish(); }
  void talk() {
    start();
    finish();
  }
  std::int64_t bytes() const { return out.bytes() + in.bytes(); }
};

}  // namespace oclspkt
