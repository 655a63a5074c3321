// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <vector>

#include "device.hpp"
#include "pivoted_lines.hpp"
#include "wide_solver.hpp"

namespace oclspkt {

/// Call f(offset in the set, place among the members) for the rows of some lines of a set.
template <typename F>
void for_each_row(const LineSet& all, const std::vector<Index>& members, const F& f) {
  Index at = 0;
  for (const Index line : members) {
    for (Index i = 0; i < all.length(line); ++i) f(all.first(line) + i * all.row_stride(), at++);
  }
}

/// The method `pivot`: Gaussian elimination with diagonal blocks of 1 and 2 rows behind the device interface, in double
/// whatever T is. A step of refinement follows for lines whose trial solves ask for it. Lines whose pivots leave the
/// range of double are solved in wider numbers.
template <typename T>
class PivotSolver final : public DeviceSolver<T> {
 public:
  void set_up(const Plan& plan, const Bands<T>& bands) override;
  void apply(const T* y, T* x) override;
  Times times() const override { return times_; }
  /// Of all lines; infinity if one of them has none.
  double rounding() const override { return rounding_; }
  std::int64_t bytes() const override;

  /// A line that is singular.
  struct Singular {
    Index line = 0;
    Index row = 0;      ///< within the line
    bool lost = false;  ///< a pivot vanishes in rounding, and the trial solve fails; else that of `row` is zero
  };
  /// In order of the lines, one for each.
  const std::vector<Singular>& singular() const { return singular_; }
  /// Lines whose trial solves are above kTrialLimitEps, in order; those that are singular are not among them.
  const std::vector<Index>& above_limit() const { return above_limit_; }
  /// The largest componentwise backward error of a trial solve; NaN if a solution is not finite.
  double trial_error() const { return trial_error_; }

 private:
  /// Lines of one length whose numbers are interleaved; one line may be by itself.
  struct Bundle {
    Index line, lines, rows, width;
  };
  void place_lines();
  void factor_bundle(Index bundle, const BandsView<T>& bands, PivotFacts* facts);
  void judge(const std::vector<PivotFacts>& facts);
  void widen(const Bands<T>& bands, const std::vector<PivotFacts>& facts);
  template <typename F>
  void for_bundles(const F& f);

  LineSet lines_;
  std::vector<Bundle> bundles_;
  PivotedLines<double> systems_;
  Index piece_ = 1;                ///< bundles that one processor solves one after the other
  AlignedArray<double> scratch_;   ///< shape [pieces][2][largest bundle]
  std::vector<Index> wide_lines_;  ///< beyond the range of double
  WideSolver<T> wide_;
  AlignedArray<T> wide_y_, wide_x_;
  std::vector<Singular> singular_;
  std::vector<Index> above_limit_;
  double trial_error_ = 0, rounding_ = 0;
  Times times_;
};

/// The solver of the host: `pivot`, or stored factors, which carry every other method.
template <typename T>
std::unique_ptr<DeviceSolver<T>> make_host_solver(Method method);

}  // namespace oclspkt
