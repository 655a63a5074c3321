// SPDX-License-Identifier: BSD-2-Clause
// Bands that a solver handed out belong to the caller: what he writes is what the next set-up solves, whatever the
// solver made of the numbers before.
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <new>

#include "cut_case.hpp"
#include "solved_bands.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

using test::CutCase;

Options on_host() { return {.devices = "host"}; }

/// Line 0 wants pivoting, the others are dominant, and so many that the host does not pivot in all.
Bands<double> one_fallback_line() {
  Bands<double> bands = test::constant<double>(LineSet::equal(5, 3), 1, 4, 1);
  bands.diag()[0] = 0;
  bands.diag()[1] = 1;
  bands.diag()[2] = 0.5;
  bands.close_lines();
  return bands;
}

/// The first replaced row copies lent bands. If memory runs out then, no row is replaced, and none is put back.
TEST(SolvedBands, AreAsBeforeIfMemoryRunsOut) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer ends a process whose memory is limited";
#endif
  // Arrays so large are the system's, and no memory that other tests released serves.
  const Bands<double> given = test::closed(test::constant<double>(LineSet::one(5'000'000), -1, 4, -1));
  SolvedBands<double> bands;
  bands.given().reshape(given.lines());
  Bands<double>& lent = bands.lend();
  lent.copy_from(given.view());
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &usual), 0);
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit low{pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{1} << 20), usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &low), 0);
  bool ran_out = false;
  try {
    bands.overlay(7, 0, 1, 0);
  } catch (const std::bad_alloc&) {
    ran_out = true;
  }
  ASSERT_EQ(setrlimit(RLIMIT_AS, &usual), 0);
  ASSERT_TRUE(ran_out);
  bands.put_back(0);
  EXPECT_EQ(&bands.now(), &lent);
  EXPECT_TRUE(test::same_bands(given, lent));
}

/// A row may be in an overlay twice: what was laid over it first is below.
TEST(SolvedBands, ShowWhatLiesBelowAnOverlay) {
  const Bands<double> given = test::closed(test::constant<double>(LineSet::equal(2, 3), -1, 4, -1));
  SolvedBands<double> bands;
  bands.given().reshape(given.lines());
  Bands<double>& kept = bands.lend();
  kept.copy_from(given.view());
  bands.overlay(1, 7, 8, 9);
  bands.blank({0});
  ASSERT_EQ(bands.overlaid(), 4u);
  const auto row = [&](Index at) {
    const BandsView<double> now = bands.now().view();
    return std::vector<double>{now.lower[at], now.diag[at], now.upper[at]};
  };
  const std::vector<double> own{-1, 4, -1}, first{7, 8, 9}, blank{0, 1, 0};
  EXPECT_EQ(row(1), blank);
  EXPECT_EQ(row(2), blank);
  EXPECT_EQ(row(4), own);
  bands.without(1, [&] {
    EXPECT_EQ(row(1), first);
    EXPECT_EQ(row(2), (std::vector<double>{-1, 4, 0}));
  });
  EXPECT_THROW(bands.without(0,
                             [&] {
                               EXPECT_TRUE(test::same_bands(bands.now(), given));
                               throw Breakdown("");
                             }),
               Breakdown);
  EXPECT_EQ(row(1), blank) << "the overlay is back, whatever is thrown";
  EXPECT_TRUE(test::same_bands(kept, given));
  bands.put_back(1);
  EXPECT_EQ(row(1), first);
  bands.put_back(0);
  EXPECT_EQ(row(1), own);
  EXPECT_TRUE(bands.take_anew()) << "a copy was solved";
}

TEST(KeptBands, OfFallbackLinesAreSolvedAsTheyAreWritten) {
  const Bands<double> first = one_fallback_line();
  Solver<double> solver(on_host());
  Bands<double>& kept = solver.bands(first.lines());
  kept.copy_from(first.view());
  solver.set_up();
  ASSERT_EQ(solver.report().groups.size(), 1u);
  EXPECT_TRUE(test::same_bands(kept, first));
  EXPECT_LE(test::backward_error(solver, first), 20);

  const Bands<double> second = test::constant<double>(first.lines(), -1, 4, -1);
  kept.copy_from(second.view());
  solver.set_up();
  EXPECT_TRUE(solver.report().groups.empty());
  EXPECT_LE(test::backward_error(solver, second), 20);
  const double y[] = {3, 2, 3, 3, 2, 3, 3, 2, 3, 3, 2, 3, 3, 2, 3};  // of ones
  double x[15], transposed[15];
  solver.apply(y, x);
  solver.apply_transpose(y, transposed);
  for (int i = 0; i < 15; ++i) {
    EXPECT_NEAR(x[i], 1, 1e-15);
    EXPECT_NEAR(transposed[i], 1, 1e-15);
  }
}

TEST(KeptBands, MayChangeInOneNumberOfAFallbackLine) {
  Bands<double> wanted = one_fallback_line();
  Solver<double> solver(on_host());
  Bands<double>& kept = solver.bands(wanted.lines());
  kept.copy_from(wanted.view());
  for (int step = 0; step < 3; ++step) {
    wanted.diag()[2] = kept.diag()[2] += 0.25;
    solver.set_up();
    ASSERT_EQ(solver.report().groups.size(), 1u);
    EXPECT_LE(test::backward_error(solver, wanted), 20) << "step " << step;
  }
  // So they may where rows are scaled or pinned for the host.
  for (Index i = 0; i < 3; ++i) wanted.diag()[i] = kept.diag()[i] = 1e300;
  solver.set_up();
  ASSERT_EQ(solver.report().groups.size(), 1u);
  for (Index i = 0; i < 3; ++i) wanted.diag()[i] = kept.diag()[i] = 5;
  solver.set_up();
  EXPECT_LE(test::backward_error(solver, wanted), 20);
}

TEST(KeptBands, AreNotRoundedByPrecisionNarrow) {
  const Bands<double> given = test::closed(test::random_dominant<double>(LineSet::equal(3, 50), 3));
  Options options = on_host();
  options.precision = Precision::narrow;
  Solver<double> solver(options);
  Bands<double>& kept = solver.bands(given.lines());
  kept.copy_from(given.view());
  solver.set_up();
  EXPECT_TRUE(test::same_bands(kept, given));
  EXPECT_GT(test::backward_error(solver, given), 1e3) << "the solver has rounded its own";
  solver.set_options(on_host());
  solver.set_up();
  EXPECT_LE(test::backward_error(solver, given), 20);
}

TEST(KeptBands, ThatAreTheSolversOwnAreNotSolvedByAnotherPrecisionOnceTheyAreRounded) {
  const Bands<double> given = test::random_dominant<double>(LineSet::equal(3, 50), 3);
  Options options = on_host();
  options.precision = Precision::narrow;
  Solver<double> solver = test::solver_for(given, options);
  solver.set_options(on_host());
  test::expect_refusal([&] { solver.set_up(); }, "give them again");
  FilledBands<double> rounded;
  rounded.fill(given.lines(), test::fill_from(given));
  solver.swap_bands(given.lines(), rounded);
  solver.set_up();
  EXPECT_LE(test::backward_error(solver, given), 20);
  solver.swap_bands(given.lines(), rounded);
  test::expect_refusal([&] { solver.set_up(); }, "give them again");
}

/// Fallback lines are whole again in what a swap gives back.
TEST(KeptBands, AreSwappedInAgainWithoutAFill) {
  const Bands<double> given = one_fallback_line();
  Solver<double> solver = test::solver_for(given, on_host());
  ASSERT_EQ(solver.report().groups.size(), 1u);
  FilledBands<double> other;
  other.fill(given.lines(), test::fill_from(test::constant<double>(given.lines(), 1, 4, 1)));
  solver.swap_bands(given.lines(), other);
  solver.set_up();
  EXPECT_TRUE(solver.report().groups.empty());
  solver.swap_bands(given.lines(), other);
  solver.set_up();
  EXPECT_LE(test::backward_error(solver, given), 20);
}

/// Rows next to cuts are uncoupled, lines whose inner rows are singular are blank, for the solver alone.
TEST(KeptBands, OfCutLinesAreSolvedAsTheyAreWritten) {
  const CutCase c = CutCase::equal(4, {8, 9, 10});
  Bands<double> neumann = test::constant<double>(c.all(), -1, 2, -1);
  for (Index i = 0; i < 9; ++i) {  // line 1: its inner rows are singular, and rows next to cuts hold it
    const Index at = neumann.lines().first(1) + 7 + i;
    neumann.diag()[at] = i == 1 || i == 7 ? 1 : i == 0 || i == 8 ? 40 : 2;
  }
  const Bands<double> steps[] = {test::random_dominant<double>(c.all(), 1.1), std::move(neumann),
                                 test::random_dominant<double>(c.all(), 3, 7), test::constant<double>(c.all(), 0, 2, 0),
                                 test::random_dominant<double>(c.all(), 1.2)};
  const std::vector<double> y = test::random_vector<double>(c.all().extent());
  std::vector<std::vector<double>> x(std::size(steps), std::vector<double>(y.size()));
  for (const Precision precision : {Precision::same, Precision::narrow}) {
    const auto thrown = test::run_processes(3, [&](int rank, const std::shared_ptr<test::ThreadExchange>& exchange) {
      const test::Share share(c, rank);
      Options options = on_host();
      options.precision = precision;
      CutSolver<double> solver(options);
      Bands<double>& kept = solver.bands({share.lines, share.cuts, exchange});
      for (std::size_t step = 0; step < std::size(steps); ++step) {
        test::fill_share(share, steps[step].view(), kept);
        solver.set_up();
        share.for_rows([&](Index here, Index there) {
          EXPECT_EQ(kept.diag()[here], steps[step].view().diag[there]);
          const Index row = there % 27;
          if (row > 0) {
            EXPECT_EQ(kept.lower()[here], steps[step].view().lower[there]) << "row " << row;
          }
          if (row < 26) {
            EXPECT_EQ(kept.upper()[here], steps[step].view().upper[there]) << "row " << row;
          }
        });
        const std::vector<double> own_y = share.part_of(y);
        std::vector<double> own_x(own_y.size());
        solver.apply(own_y.data(), own_x.data());
        share.put(own_x, x[step]);
      }
    });
    for (const auto& each : thrown) ASSERT_FALSE(each) << test::text_of(each);
    for (std::size_t step = 0; step < std::size(steps); ++step) {
      const double error = componentwise_backward_error(c.all(), steps[step].view(), x[step].data(), y.data());
      EXPECT_LE(error, precision == Precision::same ? 1e-13 : 1e-6) << "step " << step;
    }
  }
}

}  // namespace
}  // namespace oclspkt
