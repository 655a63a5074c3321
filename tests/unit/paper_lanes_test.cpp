// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/paper/paper_lanes.hpp"

#include <gtest/gtest.h>

#include "fpga_operations.hpp"
#include "paper_lanes_model.hpp"
#include "paper_support.hpp"
#include "schemes/paper/paper_form.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {
namespace test {

template <>
inline bool is_zero(const Counted& number) {
  return number.value() == 0;
}

}  // namespace test
namespace {

/// A CPU with vectors of 64 bytes.
const DeviceTraits kPaperCpu{.lanes = 8, .tile_lanes = 8, .cores = 4, .paper = true};
constexpr const char* kLanesPaper = "lanes-paper";

Plan lanes_plan(Index n, Index m, Index m_min, const DeviceTraits& traits = kPaperCpu) {
  return make_paper_lanes_plan(n, m, m_min, kLanesPaper, 8, traits);
}

TEST(PaperLanes, HasAPartitionForEachLaneOfEachCore) {
  const Index m = paper_lanes_partition(1'000'000, 8, kPaperCpu);
  const Plan plan = lanes_plan(1'000'000, m, 64);
  EXPECT_EQ(plan.method, Method::truncated_halo);
  EXPECT_EQ(plan.tiles(), 4);
  EXPECT_EQ(plan.runs, 4);
  EXPECT_EQ(plan.partitions(), 32);
  EXPECT_EQ(m / 16 % 2, 1) << "powers of two collide in the caches";
  EXPECT_EQ(plan.chunk_tiles, 4);
  EXPECT_EQ(paper_lanes_tiles(plan, 4), 4) << "no neighbours";
  EXPECT_EQ(paper_lanes_tiles(plan, 2), 3);
  EXPECT_EQ(paper_lanes_tiles(plan, 0), 0);
}

TEST(PaperLanes, LengthensPartitionsThatAreTooShortForMMin) {
  for (const Index n : {1, 2, 3, 100, 5000}) {
    for (const Index m_min : {1, 8, 100, 1000}) {
      const Plan plan = lanes_plan(n, paper_lanes_partition(n, 8, kPaperCpu), m_min);
      EXPECT_GE(plan.as<PaperLanes>().m_min, m_min);
      EXPECT_EQ(plan.as<PaperLanes>().m_min % kPaperLanesQuantum, 0);
      EXPECT_GE(plan.m, plan.as<PaperLanes>().swept_up());
      EXPECT_EQ(plan.m % plan.lanes, 0);
    }
  }
  EXPECT_EQ(lanes_plan(0, 8, 8).tiles(), 0);
}

TEST(PaperLanes, FollowsTheLimitsOfTheMemory) {
  DeviceTraits traits = kPaperCpu;
  traits.memory_bytes = 12 * 8 * 100'000;
  const Plan plan = lanes_plan(1'000'000, paper_lanes_partition(1'000'000, 8, traits), 64, traits);
  EXPECT_GE(plan.chunk_tiles, traits.cores);
  EXPECT_LE((plan.chunk_tiles + 1) * plan.tile_rows(), 100'000);
  traits.memory_bytes = 1000;
  EXPECT_EQ(lanes_plan(1'000'000, 64, 8, traits).chunk_tiles, 0);
}

TEST(PaperLanes, HasACertificateThatCoversTheTrueError) {
  const Index n = 3001;
  for (const auto& [m, m_min] : {std::pair<Index, Index>{16, 8}, {40, 16}, {104, 8}, {104, 48}, {1000, 96}}) {
    const Plan plan = lanes_plan(n, m, m_min);
    const auto expect_covered = [&, m_min = m_min](const Bands<double>& bands) {
      SCOPED_TRACE("m_min " + std::to_string(m_min));
      const Certificate certificate = certify_paper_lanes(plan, bands.view());
      if (certificate.growth <= 5) test::expect_covered(plan, bands, certificate);
    };
    for (const double lambda : {0.1, 1.0, 10.0, 1e3}) {
      expect_covered(test::closed(test::diffusion<double>(LineSet::one(n), lambda)));
    }
    for (const bool against : {false, true}) {
      expect_covered(test::closed(test::upwind<double>(LineSet::one(n), 10, against)));
    }
    for (const double d : {1.05, 1.2, 1.5, 3.0, 10.0}) {
      expect_covered(test::closed(test::random_dominant<double>(LineSet::one(n), d)));
    }
  }
}

TEST(PaperLanes, CoversSystemsOfAnySize) {
  for (const Index n : {1, 2, 3, 7, 15, 16, 17, 31, 47, 48, 49, 95, 97, 811}) {
    const Plan plan = lanes_plan(n, 48, 16);
    for (const double d : {1.05, 2.0, 10.0}) {
      const Bands<double> bands = test::closed(test::random_dominant<double>(LineSet::one(n), d));
      test::expect_covered(plan, bands, certify_paper_lanes(plan, bands.view()));
    }
  }
}

TEST(PaperLanes, IsTruncatedHalfOfMMinAway) {
  const Index n = 3001;
  const Bands<double> bands = test::closed(test::diffusion<double>(LineSet::one(n), 10));
  for (const Index m_min : {32, 64}) {
    const Plan plan = lanes_plan(n, 400, m_min);
    const double bound = certify_paper_lanes(plan, bands.view()).bound;
    const double error = test::true_error(plan, bands, test::solutions(n)[0]).error;
    EXPECT_GE(error, 0.3 * bound) << m_min;
    EXPECT_GE(bound, std::pow(1.38, -static_cast<double>(m_min / 2 + 1))) << m_min;
    EXPECT_LE(bound, bound_halves(1.36, m_min)) << m_min;
  }
}

TEST(PaperLanes, FollowsFromTheDominanceOfRowsAlone) {
  const Index n = 2000;
  for (const double d : {1.05, 1.2, 1.5, 3.0}) {
    const Bands<double> bands = test::closed(test::random_dominant<double>(LineSet::one(n), d));
    for (const auto& [m, m_min] : {std::pair<Index, Index>{16, 8}, {104, 32}, {104, 48}}) {
      EXPECT_LE(certify_paper_lanes(lanes_plan(n, m, m_min), bands.view()).bound, bound_halves(d, m_min))
          << d << ", " << m_min;
    }
  }
}

TEST(PaperLanes, LosesWithWhatIsNoNumberAndStopsWhereItDoesNotHold) {
  const Index n = 1000;
  Bands<double> bands = test::closed(test::diffusion<double>(LineSet::one(n), 1e4));
  const Plan plan = lanes_plan(n, 32, 16);
  const Certificate first = certify_paper_lanes(plan, bands.view(), 1e-10);
  EXPECT_GT(first.bound, 1e-10);
  EXPECT_EQ(first.partition, 0);
  EXPECT_GE(certify_paper_lanes(plan, bands.view()).bound, first.bound);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (const Index row : {0, 500, 520, 999}) {
      const double was = std::exchange(bands.diag()[row], bad);
      EXPECT_FALSE(certify_paper_lanes(plan, bands.view()).bound <= 1e300) << bad << ", row " << row;
      bands.diag()[row] = was;
    }
  }
}

TEST(PaperLanes, GetTheSmallestMMinThatHolds) {
  const LineSet one = LineSet::one(100'000);
  const auto expect = [&](Index m_min, auto bands) {
    const test::Proposed p = test::propose_on(kPaperCpu, std::move(bands));
    ASSERT_TRUE(p.proposal) << p.rejection.why;
    const Plan& plan = p.proposal->plan;
    ASSERT_TRUE(plan.has<PaperLanes>());
    EXPECT_LE(p.proposal->certificate, 1.2e-7);
    EXPECT_EQ(plan.as<PaperLanes>().m_min, m_min);
    EXPECT_NE(scheme_of(plan).shape(plan).find("variant paper"), std::string::npos);
  };
  expect(32, test::random_dominant<float>(one, 3));
  expect(32, test::random_dominant<double>(one, 10));
  // By dominance, 1.3 needs 120 rows.
  expect(120, test::random_dominant<float>(one, 1.3));
  const test::Proposed slow = test::propose_on(kPaperCpu, test::diffusion<double>(one, 5));
  ASSERT_TRUE(slow.proposal) << slow.rejection.why;
  const Plan& plan = slow.proposal->plan;
  const Index m_min = plan.as<PaperLanes>().m_min;
  EXPECT_GT(m_min, 128) << "followed";
  Bands<double> bands = test::closed(test::diffusion<double>(one, 5));
  const auto bound = [&](Index of) { return certify_paper_lanes(lanes_plan(100'000, plan.m, of), bands.view()).bound; };
  EXPECT_LE(bound(m_min), slow.proposal->certificate * (1 + 1e-12));
  EXPECT_GT(bound(m_min - kPaperLanesQuantum), std::numeric_limits<double>::epsilon());
}

TEST(PaperLanes, AreRefusedWhereTruncationShows) {
  test::expect_refused_where_truncation_shows(
      kPaperCpu, 1e8, {"in the paper's form: certificate", "raise rtol, or choose variant cpu"});
}

TEST(PaperLanes, LeaveFewWeakLinesToOthers) {
  Options options;
  options.partition = 400;
  test::expect_weak_line_left(kPaperCpu, options);
}

/// Operations and words of both kernels for one partition of m rows.
struct PartitionCounts {
  Operations operations;
  test::Traffic traffic;
};
PartitionCounts count_partition(Index m, Index m_min) {
  const auto count = [&](Index partitions) {
    const Plan plan = lanes_plan(partitions * m, m, m_min);
    test::Traffic traffic;
    test::PaperLanesArrays<Counted> a(plan, traffic);
    for (Index i = 0; i < a.rows; ++i) {
      a.lower.set(i, 1);
      a.diag.set(i, 4);
      a.upper.set(i, 1);
      a.y.set(i, 1);
    }
    traffic = {};
    Counted::counts() = {};
    test::spkfact(plan, a);
    test::spktrrec(plan, a);
    return PartitionCounts{Counted::counts(), traffic};
  };
  const PartitionCounts three = count(3), four = count(4);
  const Operations &a = three.operations, &b = four.operations;
  return {{b.add - a.add, b.mul - a.mul, b.div - a.div},
          {four.traffic.reads - three.traffic.reads, four.traffic.writes - three.traffic.writes}};
}

TEST(PaperLanes, DoAndMoveWhatThePageOfThePaperSays) {
  for (const auto& [m, m_min] : {std::pair<Index, Index>{400, 32}, {4000, 32}}) {
    const PartitionCounts one = count_partition(m, m_min);
    // A row that is swept takes 2 differences, 3 products and a division, one that is substituted 1 and 2; the first
    // row of each sweep has none above it, both systems at the cuts take 2 differences, 3 products and a division each.
    const Index swept = m + m_min - 2, back = m - 2;
    EXPECT_EQ(one.operations.add, 2 * swept + back + 4);
    EXPECT_EQ(one.operations.mul, 3 * swept + 4 + 2 * back + 6);
    EXPECT_EQ(one.operations.div, swept + 2 + 2);
    const double words = static_cast<double>(one.traffic.reads + one.traffic.writes) / static_cast<double>(m);
    constexpr double kMarshalling = 10;
    EXPECT_DOUBLE_EQ(words + kMarshalling, paper_lanes_words(lanes_plan(4 * m, m, m_min)));
    EXPECT_NEAR(words, 10 + 4.0 * static_cast<double>(m_min) / static_cast<double>(m), 24.0 / static_cast<double>(m));
  }
}

}  // namespace
}  // namespace oclspkt
