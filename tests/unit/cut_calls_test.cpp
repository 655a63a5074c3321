// SPDX-License-Identifier: BSD-2-Clause
// What CutSolver chooses, sends, refuses and reports; cut_solver_test.cpp judges its numbers.

#include <numeric>

#include "backward_error.hpp"
#include "cut_case.hpp"
#include "oclspkt/cut_solver.hpp"
#include "oclspkt/team.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

using test::CutCase;
using test::CutOutcome;
using test::CutRun;
using test::Layout;
using test::solve_cut;

constexpr double kEps = std::numeric_limits<double>::epsilon();

std::vector<double> random_y(const CutCase& c) { return test::random_vector<double>(c.all().rows()); }

Index sum(const std::vector<Index>& numbers) { return std::accumulate(numbers.begin(), numbers.end(), Index{0}); }

double normwise(const Bands<double>& bands, const CutOutcome<double>& outcome, const std::vector<double>& y) {
  return normwise_backward_error(bands.lines(), bands.view(), outcome.x.data(), y.data());
}

TEST(CutMessages, DecayingPartsSendTwoNumbersALineAndCut) {
  for (const Layout layout : {Layout::end_to_end, Layout::strided_y}) {
    const CutCase c = CutCase::equal(6, {60, 50, 40, 30}, layout);
    const CutOutcome<double> outcome = solve_cut(c, test::constant<double>(c.all(), -1, 6, -1), random_y(c));
    ASSERT_TRUE(outcome.none_threw()) << outcome.texts();
    EXPECT_EQ(sum(outcome.sent), 2 * 6 * 3);
    EXPECT_EQ(outcome.messages, (std::vector<int>{1, 2, 2, 1}));
    for (int p = 0; p < 4; ++p) {
      const CutReport& report = outcome.reports[static_cast<std::size_t>(p)];
      EXPECT_TRUE(report.truncated);
      EXPECT_FALSE(report.above_tolerance);
      EXPECT_LE(report.bound, kEps);
      EXPECT_EQ(report.sent, outcome.sent[static_cast<std::size_t>(p)]);
      EXPECT_EQ(report.received, report.sent);
      EXPECT_EQ(report.lines, 6);
      EXPECT_EQ(report.longest_chain, 4);
      EXPECT_GT(report.spike_rows, 0);
      EXPECT_LT(report.spike_rows, 40);
    }
  }
}

TEST(CutMessages, OtherPartsSendFourNumbersALineAndCutAtMost) {
  const CutCase c = CutCase::equal(8, {20, 30, 20, 30});
  const CutOutcome<double> outcome = solve_cut(c, test::constant<double>(c.all(), -1, 2, -1), random_y(c));
  ASSERT_TRUE(outcome.none_threw()) << outcome.texts();
  // Each line has 6 unknowns next to its 3 cuts; two lines are solved by each process, which keeps its own.
  EXPECT_EQ(sum(outcome.sent), 8 * 2 * 6 - 2 * 2 * 6);
  EXPECT_LE(sum(outcome.sent), 4 * 8 * 3);
  for (const CutReport& report : outcome.reports) {
    EXPECT_FALSE(report.truncated);
    EXPECT_EQ(report.bound, 0);
    EXPECT_EQ(report.gathered, 0);
  }
}

TEST(CutMessages, TwoPartsAreSolvedAtTheirCutWhateverTheMatrix) {
  const CutCase c = CutCase::equal(1, {20, 30});
  const CutOutcome<double> outcome = solve_cut(c, test::constant<double>(c.all(), -1, 2, -1), random_y(c));
  EXPECT_TRUE(outcome.reports[0].truncated);
  EXPECT_EQ(outcome.sent, (std::vector<Index>{1, 1}));
}

TEST(CutMessages, NothingCutMeansNoMessageAndTheBitsOfAPlainSolver) {
  CutCase c;
  c.processes = 3;
  c.lines = {{{0, 50}}, {{1, 40}}, {{1, 40}}};
  const Bands<double> bands = test::random_dominant<double>(c.all(), 1.1);
  const std::vector<double> y = random_y(c);
  const CutOutcome<double> outcome = solve_cut(c, bands, y);
  ASSERT_TRUE(outcome.none_threw()) << outcome.texts();
  EXPECT_EQ(sum(outcome.sent), 0);
  Solver<double> plain = test::solver_for(bands, CutRun().options);
  EXPECT_EQ(outcome.x, test::answer(plain, y));
}

TEST(CutMessages, LinesWithoutAnExchangeTalkToNobody) {
  CutSolver<double> solver(CutRun().options);
  const Bands<double> given = test::constant<double>(LineSet::equal(3, 20), -1, 4, -1);
  solver.bands(given.lines()).copy_from(given.view());
  solver.set_up();
  const std::vector<double> y = test::random_vector<double>(60);
  std::vector<double> x(60);
  solver.apply(y.data(), x.data());
  EXPECT_LE(test::componentwise_error(given, x, y), 10);
  EXPECT_EQ(solver.cut_report().lines, 0);
  EXPECT_EQ(solver.times().applies, 1);
}

TEST(CutCalls, BuffersOfADeviceAreRefusedAndLaterAppliesGoOn) {
  const Bands<double> given = test::constant<double>(LineSet::one(60), -1, 4, -1);
  const std::vector<double> y = test::product(given, std::vector<double>(60, 1.0));
  std::vector<double> x(60);
  Team team(2);
  team.run([&](int member) {
    CutSolver<double> solver(CutRun().options);
    Bands<double>& bands = solver.bands({LineSet::one(30), {{{0, 1}}, {}, {}}, team.exchange(member)});
    const Index first = 30 * member;
    bands.copy_from({given.view().lower + first, given.view().diag + first, given.view().upper + first});
    solver.set_up();
    test::expect_refusal([&] { solver.apply_on_device(nullptr, nullptr); }, "use enqueue()");
    solver.apply(y.data() + first, x.data() + first);
  });
  for (const double value : x) EXPECT_NEAR(value, 1, 10 * kEps);
}

TEST(CutMethods, NamedOnesAreTaken) {
  const CutCase c = CutCase::equal(2, {20, 20, 20});
  const std::vector<double> y = random_y(c);
  const auto solve = [&](MethodChoice method, const Bands<double>& bands) {
    CutRun run;
    run.options.method = method;
    const CutOutcome<double> outcome = solve_cut(c, bands, y, run);
    EXPECT_TRUE(outcome.none_threw()) << outcome.texts();
    return outcome;
  };
  const Bands<double> poisson = test::constant<double>(c.all(), -1, 2, -1);
  const Bands<double> decaying = test::constant<double>(c.all(), -1, 40, -1);
  const CutOutcome<double> truncated = solve(MethodChoice::truncated, poisson);
  EXPECT_TRUE(truncated.reports[1].truncated);
  EXPECT_TRUE(truncated.reports[1].above_tolerance);
  EXPECT_GT(truncated.reports[1].bound, 1e-3);
  EXPECT_GT(normwise(poisson, truncated, y), 1e-6);
  EXPECT_FALSE(solve(MethodChoice::truncated, decaying).reports[1].above_tolerance);
  EXPECT_TRUE(solve(MethodChoice::automatic, decaying).reports[1].truncated);
  EXPECT_FALSE(solve(MethodChoice::exact, decaying).reports[1].truncated);
  for (const Bands<double>* bands : {&poisson, &decaying}) {
    const CutOutcome<double> pivot = solve(MethodChoice::pivot, *bands);
    EXPECT_EQ(pivot.reports[1].gathered, 2);
    EXPECT_EQ(pivot.reports[1].first_gathered, 0);
    EXPECT_NE(pivot.reports[1].gathered_why.find("asked for"), std::string::npos);
    EXPECT_LE(normwise(*bands, pivot, y), 10 * kEps);
  }
}

TEST(CutMethods, TheBoundHoldsForWhatTruncationCosts) {
  const CutCase c = CutCase::equal(1, {30, 12, 30});
  for (const double diag : {2.05, 2.2, 3.0, 5.0}) {
    const Bands<double> bands = test::constant<double>(c.all(), -1.01, diag, -0.99);
    // Constants reach the bound: x is 1 everywhere.
    const std::vector<double> y =
        test::product(bands, std::vector<double>(static_cast<std::size_t>(c.all().rows()), 1.0));
    CutRun run;
    run.options.method = MethodChoice::truncated;
    run.options.rtol = 0.5;
    const CutOutcome<double> outcome = solve_cut(c, bands, y, run);
    double error = 0;
    for (const double value : outcome.x) error = std::max(error, std::abs(value - 1));
    EXPECT_LE(error, outcome.reports[0].bound + 100 * kEps) << diag;
    EXPECT_GE(error, outcome.reports[0].bound * 0.01 - 0.25) << diag;
  }
}

TEST(CutMethods, ALooseToleranceTruncatesWhatIsNotSymmetric) {
  const CutCase c = CutCase::equal(1, {30, 20, 30});
  CutRun run;
  run.options.rtol = 1e-3;
  const std::vector<double> y = random_y(c);
  const Bands<double> symmetric = test::constant<double>(c.all(), -1, 3, -1);
  EXPECT_FALSE(solve_cut(c, symmetric, y, run).reports[0].truncated);
  const Bands<double> unsymmetric = test::constant<double>(c.all(), -1.1, 3, -0.9);
  const CutOutcome<double> loose = solve_cut(c, unsymmetric, y, run);
  EXPECT_TRUE(loose.reports[0].truncated);
  EXPECT_LE(loose.reports[0].bound, 1e-3);
  EXPECT_LT(loose.reports[1].spike_rows, 18);
  EXPECT_LE(normwise(unsymmetric, loose, y), 1e-3);
  run.known.symmetric = true;
  EXPECT_FALSE(solve_cut(c, unsymmetric, y, run).reports[0].truncated);
}

TEST(CutGathering, TakesOnlyTheLinesThatWantIt) {
  const CutCase c = CutCase::equal(20, {12, 12, 12});
  Bands<double> bands = test::constant<double>(c.all(), -1, 2, -1);
  for (Index i = 7 * 36; i < 8 * 36; ++i) {
    bands.lower()[i] = bands.upper()[i] = 1;
    bands.diag()[i] = 0;
  }
  const std::vector<double> y = random_y(c);
  const CutOutcome<double> outcome = solve_cut(c, bands, y);
  EXPECT_LE(normwise(bands, outcome, y), 10 * kEps);
  for (const CutReport& report : outcome.reports) {
    EXPECT_EQ(report.gathered, 1);
    EXPECT_EQ(report.first_gathered, 7);
    EXPECT_NE(report.gathered_why.find("singular"), std::string::npos) << report.gathered_why;
    EXPECT_EQ(report.pinned, 0);
  }
}

TEST(CutGathering, KeepsToItsLimit) {
  const CutCase c = CutCase::equal(3, {12, 12, 12});
  const Bands<double> bands = test::constant<double>(c.all(), 1, 0, 1);
  for (const Index limit : {Index{-1}, Index{0}, Index{35}, Index{36}}) {
    CutRun run;
    run.options.gather_limit = limit;
    const CutOutcome<double> outcome = solve_cut(c, bands, random_y(c), run);
    if (limit < 0 || limit == 36) {
      EXPECT_TRUE(outcome.none_threw()) << outcome.texts();
      continue;
    }
    for (const auto& thrown : outcome.thrown) {
      // Each process solves one line, and finds that it may not.
      EXPECT_NE(test::text_of(thrown).find(" of 36 rows"), std::string::npos) << outcome.texts();
      EXPECT_NE(test::text_of(thrown).find("gather_limit"), std::string::npos) << outcome.texts();
    }
  }
}

TEST(CutGathering, RowsFarApartAreGathered) {
  const CutCase c = CutCase::equal(1, {10, 10});
  Bands<double> bands = test::constant<double>(c.all(), -1e-250, 4e-250, -1e-250);
  for (Index i = 10; i < 20; ++i) {
    bands.lower()[i] = bands.upper()[i] = -1e250;
    bands.diag()[i] = 4e250;
  }
  std::vector<double> y(20, 1e-250);
  std::fill(y.begin() + 10, y.end(), 1e250);
  const CutOutcome<double> outcome = solve_cut(c, bands, y);
  EXPECT_EQ(outcome.reports[0].gathered, 1);
  EXPECT_LE(test::componentwise_error(bands, outcome.x, y), 10);
}

TEST(CutSingular, LinesFailOnAllProcessesWithTheirNumber) {
  const CutCase c = CutCase::equal(4, {9, 10, 11});
  Bands<double> bands = test::neumann<double>(c.all());
  for (const Index line : {0, 1, 3}) bands.diag()[30 * line] = 2;
  const CutOutcome<double> outcome = solve_cut(c, bands, random_y(c));
  ASSERT_TRUE(outcome.all_threw());
  for (const auto& thrown : outcome.thrown) {
    EXPECT_THROW(std::rethrow_exception(thrown), Breakdown);
    EXPECT_NE(test::text_of(thrown).find("line 2 of 30 rows"), std::string::npos) << outcome.texts();
    EXPECT_NE(test::text_of(thrown).find("singular pin"), std::string::npos) << outcome.texts();
  }
}

TEST(CutSingular, LinesThatAreSoToRoundingAreFoundHoweverTheyAreCut) {
  // Diagonals are rounded sums of couplings: the last pivot is rounding, and cuts change which.
  std::mt19937 random(test::kSeed);
  std::uniform_real_distribution<double> size(0.01, 1);
  for (const std::vector<Index>& rows : {std::vector<Index>{30}, {9, 10, 11}, {1, 28, 1}, {2, 13, 1, 14}}) {
    const CutCase c = CutCase::equal(20, rows);
    Bands<double> bands(c.all());
    std::vector<double> y(600);
    for (Index i = 0; i < 600; ++i) {
      bands.lower()[i] = i % 30 > 0 ? bands.upper()[i - 1] : 0;
      bands.upper()[i] = i % 30 < 29 ? -size(random) : 0;
      bands.diag()[i] = -bands.lower()[i] - bands.upper()[i];
      y[static_cast<std::size_t>(i)] = i % 2 == 0 ? 1 : -1;  // sums to 0 over each line
    }
    CutRun run;
    const CutOutcome<double> failed = solve_cut(c, bands, y, run);
    EXPECT_TRUE(failed.all_threw()) << failed.texts();
    run.options.singular = Singular::pin;
    const CutOutcome<double> outcome = solve_cut(c, bands, y, run);
    ASSERT_TRUE(outcome.none_threw()) << outcome.texts();
    for (std::size_t l = 0; l < 20; ++l) EXPECT_EQ(outcome.x[30 * l + 29], 0) << rows.size() << " parts";
    EXPECT_LE(normwise(bands, outcome, y), 10 * kEps);
  }
}

TEST(CutSingular, LinesThatNoProcessCanSolveAreNamedByTheirNumber) {
  // A row of zeros: pinning the last unknown does not help.
  const CutCase c = CutCase::equal(7, {9, 10, 11});
  Bands<double> bands = test::constant<double>(c.all(), -1, 2, -1);
  for (const Index line : {2, 5}) {
    for (Index i = line * 30 + 12; i < line * 30 + 14; ++i) bands.lower()[i] = bands.diag()[i] = bands.upper()[i] = 0;
  }
  CutRun run;
  run.options.singular = Singular::pin;
  const CutOutcome<double> outcome = solve_cut(c, bands, random_y(c), run);
  ASSERT_TRUE(outcome.all_threw());
  for (const auto& thrown : outcome.thrown) {
    const std::string text = test::text_of(thrown);
    EXPECT_TRUE(text.find("line 2 of 30 rows") != std::string::npos ||
                text.find("line 5 of 30 rows") != std::string::npos)
        << text;
  }
}

TEST(CutSingular, LinesArePinnedWhereTheUserAsksOrTheNullSpaceIsKnown) {
  const CutCase c = CutCase::equal(1, {9, 10, 11});
  const Bands<double> bands = test::neumann<double>(c.all());
  std::vector<double> y(30);
  for (std::size_t i = 0; i < 30; ++i) y[i] = i % 2 == 0 ? 1 : -1;  // sums to 0: consistent
  CutRun asked, known;
  asked.options.singular = Singular::pin;
  known.known.constant_null_space = true;
  for (const CutRun& run : {asked, known}) {
    const CutOutcome<double> outcome = solve_cut(c, bands, y, run);
    ASSERT_TRUE(outcome.none_threw()) << outcome.texts();
    EXPECT_LE(test::componentwise_error(bands, outcome.x, y), 10);
    EXPECT_EQ(outcome.x[29], 0);
    EXPECT_EQ(outcome.reports[0].pinned, 1);
    EXPECT_EQ(outcome.reports[1].gathered, 1);
  }
  // Of two lines neither is the one that the null space is known of.
  const CutCase two = CutCase::equal(2, {9, 10, 11});
  EXPECT_TRUE(solve_cut(two, test::neumann<double>(two.all()), random_y(two), known).all_threw());
}

TEST(CutErrors, OfOneProcessAreKnownToAll) {
  const CutCase c = CutCase::equal(5, {9, 10, 11});
  Bands<double> bands = test::constant<double>(c.all(), -1, 4, -1);
  bands.upper()[2 * 30 + 12] = std::numeric_limits<double>::infinity();
  const CutOutcome<double> outcome = solve_cut(c, bands, random_y(c));
  ASSERT_TRUE(outcome.all_threw());
  for (std::size_t p = 0; p < 3; ++p) {
    const std::string text = test::text_of(outcome.thrown[p]);
    EXPECT_THROW(std::rethrow_exception(outcome.thrown[p]), Breakdown);
    EXPECT_EQ(text.find("process 1: ") == 0, p != 1) << text;
    EXPECT_NE(text.find("line 2"), std::string::npos) << text;
  }
}

TEST(CutErrors, CutsThatDoNotFitAreRefusedByAll) {
  const Bands<double> bands = test::closed(test::constant<double>(LineSet::equal(2, 5), -1, 4, -1));
  const auto refuse = [&](const std::string& word, const std::function<void(Cuts&)>& spoil) {
    const auto thrown = test::run_processes(3, [&](int rank, const std::shared_ptr<test::ThreadExchange>& exchange) {
      CutSolver<double> solver(CutRun().options);
      Cuts cuts{{{0, 1, 2}}, {0, 0}, {0, 1}};
      if (rank == 1) spoil(cuts);
      solver.fill({LineSet::equal(2, 5), cuts, exchange}, test::fill_from(bands));
      solver.set_up();
    });
    for (const auto& each : thrown) {
      EXPECT_THROW(std::rethrow_exception(each), InvalidInput);
      EXPECT_NE(test::text_of(each).find(word), std::string::npos) << test::text_of(each);
    }
  };
  refuse("does not list it", [](Cuts& cuts) { cuts.chains = {{0, 2}}; });
  refuse("twice", [](Cuts& cuts) { cuts.chains = {{0, 1, 0}}; });
  refuse("numbered 0 to 2", [](Cuts& cuts) { cuts.chains = {{0, 1, 3}}; });
  refuse("chain_of holds 1 numbers", [](Cuts& cuts) { cuts.chain_of = {0}; });
  refuse("number of chains is 1", [](Cuts& cuts) { cuts.chain_of = {0, 1}; });
  refuse("number holds 3", [](Cuts& cuts) { cuts.number = {0, 1, 2}; });
}

TEST(CutErrors, AnApplyThatFailsOnOneProcessLetsNobodyHang) {
  const CutCase c = CutCase::equal(2, {20, 20, 20});
  for (const double d : {1.0, 8.0}) {
    const Bands<double> bands = test::random_dominant<double>(c.all(), d);
    const auto thrown = test::run_processes(3, [&](int rank, const std::shared_ptr<test::ThreadExchange>& exchange) {
      const test::Share share(c, rank);
      CutSolver<double> solver(CutRun().options);
      test::fill_share(share, bands.view(), solver.bands({share.lines, share.cuts, exchange}));
      solver.set_up();
      std::vector<double> y(40, 1.0), x(40, 0.0);
      if (rank == 1) {
        EXPECT_THROW(solver.apply(y.data(), y.data()), InvalidInput);  // overlapping vectors
      } else {
        solver.apply(y.data(), x.data());
        EXPECT_TRUE(std::isnan(x[rank == 0 ? 19 : 0])) << "process " << rank;  // next to the cut
      }
      solver.apply(y.data(), x.data());
      EXPECT_TRUE(std::isfinite(x[0]));
    });
    for (const auto& each : thrown) EXPECT_FALSE(each) << test::text_of(each);
  }
}

TEST(CutApply, AnswersThatLeaveTheRangeNextToACutAreTold) {
  // Solved apart, no part exceeds 1.2e308; joined, the solution is nearly twice the right-hand side.
  const CutCase c = CutCase::equal(2, {3, 3, 3});
  const Bands<double> bands = test::constant<double>(c.all(), -0.5, 1.5, -0.5);
  const std::vector<double> large(static_cast<std::size_t>(c.all().rows()), 1.2e308);
  CutRun run;
  const CutOutcome<double> told = solve_cut(c, bands, large, run);
  ASSERT_TRUE(told.none_threw()) << told.texts();
  EXPECT_FALSE(std::isfinite(told.x[4]));
  for (const CutReport& report : told.reports) {
    EXPECT_EQ(report.above_bound.find("an answer is not finite: it leaves the range"), 0U) << report.above_bound;
    EXPECT_EQ(report.rounding, std::numeric_limits<double>::infinity());
  }
  run.options.above_bound = AboveBound::error;
  EXPECT_NE(solve_cut(c, bands, large, run).texts().find("not finite"), std::string::npos);
  const std::vector<double> small(large.size(), 1);
  for (const CutReport& report : solve_cut(c, bands, small).reports) EXPECT_EQ(report.above_bound, "");
}

TEST(CutApply, NaNStaysInItsLine) {
  for (const Layout layout : {Layout::end_to_end, Layout::strided_y, Layout::strided_z}) {
    for (const double d : {0.5, 1.0, 8.0}) {
      const CutCase c = CutCase::equal(6, {8, 9, 1, 7}, layout);
      const Bands<double> bands = test::random_dominant<double>(c.all(), d);
      std::vector<double> y = random_y(c);
      const CutOutcome<double> clean = solve_cut(c, bands, y);
      y[2 * 25 + 11] = std::numeric_limits<double>::quiet_NaN();
      const CutOutcome<double> spoilt = solve_cut(c, bands, y);
      for (std::size_t i = 0; i < y.size(); ++i) {
        if (i / 25 == 2) continue;
        EXPECT_EQ(spoilt.x[i], clean.x[i]) << "row " << i << " d " << d;
      }
      EXPECT_TRUE(std::isnan(spoilt.x[2 * 25 + 11]));
    }
  }
}

/// Set the same object up again and again.
TEST(CutApply, FollowsNewValuesAndHealsAfterAFailure) {
  const CutCase c = CutCase::equal(4, {15, 16, 17}, Layout::strided_y);
  const CutCase other = CutCase::equal(3, {5, 1, 30});
  const std::vector<double> y = random_y(c), other_y = random_y(other);
  const auto thrown = test::run_processes(3, [&](int rank, const std::shared_ptr<test::ThreadExchange>& exchange) {
    CutSolver<double> solver(CutRun().options);
    const auto run = [&](const CutCase& now, const std::vector<double>& right, const Bands<double>& bands) {
      const test::Share share(now, rank);
      test::fill_share(share, bands.view(), solver.bands({share.lines, share.cuts, exchange}));
      solver.set_up();
      const std::vector<double> own_y = share.part_of(right);
      std::vector<double> own_x(own_y.size());
      solver.apply(own_y.data(), own_x.data());
      solver.apply_transpose(own_y.data(), own_x.data());
      solver.apply(own_y.data(), own_x.data());
      Solver<double> plain = test::solver_for(bands, CutRun().options);  // every process solves all of it by itself
      const std::vector<double> fresh = share.part_of(test::answer(plain, right));
      for (std::size_t i = 0; i < fresh.size(); ++i) EXPECT_NEAR(own_x[i], fresh[i], 1e-9);
    };
    run(c, y, test::random_dominant<double>(c.all(), 1.2));
    EXPECT_EQ(solver.times().applies, 2);
    run(c, y, test::random_dominant<double>(c.all(), 3, 7));
    EXPECT_THROW(run(c, y, test::neumann<double>(c.all())), Breakdown);
    std::vector<double> none(1);
    EXPECT_THROW(solver.apply(none.data(), none.data()), InvalidInput);
    run(other, other_y, test::random_dominant<double>(other.all(), 1.1));
    // The bands come back whole when they are asked for.
    const test::Share share(other, rank);
    const Bands<double> given = test::random_dominant<double>(other.all(), 1.1);
    const Bands<double>& own = solver.bands({share.lines, share.cuts, exchange});
    share.for_rows([&](Index here, Index there) {
      EXPECT_EQ(own.view().diag[here], given.view().diag[there]);
      const bool top = std::isnan(given.view().lower[there]), bottom = std::isnan(given.view().upper[there]);
      if (!top) {
        EXPECT_EQ(own.view().lower[here], given.view().lower[there]);
      }
      if (!bottom) {
        EXPECT_EQ(own.view().upper[here], given.view().upper[there]);
      }
    });
    run(c, y, test::random_dominant<double>(c.all(), 1.2));
    EXPECT_EQ(solver.counts().set_ups, 5);
    EXPECT_GT(solver.bytes(), 0);
  });
  for (const auto& each : thrown) EXPECT_FALSE(each) << test::text_of(each);
}

TEST(CutOptions, OutOfRangeAreRefused) {
  Options options{.gather_limit = -2};
  EXPECT_THROW(CutSolver<double>{options}, InvalidInput);
  CutSolver<double> solver;
  EXPECT_THROW(solver.set_options(options), InvalidInput);
  EXPECT_EQ(solver.options(), Options{});
}

}  // namespace
}  // namespace oclspkt
