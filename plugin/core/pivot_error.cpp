// SPDX-License-Identifier: BSD-2-Clause
#include "pivot_error.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "forgiven.hpp"
#include "line_columns.hpp"
#include "parallel.hpp"
#include "rounding.hpp"
#include "schemes/scheme.hpp"
#include "sweep_rows.hpp"

namespace oclspkt {
namespace {

/// True if the rounding bound assumes exact pivots, and is not computed from the factors.
bool needs_pivots(const Elimination& how) { return !how.any_pivots && !how.tells_bound; }

/// Follows the rows of a line, one after the other, until a pivot is lost.
template <typename T>
class PivotErrors {
 public:
  explicit PivotErrors(const Elimination& elimination)
      : plain_(elimination.plain),
        factors_tell_(elimination.tells_bound),
        most_(needs_pivots(elimination) ? kKnownPivots : kUnlimited) {}

  /// Eliminate the previous row from the next row. @return whether the pivot of the next row is accurate
  bool see(T lower, T diag, T upper) {
    const EliminatedRow row = chain_.next(lower, diag, upper);
    if (factors_tell_ && row.size == 0) return true;  // the factors themselves report this line
    // An error of the pivot above changes the number that this row subtracts. An error of the carried excess also
    // changes the multiplier, with the same total.
    double error = std::abs(row.taken) * handed_;
    if (plain_ || row.direct) {
      error += kUnit * (3 * std::abs(row.taken) + 2 * row.size);
    } else {
      const double forgiven = is_forgiven(static_cast<T>(row.own), diag) ? -row.own : 0;
      error += forgiven + kUnit * (5 * (row.ratio * std::abs(row.before) + row.against) + 2 * std::abs(row.own));
    }
    handed_ = std::min(error / row.size, kUnlimited);
    swept_ = row.ratio * swept_ + std::abs(double{lower}) + std::abs(double{diag}) + std::abs(double{upper});
    return handed_ <= most_ && swept_ <= kMost * row.size;
  }

 private:
  static constexpr double kUnit = std::numeric_limits<T>::epsilon() / 2.0;
  /// The largest allowed ratio of a swept right-hand side to its pivot, so that sums over all rows stay in T's range.
  static constexpr double kMost = sizeof(T) == sizeof(float) ? 1e25 : 1e250;
  static constexpr double kUnlimited = std::numeric_limits<double>::max();
  bool plain_, factors_tell_;
  double most_;
  PivotChain chain_;
  double handed_ = 0;  ///< error of the last excess (or of the plain pivot), relative to the pivot
  double swept_ = 0;   ///< bound on the swept right-hand side |d_i| if |y_i| = |A_i|
};

template <typename T>
bool knows_line(const Elimination& how, const SweepRows<T>& rows, Index length) {
  PivotErrors<T> errors(how);
  for (Index i = 0; i < length; ++i) {
    if (!errors.see(rows.lower(i), rows.diag(i), rows.upper(i))) return false;
  }
  return true;
}

/// True if all rows have a dominance d that makes pivots accurate: relative errors are 4 u d / (d - 1), u = eps / 2.
template <typename T>
bool is_dominant(const BandsView<T>& line, Index length) {
  constexpr double kEnough = 1 + 40 * static_cast<double>(std::numeric_limits<T>::epsilon()) / kKnownPivots;
  constexpr auto kLeast = static_cast<T>(kEnough * (1 + std::numeric_limits<float>::epsilon()));
  bool all = true;
  for (Index i = 0; i < length; ++i) {
    all &= std::abs(line.diag[i]) >= kLeast * (std::abs(line.lower[i]) + std::abs(line.upper[i]));
  }
  return all;
}

/// Rows to check in a line of equal rows. With row sums of 0, the excess of row i and its error decrease like 1 / i.
constexpr Index kRowsAlike = 8192;

}  // namespace

template <typename T>
bool knows_pivots(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) {
  const Elimination how = scheme_of(plan).elimination(plan);
  // the limit of is_dominant()
  if (survey.dominance >= 1 + 40 * static_cast<double>(std::numeric_limits<T>::epsilon()) / kKnownPivots) return true;
  const Index count = plan.form == Form::shared ? 1 : lines.count();
  std::atomic<bool> known{true};
  const auto see_line = [&](const BandsView<T>& line, Index length) {
    if (!known || is_dominant(line, length)) return;
    if (!knows_line(how, SweepRows<T>(line, length, false), length) ||
        (how.upwards && !knows_line(how, SweepRows<T>(line, length, true), length))) {
      known = false;
    }
  };
  if (!lines.contiguous()) {
    if (lines.count() == 0 || lines.length(0) == 0) return true;
    for_columns(lines, count, [&](Index first, Index width) {
      const Column<T> column(lines, bands, first, width);
      for (Index l = 0; l < width && known; ++l) see_line(column.line(l), lines.length(0));
    });
    return known && !(how.any_pivots && forgiving_harms(lines, bands));
  }
  const bool alike = survey.dominance >= 1 && is_uniform(lines, bands);
  for_pieces(count, lines_a_piece(lines), [&](Index begin, Index end) {
    for (Index l = begin; l < end && known; ++l) {
      const Index first = lines.first(l), length = alike ? std::min(lines.length(l), kRowsAlike) : lines.length(l);
      see_line({bands.lower + first, bands.diag + first, bands.upper + first}, length);
    }
  });
  return known;
}

double rounding_by_dominance(double d) {
  if (!(d > 1)) return std::numeric_limits<double>::infinity();
  // An unknown at a joint (rounding.hpp) is computed twice. Whatever the signs are, each error is at most that of the
  // M-matrix with the same |a|, |b| and |c|, which is (5 + 3 / d) u d / (d - 1) max |x| where segments compute pivots
  // of their own, and less where they share stored ones. A coupling is at most |A_i| / (d + 1), so a joint leaves at
  // most (5 d + 3) / (d^2 - 1) eps. The remaining 3.5 eps or more of 4 d / (d - 1) pay for rows that exceed 5 eps by
  // themselves: those of opposite signs reach 6.25 eps at d = 1.
  return 5 + (d < std::numeric_limits<double>::infinity() ? 4 * d / (d - 1) : 4);
}

template <typename T>
Rounding bound_rounding(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) {
  const Rounding bound = of_first_order(scheme_of(plan).rounding(plan, lines, bands, survey));
  const bool known = !(bound.eps <= kLargestRounding) || knows_pivots(plan, lines, bands, survey);
  return known ? bound : Rounding{std::numeric_limits<double>::infinity(), bound.row};
}

#define OCLSPKT_INSTANTIATE(T)                                                                 \
  template bool knows_pivots(const Plan&, const LineSet&, const BandsView<T>&, const Survey&); \
  template Rounding bound_rounding(const Plan&, const LineSet&, const BandsView<T>&, const Survey&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
