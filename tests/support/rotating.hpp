// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "matrices.hpp"

namespace oclspkt::test {

/// Forty vectors in turn, as a Krylov method has them.
template <typename T>
class RotatingVectors {
 public:
  static constexpr std::size_t kVectors = 20;

  explicit RotatingVectors(Index size) {
    for (std::size_t i = 0; i < kVectors; ++i) y_.push_back(random_vector<T>(size));
    x_ = y_;
  }
  /// Call f(y, x) with the next two of them.
  template <typename F>
  void next(const F& f) {
    at_ = (at_ + 1) % kVectors;
    f(y_[at_].data(), x_[at_].data());
  }

 private:
  std::vector<std::vector<T>> y_, x_;
  std::size_t at_ = 0;
};

}  // namespace oclspkt::test
