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

/// Notation of the rounding bounds in this folder. Row i is a_i x_(i-1) + b_i x_i + c_i x_(i+1) = y_i, and |A_i| is
/// |a_i| + |b_i| + |c_i|. u_i are the pivots of elimination without pivoting, p_i = 1 / u_i their reciprocals, d_i the
/// results of the sweep down. u without an index is eps / 2, the largest relative error of one operation. max |x| is
/// over the line. Bounds are of first order in u. They assume that kernels fuse y - l d into one rounding (mul_sub() in
/// kernels/common/scalar.clh); factor_of_arithmetic() is for other kernels. The bounds of the host, whose products
/// round as well, say so.
///
/// The value that enters some rows in a sweep is the result of the row before them; the value that leaves them is the
/// result of their last row. A joint is the interface of two neighbours that are swept separately: segments,
/// partitions, tiles or work-items.

/// A bound on |r_i| / (|A_i| max |x| + |y_i|) of all rows, r = y - A x for the computed x. It is known before the first
/// solve. Scaling a row does not change it.
struct Rounding {
  double eps = 0;  ///< the bound, in units of eps of the scalar; NaN or Inf: nothing is known
  Index row = -1;  ///< the row with the largest bound, an offset in the vector; -1: no single row
};

/// The larger of two bounds; NaN if one is NaN.
inline double larger(double worst, double other) { return other <= worst || std::isnan(worst) ? worst : other; }

/// Records the largest error of some rows, in u.
struct WorstRow {
  double error = 0;
  Index row = -1;
  /// Keep the largest error and its row; NaN, once recorded, stays.
  void see(double other, Index at) {
    if (other <= error || std::isnan(error)) return;
    error = other;
    row = at;
  }
  void see(const WorstRow& other) { see(other.error, other.row); }
  Rounding bound() const { return {error / 2, row}; }
};

/// The factor by which rounding bounds grow in other arithmetic. Proof, and the one exception (scans of complex
/// numbers): docs/experiments/rounding-bounds.md#other-arithmetic.
///   If y - l d rounds its product as well, the product is wrong by u |l d|, as if d were wrong by u |d|. Bounds count
///   u |d| for every d already, so they double at most.
///   If numbers are complex, the product is wrong by up to sqrt(5) u |l d|.
/// @param fuses  see DeviceTraits::fuses
constexpr double factor_of_arithmetic(bool is_complex, bool fuses) {
  constexpr double kUnfused = 2, kComplex = 3.2361;  // kComplex: 1 + sqrt(5)
  return is_complex ? kComplex : fuses ? 1 : kUnfused;
}

/// The least dominance at which rounding_by_dominance() is below kRoundingLimit.
inline constexpr double kSurveyedDominance = 1.05;

/// The rounding bound of methods that eliminate and substitute each row once, with stored factors or without:
/// d_i = y_i - l_i d_(i-1) with the multiplier l_i = a_i p_(i-1), then x_i = (d_i - c_i x_(i+1)) / u_i.
///
/// Errors in row i, in u max |x|, for exact pivots and differences that round once. |d_i| is at most |u_i| + |c_i|, and
/// so |l_i d_(i-1)| is at most |a_i| + |l_i c_(i-1)|.
///   l_i                  |a_i| + |l_i c_(i-1)|
///   d_i, d_i p_i         |u_i| + |c_i| each
///   c_i p_i, x_i, p_i    |c_i|, |u_i| and |u_i|
///   d p, c p, x and p    |a_i| + |l_i c_(i-1)|, |l_i c_(i-1)|, |a_i| and |l_i c_(i-1)|: the error of p_(i-1) partly
///   of row i - 1         cancels between l_i and x_(i-1)
/// The sum is 4 |u_i| + 3 |c_i| + 3 |a_i| + 4 |l_i c_(i-1)|. Bounds of rows add 4 |u_i| + 2 |l_i c_(i-1)| for the
/// pivot: 8 |u_i| + 3 |c_i| + 3 |a_i| + 6 |l_i c_(i-1)|, at most 8 growth |A_i|. If products round as well, the sum is
/// 4 (|a_i| + |u_i| + |c_i|) + 6 |l_i c_(i-1)|, still at most 8 growth |A_i|.
/// @param growth  the largest (|l_i c_(i-1)| + |u_i|) / |b_i|; at most 3 for rows of dominance 1
/// @return the bound in eps
inline double rounding_by_growth(double growth) { return 4 * growth; }

/// The rounding bound of methods that sweep segments separately and join them, for couplings of any signs: 5 eps for a
/// row by itself and 4 d / (d - 1) eps for a joint. The proof is in
/// docs/experiments/rounding-bounds.md#what-dominance-bounds.
/// @return the bound in eps; infinite for d <= 1
double rounding_by_dominance(double d);

/// The largest meaningful bound, in eps. Bounds are of first order and assume exact factors. Far above this limit, the
/// computed factors have large errors.
inline constexpr double kLargestRounding = 1e3;

/// `bound`, or infinity (nothing is known) if it is above kLargestRounding.
inline Rounding of_first_order(const Rounding& bound) {
  return bound.eps <= kLargestRounding ? bound : Rounding{std::numeric_limits<double>::infinity(), bound.row};
}

/// The rounding bound of a plan; infinite if !knows_pivots(). Not for the method `pivot`, whose factors give its bound.
template <typename T>
Rounding bound_rounding(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey);

/// The errors that enter the rounding bound of a part of a line, see CutParts.
struct CutPartErrors {
  double inner = 0;        ///< bound on the rounding of the solve of the inner rows, in eps; see Rounding
  double spike_size = 0;   ///< S, the largest |p_i| + |q_i|
  double spike_error = 0;  ///< largest sum of both spikes' residuals in a row, relative to |A_i|, in eps
};

/// The rounding bound of a row of a part, as Rounding defines it, with max |x| over the whole line.
///
/// Let z be the solution of the inner rows, p and q the spikes, x_t and x_b the unknowns next to the cuts, and S
/// CutPartErrors::spike_size. Then x = z - p x_t - q x_b, so that |z_i| <= (1 + S) max |x|. The residual of an inner
/// row is the sum of
///   - the error of the solve, `inner` times (1 + S),
///   - `spike_error`, times unknowns of at most max |x|,
///   - |A_i| times the rounding of the two corrections, u (|p x_t| + |z - p x_t| + |q x_b| + |x|), which is at most
///     2 u (1 + S) max |x|.
/// A row t next to a cut has none of these errors, because its equation uses the same z and p as the correction. Let c
/// be its coupling to the inner rows, b_t its diagonal, and L U the factors of the equations between parts. For rows of
/// dominance 1, these equations have dominance 1, too, S <= 1 and 2 |c| <= |A_t|. Then
///   - the right-hand side y - c z rounds by u (|c z| + |y - c z|), at most 2 u |A_t| max |x|,
///   - the terms that the spikes add to the row round by u (|b_t| + 2 |c| S), at most 1.5 u |A_t|,
///   - the correction of the inner row beside it rounds by 2 u (1 + S) |c|, at most 2 u |A_t|,
///   - elimination of a tridiagonal system rounds by 4 u |L| |U|, at most 12 u |A_t| (Higham 2002, theorems 9.13 and
///     9.14; with row swaps, no entry of |L| |U| exceeds 4.5 times the row's largest number); elimination of pairs by
///     reciprocal pivots (PairSystems) rounds by 10 u |A_t|.
/// The sum is 8.75 eps. Without dominance, the entries of these equations are up to 1 + S times the row's largest
/// number. With swaps, no entry of |L| |U| exceeds 8 times such an entry, and the sum is 19 (1 + S) eps.
/// @param dominance  the least dominance of all rows of the lines that are cut
/// @param arithmetic kWithQuotients of the scalar
/// @return the bound in eps; NaN or Inf: nothing is known
inline double rounding_of_part(const CutPartErrors& errors, double dominance, double arithmetic) {
  constexpr double kDominant = 9, kOther = 20;  // bounds of rows next to cuts
  const double inner = (errors.inner + arithmetic) * (1 + errors.spike_size) + errors.spike_error;
  const double beside = arithmetic * (dominance >= 1 ? kDominant : kOther * (1 + errors.spike_size));
  return inner <= beside ? beside : inner;  // returns NaN if a bound is NaN
}

/// The largest bound of the solve of the inner rows, in eps, that keeps rounding_of_part() within kRoundingLimit for
/// every matrix of this dominance. The spikes are at most 1 / dominance; without dominance, spikes of 3 are assumed.
inline double inner_rounding_limit(double dominance, double arithmetic) {
  // A spike leaves a residual of 1 or 2 eps in a row, and rounding of the spike adds as much.
  constexpr double kSpikeError = 4, kWithoutDominance = 20;
  if (!(dominance >= 1)) return kWithoutDominance;
  return (kRoundingLimit - arithmetic * kSpikeError) / (1 + 1 / dominance) - arithmetic;
}

}  // namespace oclspkt
