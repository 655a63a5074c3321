// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "device.hpp"
#include "factors.hpp"
#include "rounding.hpp"

namespace oclspkt {

/// Bytes that the caches of a core hold, shared caches included. Larger data count as read from memory.
inline constexpr Index kHostCacheBytes = 16 << 20;

/// Bytes that one apply of stored factors reads and writes: y, x and three arrays of factors.
template <typename T>
constexpr Index host_arrays_bytes(const LineSet& lines) {
  return 5 * lines.rows() * static_cast<Index>(sizeof(T));
}

/// Thomas without pivoting, with stored factors (method exact-factored), on the calling thread, for any line set.
///
/// The first sweep reads y and one array of factors; the sweep back reads two arrays and writes x. Lines side by side
/// are swept in bundles; the results of the sweep down stay in a window until the sweep up. If a row of the block is
/// long (tuning: beside.long_row), one bundle takes all lines of the block and the results stay in x. All other
/// lines are swept from both ends to a meeting row and back. Two lines are swept at once if their arrays fit into the
/// cache, so that their chains of operations overlap. Several right-hand sides are swept four at a time.
template <typename T>
class OCLSPKT_API HostSolver final : public DeviceSolver<T> {
 public:
  using Pivots = typename Factors<T>::Pivots;

  void set_up(const Plan& plan, const Bands<T>& bands) override;
  using Operator<T>::apply;
  void apply(const Place& place, Columns<const T> y, Columns<T> x, Index count) override;
  Times times() const override { return times_; }
  double rounding() const override { return factors_.pivots().rounding; }
  double take_errors() override;
  std::int64_t bytes() const override { return factors_.bytes() + window_.bytes(); }
  const Factors<T>* factors() const override { return &factors_; }

  /// @pre couplings out of the lines are 0
  void factor(const LineSet& lines, const BandsView<T>& bands, Form form = Form::general);
  bool drop(const std::vector<Index>& lines) { return factors_.drop(lines); }
  /// @param y, x shape [lines.extent()]; may be the same array
  void solve(const T* y, T* x);
  const Pivots& pivots() const { return factors_.pivots(); }
  const std::vector<Index>& doubtful() const { return factors_.doubtful(); }

 private:
  bool is_better_downwards(const LineSet& lines, const BandsView<T>& bands) const;
  template <bool kShared>
  void solve_bundles(const T* y, T* x);
  template <bool kShared>
  void solve_lines(const T* y, T* x);
  template <bool kShared>
  void solve_columns(Columns<const T> y, Columns<T> x);
  void see(const T* y, const T* x);

  Factors<T> factors_;
  Index bundle_ = 1;           ///< lines side by side that are swept together
  bool through_x_ = false;     ///< the sweep down stores its results in x, not in the window
  Index abreast_ = 1;          ///< how many lines are swept at once, if they are not side by side
  AlignedArray<T> window_;     ///< one row of carried values, then the results of a bundle's sweep down
  Real<T> spoilt_ = 0;         ///< NaN if a solution since the last see() is not finite
  bool leaves_range_ = false;  ///< a solution left the range of T, and take_errors() returns infinity
  Times times_;
};

}  // namespace oclspkt
