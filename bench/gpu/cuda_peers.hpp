// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>

#include "space.hpp"

namespace oclspkt::bench::gpu {

/// NVIDIA's cuSPARSE: products of a CSR matrix with a vector by each of its algorithms. The library is opened at run
/// time.
/// @tparam T  float, double
template <typename T>
class Cusparse {
 public:
  /// @param sell      the pattern in slices, for the algorithm that takes them; its rows are in their order; or null
  /// @param x, z      live as long as the result
  /// @param[out] why  why there is none, if the result is null
  /// @throws DeviceError
  static std::unique_ptr<Cusparse> open(Space<T>& space, const SparsePattern<std::int32_t>& pattern, const T* values,
                                        const SparseForm* sell, const SpaceArray<T>& x, SpaceArray<T>& z,
                                        std::string* why);
  virtual ~Cusparse() = default;
  virtual int algorithms() const = 0;
  virtual const std::string& name(int algorithm) const = 0;
  /// Enqueue z = A x.
  virtual void run(int algorithm) = 0;
};

}  // namespace oclspkt::bench::gpu
