// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/paper/paper_form.hpp"
#include "schemes/scheme.hpp"

#include <gtest/gtest.h>

#include "paper_support.hpp"

namespace oclspkt {
namespace {

/// A GPU of many cores.
const DeviceTraits kPaperGpu{.cores = 132, .group_items = 1024, .local_bytes = 48 << 10, .paper = true};

TEST(PaperForm, TakesPartitionsThatStayInLocalMemory) {
  const Plan plan = make_paper_plan(1'000'000, kPaperRows, 4, kPaperGpu);
  EXPECT_EQ(plan.method, Method::truncated_halo);
  EXPECT_EQ(plan.items, 64);
  EXPECT_EQ(plan.tile_rows(), 64 * 32);
  EXPECT_TRUE(plan.as<PaperForm>().staged);
  EXPECT_DOUBLE_EQ(plan.words_per_row(), 20 + 6.0 / 32);
  EXPECT_EQ(make_paper_plan(1'000'000, kPaperRows, 8, kPaperGpu).items, 32);
  const Plan longer = make_paper_plan(1'000'000, 256, 8, kPaperGpu);
  EXPECT_EQ(longer.items, 64);
  EXPECT_FALSE(longer.as<PaperForm>().staged);
  EXPECT_DOUBLE_EQ(longer.words_per_row(), 24 + 5.0 / 256);
}

TEST(PaperForm, FollowsTheLimitsOfTheDevice) {
  DeviceTraits traits = kPaperGpu;
  traits.group_items = 48;
  EXPECT_EQ(make_paper_plan(1000, 32, 4, traits).items, 32);
  traits.local_bytes = 1;
  EXPECT_EQ(make_paper_plan(1000, 32, 4, traits).items, 1);
  traits = kPaperGpu;
  traits.memory_bytes = 12 * 4 * 5 * 2048;
  EXPECT_EQ(make_paper_plan(1'000'000, 32, 4, traits).chunk_tiles, 3);
  traits.memory_bytes = 1000;
  EXPECT_EQ(make_paper_plan(1'000'000, 32, 4, traits).chunk_tiles, 0);
  EXPECT_EQ(make_paper_plan(0, 32, 4, traits).tiles(), 0);
  EXPECT_EQ(make_paper_plan(5, 4096, 4, kPaperGpu).m, 32) << "hardly longer than the system";
}

TEST(PaperForm, HasACertificateThatCoversTheTrueError) {
  const Index n = 3001;
  for (const Index m : {1, 2, 7, 32, 33, 100, 3000, 3001}) {
    const Plan plan = make_paper_plan(n, m, 8, kPaperGpu);
    const auto expect_covered = [&](const Bands<double>& bands) {
      const Certificate certificate = certify_halves(plan, bands.view());
      if (certificate.growth <= 5) test::expect_covered(plan, bands, certificate);
    };
    for (const double lambda : {0.1, 1.0, 10.0, 1e3}) {
      expect_covered(test::closed(test::diffusion<double>(LineSet::one(n), lambda)));
    }
    for (const bool against : {false, true}) {
      expect_covered(test::closed(test::upwind<double>(LineSet::one(n), 10, against)));
    }
    for (const double d : {1.05, 1.5, 3.0}) {
      expect_covered(test::closed(test::random_dominant<double>(LineSet::one(n), d)));
    }
  }
}

TEST(PaperForm, IsTruncatedHalfAPartitionAway) {
  const Index n = 3001;
  const Bands<double> bands = test::closed(test::diffusion<double>(LineSet::one(n), 10));
  for (const Index m : {32, 33, 64}) {
    const Plan plan = make_paper_plan(n, m, 8, kPaperGpu);
    const double bound = certify_halves(plan, bands.view()).bound;
    const double error = test::true_error(plan, bands, test::solutions(n)[0]).error;
    EXPECT_GE(error, 0.3 * bound) << m;
    EXPECT_GE(bound, std::pow(1.38, -static_cast<double>(m / 2 + 1))) << m;
    EXPECT_LE(bound, bound_halves(1.36, m)) << m;
  }
}

TEST(PaperForm, FollowsFromTheDominanceOfRowsAlone) {
  const Index n = 2000;
  for (const double d : {1.2, 1.5, 3.0}) {
    const Bands<double> bands = test::closed(test::random_dominant<double>(LineSet::one(n), d));
    for (const Index m : {2, 16, 31, 32}) {
      const Certificate c = certify_halves(make_paper_plan(n, m, 8, kPaperGpu), bands.view());
      EXPECT_LE(c.bound, bound_halves(d, m)) << d << ", " << m;
    }
  }
  EXPECT_TRUE(std::isinf(bound_halves(1, 32)));
  EXPECT_TRUE(std::isinf(bound_halves(std::nan(""), 32)));
  EXPECT_EQ(bound_halves(std::numeric_limits<double>::infinity(), 32), 0);
}

TEST(PaperForm, LosesWithWhatIsNoNumberAndStopsWhereItDoesNotHold) {
  const Index n = 1000;
  Bands<double> bands = test::closed(test::diffusion<double>(LineSet::one(n), 1e4));
  const Plan plan = make_paper_plan(n, 32, 8, kPaperGpu);
  const Certificate first = certify_halves(plan, bands.view(), 1e-10);
  EXPECT_GT(first.bound, 1e-10);
  EXPECT_EQ(first.partition, 0);
  EXPECT_GE(certify_halves(plan, bands.view()).bound, first.bound);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    bands.diag()[500] = bad;
    EXPECT_FALSE(certify_halves(plan, bands.view()).bound <= 1e300) << bad;
  }
}

TEST(PaperForm, GetsPartitionsThatAreLongEnough) {
  const LineSet one = LineSet::one(100'000);
  const auto rows = [&](auto bands) {
    const test::Proposed p = test::propose_on(kPaperGpu, std::move(bands));
    EXPECT_TRUE(p.proposal) << p.rejection.why;
    if (!p.proposal) return Index{0};
    EXPECT_TRUE(p.proposal->plan.has<PaperForm>());
    EXPECT_LE(p.proposal->certificate, 1.2e-7);
    EXPECT_NE(scheme_of(p.proposal->plan).shape(p.proposal->plan).find("variant paper"), std::string::npos);
    return p.proposal->plan.m;
  };
  EXPECT_EQ(rows(test::random_dominant<float>(one, 3)), 32) << "as in the paper";
  EXPECT_EQ(rows(test::random_dominant<double>(one, 10)), 32);
  EXPECT_EQ(rows(test::random_dominant<float>(one, 1.3)), 64) << "the decay is followed";
  EXPECT_EQ(rows(test::diffusion<float>(one, 5)), 128);
  EXPECT_EQ(rows(test::random_dominant<double>(one, 1.1)), 128);
}

TEST(PaperForm, IsRefusedWhereTruncationShows) {
  test::expect_refused_where_truncation_shows(
      kPaperGpu, 1e6,
      {"partitions of 4096 rows in the paper's form: certificate", "raise rtol, or choose variant gpu"});
}

TEST(PaperForm, LeavesFewWeakLinesToOthers) { test::expect_weak_line_left(kPaperGpu); }

}  // namespace
}  // namespace oclspkt
