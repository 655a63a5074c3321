// SPDX-License-Identifier: BSD-2-Clause
// The paper's form of truncated SPIKE on GPUs and on CPUs: its plans, what truncation does to them, and what is
// proposed.

#include "certificate_support.hpp"
#include "fpga_operations.hpp"
#include "paper_lanes_model.hpp"
#include "propose.hpp"
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

/// A GPU of many cores, and a CPU with vectors of 64 bytes.
const DeviceTraits kPaperGpu{.cores = 132, .group_items = 1024, .local_bytes = 48 << 10, .paper = true},
    kPaperCpu{.lanes = 8, .tile_lanes = 8, .cores = 4, .paper = true};

Plan lanes_plan(Index n, Index m, Index m_min, const DeviceTraits& traits = kPaperCpu) {
  return make_paper_lanes_plan(n, m, m_min, "lanes-paper", 8, traits);
}

TEST(PaperForm, TakesPartitionsThatStayInLocalMemory) {
  const Plan plan = make_paper_plan(1'000'000, kPaperRows, 4, kPaperGpu);
  EXPECT_EQ(plan.method, Method::truncated_halo);
  EXPECT_EQ(plan.items, 64);
  EXPECT_EQ(plan.tile_rows(), 64 * 32);
  EXPECT_TRUE(plan.as<PaperForm>().staged && plan.items > 0);
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

/// A plan, and the rows of a partition that decide where truncation shows.
struct PaperPlan {
  Plan plan;
  Index rows;
  Certificate certify(const Bands<double>& bands, double tolerable = 1e300) const {
    return plan.has<PaperLanes>() ? certify_paper_lanes(plan, bands.view(), tolerable)
                                  : certify_halves(plan, bands.view(), tolerable);
  }
};
std::vector<PaperPlan> paper_plans(Index n, const std::vector<Index>& partitions,
                                   const std::vector<std::pair<Index, Index>>& lanes) {
  std::vector<PaperPlan> plans;
  for (const Index m : partitions) plans.push_back({make_paper_plan(n, m, 8, kPaperGpu), m});
  for (const auto& [m, m_min] : lanes) plans.push_back({lanes_plan(n, m, m_min), m_min});
  return plans;
}

TEST(PaperCertificate, IsThatOfHalfAPartition) {
  const Index n = 3001;
  const Bands<double> bands = test::closed(test::diffusion<double>(LineSet::one(n), 10));
  for (const PaperPlan& of : paper_plans(n, {32, 33, 64}, {{400, 32}, {400, 64}})) {
    const double bound = of.certify(bands).bound;
    EXPECT_GE(test::true_error(of.plan, bands, test::solutions(n)[0]).error, 0.3 * bound) << of.rows;
    EXPECT_GE(bound, std::pow(1.38, -static_cast<double>(of.rows / 2 + 1))) << of.rows;
    EXPECT_LE(bound, bound_halves(1.36, of.rows)) << of.rows;
  }
}

/// An error at a cut comes from slow decay on one side, and grows in the first rows on the other before it decays.
TEST(PaperCertificate, CoversTheTrueErrorOnEitherSideOfACut) {
  const Index n = 1216, block = 32, next = 6;
  for (const bool downwards : {true, false}) {
    const Bands<double> bands = test::closed(test::fill<double>(LineSet::one(n), [=](Index i) {
      const Index row = downwards ? i : n - 1 - i;
      if (row / block % 2 == 0) return test::Row{-1, 2.003, -1};
      if (row % block >= next) return test::Row{-1, 5, -1};
      return downwards ? test::Row{-3, 1.5, -0.1} : test::Row{-0.1, 1.5, -3};
    }));
    for (const PaperPlan& of : paper_plans(n, {block}, {{13 * block, block}})) {
      test::expect_covered(of.plan, bands, of.certify(bands));
    }
  }
}

TEST(PaperCertificate, FollowsFromTheDominanceOfRowsAlone) {
  const Index n = 2000;
  for (const double d : {1.05, 1.2, 1.5, 3.0}) {
    const Bands<double> bands = test::closed(test::random_dominant<double>(LineSet::one(n), d));
    for (const PaperPlan& of : paper_plans(n, {2, 16, 31, 32}, {{16, 8}, {104, 32}, {104, 48}})) {
      EXPECT_LE(of.certify(bands).bound, bound_halves(d, of.rows)) << d << ", " << of.rows;
    }
  }
  EXPECT_TRUE(std::isinf(bound_halves(1, 32)));
  EXPECT_TRUE(std::isinf(bound_halves(std::nan(""), 32)));
  EXPECT_EQ(bound_halves(std::numeric_limits<double>::infinity(), 32), 0);
}

TEST(PaperCertificate, LosesWithWhatIsNoNumberAndStopsWhereItDoesNotHold) {
  const Index n = 1000;
  Bands<double> bands = test::closed(test::diffusion<double>(LineSet::one(n), 1e4));
  for (const PaperPlan& of : paper_plans(n, {32}, {{32, 16}})) {
    const Certificate first = of.certify(bands, 1e-10);
    EXPECT_GT(first.bound, 1e-10);
    EXPECT_EQ(first.partition, 0);
    EXPECT_GE(of.certify(bands).bound, first.bound);
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      for (const Index row : {0, 500, 520, 999}) {
        const double was = std::exchange(bands.diag()[row], bad);
        EXPECT_FALSE(of.certify(bands).bound <= 1e300) << bad << ", row " << row;
        bands.diag()[row] = was;
      }
    }
  }
}

/// For a matrix, on a device where variant paper is named.
struct Proposed {
  std::optional<Proposal> proposal;
  Rejection rejection;
};
template <typename T>
Proposed propose_on(const DeviceTraits& device, Bands<T> bands, const Options& options = {}) {
  bands.close_lines();
  const Survey survey = survey_rows(bands.lines(), bands.view());
  Proposed result;
  result.proposal = test::propose(Problem<T>{options, bands, survey, device}, Method::truncated_halo, result.rejection);
  if (result.proposal) {
    EXPECT_LE(result.proposal->certificate, std::max(options.rtol, 1.2e-7));
    EXPECT_NE(scheme_of(result.proposal->plan).shape(result.proposal->plan).find("variant paper"), std::string::npos);
  }
  return result;
}

TEST(PaperProposals, ArePartitionsThatAreLongEnough) {
  const LineSet one = LineSet::one(100'000);
  const auto rows = [&](auto bands) {
    const Proposed p = propose_on(kPaperGpu, std::move(bands));
    EXPECT_TRUE(p.proposal) << p.rejection.why;
    return p.proposal && p.proposal->plan.has<PaperForm>() ? p.proposal->plan.m : Index{0};
  };
  EXPECT_EQ(rows(test::random_dominant<float>(one, 3)), 32) << "as in the paper";
  EXPECT_EQ(rows(test::random_dominant<double>(one, 10)), 32);
  EXPECT_EQ(rows(test::random_dominant<float>(one, 1.3)), 64) << "the decay is followed";
  EXPECT_EQ(rows(test::diffusion<float>(one, 5)), 128);
  EXPECT_EQ(rows(test::random_dominant<double>(one, 1.1)), 128);
}

TEST(PaperProposals, HaveTheSmallestMMinThatHolds) {
  const LineSet one = LineSet::one(100'000);
  const auto m_min = [&](auto bands) {
    const Proposed p = propose_on(kPaperCpu, std::move(bands));
    EXPECT_TRUE(p.proposal) << p.rejection.why;
    return p.proposal ? p.proposal->plan.as<PaperLanes>().m_min : Index{0};
  };
  EXPECT_EQ(m_min(test::random_dominant<float>(one, 3)), 32);
  EXPECT_EQ(m_min(test::random_dominant<double>(one, 10)), 32);
  EXPECT_EQ(m_min(test::random_dominant<float>(one, 1.3)), 120) << "as dominance says";
  const Proposed slow = propose_on(kPaperCpu, test::diffusion<double>(one, 5));
  ASSERT_TRUE(slow.proposal) << slow.rejection.why;
  const Index found = slow.proposal->plan.as<PaperLanes>().m_min;
  EXPECT_GT(found, 128) << "followed";
  const Bands<double> bands = test::closed(test::diffusion<double>(one, 5));
  const auto bound = [&](Index of) {
    return certify_paper_lanes(lanes_plan(100'000, slow.proposal->plan.m, of), bands.view()).bound;
  };
  EXPECT_LE(bound(found), slow.proposal->certificate * (1 + 1e-12));
  EXPECT_GT(bound(found - kPaperLanesQuantum), std::numeric_limits<double>::epsilon());
}

TEST(PaperProposals, AreRefusedWhereTruncationShows) {
  struct Case {
    const DeviceTraits& device;
    double lambda;
    const char *certificate, *cure;
  };
  const LineSet one = LineSet::one(100'000);
  for (const Case& c : {Case{kPaperGpu, 1e6, "partitions of 4096 rows in the paper's form: certificate", "variant gpu"},
                        Case{kPaperCpu, 1e8, "in the paper's form: certificate", "variant cpu"}}) {
    Options options;
    for (const MethodChoice method : {MethodChoice::automatic, MethodChoice::truncated_halo}) {
      options.method = method;
      const Proposed slow = propose_on(c.device, test::diffusion<double>(one, c.lambda), options);
      EXPECT_FALSE(slow.proposal);
      for (const std::string& word : {std::string(c.certificate), std::string("raise rtol, or choose ") + c.cure}) {
        EXPECT_NE(slow.rejection.why.find(word), std::string::npos) << slow.rejection.why;
      }
      const Proposed weak = propose_on(c.device, test::random_dominant<double>(one, 0.9), options);
      EXPECT_FALSE(weak.proposal);
      EXPECT_NE(weak.rejection.why.find("does not pivot"), std::string::npos) << weak.rejection.why;
    }
    options.partition = 32;
    EXPECT_FALSE(propose_on(c.device, test::random_dominant<float>(one, 1.3), options).proposal);
    options.rtol = 0.1;
    EXPECT_TRUE(propose_on(c.device, test::random_dominant<float>(one, 1.3), options).proposal);
  }
}

/// Of a hundred lines one is weak.
TEST(PaperProposals, LeaveAWeakLineToOthers) {
  constexpr Index kLength = 5000, kWeak = 17;
  for (const DeviceTraits& device : {kPaperGpu, kPaperCpu}) {
    Bands<double> bands = test::random_dominant<double>(LineSet::equal(100, kLength), 3);
    test::replace_line(bands, kWeak, -1, 2, -1);
    Options options{.partition = device.lanes == kPaperCpu.lanes && device.group_items == 0 ? 400 : 0};
    const Proposed p = propose_on(device, std::move(bands), options);
    EXPECT_FALSE(p.proposal);
    EXPECT_EQ(p.rejection.lines, std::vector<Index>{kWeak});
  }
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
