// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "cut_parts.hpp"
#include "oclspkt/bands.hpp"
#include "oclspkt/cuts.hpp"
#include "oclspkt/error.hpp"
#include "pivoted_lines.hpp"

namespace oclspkt {

/// A line of this process that continues on other processes.
struct CutLine {
  Index line = 0;    ///< index into the line set of this process
  Index number = 0;  ///< number among the lines of all processes, see Cuts::number
  int chain = 0;     ///< index into CutLines::chains
  int place = 0;     ///< position of this process in the chain
  int root = 0;      ///< position in the chain of the process that solves the line's interface system
  Index slot = -1;   ///< index of this process's part in CutParts
};

/// The cut lines of one process, in an order that is the same on all processes of a chain.
struct CutLines {
  std::vector<std::vector<int>> chains;  ///< the distinct entries of Cuts::chains, sorted
  std::vector<CutLine> lines;

  Index count() const { return static_cast<Index>(lines.size()); }
  const CutLine& operator[](Index c) const { return lines[static_cast<std::size_t>(c)]; }
  const std::vector<int>& chain(Index c) const { return chains[static_cast<std::size_t>((*this)[c].chain)]; }
  int parts(Index c) const { return static_cast<int>(chain(c).size()); }
  bool above(Index c) const { return (*this)[c].place > 0; }
  bool below(Index c) const { return (*this)[c].place + 1 < parts(c); }
  bool rooted(Index c) const { return (*this)[c].place == (*this)[c].root; }
};

/// Find the cut lines of this process. @throws InvalidInput naming the entry of `cuts` that does not fit
CutLines find_cut_lines(const LineSet& lines, const Cuts& cuts, int rank, int size);

/// The values that this process sends and receives, and their places in messages. Each process gets one message.
struct Route {
  struct Item {
    Index line = 0;   ///< index into CutLines
    int place = 0;    ///< position of the other process in its chain
    Index count = 0;  ///< number of scalars
    Index at = 0;     ///< offset of the first scalar in the buffer of all messages
  };
  std::vector<Item> out, in;
  std::vector<Exchange::Leg> out_legs, in_legs;
  Index out_count = 0, in_count = 0;

  /// The route from the receivers back to the senders.
  Route back() const { return {in, out, in_legs, out_legs, in_count, out_count}; }
};

/// The number of scalars that the part at `place` of cut line c sends. Parts that send 0 are not in the route.
using CountOf = std::function<Index(Index c, int place)>;

/// The route from every part to the process that solves the interface system of the part's line.
Route route_to_roots(const CutLines& cut, const CountOf& count);

/// The route across every cut, in both directions. @param count  scalars that a part sends across one cut
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

/// Errors in a collective call. All processes learn the error of one process before they communicate again.
class Accord {
 public:
  explicit Accord(Exchange& exchange) : exchange_(exchange) {}

  /// Call f unless an earlier call threw; agree() reports the exception.
  template <typename F>
  void attempt(const F& f) {
    if (own_) return;
    try {
      f();
    } catch (...) {
      own_ = std::current_exception();
    }
  }
  /// Collective: replace each value by the largest over all processes.
  /// @throws the exception of attempt() on the process that failed; on other processes InvalidInput, NotFinite or
  ///         Breakdown with the number of the failed process and its text
  void agree(std::vector<double>& values);
  void agree() {
    std::vector<double> none;
    agree(none);
  }

 private:
  [[noreturn]] void tell(int process);

  Exchange& exchange_;
  std::exception_ptr own_;
};

/// Reasons to gather a line, in the order of text(). If parts of a line have different reasons, the largest counts.
enum class Gathering { none, singular_part, refused_part, small_pivot, large_spike, extreme, trial, asked, zero_sums };
const char* text(Gathering why);

/// The facts about a part of a line. At each set-up, the process of the part sends them to the root of the line.
template <typename T>
struct PartFacts {
  ReducedPart<T> reduced;
  Index rows = 0;
  Gathering why = Gathering::none;
  double smallest_row = 0, largest_row = 0;  ///< least and largest magnitude of a row, as in Survey
  double spike_size = 0;
  double rounding = 0;     ///< rounding bound from rounding_of_part()
  double units_range = 0;  ///< range of ColumnUnits; 0: all rows are dominant and need no units
  bool zero_sums = false;  ///< result of sums_are_zero(); if true for all parts, the line is singular
};

/// The decision that the root of a line sends to its parts.
template <typename T>
struct LineVerdict {
  Gathering why = Gathering::none;
  bool one_row = false;                   ///< an inner part has one row, so the root must solve all cuts together
  ReducedPart<T> above_part, below_part;  ///< facts of the neighbours for the 2x2 systems at the cuts
};

/// The equations of a line in the unknowns next to its cuts.
template <typename T>
std::vector<PivotedRow<Doubled<T>>> reduced_rows(const std::vector<PartFacts<T>>& parts);
template <typename T>
bool has_one_row(const std::vector<PartFacts<T>>& parts);
/// Bound on max |x_computed - x| / max |x| of a line whose parts drop the couplings tb and bt of ReducedPart, without
/// rounding. The dropped terms are these couplings times the exact x. The error of a 2x2 system is at most its inverse
/// times these terms. The error of inner rows is their spikes times the error of the system.
///
/// If units of columns differ within parts, the dropped terms are weighted by the ranges of the units. If a unit jumps
/// at a cut, the row beside the cut is assumed to be dominant in its units. Then the coefficient of its own unknown
/// bounds the coupling across the cut.
/// @return NaN or Inf if there is no bound
template <typename T>
double truncation_bound(const std::vector<PartFacts<T>>& parts);

/// Values from the rows just beyond the cuts, each of shape [cut lines]; 0 if the line has no cut on that side.
template <typename T>
struct Beyond {
  std::vector<T> above, below;
};

/// Totals of the lines that are rooted on one process.
struct RootedLines {
  double bound = 0;       ///< largest truncation_bound() of the lines that are not gathered
  double rounding = 0;    ///< largest rounding bound of a part of these lines
  bool symmetric = true;  ///< the couplings across each cut are equal
};

/// The cut lines of one process: the parts that it holds, and the decisions of each line's root.
template <typename T>
struct CutSet {
  LineSet lines;  ///< all lines, cut or not
  std::shared_ptr<Exchange> exchange;
  CutLines cut;
  CutParts<T> parts;
  std::vector<Gathering> why;                    ///< shape [cut lines]
  std::vector<LineVerdict<T>> verdicts;          ///< shape [cut lines]
  std::vector<std::vector<PartFacts<T>>> facts;  ///< shape [cut lines][parts]; empty if the line is not rooted here
  bool truncated = false;                        ///< the couplings tb and bt of parts are dropped

  bool gathered(Index c) const { return why[static_cast<std::size_t>(c)] != Gathering::none; }
  /// The index of each line among the cut lines; -1 for lines that are not cut. Shape [lines.count()]
  std::vector<Index> cut_of_lines() const;
  /// True if the processes beside each cut of line c solve the cut; false if the root of the line solves all cuts.
  bool solved_at_cuts(Index c) const {
    return truncated && !gathered(c) && !verdicts[static_cast<std::size_t>(c)].one_row;
  }
  Index slot_at(Index c) const { return cut[c].slot; }
  /// Places of a part's top and bottom row in the arrays of `parts`.
  Index top_of(Index c) const { return slot_at(c); }
  Index bottom_of(Index c) const { return parts.slots() + slot_at(c); }
  const PartSlot& slot(Index c) const { return parts.slot(slot_at(c)); }
  /// Rows of the part at `place` of line c. @pre the part is on this process, or the line is rooted here
  Index rows(Index c, int place) const;
  /// Rows of the whole line c. @pre the line is rooted here
  Index rows(Index c) const;

  void divide();
  /// Collective: send facts of parts to the roots of their lines, and receive the facts of the lines rooted here.
  /// @param own shape [cut lines]; facts of the parts of this process
  void tell_roots(const std::vector<PartFacts<T>>& own);
  RootedLines judge_rooted();
  /// Collective: send the decision of each line's root to all parts of the line.
  void tell_parts();
  /// Collective: send a value of the top and bottom row of each part to its neighbours, and receive their values.
  /// @param across a channel opened for one value from each side of each cut
  /// @param top, bottom shape [extent]; arrays in the layout of vectors
  Beyond<T> look_across(Wire<T>& across, const T* top, const T* bottom) const;
};

}  // namespace oclspkt
