// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace oclspkt {

/// The median of the last few numbers but the first of all, which is that of cold caches; one that is far off does not
/// move it. Allocates nothing.
class MedianOfLast {
 public:
  void add(double number) {
    last_[static_cast<std::size_t>(std::max<std::int64_t>(0, count_ - 1) % kMost)] = number;
    ++count_;
  }
  double value() const {
    std::array<double, kMost> sorted = last_;
    const auto used =
        static_cast<std::ptrdiff_t>(std::clamp<std::int64_t>(count_ - 1, std::min<std::int64_t>(count_, 1), kMost));
    if (used == 0) return 0;
    std::nth_element(sorted.begin(), sorted.begin() + used / 2, sorted.begin() + used);
    return sorted[static_cast<std::size_t>(used / 2)];
  }
  /// Numbers that were added, also those that are forgotten.
  std::int64_t count() const { return count_; }
  void clear() { count_ = 0; }

 private:
  static constexpr std::int64_t kMost = 15;
  std::array<double, kMost> last_{};
  std::int64_t count_ = 0;
};

}  // namespace oclspkt
