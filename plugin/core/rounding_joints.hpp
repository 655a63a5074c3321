// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "rounding.hpp"

namespace oclspkt {

/// Bounds of truncated-streamed by lanes and stored factors, in which each partition is swept down twice, from 0 and
/// from what enters it.
///
/// The sweeps arrive at different roundings of what goes on to the next partition. With V_j the product of |a p| from
/// row j + 1 to the partition's end, D_j = |u_j| + |c_j|, N_j the product of |a p| from the first row to j times D of
/// the row above the partition, and u = eps / 2, they differ by u S max |x| at most, S = sum V_j (2 D_j + N_j) + (m +
/// 2) N_end.
struct JointRounding {
  Rounding plain;  ///< each joint keeps its difference
  /// The differences are passed down, e_(k+1) = S_k + P_k e_k, and taken off every row, so that of them only their own
  /// rounding is left; upwards, what enters a partition is taken off instead of being swept.
  Rounding corrected;
};

/// @param plan  truncated_streamed by lanes; its bands as laid end to end
/// @pre couplings between lines are 0
/// @cost one division and some 25 operations a row, by all processors
template <typename T>
JointRounding bound_stored_joints(const Plan& plan, const BandsView<T>& bands);

/// The same where what enters a partition is taken off every row and nothing is swept twice: exact-factored swept from
/// both ends, and exact-twopass, whose pieces also find their first pivots apart.
/// @param plan  twisted()
template <typename T>
Rounding bound_taken_off(const Plan& plan, const BandsView<T>& bands);

/// Exact-twopass by partitions: of its first row a partition takes off one row after the other, each with a rounding of
/// the row as it then is, or with what is taken off if that is less.
/// Rows without dominance may outgrow each other as the border equations are eliminated, which is followed, too.
/// @param plan       by_partitions()
/// @param dominance  the least of all rows
/// @cost two divisions and some 40 operations a row, twice without dominance; by all processors
template <typename T>
Rounding bound_twopass(const Plan& plan, const BandsView<T>& bands, double dominance);

/// JointRounding::plain as far as the survey shows it.
double rounding_of_joints(const Survey& survey, Index m);

}  // namespace oclspkt
