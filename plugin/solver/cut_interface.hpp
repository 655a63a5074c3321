// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "cut_set.hpp"
#include "gathered_lines.hpp"
#include "pivoted_lines.hpp"

namespace oclspkt {

/// The interface systems of cut lines: what each apply exchanges with other processes, and the small systems it solves.
template <typename T>
class CutInterface {
 public:
  CutInterface(CutSet<T>& set, GatheredLines<T>& gathered) : set_(set), gathered_(gathered) {}

  /// Collective: open the channels of an apply and factor the systems that this process solves.
  /// @pre the set is judged and its gathered lines are factored
  void wire();
  /// Collective: send the right-hand sides out, get the unknowns back, and correct the inner rows.
  /// @param y null if this process has nothing to say: NaN goes out, and x is not touched
  void solve(const T* y, T* x);
  /// Collective: the same for vectors that are not here: only what the parts of the set know goes out, and the unknowns
  /// next to the cuts come back to them.
  /// @pre no line of this process is gathered
  void exchange() { exchange(true, nullptr); }

  /// Scalars that this process sends and receives in an apply.
  Index sent() const { return across_.route.out_count + up_.route.out_count + back_.route.out_count; }
  Index received() const { return across_.route.in_count + up_.route.in_count + back_.route.in_count; }
  std::int64_t bytes() const;

 private:
  /// Where the numbers of a part belong.
  struct Place {
    Index top = -1, bottom = -1;  ///< in unknowns_; -1: the other process solves it
    Index rows = -1;              ///< in the right-hand sides of gathered lines; -1: not gathered here
  };

  void wire_rooted();
  void wire_cuts();
  void exchange(bool speaks, const T* y);
  void pack(bool speaks, const T* y);
  void solve_here(bool speaks, const T* y);
  void take_unknowns();
  void write_gathered(T* x);
  Index unknowns_of(Index c, int place) const;
  Index told(Index c, int place) const;

  CutSet<T>& set_;
  GatheredLines<T>& gathered_;
  std::vector<Place> place_;              ///< shape [cut lines]
  std::vector<Index> across_at_, up_at_;  ///< of each incoming item, in unknowns_ or in the gathered lines
  PivotedLines<double> systems_;
  AlignedArray<double> unknowns_;
  Wire<T> across_, up_, back_;
};

}  // namespace oclspkt
