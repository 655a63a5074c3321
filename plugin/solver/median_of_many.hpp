// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace oclspkt {

/// The median of numbers that come one after the other, but for the first one, which is that of cold caches. Of many
/// numbers it is that of some, evenly apart: what is off for a while, as on a processor that others use, does not move
/// it. Allocates nothing.
class MedianOfMany {
 public:
  void add(double number) {
    if (count_ == 1) used_ = 0;
    if (count_ == 0 || (count_ - 1) % apart_ == 0) keep(number);
    ++count_;
  }
  /// 0 if there is no number.
  double value() const {
    if (used_ == 0) return 0;
    std::array<double, kMost> sorted = kept_;
    const auto middle = sorted.begin() + used_ / 2;
    std::nth_element(sorted.begin(), middle, sorted.begin() + used_);
    return *middle;
  }
  /// Numbers that were added, also those that are not kept.
  std::int64_t count() const { return count_; }
  void clear() { *this = {}; }

 private:
  static constexpr std::int64_t kMost = 32;

  void keep(double number) {
    if (used_ == kMost) {  // every second one makes room; the next one is as far apart as they are then
      for (std::int64_t k = 0; k < kMost / 2; ++k) kept_[index(k)] = kept_[index(2 * k)];
      used_ = kMost / 2;
      apart_ *= 2;
    }
    kept_[index(used_++)] = number;
  }
  static std::size_t index(std::int64_t k) { return static_cast<std::size_t>(k); }

  std::array<double, kMost> kept_{};
  std::int64_t used_ = 0, apart_ = 1, count_ = 0;
};

}  // namespace oclspkt
