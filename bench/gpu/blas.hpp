// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>

#include "space.hpp"

namespace oclspkt::bench::gpu {

/// BLAS-1 on vectors of a space, by one library. What returns a number waits for it.
/// @tparam T  float, double
template <typename T>
class Blas {
 public:
  virtual ~Blas() = default;
  virtual const char* library() const = 0;
  virtual void copy(const SpaceArray<T>& x, SpaceArray<T>& y) = 0;
  virtual void scal(T factor, SpaceArray<T>& x) = 0;
  virtual void axpy(T factor, const SpaceArray<T>& x, SpaceArray<T>& y) = 0;
  virtual T dot(const SpaceArray<T>& x, const SpaceArray<T>& y) = 0;
  virtual T nrm2(const SpaceArray<T>& x) = 0;
  virtual T asum(const SpaceArray<T>& x) = 0;
  /// The greatest magnitude: its place, as BLAS has it, or with place -1 its value.
  virtual SumValue<T> amax(const SpaceArray<T>& x) = 0;
};

/// NVIDIA's cuBLAS for a space by CUDA. The library is opened at run time: nothing of CUDA is needed to build.
/// @param[out] why  why there is none, if the result is null
template <typename T>
std::unique_ptr<Blas<T>> open_cublas(const Space<T>& space, std::string* why);

/// CLBlast for a space by OpenCL, if it was there when the program was built.
/// @param[out] why  why there is none, if the result is null
template <typename T>
std::unique_ptr<Blas<T>> open_clblast(const Space<T>& space, std::string* why);

}  // namespace oclspkt::bench::gpu
