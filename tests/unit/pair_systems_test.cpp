// SPDX-License-Identifier: BSD-2-Clause
#include "pair_systems.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace oclspkt {
namespace {

/// A system, as both of its sides have it.
struct BothSides {
  PairSystems<double> first, second;
  void add(const PivotedRow<double>& a, const PivotedRow<double>& b, Index at) {
    first.add(a, b, false, at, at);
    second.add(a, b, true, at, at);
  }
};

TEST(PairSystems, SolveAsMuchAsWithPivotsAndGiveBothSidesTheSameBits) {
  // More than are solved at once.
  constexpr Index kCount = 100'000;
  std::mt19937 engine(7);
  std::uniform_real_distribution<double> unit(-1, 1);
  BothSides sides;
  std::vector<PivotedRow<double>> a, b;
  std::vector<double> f, g, x(kCount), y(kCount);
  int swapped = 0;
  for (Index i = 0; i < kCount; ++i) {
    a.push_back({NAN, i % 3 == 0 ? 1e-9 * unit(engine) : unit(engine), unit(engine), 1});
    b.push_back({unit(engine), unit(engine), NAN, 1});
    swapped += std::abs(b.back().lower) > std::abs(a.back().diag) ? 1 : 0;
    sides.add(a.back(), b.back(), i);
    f.push_back(unit(engine));
    g.push_back(unit(engine));
  }
  EXPECT_GT(swapped, kCount / 3);
  EXPECT_LT(swapped, kCount);
  sides.first.solve(f.data(), g.data(), x.data());
  sides.second.solve(g.data(), f.data(), y.data());
  constexpr double kFew = 10 * std::numeric_limits<double>::epsilon();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double of_a = std::abs(f[i]) + std::abs(a[i].diag * x[i]) + std::abs(a[i].upper * y[i]);
    const double of_b = std::abs(g[i]) + std::abs(b[i].lower * x[i]) + std::abs(b[i].diag * y[i]);
    const double most = kFew * (std::abs(x[i]) + std::abs(y[i]));  // rows of at most 1
    ASSERT_LE(std::abs(f[i] - a[i].diag * x[i] - a[i].upper * y[i]), kFew * of_a + most) << i;
    ASSERT_LE(std::abs(g[i] - b[i].lower * x[i] - b[i].diag * y[i]), kFew * of_b + most) << i;
  }
}

TEST(PairSystems, KeepNaNWhereNothingCouples) {
  BothSides sides;
  sides.add({0, 2, 0, 2}, {0, 4, 0, 4}, 0);  // uncoupled
  sides.add({0, 2, 1, 2}, {0, 4, 0, 4}, 1);  // the first row takes from the second
  const std::vector<double> f{8, 8}, nan{NAN, NAN};
  std::vector<double> x(2), y(2);
  sides.first.solve(f.data(), nan.data(), x.data());
  sides.second.solve(f.data(), nan.data(), y.data());
  EXPECT_EQ(x[0], 4);
  EXPECT_TRUE(std::isnan(x[1]));
  EXPECT_EQ(y, (std::vector<double>{2, 2}));
}

}  // namespace
}  // namespace oclspkt
