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

}  // namespace oclspkt
