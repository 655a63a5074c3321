// SPDX-License-Identifier: BSD-2-Clause
#include "pair_systems.hpp"

#include "interface.hpp"
#include "parallel.hpp"

namespace oclspkt {

template <typename T>
void PairSystems<T>::add(const PivotedRow<double>& first, const PivotedRow<double>& second, bool second_is_mine,
                         Index mine, Index theirs) {
  WaitingRow<double> left{first.diag, first.upper};
  PivotedRow<double> next = second;
  next.upper = 0;
  const PivotStep<double> pivot = take_pivot(left, next);
  pairs_.push_back({pivot.multiplier, pivot.upper, 1 / pivot.diag, 1 / left.diag, mine, theirs,
                    (pivot.swapped != 0) == second_is_mine, !second_is_mine});
}

template <typename T>
void PairSystems<T>::solve(const T* mine, const T* theirs, T* unknowns) const {
  constexpr Index kPiece = Index{1} << 15;  // some 100 microseconds
  for_pieces(size(), kPiece, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Pair& pair = pairs_[static_cast<std::size_t>(i)];
      const auto own = static_cast<double>(mine[pair.mine]), other = static_cast<double>(theirs[pair.theirs]);
      const double f = pair.pivot_is_mine ? own : other, g = pair.pivot_is_mine ? other : own;
      const double second = (g - coupled(pair.multiplier, f)) * pair.second;
      const double first = (f - coupled(pair.upper, second)) * pair.first;
      unknowns[pair.mine] = static_cast<T>(pair.wants_first ? first : second);
    }
  });
}

template class PairSystems<float>;
template class PairSystems<double>;

}  // namespace oclspkt
