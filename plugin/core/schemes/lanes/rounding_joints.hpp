// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "rounding.hpp"

namespace oclspkt {

/// Bounds of truncated-streamed by lanes and stored factors, in which each partition is swept down twice, from 0 and
/// from the value that enters it.
///
/// The two sweeps round the value that enters the next partition differently. Let V_j be the product of |a p| from row
/// j + 1 to the partition's end, D_j = |u_j| + |c_j|, N_j the product of |a p| from the first row to j times D of the
/// row above the partition, and u = eps / 2. They differ by u S max |x| at most, where S is
/// sum V_j (2 D_j + N_j) + (m + 2) N_end.
struct JointRounding {
  Rounding plain;  ///< each joint keeps its difference
  /// The differences are passed down, e_(k+1) = S_k + P_k e_k, and subtracted from every row, so that only their own
  /// rounding remains. Upwards, the influence of the unknown below is subtracted instead of being swept.
  Rounding corrected;
};

/// @param plan  truncated_streamed by lanes; its bands as laid end to end
/// @pre couplings between lines are 0
/// @cost one division and some 25 operations a row, by all processors
template <typename T>
JointRounding bound_stored_joints(const Plan& plan, const BandsView<T>& bands);

/// The rounding bound if the influence of entering values is subtracted from every row and no row is swept twice:
/// exact-factored from both ends, and exact-twopass, whose pieces also find their first pivots separately.
/// @param plan  of Sides
template <typename T>
Rounding bound_taken_off(const Plan& plan, const BandsView<T>& bands);

/// The rounding bound of exact-twopass by partitions. A partition subtracts one row after the other from its first row;
/// each subtraction rounds by the size of the result, or of the subtracted number if that is less. Without dominance,
/// rows may grow as the border equations are eliminated; the bound contains this growth.
/// @param plan       of Method::exact_twopass
/// @param dominance  the least of all rows
/// @cost two divisions and some 40 operations a row, twice without dominance; by all processors
template <typename T>
Rounding bound_twopass(const Plan& plan, const BandsView<T>& bands, double dominance);

/// JointRounding::plain from the survey alone.
double rounding_of_joints(const Survey& survey, Index m);

}  // namespace oclspkt
