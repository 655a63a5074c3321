// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <type_traits>
#include <vector>

#include "device.hpp"
#include "pivoted_lines.hpp"
#include "residual.hpp"

namespace oclspkt {

/// Call f(offset, place) for each row of the lines `members` of a set. `offset` is the row's offset in the set, and
/// `place` counts the rows of all members.
template <typename F>
void for_each_row(const LineSet& all, const std::vector<Index>& members, const F& f) {
  Index at = 0;
  for (const Index line : members) {
    for (Index i = 0; i < all.length(line); ++i) f(all.first(line) + i * all.row_stride(), at++);
  }
}

struct SingularLine {
  Index line = 0;
  Index row = 0;  ///< number of the row within the line
  bool lost =
      false;  ///< true: a pivot vanishes in rounding and the trial solve fails; false: the pivot of `row` is zero
};

/// The part of PivotSolver's interface that is the same for all types of numbers.
template <typename T>
class Pivoting : public DeviceSolver<T> {
 public:
  const std::vector<SingularLine>& singular() const { return singular_; }
  /// The largest componentwise backward error of a trial solve; NaN if a solution is not finite.
  double trial_error() const { return trial_error_; }

 protected:
  std::vector<SingularLine> singular_;
  double trial_error_ = 0;
};

/// The method `pivot`, as a device solver: Gaussian elimination with diagonal blocks of 1 and 2 rows, in numbers at
/// least as wide as T. Lines with pivots beyond the range of double are solved in long double. Solutions beyond the
/// range of T are Inf, which take_errors() reports.
template <typename T, typename Number = Widened<double, T>>
class OCLSPKT_API PivotSolver final : public Pivoting<T> {
 public:
  void set_up(const Plan& plan, const Bands<T>& bands) override;
  using Operator<T>::apply;
  void apply(const Place& place, Columns<const T> y, Columns<T> x, Index count) override;
  Times times() const override { return times_; }
  /// The rounding bound of all lines, in eps. A line without a bound counts with the error of its trial solve, at least
  /// with kWidenEps. take_errors() reports no error up to kWidenEps.
  double rounding() const override;
  double take_errors() override;
  std::int64_t bytes() const override;

 private:
  /// Lines of one length with interleaved numbers, or a single line.
  struct Bundle {
    Index line, lines, rows, width;
  };
  void place_lines();
  void factor_bundle(Index bundle, const BandsView<T>& bands, PivotFacts* facts);
  void judge(const std::vector<PivotFacts>& facts);
  void widen(const Bands<T>& bands, const std::vector<PivotFacts>& facts);
  void solve(const T* y, T* x);
  void see(const double* errors, const Bundle& of, const T* y, const T* x, double& worst);
  template <typename F>
  void for_bundles(const F& f);

  LineSet lines_;
  std::vector<Bundle> bundles_;
  PivotedLines<Number> systems_;
  Index piece_ = 1;                ///< bundles that one processor solves one after the other
  AlignedArray<Number> scratch_;   ///< shape [pieces][4][largest bundle]
  std::vector<Index> wide_lines_;  ///< lines with pivots beyond the range of double
  std::unique_ptr<PivotSolver<T, Widened<long double, T>>> wide_;
  AlignedArray<T> wide_y_, wide_x_;
  double rounding_ = 0;
  std::vector<double> worst_;  ///< shape [bundles]; the largest errors since the last take_errors()
  Times times_;
};

/// PivotSolver in the next wider numbers, for lines whose numbers differ by more than the range of T.
template <typename T>
using WideSolver = PivotSolver<T, Widened<std::conditional_t<std::is_same_v<Real<T>, float>, double, long double>, T>>;

}  // namespace oclspkt
