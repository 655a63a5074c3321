// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cstring>

#include "backward_error.hpp"
#include "every_device.hpp"
#include "largest_new.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

/// What set-ups keep from the one before. The methods that devices choose between are those of long lines.
class Keep : public test::SolverFixture<double> {
 protected:
  static constexpr Index kRows = 100000;

  static std::vector<LineSet> sets() {
    return {LineSet::one(kRows), LineSet::grid_axis(0, 40, 50, 60), LineSet::grid_axis(1, 40, 50, 60),
            LineSet::grid_axis(2, 40, 50, 60)};
  }
  static Bands<double> rows(double diag) { return test::constant<double>(LineSet::one(kRows), -1, diag, -1); }

  /// Of two matrices, relative to the diagonal.
  static double largest_difference(const Bands<double>& one, const Bands<double>& other) {
    const BandsView<double> a = one.view(), b = other.view();
    double worst = 0;
    for (Index i = 0; i < one.lines().extent(); ++i) {
      const double differs = std::max(
          {std::abs(a.lower[i] - b.lower[i]), std::abs(a.diag[i] - b.diag[i]), std::abs(a.upper[i] - b.upper[i])});
      worst = std::max(worst, differs / std::abs(a.diag[i]));
    }
    return worst;
  }

  /// Call f(solver) for a solver on every device that truncates by itself.
  template <typename F>
  static void on_devices(const F& f) {
    test::with_every_true_device([&](const Options& options) {
      Solver<double> solver(options);
      f(solver);
    });
  }
};

TEST_F(Keep, TheMethodWhileItHolds) {
  on_devices([](Solver<double>& solver) {
    set_up(solver, rows(2));
    EXPECT_TRUE(test::is_exact(solver.report()));
    ASSERT_GE(solver.report().candidates.size(), 2u);
    const std::int64_t uploads = solver.counts().uploads;

    set_up(solver, rows(4));  // truncation would hold as well
    EXPECT_TRUE(test::is_exact(solver.report()));
    EXPECT_NE(solver.report().why.find("kept from the previous set-up"), std::string::npos) << solver.report().why;
    EXPECT_EQ(solver.report().candidates.size(), 1u);
    EXPECT_EQ(solver.counts().uploads, uploads + 1);
    EXPECT_LE(backward_error(solver, rows(4)), 20);

    Options options = solver.options();
    options.rtol = 1e-12;
    solver.set_options(options);
    options.rtol = 0;
    solver.set_options(options);
    set_up(solver, rows(4));
    EXPECT_EQ(solver.report().method, Method::truncated_streamed) << "options that changed choose anew";

    set_up(solver, rows(2));
    EXPECT_TRUE(test::is_exact(solver.report())) << "truncation no longer holds";
    const Bands<double> shorter = test::constant<double>(LineSet::one(kRows - 1), -1, 4, -1);
    set_up(solver, shorter);
    EXPECT_EQ(solver.report().method, Method::truncated_streamed) << "another layout chooses anew";
  });
}

TEST_F(Keep, NoRemedyAndNothingAfterAFailure) {
  on_devices([](Solver<double>& solver) {
    set_up(solver, test::constant<double>(LineSet::one(kRows), 1, 0, 1));
    EXPECT_EQ(solver.report().method, Method::pivot);
    EXPECT_EQ(solver.report().device.name, "host");
    set_up(solver, rows(4));
    EXPECT_EQ(solver.report().method, Method::truncated_streamed) << solver.report().why;

    set_up(solver, rows(2));
    EXPECT_TRUE(test::is_exact(solver.report()));
    EXPECT_THROW(set_up(solver, rows(std::nan(""))), Breakdown);
    set_up(solver, rows(4));
    EXPECT_EQ(solver.report().method, Method::truncated_streamed) << solver.report().why;
    EXPECT_LE(backward_error(solver, rows(4)), 20);
  });
}

TEST_F(Keep, TheTransposedSolverAndItsMethodToo) {
  on_devices([](Solver<double>& solver) {
    std::vector<double> y(kRows, 1), x(kRows);
    set_up(solver, rows(2));
    for (int often = 0; often < 100; ++often) solver.apply_transpose(y.data(), x.data());
    EXPECT_TRUE(test::is_exact(solver.transposed().report()));
    set_up(solver, rows(4));
    solver.apply_transpose(y.data(), x.data());
    EXPECT_TRUE(test::is_exact(solver.transposed().report()));
    EXPECT_EQ(solver.transposed().report().candidates.size(), 1u);
  });
}

TEST_F(Keep, SymmetryUnderALooseTolerance) {
  on_devices([](Solver<double>& solver) {
    Options options = solver.options();
    options.rtol = 1e-3;
    solver.set_options(options);
    Bands<double> bands = rows(4);
    set_up(solver, bands);
    EXPECT_TRUE(test::is_exact(solver.report()));
    ASSERT_GE(solver.report().candidates.size(), 3u);
    for (const std::size_t truncated : {0, 1}) {
      EXPECT_NE(solver.report().candidates[truncated].why.find("symmetric"), std::string::npos) << truncated;
    }

    bands.lower()[70] = -1.5;
    Solver<double> other = test::solver_for(bands, options);
    EXPECT_EQ(other.report().method, Method::truncated_streamed) << "not symmetric: truncation is what was asked for";
    // The caller knows better than the bits.
    set_up(other, bands, {.symmetric = true});
    EXPECT_TRUE(test::is_exact(other.report()));
  });
}

/// A time step whose coefficients change applies its factors once: none are stored then, and lines stay whole.
TEST_F(Keep, NoFactorsForFewApplies) {
  for (const LineSet& lines : sets()) {
    SCOPED_TRACE(lines.describe());
    on_devices([&](Solver<double>& solver) {
      set_up(solver, test::random_dominant<double>(lines, 4));
      const Method stored = solver.report().method;
      std::vector<double> y(static_cast<std::size_t>(lines.extent()), 1), x(y.size());
      solver.apply(y.data(), x.data());
      // Lines side by side may be dominant by little: they are not cut.
      for (const double d : {4.0, lines.contiguous() ? 3.0 : 1.001}) {
        const Bands<double> step = test::random_dominant<double>(lines, d, test::kSeed + 1);
        set_up(solver, step);
        EXPECT_EQ(solver.report().method, Method::truncated_halo) << solver.report().why;
        EXPECT_NE(solver.report().why.find("stores no factors because few applies are expected"), std::string::npos);
        EXPECT_LT(solver.bytes(), std::int64_t{48} * lines.rows()) << "bands, scratch, and no factors";
        EXPECT_LE(backward_error(solver, step), 20);
      }
      for (int applies = 0; applies < 100; ++applies) solver.apply(y.data(), x.data());
      set_up(solver, test::random_dominant<double>(lines, 4));
      EXPECT_EQ(solver.report().method, stored) << solver.report().why;
    });
  }
}

/// What new values want: nothing that an earlier set-up has left.
TEST_F(Keep, EverythingButNumbersWhereOnlyTheseChange) {
  for (const LineSet& lines : sets()) {
    SCOPED_TRACE(lines.describe());
    test::with_every_device([&](const Options& options) {
      Solver<double> solver(options);
      // The second set-up brings back what the first gave away, and keeps it.
      for (int times = 0; times < 2; ++times) set_up(solver, test::random_dominant<double>(lines, 1.2));
      const Method method = solver.report().method;
      const double error = solver.report().backward_error;
      const Counts before = solver.counts();
      const std::int64_t bytes = solver.bytes();
      const double* const storage = solver.bands(lines).view().diag;

      const Bands<double> changed = test::random_dominant<double>(lines, 1.25, test::kSeed + 1);
      const BandsFill<double> fill = test::fill_from(changed);
      const test::LargestNew news;
      solver.fill(lines, fill);
      solver.set_up();
      EXPECT_LT(news.bytes(), 1 << 16) << "nothing grows with the rows";
      EXPECT_EQ(solver.report().method, method);
      EXPECT_EQ(solver.report().backward_error, error) << "the evidence of before";
      EXPECT_EQ(solver.counts().trials, before.trials);
      EXPECT_EQ(solver.counts().uploads, before.uploads + 1);
      EXPECT_EQ(solver.bytes(), bytes);
      EXPECT_LE(backward_error(solver, changed), 20);
      EXPECT_EQ(solver.bands(lines).view().diag, storage);
    });
  }
}

/// Bands that are told from factors would be off by the growth of these: they are held beside them.
TEST_F(Keep, TheBandsBesideStoredFactors) {
  const LineSet sets[] = {LineSet::one(2 * kRows), LineSet::grid_axis(1, 80, 50, 60)};
  for (const LineSet& lines : sets) {
    for (const auto& [d, symmetric] : {std::pair{1.0, false}, {3.0, false}, {3.0, true}}) {
      SCOPED_TRACE(lines.describe() + ", dominance " + std::to_string(d) + (symmetric ? ", symmetric" : ""));
      const Bands<double> bands =
          symmetric ? test::random_symmetric<double>(lines, d) : test::random_dominant<double>(lines, d);
      test::with_every_device([&, symmetric = symmetric](const Options& options) {
        Solver<double> solver(options);
        Bands<double> closed = test::closed(test::copy_of(bands)), told(lines);
        set_up(solver, bands);
        if (solver.report().device.type == "cpu") {
          const std::int64_t word = sizeof(double), words = symmetric && options.devices != "host" ? 6 : 7;
          EXPECT_LE(solver.bytes(), words * word * lines.rows() + (2 << 20)) << words << " words, and scratch";
        }
        EXPECT_LE(backward_error(solver, bands), 20);
        EXPECT_LE(test::transposed_error(solver, closed), 20);
        solver.copy_bands(told);
        EXPECT_LE(largest_difference(closed, told), 10 * eps);
        solver.set_up();
        EXPECT_LE(backward_error(solver, bands), 20);
        solver.bands(lines).diag()[7] *= 2;
        closed.diag()[7] *= 2;
        solver.set_up();
        EXPECT_LE(backward_error(solver, closed), 20);
        solver.copy_bands(told);
        EXPECT_LE(largest_difference(closed, told), 10 * eps);
      });
    }
  }
}

/// Bands that were filled ahead are swapped in, and those that were there are the next to be filled.
TEST_F(Keep, TwoSetsOfBandsWhereOneIsFilledAhead) {
  for (const LineSet& lines : sets()) {
    SCOPED_TRACE(lines.describe());
    test::with_every_device([&](const Options& options) {
      Solver<double> solver(options);
      FilledBands<double> ahead;
      const Bands<double> values[] = {test::random_dominant<double>(lines, 1.2),
                                      test::random_dominant<double>(lines, 1.25, test::kSeed + 1)};
      std::int64_t held = 0;
      for (int step = 0; step < 4; ++step) {
        std::size_t largest = 0;
        {
          const test::LargestNew news;
          ahead.fill(lines, test::fill_from(values[step % 2]));
          largest = news.bytes();
        }
        if (step > 0) {
          EXPECT_LE(backward_error(solver, values[(step + 1) % 2]), 20) << "until the set-up";
        }
        const test::LargestNew news;
        solver.swap_bands(lines, ahead);
        solver.set_up();
        if (step > 1) {
          EXPECT_LT(std::max(largest, news.bytes()), std::size_t{1} << 16) << "nothing grows with the rows";
          EXPECT_EQ(solver.bytes() + ahead.bytes(), held);
        }
        held = solver.bytes() + ahead.bytes();
        EXPECT_LE(backward_error(solver, values[step % 2]), 20);
      }
      EXPECT_THROW(solver.swap_bands(LineSet::one(lines.rows() + 1), ahead), InvalidInput);
    });
  }
}

/// Lines of 8 rows, of which one is a Neumann problem.
template <typename T>
class OneOfMany : public test::SolverFixture<T> {};

constexpr Index kLength = 8;

/// Row sums 0. With a step of 0.25 they are so in exact numbers; else to rounding, and LAPACK solves the line.
template <typename T>
void make_neumann(Bands<T>& bands, Index line, double step = 0.25) {
  for (Index i = 0; i < kLength; ++i) {
    const Index at = line * kLength + i;
    const T below = i + 1 < kLength ? static_cast<T>(0.5 + step * static_cast<double>(i)) : T(0);
    const T above = i > 0 ? -bands.upper()[at - 1] : T(0);
    bands.lower()[at] = -above;
    bands.upper()[at] = -below;
    bands.diag()[at] = above + below;
  }
}

/// One singular line is pinned; the others keep their values, and their bits where the same way solves them.
template <typename T>
void expect_others_unchanged(Options options, Index count) {
  options.singular = Singular::pin;
  Solver<T> solver(options);
  Bands<T> bands = test::constant<T>(LineSet::equal(count, kLength), -1, 4, -1);
  const Index bad = count / 3, extent = count * kLength;
  bands.diag()[static_cast<std::size_t>(bad * kLength)] = 5;  // unlike the others, as it is below
  const std::vector<T> y = test::random_vector<T>(extent);
  test::set_up(solver, bands);
  const std::vector<T> before = test::answer(solver, y);
  const std::string shape = solver.report().shape;

  make_neumann(bands, bad);
  test::set_up(solver, bands);
  ASSERT_EQ(solver.report().groups.size(), 1u);
  EXPECT_TRUE(solver.report().groups[0].pinned);
  EXPECT_EQ(solver.report().groups[0].lines, 1);
  EXPECT_EQ(solver.report().groups[0].first_line, bad);
  const std::vector<T> after = test::answer(solver, y);
  Index changed = 0, wrong = 0;
  for (Index i = 0; i < extent; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (i / kLength == bad) continue;
    changed += std::memcmp(&before[at], &after[at], sizeof(T)) != 0;
    wrong += !(std::abs(before[at] - after[at]) <=
               20 * std::numeric_limits<T>::epsilon());  // both may err by ten; |y| is at most 1, |A^-1| 1/2
  }
  EXPECT_EQ(wrong, 0);
  if (solver.report().shape == shape) {
    EXPECT_EQ(changed, 0);
  }
  EXPECT_EQ(after[static_cast<std::size_t>(bad * kLength + kLength - 1)], T(0));
}

SCALAR_TEST(OneOfMany, SingularShortLinesArePinnedOnEveryDevice) {
  test::with_every_device([&](const Options& options) { expect_others_unchanged<T>(options, 3000); });
}

SCALAR_TEST(OneOfMany, SingularShortLinesAreRefusedOnEveryDevice) {
  test::with_every_device([&](const Options& options) {
    Solver<T> solver(options);
    Bands<T> bands = test::constant<T>(LineSet::equal(3000, kLength), -1, 4, -1);
    make_neumann(bands, 1234);
    test::expect_refusal<Breakdown>([&] { this->set_up(solver, bands); }, "line 1234 of 3000 (rows 9872-9879)");
  });
}

SCALAR_TEST(OneOfMany, NearlySingularShortLinesAreSolvedOrRefused) {
  test::with_every_device([&](const Options& options) {
    for (const double step : {0.1, 0.17, 0.3, 0.7}) {
      Solver<T> solver(options);
      Bands<T> bands = test::constant<T>(LineSet::equal(3000, kLength), -1, 4, -1);
      make_neumann(bands, 1234, step);
      try {
        this->set_up(solver, bands);
      } catch (const Breakdown&) {
        continue;
      }
      EXPECT_LE(this->backward_error(solver, bands), 100) << name(solver.report().method) << ", step " << step;
    }
  });
}

TEST(OneOfManyLines, IsPinnedAndLeavesTheOthersTheirValues) {
  Options options;
  for (const char* devices : {"host", "0"}) {
    SCOPED_TRACE(devices);
    options.devices = devices;
    expect_others_unchanged<double>(options, 100'000);
  }
}

}  // namespace
}  // namespace oclspkt
