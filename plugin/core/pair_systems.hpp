// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "interface.hpp"
#include "parallel.hpp"
#include "pivoted_lines.hpp"

namespace oclspkt {

/// The systems of two equations at cuts, each in an unknown of this process and an unknown of a neighbour. Both
/// processes solve a system by the same operations, and get the same bits.
template <typename T>
class PairSystems {
  using Number = Doubled<T>;

 public:
  void clear() { pairs_.clear(); }
  /// Add a system and factor it, see take_pivot().
  /// @param first, second    lower of `first` and upper of `second` are not read
  /// @param second_is_mine   true: `second` is the equation of this process; false: `first` is
  /// @param mine, theirs     places of the right-hand sides in the arrays of solve()
  void add(const PivotedRow<Number>& first, const PivotedRow<Number>& second, bool second_is_mine, Index mine,
           Index theirs);
  Index size() const { return static_cast<Index>(pairs_.size()); }
  /// Solve all systems, in double. A NaN does not spread to other systems, nor across a coupling of 0.
  /// @param[in]  mine, theirs  right-hand sides of this process and of its neighbours
  /// @param[out] unknowns      unknowns of this process, in the places of `mine`; must not overlap it
  /// @cost 4 multiplications and 2 subtractions a system, by all processors of this process
  void solve(const T* mine, const T* theirs, T* unknowns) const;
  std::int64_t bytes() const { return static_cast<std::int64_t>(pairs_.capacity() * sizeof(Pair)); }

 private:
  struct Pair {
    Number multiplier, upper;  ///< multiplier and coupling of the pivot row
    Number first, second;      ///< reciprocals of the first and the second pivot
    Index mine, theirs;
    bool pivot_is_mine;  ///< the pivot row is the equation of this process
    bool wants_first;
  };
  std::vector<Pair> pairs_;
};

template <typename T>
void PairSystems<T>::add(const PivotedRow<Number>& first, const PivotedRow<Number>& second, bool second_is_mine,
                         Index mine, Index theirs) {
  WaitingRow<Number> left{first.diag, first.upper};
  PivotedRow<Number> next = second;
  next.upper = 0;
  const PivotStep<Number> pivot = take_pivot(left, next);
  pairs_.push_back({pivot.multiplier, pivot.upper, reciprocal_of(pivot.diag), reciprocal_of(left.diag), mine, theirs,
                    (pivot.swapped != 0) == second_is_mine, !second_is_mine});
}

template <typename T>
void PairSystems<T>::solve(const T* mine, const T* theirs, T* unknowns) const {
  constexpr Index kPiece = Index{1} << 15;  // a piece takes some 100 microseconds
  for_pieces(size(), kPiece, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Pair& pair = pairs_[static_cast<std::size_t>(i)];
      const Number own = widened<double>(mine[pair.mine]), other = widened<double>(theirs[pair.theirs]);
      const Number f = pair.pivot_is_mine ? own : other, g = pair.pivot_is_mine ? other : own;
      const Number second = (g - coupled(pair.multiplier, f)) * pair.second;
      const Number first = (f - coupled(pair.upper, second)) * pair.first;
      unknowns[pair.mine] = static_cast<T>(pair.wants_first ? first : second);
    }
  });
}

}  // namespace oclspkt
