// SPDX-License-Identifier: BSD-2-Clause
// What tests of vectors on devices share.
#pragma once

#include "devices.hpp"
#include "space.hpp"

namespace oclspkt::test {

template <typename T>
using Vector = std::vector<T>;
template <typename T>
using Array = std::unique_ptr<SpaceArray<T>>;

template <typename T>
constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
template <typename T>
constexpr T kInf = std::numeric_limits<T>::infinity();

template <typename T>
Array<T> bring(Space<T>& space, const Vector<T>& numbers) {
  Array<T> array = space.make(static_cast<Index>(numbers.size()));
  space.bring(numbers.data(), *array);
  return array;
}

template <typename T>
Vector<T> take(Space<T>& space, const SpaceArray<T>& array) {
  Vector<T> numbers(static_cast<std::size_t>(array.size()));
  space.take(array, numbers.data());
  return numbers;
}

template <typename T>
Vector<T> draw(Index n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  Vector<T> x(static_cast<std::size_t>(n));
  for (T& of : x) of = static_cast<T>(number(random));
  return x;
}

template <typename T>
bool same_number(T a, T b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

template <typename T>
void expect_same(const Vector<T>& seen, const Vector<T>& expected) {
  ASSERT_EQ(seen.size(), expected.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    ASSERT_TRUE(same_number(seen[i], expected[i])) << "place " << i << ": " << seen[i] << " for " << expected[i];
  }
}

/// One of unlike lengths: none, less than a vector, less than a work-group, on and beside whole ones, many.
inline constexpr Index kLengths[] = {0, 1, 2, 3, 5, 8, 255, 256, 511, 512, 513, 1024, 4097, 100003};

/// Numbers and factors whose sums are exact, so that their order and fused products do not matter.
template <typename T>
Vector<T> draw_short(Index n, unsigned seed) {
  std::mt19937 random(seed);
  Vector<T> x(static_cast<std::size_t>(n));
  for (T& of : x) of = static_cast<T>(static_cast<int>(random() % 201) - 100);
  return x;
}

/// Spaces live as long as the suite: a new one builds its kernels anew.
template <typename T>
class KeptSpaces : public testing::Test {
 protected:
  static void TearDownTestSuite() { spaces.clear(); }
  static std::shared_ptr<Space<T>> space_of(const DeviceInfo& info, Variant variant) {
    return spaces.emplace_back(make_space<T>(info.index, variant));
  }

 private:
  static inline std::vector<std::shared_ptr<Space<T>>> spaces;
};

template <typename T>
class SpaceOnDevice : public KeptSpaces<T> {
 protected:
  /// Call f(space) for the kernels of each device, and for those for GPUs on all but emulators: they build slowly.
  template <typename F>
  void on_every_space(const F& f) {
    on_every_device<T>([&](const DeviceInfo& info) { f(*this->space_of(info, Variant::by_type)); });
    on_every_device<T>([&](const DeviceInfo& info) {
      if (info.emulated) return;
      SCOPED_TRACE("kernels for GPUs");
      f(*this->space_of(info, Variant::gpu));
    });
  }
  SumValue<T> sum(Space<T>& space, SumKind kind, const Vector<T>& x) {
    const Array<T> array = bring(space, x);
    SumValue<T> value;
    space.sums(std::vector<SumOf<T>>{{kind, array.get(), nullptr}}, {&value, 1});
    return value;
  }
};

}  // namespace oclspkt::test
