// SPDX-License-Identifier: BSD-2-Clause
#include "cuda_kernels.hpp"

#include "draw.hpp"

namespace oclspkt::bench::gpu {
namespace {

constexpr int kThreads = 256;
constexpr int kMostBlocks = 4096;  ///< of kernels whose threads take every so many-th row
constexpr int kTile = 32, kTileRows = 8;

int blocks_for(Index n) {
  const Index blocks = (n + kThreads - 1) / kThreads;
  return static_cast<int>(blocks < kMostBlocks ? blocks : kMostBlocks);
}

#define FOR_EACH_PLACE(p, n)                                                         \
  for (Index p = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; p < (n); \
       p += static_cast<Index>(gridDim.x) * blockDim.x)

template <typename T>
__global__ void fill_bands_kernel(Layout layout, double dominance, std::uint64_t seed, CudaArrays<T> bands) {
  FOR_EACH_PLACE(p, layout.rows()) {
    Row row{-1, 2, -1};
    if (dominance > 0) {
      row = random_row<T>(uniform(seed, kLower, p), uniform(seed, kUpper, p), uniform(seed, kSign, p) < 0.5, dominance);
    }
    const Index i = layout.row_of(p);
    bands.lower[p] = i == 0 ? T(0) : static_cast<T>(row.lower);
    bands.diag[p] = static_cast<T>(row.diag);
    bands.upper[p] = i + 1 == layout.length ? T(0) : static_cast<T>(row.upper);
  }
}

template <typename T>
__global__ void fill_solution_kernel(Index n, std::uint64_t seed, T* x) {
  constexpr double kTwoPi = 6.283185307179586;
  FOR_EACH_PLACE(p, n) {
    const double radius = sqrt(-2 * log(uniform(seed, kRadius, p)));
    x[p] = static_cast<T>(3 + radius * cos(kTwoPi * uniform(seed, kAngle, p)));
  }
}

/// A sum of products that is kept to twice the digits of a double.
/// @source Ogita, Rump, Oishi 2005 (Dot2)
struct WideSum {
  double high = 0, low = 0;

  // Intrinsics, since nothing may be contracted.
  __device__ void add(double a, double b) {
    const double product = __dmul_rn(a, b), rest = __fma_rn(a, b, -product);
    const double sum = __dadd_rn(high, product), taken = __dsub_rn(sum, high);
    const double lost = __dadd_rn(__dsub_rn(high, __dsub_rn(sum, taken)), __dsub_rn(product, taken));
    high = sum;
    low = __dadd_rn(low, __dadd_rn(lost, rest));
  }
  __device__ double value() const { return __dadd_rn(high, low); }
};

/// Row p of A x; couplings out of lines are 0, and what they would meet is not read.
template <typename T>
__device__ WideSum row_product(const Layout& layout, const CudaArrays<T>& a, Index p) {
  const Index i = layout.row_of(p), stride = layout.row_stride();
  WideSum sum;
  sum.add(a.diag[p], a.x[p]);
  if (i > 0) sum.add(a.lower[p], a.x[p - stride]);
  if (i + 1 < layout.length) sum.add(a.upper[p], a.x[p + stride]);
  return sum;
}

template <typename T>
__global__ void multiply_kernel(Layout layout, CudaArrays<T> a, T* y) {
  FOR_EACH_PLACE(p, layout.rows()) y[p] = static_cast<T>(row_product(layout, a, p).value());
}

/// The larger of two magnitudes; NaN wins.
__device__ double worse(double a, double b) { return b > a || isnan(b) ? b : a; }

__device__ void raise(unsigned long long& to, double value) {
  atomicMax(&to, static_cast<unsigned long long>(__double_as_longlong(fabs(value))));
}

template <typename T>
__global__ void find_errors_kernel(Layout layout, CudaArrays<T> a, const T* y, ErrorParts* parts) {
  double residual = 0, matrix = 0, largest_x = 0, largest_y = 0;
  FOR_EACH_PLACE(p, layout.rows()) {
    WideSum sum = row_product(layout, a, p);
    sum.add(-1, y[p]);
    residual = worse(residual, fabs(sum.value()));
    matrix = worse(matrix, fabs(double(a.lower[p])) + fabs(double(a.diag[p])) + fabs(double(a.upper[p])));
    largest_x = worse(largest_x, fabs(double(a.x[p])));
    largest_y = worse(largest_y, fabs(double(y[p])));
  }
  raise(parts->residual, residual);
  raise(parts->matrix, matrix);
  raise(parts->x, largest_x);
  raise(parts->y, largest_y);
}

/// What a thread of the stream reads at once.
template <typename T>
struct alignas(16) Vector {
  static constexpr int kSize = 16 / sizeof(T);
  T at[kSize];
};

template <typename T>
__global__ void stream_kernel(Index n, const T* a, const T* b, const T* c, const T* y, T* x) {
  constexpr int kSize = Vector<T>::kSize;
  const Index first = (static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x) * kSize;
  if (first + kSize <= n) {
    const auto load = [&](const T* from) { return *reinterpret_cast<const Vector<T>*>(from + first); };
    const Vector<T> va = load(a), vb = load(b), vc = load(c), vy = load(y);
    Vector<T> sum;
    for (int i = 0; i < kSize; ++i) sum.at[i] = (va.at[i] + vb.at[i]) + (vc.at[i] + vy.at[i]);
    *reinterpret_cast<Vector<T>*>(x + first) = sum;
  } else {
    for (Index i = first; i < n; ++i) x[i] = (a[i] + b[i]) + (c[i] + y[i]);
  }
}

template <typename T>
__global__ void transpose_kernel(Index rows, Index columns, const T* from, T* to) {
  __shared__ T tile[kTile][kTile + 1];  // one more, so that a column lies in all banks
  const Index row = static_cast<Index>(blockIdx.y) * kTile, column = static_cast<Index>(blockIdx.x) * kTile;
  for (int i = threadIdx.y; i < kTile; i += kTileRows) {
    const Index r = row + i, c = column + threadIdx.x;
    if (r < rows && c < columns) tile[i][threadIdx.x] = from[r * columns + c];
  }
  __syncthreads();
  for (int i = threadIdx.y; i < kTile; i += kTileRows) {
    const Index c = column + i, r = row + threadIdx.x;
    if (r < rows && c < columns) to[c * rows + r] = tile[threadIdx.x][i];
  }
}

}  // namespace

template <typename T>
void fill_bands(const Layout& layout, double dominance, std::uint64_t seed, const CudaArrays<T>& bands) {
  fill_bands_kernel<<<blocks_for(layout.rows()), kThreads>>>(layout, dominance, seed, bands);
}

template <typename T>
void fill_solution(Index n, std::uint64_t seed, T* x) {
  fill_solution_kernel<<<blocks_for(n), kThreads>>>(n, seed, x);
}

template <typename T>
void multiply(const Layout& layout, const CudaArrays<T>& a, T* y) {
  multiply_kernel<<<blocks_for(layout.rows()), kThreads>>>(layout, a, y);
}

template <typename T>
void find_errors(const Layout& layout, const CudaArrays<T>& a, const T* y, ErrorParts* parts) {
  find_errors_kernel<<<blocks_for(layout.rows()), kThreads>>>(layout, a, y, parts);
}

template <typename T>
void stream(Index n, const T* a, const T* b, const T* c, const T* y, T* x) {
  constexpr Index kRows = kThreads * Vector<T>::kSize;  // of a block
  stream_kernel<<<static_cast<unsigned>((n + kRows - 1) / kRows), kThreads>>>(n, a, b, c, y, x);
}

template <typename T>
void transpose(Index rows, Index columns, const T* from, T* to) {
  const dim3 grid(static_cast<unsigned>((columns + kTile - 1) / kTile),
                  static_cast<unsigned>((rows + kTile - 1) / kTile));
  transpose_kernel<<<grid, dim3(kTile, kTileRows)>>>(rows, columns, from, to);
}

#define OCLSPKT_INSTANTIATE(T)                                                           \
  template void fill_bands(const Layout&, double, std::uint64_t, const CudaArrays<T>&);  \
  template void fill_solution(Index, std::uint64_t, T*);                                 \
  template void multiply(const Layout&, const CudaArrays<T>&, T*);                       \
  template void find_errors(const Layout&, const CudaArrays<T>&, const T*, ErrorParts*); \
  template void stream(Index, const T*, const T*, const T*, const T*, T*);               \
  template void transpose(Index, Index, const T*, T*);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::bench::gpu
