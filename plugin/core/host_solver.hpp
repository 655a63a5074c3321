// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "device.hpp"

namespace oclspkt {

/// Thomas without pivoting, with stored factors (method exact-factored), on the calling thread; any line set.
///
/// factor: p_i = 1 / u_i, u_i = b_i - a_i c_(i-1) p_(i-1) formed without subtraction (ExcessRow); solve: one forward
/// sweep (3 words read, 1 written) and one backward (3 read, 1 written). Lines that lie side by side are swept
/// together.
template <typename T>
class OCLSPKT_API HostSolver final : public DeviceSolver<T> {
 public:
  void set_up(const Plan& plan, const Bands<T>& bands) override;
  void apply(const T* y, T* x) override;
  Times times() const override { return times_; }
  std::int64_t bytes() const override;

  /// @pre couplings out of the lines are 0
  /// @post growth() of the elimination; NaN or Inf if a pivot vanished
  void factor(const LineSet& lines, const BandsView<T>& bands);
  /// @param y, x shape [lines.extent()]; may be the same
  void solve(const T* y, T* x) const;
  /// Largest growth max (|l_i c_(i-1)| + |u_i|) / |b_i| over all rows, l the multiplier, u the pivot; NaN if a pivot is
  /// not finite.
  double growth() const { return growth_; }
  /// Smallest |u_i| / max |row i|: a pivot that is tiny against its row is missing evidence. NaN loses (0).
  double smallest_pivot() const { return smallest_pivot_; }

 private:
  LineSet lines_;
  AlignedArray<T> multiplier_, reciprocal_, coupling_;  ///< a_i p_(i-1), p_i, c_i p_i
  double growth_ = 0, smallest_pivot_ = 0;
  Times times_;
};

}  // namespace oclspkt
