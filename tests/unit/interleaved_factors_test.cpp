// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/lanes/interleaved_factors.hpp"
#include "geometry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "matrices.hpp"
#include "schemes/lanes/lane_plans.hpp"

namespace oclspkt {
namespace {

template <typename T>
class Interleaved : public ::testing::Test {
 protected:
  static constexpr double eps = std::numeric_limits<T>::epsilon();

  static Plan plan(Index n, Index m, Index reach = 0) {
    return make_stored_plan(n, reach, m, sizeof(T), {.lanes = 4, .cores = 2});
  }

  static Factors<T> factors(const LineSet& lines) {
    Bands<T> bands = test::random_dominant<T>(lines, 1.5);
    bands.close_lines();
    Factors<T> factors;
    factors.factor(lines, bands.view(), Form::general);
    return factors;
  }
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Interleaved, Scalars);

TYPED_TEST(Interleaved, HoldsRowsOfPartitionsSideBySide) {
  using T = TypeParam;
  for (const Index n : {1, 2, 3, 15, 16, 17, 63, 64, 65, 997}) {
    const Plan plan = this->plan(n, 16);
    const Factors<T> factors = this->factors(LineSet::one(n));
    InterleavedFactors<T> interleaved;
    interleaved.interleave(plan, factors.view(), n);
    ASSERT_EQ(interleaved.words(), plan.tiles() * plan.tile_rows());
    const FactorsView<T> f = factors.view(), g = interleaved.view();
    std::vector<int> seen(static_cast<std::size_t>(interleaved.words()));
    for (Index row = 0; row < interleaved.words(); ++row) {
      const Index partition = row / plan.m, tile = partition / plan.lanes;
      const Index at = (tile * plan.m + row % plan.m) * plan.lanes + partition % plan.lanes;
      ++seen[static_cast<std::size_t>(at)];
      // Behind the system stand rows of the identity.
      EXPECT_EQ(g.multiplier[at], row < n ? f.multiplier[row] : T(0)) << "row " << row << " of " << n;
      EXPECT_EQ(g.reciprocal[at], row < n ? f.reciprocal[row] : T(1)) << "row " << row << " of " << n;
      EXPECT_EQ(g.coupling[at], row < n ? f.coupling[row] : T(0)) << "row " << row << " of " << n;
    }
    EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
  }
}

TYPED_TEST(Interleaved, KnowsWhatPassesThroughPartitions) {
  using T = TypeParam;
  const Index n = 230, m = 16;
  const Factors<T> factors = this->factors(LineSet::one(n));
  const FactorsView<T> f = factors.view();
  for (const Index reach : {Index{0}, Index{8}, m}) {
    const Plan plan = this->plan(n, m, reach);
    InterleavedFactors<T> interleaved;
    interleaved.interleave(plan, f, n);
    for (Index k = 0; k < plan.tiles() * plan.lanes; ++k) {
      // Nothing passes where what enters gets to the first rows only, nor beyond the system.
      double down = reach == 8 || (k + 1) * m > n ? 0 : 1, up = down;
      for (Index i = k * m; i < std::min(n, (k + 1) * m); ++i) {
        down *= -static_cast<double>(f.multiplier[i]);
        up *= -static_cast<double>(f.coupling[i]);
      }
      EXPECT_NEAR(interleaved.down()[k], down, 2 * m * this->eps * std::abs(down)) << "partition " << k;
      EXPECT_NEAR(interleaved.up()[k], up, 2 * m * this->eps * std::abs(up)) << "partition " << k;
    }
  }
}

TYPED_TEST(Interleaved, CouplingsAreMultipliersOfSymmetricMatrices) {
  using T = TypeParam;
  for (const Index n : {1, 15, 16, 17, 63, 64, 65, 997}) {
    const LineSet lines = LineSet::one(n);
    Bands<T> bands = test::random_symmetric<T>(lines, 1.5);
    bands.close_lines();
    Factors<T> factors;
    factors.factor(lines, bands.view(), Form::general);
    const Plan general = this->plan(n, 16);
    Plan plan = general;
    ASSERT_TRUE(make_symmetric(plan, sizeof(T), {.lanes = 4, .cores = 2}));
    InterleavedFactors<T> all, some;
    all.interleave(general, factors.view(), n);
    some.interleave(plan, factors.view(), n);
    EXPECT_EQ(some.view().multiplier, nullptr);
    for (Index at = 0; at < all.words(); ++at) {
      const Index tile = at / general.tile_rows(), to = at + tile * plan.lanes;
      EXPECT_EQ(some.view().coupling[to], all.view().multiplier[at]) << at << " of " << n;
      EXPECT_EQ(some.view().coupling[to + plan.lanes], all.view().coupling[at]) << at << " of " << n;
      EXPECT_EQ(some.view().reciprocal[to], all.view().reciprocal[at]) << at << " of " << n;
    }
    EXPECT_TRUE(std::equal(all.down(), all.down() + plan.tiles() * plan.lanes, some.down()));
    EXPECT_TRUE(std::equal(all.up(), all.up() + plan.tiles() * plan.lanes, some.up()));
  }
}

TEST(InterleavedNarrow, HoldsFloatsAndTheirProducts) {
  const Index n = 997, m = 16;
  Bands<double> bands = test::random_symmetric<double>(LineSet::one(n), 1.5);
  bands.close_lines();
  Factors<double> factors;
  factors.factor(bands.lines(), bands.view(), Form::general);
  const DeviceTraits traits{.lanes = 4, .cores = 2};
  for (const bool symmetric : {false, true}) {
    Plan plan = make_stored_plan(n, 0, m, sizeof(double), traits);
    ASSERT_EQ(symmetric && make_symmetric(plan, sizeof(double), traits), symmetric);
    InterleavedFactors<double> wide, narrow;
    wide.interleave(plan, factors.view(), n);
    plan.narrow = true;
    narrow.interleave(plan, factors.view(), n);
    EXPECT_EQ(narrow.view().coupling, nullptr);
    ASSERT_EQ(narrow.words(), wide.words());
    for (Index at = 0; at < wide.words(); ++at) {
      EXPECT_EQ(narrow.narrow_view().coupling[at], static_cast<float>(wide.view().coupling[at]));
      EXPECT_EQ(narrow.narrow_view().reciprocal[at], static_cast<float>(wide.view().reciprocal[at]));
      if (symmetric) continue;
      EXPECT_EQ(narrow.narrow_view().multiplier[at], static_cast<float>(wide.view().multiplier[at]));
    }
    for (Index k = 0; k < n / m; ++k) {
      double down = 1;
      for (Index i = k * m; i < (k + 1) * m; ++i)
        down *= -static_cast<double>(static_cast<float>(factors.view().multiplier[i]));
      EXPECT_EQ(narrow.down()[k], down) << "partition " << k;
    }
    EXPECT_LT(narrow.bytes(), wide.bytes() * 2 / 3);
    // The other type's memory goes when the type changes.
    plan.narrow = false;
    narrow.interleave(plan, factors.view(), n);
    EXPECT_EQ(narrow.narrow_view().coupling, nullptr);
    EXPECT_EQ(narrow.bytes(), wide.bytes());
  }
}

TYPED_TEST(Interleaved, KeepsTheRowsOfTheTilesThatStandForOthers) {
  using T = TypeParam;
  const Index n = 10 * 64 + 7;
  Plan plan = this->plan(n, 16);
  plan.as<StoredFactors>().lead_in = 16;
  ASSERT_TRUE(share_rows(plan, plan.n));
  const Bands<T> bands = test::random_dominant<T>(LineSet::one(n), 1.5), kept = kept_rows(plan, bands.view());
  ASSERT_EQ(kept.lines().rows(), 2 * 64 + 7);
  for (Index i = 1; i < kept.lines().rows() - 1; ++i) {
    const Index row = i < 2 * 64 ? i : i - 2 * 64 + 10 * 64;
    EXPECT_EQ(kept.view().lower[i], bands.view().lower[row]);
    EXPECT_EQ(kept.view().diag[i], bands.view().diag[row]);
    EXPECT_EQ(kept.view().upper[i], bands.view().upper[row]);
  }
}

TYPED_TEST(Interleaved, TakesAnotherPlanAnew) {
  using T = TypeParam;
  InterleavedFactors<T> interleaved;
  interleaved.interleave(this->plan(230, 16), this->factors(LineSet::equal(5, 46)).view(), 230);
  const Plan small = this->plan(3, 16);
  interleaved.interleave(small, this->factors(LineSet::one(3)).view(), 3);
  EXPECT_EQ(interleaved.words(), small.tiles() * small.tile_rows());
}

}  // namespace
}  // namespace oclspkt
