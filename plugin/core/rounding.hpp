// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cmath>
#include <limits>

#include "oclspkt/bands.hpp"
#include "oclspkt/report.hpp"
#include "pivot_error.hpp"
#include "plan.hpp"
#include "survey.hpp"

namespace oclspkt {

/// A bound, known before the first solve, on the residual that rounding leaves in a row: the largest
/// |r_i| / (|A_i| max |x| + |y_i|) with r = y - A x, |A_i| the sum of the absolute values of row i, and max |x| over
/// the line. Scaling a row does not change it.
struct Rounding {
  double eps = 0;  ///< the bound, in units of eps of the scalar; NaN or Inf: nothing is known
  Index row = -1;  ///< the row that gives it, an offset in the vector; -1: the survey gives it, or all rows do
};

/// The larger of two bounds; NaN stays.
inline double larger(double worst, double other) { return other <= worst || std::isnan(worst) ? worst : other; }

/// The largest error of some rows, in u.
struct WorstRow {
  double error = 0;
  Index row = -1;
  /// NaN stays.
  void see(double other, Index at) {
    if (other <= error || std::isnan(error)) return;
    error = other;
    row = at;
  }
  void see(const WorstRow& other) { see(other.error, other.row); }
  Rounding bound() const { return {error / 2, row}; }
};

/// The dominance by rows from which the survey alone suffices: rounding_by_dominance() is below the limit.
inline constexpr double kSurveyedDominance = 1.05;

/// The rounding bound if each row is eliminated and substituted once, with stored factors or without.
///
/// With u = eps / 2, pivots u_i, multipliers l_i, x_i = (d_i - c_i x_(i+1)) / u_i and d_i = y_i - l_i d_(i-1), |d_i| is
/// at most (|u_i| + |c_i|) max |x|. A row collects u |d_i|, twice u |u_i x_i|, and u |d_i| from the division. To these
/// come the same errors of the row above, times l_i, and the rounding of l_i, 1 / u_i and c_i / u_i. The sum is at most
/// u (8 |u_i| + 3 |c_i| + 3 |a_i| + 6 |l_i c_(i-1)|) max |x|.
/// @param growth  the largest (|l_i c_(i-1)| + |u_i|) / |b_i|; 3 at most for rows of dominance 1
/// @return in eps
inline double rounding_by_growth(double growth) { return 4 * growth; }

/// The rounding bound if segments are swept separately and meet at joints. An unknown at a joint errs by at most
/// d / (d - 1) times the errors that rows collect: the inverse of a matrix of dominance d, times its diagonal, has rows
/// of absolute sum d / (d - 1).
/// @return in eps; infinite for d <= 1
double rounding_by_dominance(double d);

/// The largest meaningful bound, in eps. Bounds follow rounding to first order, with the factors of exact arithmetic;
/// far above this limit, the computed factors are different ones.
inline constexpr double kLargestRounding = 1e3;

/// `bound`, or infinity (nothing is known) if it is above kLargestRounding.
inline Rounding of_first_order(const Rounding& bound) {
  return bound.eps <= kLargestRounding ? bound : Rounding{std::numeric_limits<double>::infinity(), bound.row};
}

/// The bound of any plan but that of pivoting, which has a bound only after its factors. Infinite if !knows_pivots().
template <typename T>
Rounding bound_rounding(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey);

/// The errors from which the rounding bound of a part of a line is made; see CutParts.
struct CutPartErrors {
  double inner = 0;        ///< bound of the solve of the inner rows, in eps; see Rounding
  double spike_size = 0;   ///< S, the largest |p_i| + |q_i|
  double spike_error = 0;  ///< largest residual of both spikes in a row, relative to |A_i|, in eps
};

/// The rounding bound of a row of a part, in the measure of Rounding, with max |x| over the whole line.
///
/// x = z - p x_t - q x_b, so no |z_i| of inner rows is above (1 + S) max |x|. The values in the uncoupled rows next to
/// the cuts change no bit of z. With u = eps / 2, the residual of an inner row is the sum of
///   - the error of the solve, `inner` times (1 + S),
///   - `spike_error`, times unknowns of max |x| at most,
///   - |A_i| times the rounding of the two corrections, u (|p x_t| + |z - p x_t| + |q x_b| + |x|), which is
///     2 u (1 + S) max |x| at most.
/// A row t next to a cut, with coupling c to the inner rows, has none of these errors: its equation is made of the same
/// z and p. With rows of dominance 1, S <= 1, 2 |c| <= |A_t|, and the equations between parts are as dominant. Then
///   - the right-hand side y - c z rounds by u (|c z| + |y - c z|), 2 u |A_t| max |x| at most,
///   - the terms that the spikes add to the row round by u (|b_t| + 2 |c| S), 1.5 u |A_t| at most,
///   - the correction of the inner row beside it rounds by 2 u (1 + S) |c|, 2 u |A_t| at most,
///   - elimination of a tridiagonal system rounds by 4 u |L| |U|, 12 u |A_t| at most (Higham 2002, theorems 9.13 and
///     9.14; where rows are swapped, no entry of |L| |U| is above 4.5 times the row's largest number); elimination of
///     pairs by reciprocal pivots (PairSystems) rounds by 10 u |A_t|.
/// That is 8.75 eps. Without dominance, entries of that system are up to 1 + S times the row's largest number. With
/// swaps, no entry of |L| |U| is above 8 times that, and the sum is 19 (1 + S) eps.
/// @param dominance  least of all rows of the lines that are cut
/// @return in eps; NaN or Inf: nothing is known
inline double rounding_of_part(const CutPartErrors& errors, double dominance) {
  constexpr double kDominant = 9, kOther = 20;  // of rows next to cuts
  const double inner = (errors.inner + 1) * (1 + errors.spike_size) + errors.spike_error;
  const double beside = dominance >= 1 ? kDominant : kOther * (1 + errors.spike_size);
  return inner <= beside ? beside : inner;  // NaN stays
}

/// The largest rounding bound of the solve of the inner rows, in eps, that keeps rounding_of_part() within
/// kRoundingLimit for spikes as large as this dominance allows: 1 / dominance. Without dominance, for spikes of 3.
inline double inner_rounding_limit(double dominance) {
  // Spikes that the inner rows' own method solves leave 1 or 2 eps in a row; the rounding of their residual counts as
  // much again.
  constexpr double kSpikeError = 4, kWithoutDominance = 20;
  if (!(dominance >= 1)) return kWithoutDominance;
  return (kRoundingLimit - kSpikeError) / (1 + 1 / dominance) - 1;
}

}  // namespace oclspkt
