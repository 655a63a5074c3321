// SPDX-License-Identifier: BSD-2-Clause
// What is proposed for kernels made for GPUs, on a device that nobody has to watch.

#include <tuple>

#include "choice_report.hpp"
#include "device_traits.hpp"
#include "geometry.hpp"
#include "hard_matrices.hpp"
#include "propose.hpp"
#include "scalar_test.hpp"
#include "schemes/grids/grid_plan.hpp"
#include "schemes/tiles/tile_plans.hpp"
#include "survey.hpp"

namespace oclspkt {
namespace {

/// What schemes are asked.
template <typename T>
struct Asked {
  explicit Asked(Bands<T> of, const Options& wanted = {}, const DeviceTraits& traits = kGpu)
      : bands(test::closed(std::move(of))), options(wanted), problem{options, bands, survey, traits} {}
  std::optional<Proposal> propose(Method method) { return test::propose(problem, method, rejection); }

  Bands<T> bands;
  Options options;
  Survey survey = survey_rows(bands.lines(), bands.view());
  Problem<T> problem;
  Rejection rejection = {};
};

template <typename T>
std::optional<Proposal> proposed(Bands<T> bands, Method method, bool alike = false) {
  Asked<T> asked(std::move(bands));
  asked.survey.shared = alike;
  return asked.propose(method);
}

template <typename T>
class GroupChoice : public testing::Test {};

SCALAR_TEST(GroupChoice, TriesWhatIsBarelyDominant) {
  std::vector<std::pair<const char*, Bands<T>>> weak;
  for (const Index n : {100, 512, 3000}) {
    weak.emplace_back("Klein, Strzodka 13", test::to_bands<T>(test::klein_strzodka(13, n)));
    weak.emplace_back("Poisson", test::constant<T>(LineSet::one(n), -1, 2, -1));
    weak.emplace_back("random, d = 1", test::random_dominant<T>(LineSet::one(n), 1));
  }
  for (const auto& [name, bands] : weak) {
    for (const Method method : {Method::truncated_halo, Method::truncated_streamed}) {
      const auto proposal = proposed(test::copy_of(bands), method);
      if (!proposal || proposal->above_tolerance) continue;
      EXPECT_TRUE(proposal->needs_trial) << name << ", " << bands.lines().rows() << " rows, " << oclspkt::name(method);
    }
  }
}

SCALAR_TEST(GroupChoice, TakesWhatIsDominantUntried) {
  for (const double d : {10.0, 1.2}) {
    const auto proposal = proposed(test::random_dominant<T>(LineSet::one(100'000), d), Method::truncated_halo);
    ASSERT_TRUE(proposal);
    EXPECT_FALSE(proposal->needs_trial) << d;
  }
  const auto alike = proposed(test::diffusion<T>(LineSet::one(100'000), 10), Method::truncated_halo);
  ASSERT_TRUE(alike);
  EXPECT_FALSE(alike->needs_trial);
  EXPECT_EQ(alike->plan.form, Form::symmetric);
}

SCALAR_TEST(GroupChoice, UsesANamedMethodThatItsCertificateDoesNotCover) {
  // The wind carries what is cut off on one side through every partition.
  for (const bool from_above : {true, false}) {
    const T upwind = -2, downwind = T(-0.001);
    for (const DeviceTraits& traits : {kTraits, kGpu}) {
      Asked<T> asked(test::constant<T>(LineSet::one(5000), from_above ? upwind : downwind, T(2.001),
                                       from_above ? downwind : upwind),
                     {.method = MethodChoice::truncated_halo}, traits);
      asked.problem.insist = true;
      const auto proposal = asked.propose(Method::truncated_halo);
      ASSERT_TRUE(proposal) << asked.rejection.why;
      EXPECT_TRUE(proposal->above_tolerance);
      EXPECT_EQ(proposal->why.find("used because its method is named; certificate "), 0u) << proposal->why;
      EXPECT_NE(proposal->why.find(from_above ? ", side up)" : ", side down)"), std::string::npos) << proposal->why;
    }
  }
}

SCALAR_TEST(GroupChoice, SolvesNoInterfacesThatMultiplyRounding) {
  // Where couplings turn from upwards to downwards, work-items that know only of 0 above them multiply it by 50.
  const LineSet lines = LineSet::grid_axis(1, 64, 32, 64);
  Bands<T> bands = test::fill<T>(lines, [](Index i) {
    // Sums are 0 in float, too: what is forgiven of them could be all that is left of a pivot.
    return i < 8 ? test::Row{-1. / 128, 129. / 128, -1} : test::Row{-1, 129. / 128, -1. / 128};
  });
  const auto proposal = proposed(std::move(bands), Method::exact_factored, true);
  ASSERT_TRUE(proposal);
  ASSERT_TRUE(proposal->plan.template has<GridTiles>());
  EXPECT_EQ(proposal->plan.form, Form::shared);
  EXPECT_TRUE(proposal->plan.template as<GridTiles>().in_turn || grid_items_down(proposal->plan) == 1);
}

SCALAR_TEST(GroupChoice, BoundsReducedTilesByTheirValuesWhereACallerLeavesThemLess) {
  const LineSet one = LineSet::one(50'000);
  for (const bool jumps : {false, true}) {
    Asked<T> asked(jumps ? test::conductivities<T>(one) : test::constant<T>(one, -1, 2, -1));
    const auto surveyed = asked.propose(Method::exact_twopass);
    ASSERT_TRUE(surveyed && surveyed->rounding);
    EXPECT_GT(surveyed->rounding->eps, 60);
    asked.problem.rounding_limit = 47;
    const auto found = asked.propose(Method::exact_twopass);
    ASSERT_TRUE(found) << asked.rejection.why;
    EXPECT_LE(found->rounding->eps, 47);
    EXPECT_GE(found->rounding->eps, 10);
  }
}

SCALAR_TEST(GroupChoice, BoundsTilesByRatiosWhereDominanceTellsLittle) {
  Asked<T> asked(test::diffusion<T>(LineSet::one(50'000), 10));
  asked.problem.rounding_limit = 47;
  const auto proposal = asked.propose(Method::truncated_streamed);
  ASSERT_TRUE(proposal) << asked.rejection.why;
  EXPECT_LE(proposal->rounding->eps, 47);
}

TEST(GroupChoiceReport, SaysUnderPrecisionNarrowWhetherFactorsAreStored) {
  Options options{.precision = Precision::narrow};
  Proposal p;
  p.plan = make_grid_plan(LineSet::grid_axis(1, 20, 70, 20), {}, sizeof(double), kGpu);
  EXPECT_EQ(precision_text<double>(options, 0, false, p),
            "bands rounded to float; factors stay double, method truncated-streamed has no narrow factors");
  p.plan = make_plan(Method::truncated_halo, 100'000, 40, 0, sizeof(double), kGpu);
  EXPECT_EQ(precision_text<double>(options, 0, false, p), "bands rounded to float; no factors are stored");
}

/// A user who names a form gets it, also where another form of that scheme is cheaper.
SCALAR_TEST(GroupChoice, GivesTheFormThatIsNamed) {
  const LineSet lines = LineSet::grid_axis(1, 64, 4096, 4);
  for (const bool alike : {false, true}) {
    for (const char* const form : {"grids-streamed", "grids-shared", "grids-condensed", "grids-factored"}) {
      Asked<T> asked(test::constant<T>(lines, -1, 4, -1), {.variant = form});
      asked.survey.shared = alike;
      const bool exact = form == std::string("grids-condensed") || form == std::string("grids-factored");
      asked.problem.method = exact ? Method::exact_factored : Method::truncated_streamed;
      const auto proposal = find_scheme(form)->propose(asked.problem, asked.rejection);
      if (!exact && alike != (form == std::string("grids-shared"))) {
        EXPECT_EQ(asked.rejection.why, std::string(form) + " has no plan for these lines");
        continue;
      }
      ASSERT_TRUE(proposal) << form << ": " << asked.rejection.why;
      EXPECT_STREQ(scheme_of(proposal->plan).form(proposal->plan), form);
      const auto least = find_scheme(form)->least(asked.problem);
      ASSERT_TRUE(least) << form;
      EXPECT_STREQ(scheme_of(*least).form(*least), form);
    }
  }
}

SCALAR_TEST(GroupChoice, KeepsTheFactorsOfLinesThatAreAlike) {
  const double eps = std::numeric_limits<T>::epsilon();
  // Whole lines, parts of them, and parts for which the halo is too long or which a line does not fill.
  for (const auto& [length, lambda, keeps] : {std::tuple<Index, double, bool>{1024, 1e4, true},
                                              {2000, 1e4, true},
                                              {4096, 10, true},
                                              {4096, 1e4, true},
                                              {16'384, 10, true},
                                              {10'000, 10, true},
                                              {16'384, 1e4, false},
                                              {4 * 4099, 10, false}}) {
    const auto proposal =
        proposed(test::diffusion<T>(LineSet::equal(12, length), lambda), Method::truncated_halo, true);
    EXPECT_EQ(proposal && proposal->plan.template has<KeptTiles>(), keeps) << length << " rows, lambda " << lambda;
    if (!keeps || !proposal) continue;
    const Plan& plan = proposal->plan;
    EXPECT_EQ(plan.form, Form::shared);
    EXPECT_LE(proposal->certificate, eps);
    EXPECT_EQ(plan.halo > 0, length > 2048 && lambda < 1e4);
    EXPECT_EQ((plan.halo > 0 ? length % plan.m : plan.m % length), 0);
    EXPECT_LE(plan.m + 2 * plan.halo, plan.group_rows());
    EXPECT_LE(plan.words_per_row(), 2.3);
  }
}

SCALAR_TEST(GroupChoice, MakesRunsOfLines) {
  const bool wide = sizeof(T) == sizeof(double);
  DeviceTraits traits = kGpu;
  traits.cores = 16;  // eight lines each
  for (const auto& [length, lambda, tiles] :
       {std::tuple<Index, double, int>{4096, 1e4, 2}, {4096, 10, 0}, {16'384, 100, wide ? 16 : 0}, {16'384, 10, 0}}) {
    Asked<T> asked(test::diffusion<T>(LineSet::equal(128, length), lambda), {}, traits);
    // With a halo of 166 rows both tiles of a cut may be off.
    const bool by_halo = tiles == 0 && lambda < 100;
    EXPECT_EQ(asked.propose(Method::truncated_halo).has_value(), by_halo) << length << ", lambda " << lambda;
    if (tiles == 0) continue;
    const auto proposal = asked.propose(Method::truncated_streamed);
    ASSERT_TRUE(proposal);
    EXPECT_TRUE(runs_are_lines(proposal->plan));
    EXPECT_EQ(proposal->plan.run_tiles, tiles);
    EXPECT_EQ(proposal->plan.form, Form::symmetric);
    EXPECT_LE(proposal->certificate, std::numeric_limits<T>::epsilon());
  }
}

}  // namespace
}  // namespace oclspkt
