// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

/// What the peers on a CUDA device need beside the library: systems made there, checked there, transposed there, and
/// the stream. All runs on the default stream and does not wait. C++17.
namespace oclspkt::bench::gpu {

using Index = std::int64_t;  ///< the library's, whose header is C++20

/// Lines of equal length, end to end or side by side: row i of line l at l * length + i, or at i * count + l.
struct Layout {
  Index count = 1, length = 0;
  bool beside = false;

  constexpr Index rows() const { return count * length; }
  constexpr Index row_stride() const { return beside ? count : 1; }
  constexpr Index row_of(Index place) const { return beside ? place / count : place % length; }
};

/// A tridiagonal system on the device; each array has layout.rows() scalars.
template <typename T>
struct CudaArrays {
  T *lower = nullptr, *diag = nullptr, *upper = nullptr;
  T* x = nullptr;  ///< the right-hand side, which solvers overwrite with the solution
};

/// Matrix::random of a dominance, or Poisson's where it is 0, place by place as bench/matrices fills it; couplings out
/// of lines are 0. @param[out] bands lower, diag and upper
template <typename T>
void fill_bands(const Layout& layout, double dominance, std::uint64_t seed, const CudaArrays<T>& bands);

/// Numbers ~ N(3, 1), as bench/matrices has them.
template <typename T>
void fill_solution(Index n, std::uint64_t seed, T* x);

/// y = A x, rounded once. @param[in] a lower, diag, upper and x
template <typename T>
void multiply(const Layout& layout, const CudaArrays<T>& a, T* y);

/// What the normwise backward error is made of: maxima over all rows of |y - A x|, row sums of |A|, |x| and |y|, as
/// the bits of doubles, whose order is that of the numbers; NaN is above all.
struct ErrorParts {
  unsigned long long residual, matrix, x, y;
};
/// @param[out] parts on the device, 0 before
template <typename T>
void find_errors(const Layout& layout, const CudaArrays<T>& a, const T* y, ErrorParts* parts);

/// x = (a + b) + (c + y) with 16 bytes a thread: four arrays read, one written.
template <typename T>
void stream(Index n, const T* a, const T* b, const T* c, const T* y, T* x);

/// Turn a rows x columns matrix that lies row by row, by tiles in shared memory.
template <typename T>
void transpose(Index rows, Index columns, const T* from, T* to);

}  // namespace oclspkt::bench::gpu
