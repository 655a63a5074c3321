// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cuda_runtime.h>
#include <cusparse.h>

#include <string>

#include "cuda_kernels.hpp"
#include "oclspkt/error.hpp"

namespace oclspkt::bench::gpu {

/// @throws DeviceError that names the call
void check(cudaError_t status, const std::string& call);
void check(cusparseStatus_t status, const std::string& call);

/// Memory of the device.
template <typename T>
class CudaArray {
 public:
  explicit CudaArray(Index size) : size_(size) {
    check(cudaMalloc(reinterpret_cast<void**>(&data_), static_cast<std::size_t>(size) * sizeof(T)),
          "cudaMalloc of " + std::to_string(size * static_cast<Index>(sizeof(T)) >> 20) + " MiB");
  }
  ~CudaArray() { cudaFree(data_); }
  CudaArray(const CudaArray&) = delete;
  CudaArray& operator=(const CudaArray&) = delete;
  T* data() const { return data_; }
  Index size() const { return size_; }

 private:
  T* data_ = nullptr;
  Index size_;
};

class CusparseHandle {
 public:
  CusparseHandle() { check(cusparseCreate(&handle_), "cusparseCreate"); }
  ~CusparseHandle() { cusparseDestroy(handle_); }
  CusparseHandle(const CusparseHandle&) = delete;
  CusparseHandle& operator=(const CusparseHandle&) = delete;
  cusparseHandle_t get() const { return handle_; }

 private:
  cusparseHandle_t handle_ = nullptr;
};

/// cuSPARSE's tridiagonal solvers.
enum class Routine {
  gtsv2_nopivot,        ///< one system, cyclic reduction
  gtsv2,                ///< one system, pivots
  gtsv2_strided_batch,  ///< lines end to end, no pivoting
  gtsv_interleaved_0,   ///< lines side by side, Thomas
  gtsv_interleaved_1    ///< lines side by side, LU with pivoting
};
inline constexpr const char* kRoutineNames[] = {"gtsv2_nopivot", "gtsv2", "gtsv2StridedBatch",
                                                "gtsvInterleavedBatch algo 0", "gtsvInterleavedBatch algo 1"};
inline constexpr const char* name(Routine r) { return kRoutineNames[static_cast<int>(r)]; }
/// True if it wants lines side by side, and destroys the bands.
inline constexpr bool is_interleaved(Routine r) { return r >= Routine::gtsv_interleaved_0; }

/// Bytes of memory that a routine asks for.
/// @param layout as the routine takes it
/// @throws DeviceError
template <typename T>
std::size_t buffer_bytes(Routine routine, const CusparseHandle& handle, const Layout& layout,
                         const CudaArrays<T>& arrays);

/// Solve; does not wait.
/// @throws DeviceError
template <typename T>
void solve(Routine routine, const CusparseHandle& handle, const Layout& layout, const CudaArrays<T>& arrays,
           void* buffer);

}  // namespace oclspkt::bench::gpu
