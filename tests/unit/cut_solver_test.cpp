// SPDX-License-Identifier: BSD-2-Clause
#include "oclspkt/cut_solver.hpp"

#include "cut_case.hpp"
#include "cut_parts.hpp"
#include "device_traits.hpp"
#include "hard_matrices.hpp"
#include "line_judge.hpp"
#include "oclspkt/report.hpp"
#include "plan.hpp"
#include "rounding.hpp"
#include "schemes/tiles/tile_plans.hpp"
#include "solver_fixture.hpp"
#include "survey.hpp"

namespace oclspkt {
namespace {

using test::CutCase;
using test::CutOutcome;
using test::CutRun;
using test::Layout;
using test::solve_cut;

template <typename T>
class CutLinesOf : public ::testing::Test {
 protected:
  /// y = A x for x around 3: small against what the parts make of it alone.
  static std::vector<T> smooth(const Bands<T>& bands) {
    return test::product(bands, test::random_vector<T>(bands.lines().extent()));
  }
  /// Solve for both kinds of right-hand sides, and expect the error to be small.
  static CutOutcome<T> expect_right(const CutCase& c, const Bands<T>& bands, double limit, const std::string& what,
                                    const CutRun& run = {}) {
    CutOutcome<T> outcome;
    for (const auto& y : {test::random_vector<T>(bands.lines().extent()), smooth(bands)}) {
      outcome = solve_cut(c, bands, y, run);
      EXPECT_TRUE(outcome.none_threw()) << what << ": " << outcome.texts();
      const double found = test::componentwise_error(bands, outcome.x, y);
      EXPECT_LE(found, limit) << what;
      if (!(found <= largest_)) largest_ = found;
    }
    return outcome;
  }
  static void TearDownTestSuite() { std::printf("largest componentwise backward error: %.1f eps\n", largest_); }

 private:
  inline static double largest_ = 0;
};

/// Ways to cut lines: rows of each process.
const std::vector<std::vector<Index>> kRows = {
    {50},   {50, 50},     {1, 40},       {40, 1},         {30, 2, 30},           {30, 1, 30},       {1, 1, 1},
    {2, 2}, {3, 3, 3, 3}, {20, 1, 2, 7}, {1, 1, 1, 1, 1}, {100, 3, 17, 64, 200}, {30, 0, 30, 0, 1}, {0, 10, 0}};

std::string describe(const std::vector<Index>& rows, Layout layout) {
  std::string text = "layout " + std::to_string(static_cast<int>(layout)) + ", rows";
  for (const Index r : rows) text += " " + std::to_string(r);
  return text;
}

SCALAR_TEST(CutLinesOf, DominantRowsAreSolvedInEveryLayout) {
  for (const Layout layout : {Layout::end_to_end, Layout::strided_y, Layout::strided_z, Layout::with_gaps}) {
    for (const auto& rows : kRows) {
      for (const Index count : {1, 6, 7}) {
        const CutCase c = CutCase::equal(count, rows, layout);
        for (const double d : {1.0, 1.01, 3.0}) {
          const std::string what = describe(rows, layout) + " d " + std::to_string(d);
          const CutOutcome<T> outcome = this->expect_right(c, test::random_dominant<T>(c.all(), d), 10, what);
          for (const CutReport& report : outcome.reports) EXPECT_EQ(report.gathered, 0) << what << report.gathered_why;
        }
      }
    }
  }
}

/// The same numbers in each line of a case.
template <typename T>
Bands<T> glued(const CutCase& c, const Bands<T>& one) {
  Bands<T> bands(c.all());
  const Index n = one.lines().rows(), count = c.all().count();
  for (Index l = 0; l < count; ++l) {
    std::copy_n(one.view().lower, n, bands.lower() + l * n);
    std::copy_n(one.view().diag, n, bands.diag() + l * n);
    std::copy_n(one.view().upper, n, bands.upper() + l * n);
  }
  return bands;
}

SCALAR_TEST(CutLinesOf, RowsWithDominanceOneAreSolved) {
  for (const auto& rows : kRows) {
    const CutCase c = CutCase::equal(1, rows);
    test::at_dominance_one<T>(c.all().rows(), [&](const char* name, const Bands<T>& one) {
      if (std::string(name) == "column sums 0" || c.all().rows() < 3) return;
      this->expect_right(c, glued(c, one), 10, std::string(name) + ", " + describe(rows, Layout::end_to_end));
    });
  }
}

/// Judge x line by line with LAPACK as the measure.
template <typename T>
void expect_as_good_as_lapack(const CutCase& c, const Bands<T>& bands, const std::vector<T>& y, const std::string& what,
                              const CutRun& run = {}) {
  const CutOutcome<T> outcome = solve_cut(c, bands, y, run);
  EXPECT_TRUE(outcome.none_threw()) << what << ": " << outcome.texts();
  const test::LineJudge<T> judge(bands, y);
  const auto wrong = judge.wrong(outcome.x.data());
  EXPECT_FALSE(wrong) << what << ": " << wrong.value_or("");
}

SCALAR_TEST(CutLinesOf, LongLinesWithDominanceOneAreSolvedInParts) {
  for (const std::vector<Index>& rows : {std::vector<Index>{5000, 4000, 7000}, {100000, 1, 30000, 2}}) {
    const CutCase c = CutCase::equal(1, rows);
    test::at_dominance_one<T>(c.all().rows(), [&](const char* name, const Bands<T>& one) {
      const std::string what = std::string(name) + ", " + describe(rows, Layout::end_to_end);
      // Where an excess within rounding of 0 counts, elimination keeps its sign and pivoting may have to follow.
      if (std::string(name) == "column sums 0" || std::string(name) == "row sums 0") {
        const std::vector<T> y = test::random_vector<T>(c.all().rows());
        expect_as_good_as_lapack(c, glued(c, one), y, what);
        return;
      }
      const CutOutcome<T> outcome = this->expect_right(c, glued(c, one), 10, what);
      EXPECT_EQ(outcome.reports[0].gathered, 0) << what << ": " << outcome.reports[0].gathered_why;
    });
  }
}

TEST(CutSpikes, ReachWhereUnknownsAreSmall) {
  // x falls from 3 to 3e-4 at the ends of the line, where spikes that end at rounding leave 420 eps.
  const CutCase c = CutCase::equal(1, {300000, 1, 400000, 2, 3});
  Bands<double> bands = glued(c, test::diffusion<double>(LineSet::one(c.all().rows()), 1e8));
  const std::vector<double> y = test::random_vector<double>(c.all().rows());
  const CutOutcome<double> outcome = solve_cut(c, bands, y);
  EXPECT_EQ(outcome.reports[0].gathered, 0);
  EXPECT_LE(test::componentwise_error(bands, outcome.x, y), 10);
}

TEST(CutSpikes, ThatCancelAreNoReasonToGather) {
  // Upwind: p is 1 everywhere, and x passes through 0 between unknowns of 100 and more.
  const CutCase c = CutCase::equal(1, {100000, 100000, 50000});
  const Bands<double> bands = glued(c, test::upwind<double>(LineSet::one(c.all().rows()), 10));
  const std::vector<double> y = test::random_vector<double>(c.all().rows());
  const CutOutcome<double> outcome = solve_cut(c, bands, y);
  EXPECT_EQ(outcome.reports[0].gathered, 0) << outcome.reports[0].gathered_why;
  EXPECT_LE(normwise_backward_error(c.all(), bands.view(), outcome.x.data(), y.data()),
            10 * std::numeric_limits<double>::epsilon());
}

SCALAR_TEST(CutLinesOf, MatricesThatWantPivotsAreSolvedAsLapackDoes) {
  for (const auto& rows : kRows) {
    const CutCase c = CutCase::equal(3, rows);
    const std::string where = describe(rows, Layout::end_to_end);
    for (const double d : {0.0, 0.1, 0.5, 0.9}) {
      const Bands<T> bands = test::random_dominant<T>(c.all(), d);
      if (d == 0.0 && c.all().length(0) % 2 != 0) continue;  // singular
      for (const auto& y : {test::random_vector<T>(c.all().rows()), this->smooth(bands)}) {
        expect_as_good_as_lapack(c, bands, y, where + " d " + std::to_string(d));
      }
    }
  }
}

SCALAR_TEST(CutLinesOf, HardMatricesAreSolvedAsLapackDoes) {
  for (const std::vector<Index>& rows : {std::vector<Index>{33, 34, 33}, {99, 1}, {17, 16, 16, 16, 35}}) {
    const CutCase c = CutCase::equal(1, rows);
    for (int id = 1; id <= 20; ++id) {
      const Bands<T> bands = glued(c, test::to_bands<T>(test::klein_strzodka(id, 100)));
      for (const auto& y : {test::random_vector<T>(100), this->smooth(bands)}) {
        if (!std::all_of(y.begin(), y.end(), [](T v) { return std::isfinite(v); })) continue;
        const CutOutcome<T> outcome = solve_cut(c, bands, y);
        const test::LineJudge<T> judge(bands, y);
        const std::string what = "id " + std::to_string(id) + ", " + describe(rows, Layout::end_to_end);
        if (outcome.all_threw()) {
          EXPECT_THROW(test::solver_for(bands, CutRun().options), Breakdown) << what << outcome.texts();
          continue;
        }
        EXPECT_TRUE(outcome.none_threw()) << what << ": " << outcome.texts();
        const auto wrong = judge.wrong(outcome.x.data());
        EXPECT_FALSE(wrong) << what << ": " << wrong.value_or("") << " " << outcome.reports[0].gathered_why;
      }
    }
  }
}

/// Lines of random lengths that begin and end on any process, in either direction.
CutCase random_case(int processes, Index count, std::uint32_t seed) {
  std::mt19937 generator(seed);
  const auto below = [&](int n) { return static_cast<int>(generator() % static_cast<unsigned>(n)); };
  CutCase c;
  c.processes = processes;
  for (Index l = 0; l < count; ++l) {
    std::vector<test::PartOf> parts;
    const int first = below(processes), last = below(processes);
    for (int p = std::min(first, last); p <= std::max(first, last); ++p) {
      parts.push_back({p, below(3) == 0 ? 1 + below(3) : 1 + below(60)});
    }
    if (below(2) == 0) std::reverse(parts.begin(), parts.end());
    c.lines.push_back(parts);
  }
  return c;
}

SCALAR_TEST(CutLinesOf, ChainsOfManyKindsMayLieInOneSet) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    CutCase c = random_case(2 + static_cast<int>(seed % 4), 40, seed);
    c.numbered = seed % 2 == 0;
    for (const double d : {1.0, 2.0, 1e17}) {  // the last: truncated but for lines with a part of one row
      const CutOutcome<T> outcome =
          this->expect_right(c, test::random_dominant<T>(c.all(), d, seed), 10, "seed " + std::to_string(seed));
      EXPECT_TRUE(d < 3 || outcome.reports[0].truncated) << outcome.reports[0].bound;
    }
    const std::vector<T> y = test::random_vector<T>(c.all().rows());
    expect_as_good_as_lapack(c, test::random_dominant<T>(c.all(), 0.5, seed), y, "d 0.5, seed " + std::to_string(seed));
  }
}

SCALAR_TEST(CutLinesOf, TransposedSystemsAreSolved) {
  for (const Layout layout : {Layout::end_to_end, Layout::strided_y}) {
    for (const auto& rows : kRows) {
      const CutCase c = CutCase::equal(4, rows, layout);
      for (const double d : {0.5, 1.5}) {
        const Bands<T> bands = test::random_dominant<T>(c.all(), d), transposed = test::transposed(bands);
        CutRun run;
        run.transpose = true;
        const std::vector<T> y = test::random_vector<T>(c.all().rows());
        const CutOutcome<T> outcome = solve_cut(c, bands, y, run);
        EXPECT_TRUE(outcome.none_threw()) << outcome.texts();
        const test::LineJudge<T> judge(transposed, y);
        EXPECT_FALSE(judge.wrong(outcome.x.data())) << describe(rows, layout) << *judge.wrong(outcome.x.data());
      }
    }
  }
}

TEST(CutLinesNarrow, AreThoseOfTheRoundedMatrix) {
  const CutCase c = CutCase::equal(5, {100, 3, 17, 64, 200});
  for (const double d : {3.0, 1.01, 1.0}) {
    const Bands<double> bands =
        test::closed(d > 1 ? test::random_dominant<double>(c.all(), d) : test::constant<double>(c.all(), -1, 2, -1));
    const auto y = test::random_vector<double>(bands.lines().rows());
    CutRun run;
    run.options.precision = Precision::narrow;
    const CutOutcome<double> outcome = solve_cut(c, bands, y, run);
    ASSERT_TRUE(outcome.none_threw()) << outcome.texts();
    EXPECT_LE(test::componentwise_error(test::rounded(bands), outcome.x, y), 100) << d;
  }
}

TEST(CutLinesNarrow, AreRefusedEverywhereWhereOnePartLosesItsExcess) {
  const CutCase c = CutCase::equal(2, {100, 50, 30});
  Bands<double> bands = test::diffusion<double>(c.all(), 1);
  bands.lower()[120] = bands.upper()[120] = -1e7;
  bands.diag()[120] = 1 + 2e7;
  CutRun run;
  run.options.precision = Precision::narrow;
  const auto outcome = solve_cut(c, bands, test::random_vector<double>(bands.lines().rows()), run);
  EXPECT_TRUE(outcome.all_threw());
  EXPECT_NE(outcome.texts().find("precision narrow: row 20 of line 0"), std::string::npos) << outcome.texts();
}

TEST(CutRounding, StaysWithinTheLimitForWhatInnerRowsAreAllowed) {
  for (const double d : {1.0, 1 + 1e-12, 1.00005, 1.05, 1.25, 1.5, 10.0, 1e17}) {
    const CutPartErrors errors{inner_rounding_limit(d, 1), 1 / d, 4};
    EXPECT_LE(rounding_of_part(errors, d, 1), kRoundingLimit * (1 + 1e-12)) << d;
    EXPECT_GE(inner_rounding_limit(d, 1), 46) << d;
  }
}

TEST(CutRounding, LeavesGrowthToTheLimit) {
  EXPECT_GT(rounding_of_part({4, 30, 1}, 0.5, 1), kRoundingLimit);
  EXPECT_GT(rounding_of_part({4, 0.5, 200}, 2, 1), kRoundingLimit);
  EXPECT_GT(rounding_of_part({110, 0.1, 1}, 10, 1), kRoundingLimit);
  EXPECT_EQ(inner_rounding_limit(0.999, 1), inner_rounding_limit(0, 1));
}

TEST(CutRounding, IsUnknownIfAPartIs) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();
  for (const CutPartErrors& errors :
       {CutPartErrors{kNaN, 0.5, 1}, {1, kNaN, 1}, {1, 0.5, kNaN}, {kInf, 0.5, 1}, {1, kInf, 1}, {1, 0.5, kInf}}) {
    EXPECT_FALSE(rounding_of_part(errors, 2, 1) <= kRoundingLimit);
    EXPECT_FALSE(rounding_of_part(errors, 0.5, 1) <= kRoundingLimit);
  }
}

template <typename T>
void expect_room_for_corrected_runs() {
  constexpr Index kLong = 100'000;
  for (const double lambda : {100.0, 300.0}) {
    Bands<T> bands = test::closed(test::diffusion<T>(LineSet::one(kLong), lambda));
    const Survey seen = survey(bands.lines(), bands.view());
    Plan plan = make_run_plan(kLong, 512, 0, sizeof(T), kGpu);
    correct_runs(plan, sizeof(T), kGpu);
    EXPECT_LE(bound_rounding(plan, bands.lines(), bands.view(), seen).eps, inner_rounding_limit(seen.dominance, 1))
        << lambda;
  }
}

TEST(CutRounding, LeavesRoomForRunsThatAreCorrected) {
  expect_room_for_corrected_runs<float>();
  expect_room_for_corrected_runs<double>();
}

/// The spikes of lines with a part above and below, by LAPACK with an error in one row.
template <typename T>
std::vector<SpikeFacts> spikes_of(const LineSet& lines, double wrong) {
  Bands<T> bands = test::closed(test::random_dominant<T>(lines, 1.01));
  CutParts<T> parts;
  const std::vector<char> cut(static_cast<std::size_t>(lines.count()), 1);
  parts.reset(lines, cut, cut);
  parts.uncouple_cuts(bands.view(), [&](Index at, T lower, T diag, T upper) {
    bands.lower()[at] = lower;
    bands.diag()[at] = diag;
    bands.upper()[at] = upper;
  });
  Reference<T> reference;
  reference.factor(lines, bands.view());
  const std::vector<char> none(cut.size(), 0);
  parts.find_spikes(
      [&](const T* y, T* x) {
        reference.solve(y, x);
        x[lines.first(1) + 5 * lines.row_stride()] += static_cast<T>(wrong);
      },
      none);
  parts.measure_spikes(bands.view(), none);
  std::vector<SpikeFacts> facts;
  for (Index s = 0; s < parts.slots(); ++s) facts.push_back(parts.spikes(s));
  return facts;
}

template <typename T>
class CutSpikeFacts : public testing::Test {};

SCALAR_TEST(CutSpikeFacts, TellWhatASolveLeavesInTheRows) {
  constexpr double eps = std::numeric_limits<T>::epsilon();
  for (const LineSet& lines : {LineSet::equal(3, 40), LineSet::grid_axis(1, 3, 40, 1)}) {
    for (const SpikeFacts& facts : spikes_of<T>(lines, 0)) {
      EXPECT_LE(facts.size, 1 / 1.01 + 10 * eps);
      EXPECT_LE(facts.error, 4);
    }
    const std::vector<SpikeFacts> wrong = spikes_of<T>(lines, 1e3 * eps);
    EXPECT_LE(wrong[0].error, 4);
    EXPECT_GT(wrong[1].error, 300);
    EXPECT_LE(wrong[2].error, 4);
    EXPECT_FALSE(spikes_of<T>(lines, NAN)[1].error <= kRoundingLimit);
  }
}

}  // namespace
}  // namespace oclspkt
