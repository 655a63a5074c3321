// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "pivoted_lines.hpp"

namespace oclspkt {

/// The systems of two equations at cuts, each between an unknown of this process and one of a neighbour. Both sides
/// solve a system by the same operations, so that they get the same unknowns to the bit.
template <typename T>
class PairSystems {
 public:
  void clear() { pairs_.clear(); }
  /// Factor one more system, see take_pivot().
  /// @param first, second    lower of `first` and upper of `second` are not read
  /// @param second_is_mine   this process has the right-hand side of `second`, and wants its unknown; else of `first`
  /// @param mine, theirs     places of the right-hand sides, as solve() takes them
  void add(const PivotedRow<double>& first, const PivotedRow<double>& second, bool second_is_mine, Index mine,
           Index theirs);
  Index size() const { return static_cast<Index>(pairs_.size()); }
  /// Solve all systems, in double. NaN stays in its system, and on its side of a coupling of 0.
  /// @param[in]  mine, theirs  right-hand sides
  /// @param[out] unknowns      of this process, in the places of its right-hand sides; may not overlap them
  /// @cost 4 multiplications and 2 subtractions a system, by all processors of this process
  void solve(const T* mine, const T* theirs, T* unknowns) const;
  std::int64_t bytes() const { return static_cast<std::int64_t>(pairs_.capacity() * sizeof(Pair)); }

 private:
  struct Pair {
    double multiplier, upper;  ///< of the pivot row
    double first, second;      ///< reciprocal pivots
    Index mine, theirs;
    bool pivot_is_mine;  ///< the right-hand side of the pivot row
    bool wants_first;
  };
  std::vector<Pair> pairs_;
};

}  // namespace oclspkt
