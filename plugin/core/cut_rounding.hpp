// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace oclspkt {

/// What is known of a part of a line when its rounding is bounded; see CutParts.
struct CutPartErrors {
  double inner = 0;        ///< bound of the solve of the inner rows, in eps; see Rounding
  double spike_size = 0;   ///< S, the largest |p_i| + |q_i|
  double spike_error = 0;  ///< largest residual of a row of both spikes against |A_i|, in eps
};

/// The bound on what rounding leaves in a row of a part, in the measure of Rounding, max |x| over the whole line.
///
/// x = z - p x_t - q x_b, so no |z_i| of inner rows is above (1 + S) max |x|. What the uncoupled rows next to the cuts
/// hold changes no bit of them. With u = eps / 2, an inner row keeps
///   - what the solve leaves, `inner` times (1 + S),
///   - `spike_error`, times unknowns of max |x| at most,
///   - |A_i| times what the two corrections round in an unknown, u (|p x_t| + |z - p x_t| + |q x_b| + |x|), which is
///     2 u (1 + S) max |x| at most.
/// A row t next to a cut, with coupling c to the inner rows, keeps nothing of these: its equation is made of the very z
/// and p. With rows of dominance 1, where S <= 1, 2 |c| <= |A_t| and the equations between parts are as dominant,
///   - its right-hand side y - c z rounds by u (|c z| + |y - c z|), 2 u |A_t| max |x| at most,
///   - what the spikes add to it by u (|b_t| + 2 |c| S), 1.5 u |A_t| at most,
///   - the correction of the inner row beside it by 2 u (1 + S) |c|, 2 u |A_t| at most,
///   - elimination of a tridiagonal system by 4 u |L| |U|, 12 u |A_t| at most (Higham 2002, theorems 9.13 and 9.14;
///     where rows are swapped, no entry of |L| |U| is above 4.5 times the row's largest number); pairs by reciprocal
///     pivots (PairSystems) by 10 u |A_t|.
/// That is 8.75 eps. Without dominance entries of that system are up to 1 + S times the row's largest number, with
/// swaps no entry of |L| |U| is above 8 times that, and the sum is 19 (1 + S) eps.
/// @param dominance  least of all rows of the lines that are cut
/// @return in eps; NaN or Inf: nothing is known
double rounding_of_part(const CutPartErrors& errors, double dominance);

/// What the solve of the inner rows may round, in eps, so that rounding_of_part() stays within kRoundingLimit for
/// spikes as large as this dominance allows: 1 / dominance. Without dominance, for spikes of 3.
double inner_rounding_limit(double dominance);

}  // namespace oclspkt
