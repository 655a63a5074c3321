// SPDX-License-Identifier: BSD-2-Clause
// Truncation of rows whose columns are given in units that jump: what is covered holds in the units that they are meant
// in, too.
#include "units.hpp"
#include "schemes/lanes/lane_plans.hpp"
#include "schemes/tiles/rounding_runs.hpp"

#include "backward_error.hpp"
#include "certificate_support.hpp"
#include "cut_case.hpp"
#include "device_traits.hpp"
#include "residual.hpp"
#include "schemes/grids/grid_plan.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

/// Column j of each line times 2^exponent[j].
Bands<double> in_units(const Bands<double>& meant, const std::vector<int>& exponent) {
  Bands<double> given = test::copy_of(meant);
  const LineSet& lines = meant.lines();
  for (Index l = 0; l < lines.count(); ++l) {
    for (Index i = 0; i < lines.length(l); ++i) {
      const Index at = lines.first(l) + i * lines.row_stride();
      const int* unit = exponent.data() + i;
      if (i > 0) given.lower()[at] = std::ldexp(given.lower()[at], unit[-1]);
      given.diag()[at] = std::ldexp(given.diag()[at], unit[0]);
      if (i + 1 < lines.length(l)) given.upper()[at] = std::ldexp(given.upper()[at], unit[1]);
    }
  }
  given.close_lines();
  return given;
}

/// Rows [begin, end) have columns 2^by times as large.
std::vector<int> island(Index n, Index begin, Index end, int by) {
  std::vector<int> exponent(static_cast<std::size_t>(n), 0);
  std::fill(exponent.begin() + begin, exponent.begin() + end, by);
  return exponent;
}

/// The bound of a truncated plan for a matrix.
double bound_of(const Plan& plan, const Bands<double>& bands) {
  if (plan.has<Beside>() && !plan.has<GridTiles>()) return plan.as<Beside>().segments > 1 ? kNothingKnown : 0;
  if (plan.has<Beside>()) return certify_grid(plan, bands.lines(), bands.view(), 0.0, 1e300).worst.bound;
  if (plan.items > 0 && plan.has<StoredFactors>()) return certify_runs(plan, bands.view()).bound;
  if (plan.has<StoredFactors>() || plan.has<JoinedPartitions>()) return certify_stored(plan, bands.view()).bound;
  return certify_halo(plan.n, bands.view(), plan.m, plan.halo, {0, plan.n}).bound;
}

TEST(ColumnUnits, AreThoseInWhichARowIsDominant) {
  const Index n = 400;
  const Bands<double> meant = test::closed(test::constant<double>(LineSet::one(n), -1, 2.05, -1));
  const double bound = bound_of(test::halo_plan(n, 200, 40), meant);
  const Bands<double> given = in_units(meant, island(n, 165, 235, 40));
  EXPECT_LT(bound_of(test::halo_plan(n, 200, 40), given), 1e-3 * bound);
  const ColumnUnits<double> units(given.lines(), given.view());
  int seen = 0;
  units.each([&](const BandsView<double>& view, double weight) {
    const double found = certify_halo(n, view, 200, 40, {0, n}).bound;
    EXPECT_LE(found, 1e6 * bound);
    EXPECT_GE(found, 1e-6 * bound);
    if (weight == 1) {
      EXPECT_DOUBLE_EQ(found, bound) << "the couplings are symmetric";
    }
    ++seen;
  });
  EXPECT_EQ(seen, 3);
  EXPECT_NEAR(std::log2(units.range()), 40, 6);
}

TEST(ColumnUnits, OfOneLineLeaveDominantOnesAlone) {
  const LineSet lines = LineSet::equal(3, 100);
  Bands<double> bands =
      test::closed(test::constant<double>(lines, -50, 52, -1));  // by its symmetric units it would jump
  const Bands<double> weak =
      in_units(test::closed(test::constant<double>(lines, -1, 2.05, -1)), island(100, 40, 60, 20));
  for (Index i = 100; i < 200; ++i) {
    bands.lower()[i] = weak.view().lower[i];
    bands.diag()[i] = weak.view().diag[i];
    bands.upper()[i] = weak.view().upper[i];
  }
  ColumnUnits<double>(lines, bands.view()).each([&](const BandsView<double>& view, double) {
    for (Index i = 0; i < 300; ++i) {
      if (i >= 100 && i < 200) continue;
      EXPECT_EQ(view.lower[i], bands.view().lower[i]);
      EXPECT_EQ(view.upper[i], bands.view().upper[i]);
    }
  });
}

TEST(ColumnUnits, AreNoneWhereRowsAreOnlyWeak) {
  const LineSet lines = LineSet::one(500);
  EXPECT_TRUE(ColumnUnits<double>(lines, test::closed(test::constant<double>(lines, -1, 1.9, -1)).view()).none());
  for (const double ratio : {0.1, 10.0}) {
    Bands<double> advection = test::closed(test::constant<double>(lines, -ratio, 1.02 * (1 + ratio), -1));
    for (Index i = 20; i < 500; i += 37) advection.diag()[i] = 0.95 * (1 + ratio);
    EXPECT_TRUE(ColumnUnits<double>(lines, advection.view()).none()) << ratio;
  }
}

/// Every scheme that truncates, asked for its plan of a matrix that is meant otherwise than it is given.
struct Asked {
  int covered = 0;
  std::string outside;  ///< plans that are covered, though not in the units that are meant

  void ask(const Bands<double>& meant, const Bands<double>& given, Index partition) {
    const Survey survey = oclspkt::survey(given.lines(), given.view());
    Options options{.partition = partition};
    for (const DeviceTraits& traits : {kTraits, kGpu}) {
      Problem<double> problem{options, given, survey, traits};
      for (const Scheme* scheme : all_schemes()) {
        for (const Method method : {Method::truncated_halo, Method::truncated_streamed}) {
          problem.method = method;
          if (scheme->nature().only_asked_for || !scheme->takes(method, problem)) continue;
          Rejection rejection;
          const auto proposal = scheme->propose(problem, rejection);
          if (!proposal || !(proposal->certificate <= kEps)) continue;
          ++covered;
          const double bound = bound_of(proposal->plan, meant);
          if (!(bound <= 2 * kEps))
            outside += std::string(scheme->name()) + " " + std::to_string(bound / kEps) + " eps; ";
        }
      }
    }
  }
};

/// Decays slowly upwards, or downwards, in some rows, and at once in all others; in the middle of these rows the unit
/// jumps, so that the decay looks fast.
void ask_for_a_slow_stretch(Asked& asked, const LineSet& lines, Index begin, Index end, bool down) {
  const Bands<double> meant = test::closed(test::fill<double>(lines, [&](Index i) {
    const double slow = end - begin < 768 ? 1.06 : 1.035, diag = i >= begin && i < end ? slow : 8;
    return down ? test::Row{-1, diag, -0.001} : test::Row{-0.001, diag, -1};
  }));
  const Index n = lines.length(0), middle = (begin + end) / 2;
  const std::vector<int> exponent = down ? island(n, middle, n, 50) : island(n, 0, middle, 50);
  asked.ask(meant, in_units(meant, exponent), 0);
}

TEST(UnitsThatJumpNearCuts, AreCoveredInTheUnitsThatAreMeant) {
  Asked asked;
  for (const LineSet& lines : {LineSet::one(6144), LineSet::grid_axis(1, 4, 1024, 1)}) {
    for (const Index rows : {128, 192, 256, 384, 768}) {
      for (const Index begin : {128, 768}) {
        if (begin + rows > lines.length(0)) continue;
        for (const bool down : {false, true}) ask_for_a_slow_stretch(asked, lines, begin, begin + rows, down);
      }
    }
  }
  // The rows on both sides of the only cut are in small units.
  const Bands<double> meant = test::closed(test::constant<double>(LineSet::one(2000), -1, 2.02, -1));
  for (const Index wide : {40, 80, 120})
    asked.ask(meant, in_units(meant, island(2000, 1000 - wide, 1000 + wide, 40)), 1000);
  EXPECT_GE(asked.covered, 30);
  EXPECT_EQ(asked.outside, "");
}

/// The unknowns beside the first cut are in small units, so that what is dropped from the other one seems small.
TEST(UnitsThatJumpNearCuts, OfProcessesAreNotTruncatedThere) {
  for (const test::Layout layout : {test::Layout::end_to_end, test::Layout::strided_y}) {
    const test::CutCase c = test::CutCase::equal(2, {60, 60, 60}, layout);
    const Bands<double> meant = test::closed(test::fill<double>(c.all(), [](Index i) {
      return i < 60 ? test::Row{-1, 1.37, -0.001} : test::Row{-0.001, 1.37, -1};
    }));
    const std::vector<int> exponent = island(180, 50, 70, 40);
    const Bands<double> given = in_units(meant, exponent);
    std::vector<double> x(360);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(i % 2 == 0 ? 1 : -1, -exponent[i % 180]);
    const auto outcome = test::solve_cut(c, given, test::product(given, x));
    ASSERT_TRUE(outcome.none_threw()) << outcome.texts();
    EXPECT_EQ(outcome.reports[0].gathered, 0) << outcome.reports[0].gathered_why;
    EXPECT_FALSE(outcome.reports[0].truncated) << outcome.reports[0].bound;
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(outcome.x[i] / x[i], 1, 1e-13) << i;
  }
}

/// The units found for a matrix; none where it stays as given.
std::vector<double> units_of(const Bands<double>& bands, Index runs, double factor = 1) {
  AlignedArray<double> units;
  const FoundUnits found = find_units(bands.lines(), bands.view(), units);
  EXPECT_EQ(found.runs, runs);
  EXPECT_LE(found.factor, factor);
  return runs > 0 ? std::vector<double>(units.data(), units.data() + units.size()) : std::vector<double>();
}

TEST(DominantUnits, AreThoseOfTheColumns) {
  for (const LineSet& lines : {LineSet::one(60), LineSet::equal(3, 60), LineSet::grid_axis(1, 4, 60, 2)}) {
    const Bands<double> meant = test::closed(test::constant<double>(lines, -1, 2.01, -1));
    const std::vector<int> exponent = island(60, 20, 40, 46);
    const Bands<double> given = in_units(meant, exponent);
    AlignedArray<double> units;
    const FoundUnits found = find_units(lines, given.view(), units);
    EXPECT_EQ(found.runs, 3);
    EXPECT_EQ(found.factor, 1);
    Bands<double> scaled;
    scale_columns(given, units.data(), scaled);
    for (const auto array : {&BandsView<double>::lower, &BandsView<double>::diag, &BandsView<double>::upper}) {
      EXPECT_TRUE(std::equal(meant.view().*array, meant.view().*array + lines.extent(), scaled.view().*array));
    }
  }
}

TEST(DominantUnits, NeedNotBePowersOfTwo) {
  for (const double dominance : {1.0, 1.0001, 1.3}) {
    Bands<double> given = test::closed(test::constant<double>(LineSet::one(300), -1, 2 * dominance, -1));
    for (Index i = 0; i < 300; ++i) {  // columns 100 to 199
      if (i > 100 && i <= 200) given.lower()[i] *= 1e14;
      if (i >= 100 && i < 200) given.diag()[i] *= 1e14;
      if (i >= 99 && i < 199) given.upper()[i] *= 1e14;
    }
    AlignedArray<double> units;
    EXPECT_EQ(find_units(given.lines(), given.view(), units).runs, 3);
    Bands<double> scaled;
    scale_columns(given, units.data(), scaled);
    EXPECT_GE(line_dominance(scaled.lines(), scaled.view(), 0), 1 - 4 * kEps);
  }
}

TEST(DominantUnits, AreNotThoseOfSmallDiagonals) {
  for (const double dominance : {1.005, 3.0, 100.0}) {
    for (const double small : {1e-3, 3.3e-9, 1e-16}) {
      for (const Index together : {1, 2}) {
        Bands<double> bands = test::closed(test::constant<double>(LineSet::one(1000), -1, 2 * dominance, -1));
        for (Index i = 500; i < 500 + together; ++i) bands.diag()[i] = small;
        EXPECT_TRUE(units_of(bands, 0).empty());
      }
    }
  }
  // But of a small column: its neighbours hardly couple to it.
  Bands<double> bands = test::closed(test::constant<double>(LineSet::one(1000), -1, 2.01, -1));
  for (double* number : {bands.upper() + 499, bands.diag() + 500, bands.lower() + 501}) *number *= 3.3e-9;
  EXPECT_GT(units_of(bands, 3, 1.1)[500], 1e8);
}

TEST(DominantUnits, DoNotDrift) {
  units_of(test::closed(test::constant<double>(LineSet::one(500), -10, 11, -1)), 0);
  // Rows that are dominant in units that change by a factor of 4 from row to row.
  units_of(test::closed(test::constant<double>(LineSet::one(50), -4, 4.5, -1 / 4.)), 0);
  units_of(test::closed(test::constant<double>(LineSet::one(50), -4, 2.5, -1 / 4.)), 0);
}

/// One joint jumps, and D' drifts to 1e36 behind it: no bound in these units is worth anything, and an answer was not.
TEST(DominantUnits, AreNoneWhereRowsAreDominantInOthersThatDriftFar) {
  const LineSet lines = LineSet::one(3001);
  const Bands<double> of = test::closed(test::random_dominant<double>(lines, 2.5));
  Bands<double> transposed(lines);
  transpose(lines, of.view(), transposed);
  units_of(transposed, 0);
}

TEST(DominantUnits, BeginAnewWhereRowsDoNotCouple) {
  Bands<double> bands = in_units(test::constant<double>(LineSet::one(40), -1, 2.5, -1), island(40, 10, 20, 30));
  bands.upper()[14] = bands.lower()[15] = 0;
  const std::vector<double> units = units_of(bands, 4);
  EXPECT_EQ(units[9], 1);
  EXPECT_EQ(units[14], std::ldexp(1, -30));
  EXPECT_EQ(units[15], 1);
  EXPECT_EQ(units[20], std::ldexp(1, 30));
}

TEST(DominantUnits, OfARowEachAreFound) {
  std::vector<int> exponent(60);
  for (std::size_t i = 0; i < exponent.size(); ++i) exponent[i] = static_cast<int>(i * 37 % 59);
  const std::vector<double> units =
      units_of(in_units(test::closed(test::constant<double>(LineSet::one(60), -1, 2.5, -1)), exponent), 60);
  for (std::size_t i = 0; i < exponent.size(); ++i) EXPECT_EQ(units[i], std::ldexp(1, -exponent[i])) << i;
}

TEST(DominantUnits, LeaveLinesAsTheyAreWhoseUnitsRangeTooFar) {
  const Bands<double> meant = test::closed(test::constant<double>(LineSet::one(60), -1, 2.5, -1));
  units_of(in_units(meant, island(60, 20, 40, 400)), 3);
  units_of(in_units(meant, island(60, 20, 40, 401)), 0);
  // Couplings would vanish.
  Bands<double> low = in_units(meant, island(60, 20, 40, 300));
  low.upper()[29] = low.lower()[30] = std::ldexp(1, -800);
  units_of(low, 0);
}

}  // namespace
}  // namespace oclspkt
