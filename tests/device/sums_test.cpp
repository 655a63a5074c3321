// SPDX-License-Identifier: BSD-2-Clause
// Numbers of vectors on every device: sums, norms, extremes.
#include "space_cases.hpp"

namespace oclspkt::test {
namespace {

template <typename T>
class SumsOnDevice : public SpaceOnDevice<T> {};

SCALAR_TEST(SumsOnDevice, AddsUp) {
  this->on_every_space([](Space<T>& space) {
    for (const Index n : kLengths) {
      const Vector<T> x = draw<T>(n, 7), y = draw<T>(n, 8);
      const Array<T> a = bring(space, x), b = bring(space, y);
      long double dot = 0, sum = 0, norm1 = 0, square = 0, products = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const long double of_x = x[i], of_y = y[i];
        dot += of_x * of_y;
        products += std::abs(of_x * of_y);
        sum += of_x;
        norm1 += std::abs(of_x);
        square += of_x * of_x;
      }
      const std::vector<SumOf<T>> wanted = {{SumKind::dot, a.get(), b.get()},
                                            {SumKind::sum, a.get()},
                                            {SumKind::norm1, a.get()},
                                            {SumKind::norm2, a.get()}};
      std::vector<SumValue<T>> values(wanted.size());
      space.sums(wanted, values);
      const double few = 64 * kEps<T>;
      EXPECT_NEAR(values[0].value, static_cast<double>(dot), few * static_cast<double>(products)) << n;
      EXPECT_NEAR(values[1].value, static_cast<double>(sum), few * static_cast<double>(norm1)) << n;
      EXPECT_NEAR(values[2].value, static_cast<double>(norm1), few * static_cast<double>(norm1)) << n;
      EXPECT_NEAR(values[3].value, static_cast<double>(std::sqrt(square)), few * static_cast<double>(std::sqrt(square)))
          << n;
    }
  });
}

SCALAR_TEST(SumsOnDevice, FindsExtremesAndTheirFirstPlaces) {
  this->on_every_space([&](Space<T>& space) {
    for (const Index n : kLengths) {
      if (n == 0) continue;
      Vector<T> x = draw<T>(n, 9);
      const auto size = static_cast<std::size_t>(n);
      if (n > 300) x[size / 2] = x[size - 2] = T(2), x[size / 3] = x[size / 3 + 1] = T(-3);
      const auto least = std::min_element(x.begin(), x.end()), greatest = std::max_element(x.begin(), x.end());
      const SumValue<T> low = this->sum(space, SumKind::least, x), high = this->sum(space, SumKind::greatest, x);
      EXPECT_EQ(low.value, *least) << n;
      EXPECT_EQ(low.place, least - x.begin()) << n;
      EXPECT_EQ(high.value, *greatest) << n;
      EXPECT_EQ(high.place, greatest - x.begin()) << n;
      EXPECT_EQ(this->sum(space, SumKind::largest_magnitude, x).value, std::max(-*least, *greatest)) << n;
    }
  });
}

SCALAR_TEST(SumsOnDevice, ExtremesPassNaNOverUnlessItIsTheFirst) {
  this->on_every_space([&](Space<T>& space) {
    Vector<T> x = draw<T>(5000, 10);
    x[700] = kNaN<T>;
    x[4000] = T(-7);
    EXPECT_EQ(this->sum(space, SumKind::least, x).place, 4000);
    EXPECT_TRUE(std::isnan(this->sum(space, SumKind::largest_magnitude, x).value));
    x[0] = kNaN<T>;
    EXPECT_TRUE(std::isnan(this->sum(space, SumKind::least, x).value));
    EXPECT_EQ(this->sum(space, SumKind::least, x).place, 0);
    EXPECT_TRUE(std::isnan(this->sum(space, SumKind::greatest, x).value));
    EXPECT_EQ(this->sum(space, SumKind::least, Vector<T>(3000, kInf<T>)).place, 0);
    Vector<T> late(3000, kNaN<T>);
    late[0] = late[2998] = -kInf<T>;
    EXPECT_EQ(this->sum(space, SumKind::greatest, late).place, 0);
    EXPECT_EQ(this->sum(space, SumKind::greatest, late).value, -kInf<T>);
    Vector<T> zeros(3000, T(1));
    zeros[1999] = T(-0.), zeros[2000] = T(0);
    EXPECT_EQ(this->sum(space, SumKind::least, zeros).place, 1999);
    EXPECT_TRUE(std::signbit(this->sum(space, SumKind::least, zeros).value));
    EXPECT_EQ(this->sum(space, SumKind::least, {}).place, -1);
    EXPECT_EQ(this->sum(space, SumKind::least, {}).value, kInf<T>);
    EXPECT_EQ(this->sum(space, SumKind::greatest, {}).value, -kInf<T>);
  });
}

SCALAR_TEST(SumsOnDevice, NormsNeitherOverflowNorUnderflow) {
  const bool is_double = sizeof(T) == sizeof(double);
  const T large = static_cast<T>(is_double ? 1e200 : 1e30), small = static_cast<T>(is_double ? 1e-200 : 1e-30);
  this->on_every_space([&](Space<T>& space) {
    for (const Index n : {1, 100, 4096, 50001}) {
      const auto size = static_cast<std::size_t>(n);
      const T root = static_cast<T>(std::sqrt(static_cast<double>(n)));
      const auto norm = [&](Vector<T> x) { return this->sum(space, SumKind::norm2, x).value; };
      // The others' squares are near the ends of the range, where sums of them are and sums of those sums.
      for (const double of : is_double ? std::vector{1e200, 1e153, 1e149, 1e-145, 1e-150, 1e-158, 1e-200}
                                       : std::vector{1e30, 1e18, 1e16, 1e-14, 1e-16, 1e-20, 1e-22, 1e-30}) {
        const T every = static_cast<T>(of);
        EXPECT_NEAR(norm(Vector<T>(size, every)) / every / root, 1, 64 * kEps<T>) << n << " times " << of;
      }
      Vector<T> mixed(size, small);
      mixed[size / 2] = T(3);
      EXPECT_NEAR(norm(mixed), 3, 24 * kEps<T>) << n;
      mixed[0] = large;
      EXPECT_NEAR(norm(mixed) / large, 1, 8 * kEps<T>) << n;
      mixed[size / 2] = kInf<T>;
      EXPECT_EQ(norm(mixed), kInf<T>) << n;
      mixed[size - 1] = kNaN<T>;
      EXPECT_TRUE(std::isnan(norm(mixed))) << n;
      EXPECT_TRUE(std::isnan(norm(Vector<T>(size, kNaN<T>)))) << n;
      EXPECT_EQ(norm(Vector<T>(size, T(0))), 0) << n;
    }
  });
}

SCALAR_TEST(SumsOnDevice, SumsHaveTheSameBitsAloneTogetherAndAgain) {
  this->on_every_space([](Space<T>& space) {
    const Index n = 70001;
    std::vector<Array<T>> arrays;
    std::vector<SumOf<T>> wanted;
    const Array<T> y = bring(space, draw<T>(n, 20));
    for (unsigned k = 0; k < 19; ++k) {
      arrays.push_back(bring(space, draw<T>(n, k)));
      wanted.push_back({SumKind::dot, arrays.back().get(), y.get()});
    }
    wanted.push_back({SumKind::norm2, y.get()});
    wanted.push_back({SumKind::least, y.get()});
    std::vector<SumValue<T>> together(wanted.size()), again(wanted.size());
    const std::int64_t waits = space.counts().waits;
    space.sums(wanted, together);
    EXPECT_EQ(space.counts().waits, waits + 1);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      SumValue<T> alone;
      space.sums({&wanted[k], 1}, {&alone, 1});
      EXPECT_EQ(alone.value, together[k].value) << k;
    }
    for (int run = 0; run < 20; ++run) {
      space.sums(wanted, again);
      for (std::size_t k = 0; k < wanted.size(); ++k) ASSERT_EQ(again[k].value, together[k].value) << k;
    }
  });
}

}  // namespace
}  // namespace oclspkt::test
