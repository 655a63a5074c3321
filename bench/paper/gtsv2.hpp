// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>

#include "problem.hpp"

namespace oclspkt::bench::paper {

/// NVIDIA's tridiagonal solver of cuSPARSE, opened at run time, with bands and vectors in a card's memory.
/// @tparam T  float, double
template <typename T>
class Gtsv2 {
 public:
  /// @param pivoting  gtsv2 instead of gtsv2_nopivot
  /// @param place     of the card, as DeviceInfo::physical; of the first one where CUDA has none there
  /// @param[out] why  why there is none, if the result is null
  /// @throws DeviceError
  static std::unique_ptr<Gtsv2> open(const Problem<T>& problem, bool pivoting, const std::string& place,
                                     std::string* why);
  virtual ~Gtsv2() = default;
  /// Solve once; the right-hand side is put back before. @return seconds by the card's clock
  virtual double run() = 0;
  virtual void read(T* x) = 0;
};

}  // namespace oclspkt::bench::paper
