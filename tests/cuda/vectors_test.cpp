// SPDX-License-Identifier: BSD-2-Clause
// OpenCL C's vectors in C++ (kernels/cuda/vectors.cuh), against what the OpenCL C specification says of them.
#include <gtest/gtest.h>
#include <math.h>
#include <string.h>

#include <limits>
#include <type_traits>

#define OPENCL_SIZE_T std::size_t
#include "cuda/vectors.cuh"

namespace opencl {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

static_assert(sizeof(float2) == 8 && alignof(float2) == 8 && sizeof(float4) == 16 && alignof(float4) == 16);
static_assert(sizeof(double2) == 16 && alignof(double2) == 16 && sizeof(double16) == 128 && alignof(double16) == 128);
static_assert(std::is_trivially_copyable_v<float4> && std::is_trivially_default_constructible_v<double8>);
static_assert(std::is_same_v<float4::mask, int4> && std::is_same_v<double2::mask, long2>);
static_assert(std::is_same_v<decltype(float4() < float4()), int4>);
static_assert(std::is_same_v<decltype(double16() == double16()), long16>);
static_assert(std::is_same_v<decltype(isfinite(double8())), long8>);
static_assert(std::is_same_v<decltype(1 - float4()), float4> && std::is_same_v<decltype(float2() * 2.0f), float2>);

template <typename V>
struct Number;
template <typename T, int N>
struct Number<Vector<T, N>> {
  using type = T;
  static constexpr int count = N;
};

template <typename V>
typename Number<V>::type at(V v, int i) {
  typename Number<V>::type all[Number<V>::count];
  memcpy(all, &v, sizeof v);
  return all[i];
}

/// first, first + step, ...
template <typename V>
V ramp(int first, int step = 1) {
  typename Number<V>::type all[Number<V>::count];
  for (int i = 0; i < Number<V>::count; ++i) all[i] = static_cast<typename Number<V>::type>(first + i * step);
  V v;
  memcpy(&v, all, sizeof v);
  return v;
}

template <typename V>
class VectorsOf : public testing::Test {};
using Types = testing::Types<float2, float4, float8, float16, double2, double4, double8, double16, int4, long8>;
TYPED_TEST_SUITE(VectorsOf, Types);

TYPED_TEST(VectorsOf, ComputeComponentByComponent) {
  const auto a = ramp<TypeParam>(3, 2), b = ramp<TypeParam>(1, 3);
  const TypeParam results[] = {a + b, a - b, a * b, a / b, -a, 2 * a, a + 1, min(a, b), max(a, b), clamp(a, b, b + 2)};
  for (int i = 0; i < Number<TypeParam>::count; ++i) {
    const auto x = at(a, i), y = at(b, i);
    const decltype(at(a, i)) expected[] = {x + y, x - y, x * y,          x / y,          -x,
                                           2 * x, x + 1, std::min(x, y), std::max(x, y), std::clamp(x, y, y + 2)};
    for (std::size_t k = 0; k < std::size(results); ++k) EXPECT_EQ(at(results[k], i), expected[k]) << k << " at " << i;
  }
  TypeParam c = a;
  c += b;
  c *= 2;
  EXPECT_EQ(at(c, 1), 2 * (at(a, 1) + at(b, 1)));
}

TYPED_TEST(VectorsOf, CompareToMinusOneAndZero) {
  const auto a = ramp<TypeParam>(0), b = TypeParam(1);
  for (int i = 0; i < Number<TypeParam>::count; ++i) {
    EXPECT_EQ(at(a < b, i), i < 1 ? -1 : 0);
    EXPECT_EQ(at(a <= b, i), i <= 1 ? -1 : 0);
    EXPECT_EQ(at(a > b, i), i > 1 ? -1 : 0);
    EXPECT_EQ(at(a >= b, i), i >= 1 ? -1 : 0);
    EXPECT_EQ(at(a == b, i), i == 1 ? -1 : 0);
    EXPECT_EQ(at(a != b, i), i != 1 ? -1 : 0);
    EXPECT_EQ(at(~(a < b) & (a < 2), i), i == 1 ? -1 : 0);
    EXPECT_EQ(at(select(a, b, a < b), i), i < 1 ? 1 : i);
  }
  EXPECT_TRUE(any(a < b));
  EXPECT_FALSE(all(a < b));
  EXPECT_TRUE(all(a < 99));
  EXPECT_FALSE(any(a > 99));
}

TYPED_TEST(VectorsOf, LoadAndStoreAnywhere) {
  constexpr int kCount = Number<TypeParam>::count;
  using T = typename Number<TypeParam>::type;
  T memory[3 * kCount + 1] = {};
  const auto v = ramp<TypeParam>(5);
  Storage<TypeParam>::store(v, memory + 1);  // not aligned
  for (int i = 0; i < 3 * kCount + 1; ++i) EXPECT_EQ(memory[i], i >= 1 && i <= kCount ? T(4 + i) : T(0));
  EXPECT_TRUE(all(Storage<TypeParam>::load(memory + 1) == v));
}

TEST(Vectors, OfFloatsAreFusedTestedAndTakenForIntegers) {
  const float4 a(1, kNan, -kInf, -0.0f);
  EXPECT_EQ(at(isfinite(a), 0), -1);
  EXPECT_EQ(at(isfinite(a), 1), 0);
  EXPECT_EQ(at(isfinite(a), 2), 0);
  EXPECT_EQ(at(isfinite(a), 3), -1);
  EXPECT_EQ(at(isnan(a), 1), -1);
  EXPECT_EQ(at(isinf(a), 2), -1);
  EXPECT_EQ(at(signbit(a), 3), -1);
  EXPECT_EQ(at(a == a, 1), 0);  // NOLINT
  EXPECT_EQ(at(fabs(a), 2), kInf);
  EXPECT_EQ(at(as_int4(a), 3), std::numeric_limits<int>::min());
  EXPECT_EQ(at(as_float4(as_int4(a) ^ std::numeric_limits<int>::min()), 0), -1);
  const float one_up = 1 + 0x1p-23f;
  EXPECT_EQ(at(fma(float2(one_up), float2(one_up), float2(-1)), 0), 0x1p-22f + 0x1p-46f);
  EXPECT_EQ(at(fmin(a, 0.5f), 1), 0.5f);  // a NaN loses
  EXPECT_EQ(isfinite(kNan), 0);
  EXPECT_EQ(isfinite(0x1.fffffep127f), 1);
  EXPECT_EQ(isfinite(-std::numeric_limits<double>::infinity()), 0);
  EXPECT_EQ(select(1.0f, 2.0f, 1), 2.0f);
  EXPECT_EQ(select(1.0, 2.0, 0L), 1.0);
}

TEST(Vectors, ChangeTheirType) {
  const float4 narrow = convert_float4(double4(1.0 / 3, 2, -3.75, 0));
  EXPECT_EQ(narrow.s0, static_cast<float>(1.0 / 3));
  EXPECT_EQ(at(convert_int4(narrow), 2), -3);
  EXPECT_EQ(at(convert_double4(narrow), 0), static_cast<double>(narrow.x));
  EXPECT_EQ(as_long(-0.0), std::numeric_limits<long>::min());
}

TEST(Vectors, HaveTheNamesOfOpenCl) {
  double memory[20];
  for (int i = 0; i < 20; ++i) memory[i] = i;
  const double4 v = vload4(1, memory + 1);
  EXPECT_EQ(v.s0, 5);
  EXPECT_EQ(v.s3, 8);
  EXPECT_EQ(v.w, 8);
  vstore2(double2(-1, -2), 3, memory);
  EXPECT_EQ(memory[6], -1);
  EXPECT_EQ(memory[7], -2);
  EXPECT_EQ(at(vload16(0, memory + 3), 15), 18);
  const float8 wide(float4(1, 2, 3, 4), float4(5));
  EXPECT_EQ(wide.hi.s1, 5);
  EXPECT_EQ(wide.lo.y, 2);
}

}  // namespace
}  // namespace opencl
