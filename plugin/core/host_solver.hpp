// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

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
  void factor(const LineSet& lines, const BandsView<T>& bands);
  /// @param y, x shape [lines.extent()]; may be the same
  void solve(const T* y, T* x) const;
  /// What the elimination of one line, or of all, showed.
  struct Pivots {
    double growth = 0;    ///< largest (|l_i c_(i-1)| + |u_i|) / |b_i|; NaN if a pivot is zero or not finite
    double smallest = 1;  ///< smallest |u_i| / max |row i|; 0 if a pivot is not finite
    /// Growth is bounded and no pivot is tiny against its row (missing evidence). NaN loses.
    bool sound() const;
  };
  /// The worst of all lines.
  const Pivots& pivots() const { return pivots_; }
  /// Lines that are not sound, in order.
  const std::vector<Index>& doubtful() const { return doubtful_; }

 private:
  Pivots factor_line(const BandsView<T>& bands, Index line);

  LineSet lines_;
  AlignedArray<T> multiplier_, reciprocal_, coupling_;  ///< a_i p_(i-1), p_i, c_i p_i
  Pivots pivots_;
  std::vector<Index> doubtful_;
  Times times_;
};

}  // namespace oclspkt
