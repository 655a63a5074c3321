// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "cut_set.hpp"
#include "gathered_lines.hpp"
#include "pair_systems.hpp"
#include "pivoted_lines.hpp"

namespace oclspkt {

/// Copies numbers from places of one array to places of another, which are the same in every apply.
class Moves {
 public:
  void clear() { moves_.clear(); }
  void add(Index from, Index to) { moves_.push_back({from, to}); }
  template <typename From, typename To>
  void run(const From* from, To* to) const {
    for (const Move& move : moves_) to[move.to] = static_cast<To>(from[move.from]);
  }
  /// Copy in the other direction.
  template <typename To, typename From>
  void run_back(const To* to, From* from) const {
    for (const Move& move : moves_) from[move.from] = static_cast<From>(to[move.to]);
  }
  std::int64_t bytes() const { return static_cast<std::int64_t>(moves_.capacity() * sizeof(Move)); }

 private:
  struct Move {
    Index from, to;
  };
  std::vector<Move> moves_;
};

/// The interface systems of cut lines: the numbers that each apply exchanges with other processes, and the small
/// systems that it solves. Set-up finds the place of each number: an apply looks at no line.
template <typename T>
class CutInterface {
 public:
  CutInterface(CutSet<T>& set, GatheredLines<T>& gathered) : set_(set), gathered_(gathered) {}

  /// Collective: open the channels of an apply and factor the systems that this process solves.
  /// @pre the set is judged and its gathered lines are factored
  void wire();
  /// Collective: send the right-hand sides out, get the unknowns back, and correct the inner rows.
  /// @param y null if this process could not solve: it sends NaN, and x is not touched
  /// @return false if an unknown next to a cut of this process is not finite
  bool solve(const T* y, T* x);
  /// Collective: exchange for vectors on a device: only the right-hand sides in the set's parts go out, and the
  /// unknowns next to the cuts come back into the parts.
  /// @pre no line of this process is gathered
  void exchange() { exchange(nullptr); }

  /// Scalars that this process sends and receives in an apply.
  Index sent() const { return across_.route.out_count + up_.route.out_count + back_.route.out_count; }
  Index received() const { return across_.route.in_count + up_.route.in_count + back_.route.in_count; }
  std::int64_t bytes() const;

 private:
  /// All rows of a part of a gathered line.
  struct GatheredPart {
    Index line = 0;  ///< index into the cut lines
    Index at = 0;    ///< place of the first row in a message
    Index here = 0;  ///< likewise in the right-hand sides and solutions of gathered lines
    Index rows = 0;
  };

  void wire_rooted();
  void wire_line(Index c, std::vector<Index>& part_at, Index& gathered_rows);
  void wire_told();
  void wire_cuts();
  void exchange(const T* y);
  void copy_rows(const GatheredPart& part, const T* y, T* to) const;
  void send_gathered(const T* y);
  void take_gathered(const T* y);
  void write_gathered(T* x);
  Index unknowns_of(Index c, int place) const;
  Index told(Index c, int place) const;

  CutSet<T>& set_;
  GatheredLines<T>& gathered_;
  PairSystems<T> pairs_;                         ///< at cuts
  PivotedLines<double> systems_;                 ///< of lines that are rooted here
  AlignedArray<double> unknowns_;                ///< of these systems; their right-hand sides before
  Moves to_cuts_;                                ///< from CutParts::g() into a message
  Moves to_roots_;                               ///< likewise; back from a message into CutParts::unknowns()
  Moves own_, told_;                             ///< from CutParts::g(), from a message into unknowns_; and back
  std::vector<GatheredPart> sent_, kept_, got_;  ///< to other processes, from here, from others
  Wire<T> across_, up_, back_;
};

}  // namespace oclspkt
