// SPDX-License-Identifier: BSD-2-Clause
#include "cusparse_calls.hpp"

#include <climits>

namespace oclspkt::bench::gpu {
namespace {

/// The routines of one scalar type.
template <typename T>
struct Calls;

template <>
struct Calls<float> {
  static constexpr auto nopivot = cusparseSgtsv2_nopivot;
  static constexpr auto nopivot_bytes = cusparseSgtsv2_nopivot_bufferSizeExt;
  static constexpr auto pivot = cusparseSgtsv2;
  static constexpr auto pivot_bytes = cusparseSgtsv2_bufferSizeExt;
  static constexpr auto strided = cusparseSgtsv2StridedBatch;
  static constexpr auto strided_bytes = cusparseSgtsv2StridedBatch_bufferSizeExt;
  static constexpr auto interleaved = cusparseSgtsvInterleavedBatch;
  static constexpr auto interleaved_bytes = cusparseSgtsvInterleavedBatch_bufferSizeExt;
};

template <>
struct Calls<double> {
  static constexpr auto nopivot = cusparseDgtsv2_nopivot;
  static constexpr auto nopivot_bytes = cusparseDgtsv2_nopivot_bufferSizeExt;
  static constexpr auto pivot = cusparseDgtsv2;
  static constexpr auto pivot_bytes = cusparseDgtsv2_bufferSizeExt;
  static constexpr auto strided = cusparseDgtsv2StridedBatch;
  static constexpr auto strided_bytes = cusparseDgtsv2StridedBatch_bufferSizeExt;
  static constexpr auto interleaved = cusparseDgtsvInterleavedBatch;
  static constexpr auto interleaved_bytes = cusparseDgtsvInterleavedBatch_bufferSizeExt;
};

/// @throws DeviceError: the routines count in int
int as_int(Index value) {
  if (value > INT_MAX) throw DeviceError("cuSPARSE counts in int: " + std::to_string(value) + " rows are too many");
  return static_cast<int>(value);
}

int algorithm(Routine routine) { return routine == Routine::gtsv_interleaved_0 ? 0 : 1; }

}  // namespace

void check(cudaError_t status, const std::string& call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // else the next call would report it again
  throw DeviceError(call + ": " + cudaGetErrorString(status));
}

void check(cusparseStatus_t status, const std::string& call) {
  if (status != CUSPARSE_STATUS_SUCCESS) throw DeviceError(call + ": " + cusparseGetErrorString(status));
}

namespace {

/// What a routine says it needs for lines of that length.
template <typename T>
std::size_t ask(Routine routine, const CusparseHandle& handle, int count, int length, const CudaArrays<T>& a) {
  std::size_t bytes = 0;
  const auto call = [&] {
    switch (routine) {
      case Routine::gtsv2_nopivot:
        return Calls<T>::nopivot_bytes(handle.get(), length, 1, a.lower, a.diag, a.upper, a.x, length, &bytes);
      case Routine::gtsv2:
        return Calls<T>::pivot_bytes(handle.get(), length, 1, a.lower, a.diag, a.upper, a.x, length, &bytes);
      case Routine::gtsv2_strided_batch:
        return Calls<T>::strided_bytes(handle.get(), length, a.lower, a.diag, a.upper, a.x, count, length, &bytes);
      default:
        return Calls<T>::interleaved_bytes(handle.get(), algorithm(routine), length, a.lower, a.diag, a.upper, a.x,
                                           count, &bytes);
    }
  };
  check(call(), std::string(name(routine)) + "_bufferSizeExt");
  return bytes;
}

}  // namespace

template <typename T>
std::size_t buffer_bytes(Routine routine, const CusparseHandle& handle, const Layout& layout, const CudaArrays<T>& a) {
  // gtsv2 reckons in int: at 2.7e8 rows of floats it asked for 2^64 - 742e6 bytes. What fewer rows need tells the rest.
  constexpr std::size_t kMostWords = 64, kLeast = std::size_t{1} << 24;
  const int count = as_int(layout.count), length = as_int(layout.length);
  for (int part = 1;; part *= 2) {
    const int rows = (length + part - 1) / part;
    const std::size_t bytes = ask(routine, handle, count, rows, a);
    const std::size_t words = static_cast<std::size_t>(count) * static_cast<std::size_t>(rows) * sizeof(T);
    if (bytes <= kLeast + kMostWords * words) return bytes * static_cast<std::size_t>(part);
    if (rows == 1) throw DeviceError(std::string(name(routine)) + " asks for more memory than makes sense");
  }
}

template <typename T>
void solve(Routine routine, const CusparseHandle& handle, const Layout& layout, const CudaArrays<T>& a, void* buffer) {
  const int count = as_int(layout.count), length = as_int(layout.length);
  const auto run = [&] {
    switch (routine) {
      case Routine::gtsv2_nopivot:
        return Calls<T>::nopivot(handle.get(), length, 1, a.lower, a.diag, a.upper, a.x, length, buffer);
      case Routine::gtsv2:
        return Calls<T>::pivot(handle.get(), length, 1, a.lower, a.diag, a.upper, a.x, length, buffer);
      case Routine::gtsv2_strided_batch:
        return Calls<T>::strided(handle.get(), length, a.lower, a.diag, a.upper, a.x, count, length, buffer);
      default:
        return Calls<T>::interleaved(handle.get(), algorithm(routine), length, a.lower, a.diag, a.upper, a.x, count,
                                     buffer);
    }
  };
  check(run(), name(routine));
}

#define OCLSPKT_INSTANTIATE(T)                                                                            \
  template std::size_t buffer_bytes(Routine, const CusparseHandle&, const Layout&, const CudaArrays<T>&); \
  template void solve(Routine, const CusparseHandle&, const Layout&, const CudaArrays<T>&, void*);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::bench::gpu
