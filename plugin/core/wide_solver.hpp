// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <limits>
#include <type_traits>
#include <vector>

#include "device.hpp"
#include "pivoted_lines.hpp"

namespace oclspkt {

/// PivotedLines in the next wider number type (float in double, double in long double), on the calling thread: for
/// lines whose numbers lie further apart than the range of T.
///
/// Answers are right wherever T can hold them; beyond its range they are Inf.
template <typename T>
class OCLSPKT_API WideSolver final : public DeviceSolver<T> {
 public:
  using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;

  void set_up(const Plan& plan, const Bands<T>& bands) override;
  void apply(const T* y, T* x) override;
  Times times() const override { return times_; }
  /// The rounding of x, and what the wider numbers leave; infinity where their pivots have no bound.
  double rounding() const override {
    constexpr double kOfWide = static_cast<double>(std::numeric_limits<Wide>::epsilon()) /
                               static_cast<double>(std::numeric_limits<T>::epsilon());
    return 2 + kOfWide * systems_.added_bound();
  }
  std::int64_t bytes() const override;
  /// Lines that have a pivot that is zero or not finite, in order; their answers are not finite.
  const std::vector<Index>& singular() const { return singular_; }
  /// Lines that it cannot solve: those, and lines whose trial solve is lost to rounding; in order.
  const std::vector<Index>& lost() const { return lost_; }

 private:
  LineSet lines_;
  PivotedLines<Wide> systems_;  ///< line after line
  std::vector<Wide> work_;      ///< shape [rows]
  std::vector<Index> singular_, lost_;
  Times times_;
};

}  // namespace oclspkt
