// SPDX-License-Identifier: BSD-2-Clause
#include "stream.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "stream_kernel.hpp"

namespace oclspkt::bench {
namespace {

template <typename T>
using Kernel = void (*)(const T*, const T*, const T*, const T*, T*, std::int64_t);

/// Every kernel that this processor can run.
template <typename T>
std::vector<Kernel<T>> kernels() {
  std::vector<Kernel<T>> all{baseline::stream};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx")) all.push_back(avx::stream);
  if (__builtin_cpu_supports("avx512f")) all.push_back(avx512::stream);
#endif
  return all;
}

template <typename T>
class Stream : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Stream, Scalars);

/// Whole numbers, so that the sums are exact and in any order the same.
template <typename T>
std::vector<T> numbers(std::int64_t n, int factor) {
  std::vector<T> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<T>(static_cast<int>(i) * factor % 1000);
  return v;
}

TYPED_TEST(Stream, AddsAllFourArraysWhereverTheyBeginAndEnd) {
  using T = TypeParam;
  constexpr std::int64_t most = 150;
  const auto a = numbers<T>(most, 1), b = numbers<T>(most, 7), c = numbers<T>(most, 31), y = numbers<T>(most, 101);
  for (const Kernel<T> kernel : kernels<T>()) {
    for (std::int64_t first = 0; first < 17; ++first) {
      for (const std::int64_t n : {0, 1, 2, 15, 16, 17, 33, 64, 131}) {
        AlignedArray<T> x(most);
        std::fill(x.data(), x.data() + most, T(-1));
        kernel(a.data() + first, b.data() + first, c.data() + first, y.data() + first, x.data() + first, n);
        for (std::int64_t i = 0; i < most; ++i) {
          const auto at = static_cast<std::size_t>(i);
          const T expected = i >= first && i < first + n ? a[at] + b[at] + c[at] + y[at] : T(-1);
          ASSERT_EQ(x[i], expected) << "row " << i << ", first " << first << ", n " << n;
        }
      }
    }
  }
}

TYPED_TEST(Stream, CoversEveryRowWithAnyNumberOfThreads) {
  using T = TypeParam;
  for (const Index n : {Index(1), Index(511), Index(512), Index(513), Index(5003)}) {
    const auto a = numbers<T>(n, 1);
    AlignedArray<T> x(n);
    std::fill(x.data(), x.data() + n, T(-1));
    stream(StreamArrays<T>{a.data(), a.data(), a.data(), a.data(), x.data(), n});
    for (Index i = 0; i < n; ++i) ASSERT_EQ(x[i], 4 * a[static_cast<std::size_t>(i)]) << "row " << i << " of " << n;
  }
}

}  // namespace
}  // namespace oclspkt::bench
