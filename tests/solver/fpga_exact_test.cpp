// SPDX-License-Identifier: BSD-2-Clause
// The exact kernels for FPGAs on every device: one row after the other, and many lines in turn.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "every_device.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

constexpr const char* kOneByOne = "one work-item, blocks of 32 rows";

template <typename T>
class FpgaExact : public test::SolverFixture<T> {
 protected:
  static constexpr Index kInTurn = sizeof(T) == sizeof(float) ? 32 : 64;
  static std::string in_turn() {
    return "one work-item, " + std::to_string(kInTurn) + " lines in turn, kept in local memory";
  }

  /// On every device but the host, by `exact`.
  template <typename F>
  static void on_devices(const F& f) {
    test::with_every_device([&](Options options) {
      if (options.devices == "host") return;
      options.variant = "fpga";
      options.method = MethodChoice::exact;
      f(options);
    });
  }

  /// Set up, and expect that the device solves as `shape` says, with a backward error that is small.
  static void expect_solved(const Options& options, const Bands<T>& bands, const std::string& shape,
                            const std::string& what) {
    Solver<T> solver(options);
    test::SolverFixture<T>::set_up(solver, bands);
    const Report& report = solver.report();
    EXPECT_EQ(report.shape, shape) << what << ": " << report.why << "; " << report.device.why;
    EXPECT_EQ(report.method, Method::exact_factored) << what;
    EXPECT_NE(report.device.name, "host") << what;
    EXPECT_LE(report.rounding, kRoundingLimit) << what;
    EXPECT_LE(test::SolverFixture<T>::backward_error(solver, bands), 20) << what << ", " << bands.lines().describe();
  }

  static std::vector<T> solution(const Options& options, const Bands<T>& bands, const std::vector<T>& y) {
    Solver<T> solver(options);
    test::SolverFixture<T>::set_up(solver, bands);
    std::vector<T> x(y.size(), T(7));
    solver.apply(y.data(), x.data());
    return x;
  }
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(FpgaExact, Scalars);

TYPED_TEST(FpgaExact, SolvesOneLineOfEverySize) {
  using T = TypeParam;
  this->on_devices([&](const Options& options) {
    for (const Index n : {1, 2, 3, 31, 32, 33, 64, 65, 127, 997, 1000, 100'003}) {
      const LineSet line = LineSet::one(n);
      this->expect_solved(options, test::constant<T>(line, -1, 2, -1), kOneByOne, "Poisson");
      for (const double d : {1.05, 1.5, 10.0}) {
        this->expect_solved(options, test::random_dominant<T>(line, d), kOneByOne, "d " + std::to_string(d));
      }
      this->expect_solved(options, test::random_symmetric<T>(line, 1.2), kOneByOne, "symmetric");
    }
    const LineSet line = LineSet::one(1'000'000);
    this->expect_solved(options, test::constant<T>(line, -1, 2, -1), kOneByOne, "Poisson");
    this->expect_solved(options, test::random_dominant<T>(line, 1.05), kOneByOne, "random");
  });
}

TYPED_TEST(FpgaExact, SolvesLinesOfManyLengthsEndToEnd) {
  using T = TypeParam;
  this->on_devices([&](const Options& options) {
    // A long line among short ones would leave all others without a turn.
    const LineSet one_long = LineSet::unequal({0, 1, 1, 33, 64, 64, 65, 300, 7'000, 7'003, 20'011, 20'011});
    this->expect_solved(options, test::random_dominant<T>(one_long, 1.3), kOneByOne, "random");
    this->expect_solved(options, test::constant<T>(one_long, -1, 2, -1), kOneByOne, "Poisson");
    std::vector<Index> starts{0};
    for (Index l = 0; l < 150; ++l) starts.push_back(starts.back() + (7 * l) % 31);
    const LineSet many = LineSet::unequal(starts);
    this->expect_solved(options, test::random_dominant<T>(many, 1.05), this->in_turn(), "random");
    this->expect_solved(options, test::constant<T>(many, -1, 2, -1), this->in_turn(), "Poisson");
    this->expect_solved(options, test::random_symmetric<T>(many, 1.2), this->in_turn(), "symmetric");
  });
}

TYPED_TEST(FpgaExact, LetsLinesOfEqualLengthTakeTurns) {
  using T = TypeParam;
  this->on_devices([&](const Options& options) {
    constexpr Index kLines = TestFixture::kInTurn;
    std::vector<LineSet> sets{LineSet::grid_axis(2, 1, 5, 7), LineSet::grid_axis(1, 3, 1, 5),
                              LineSet::strided(9, 40, 7, 1, 3, 400)};
    for (const Index count : {Index{2}, kLines - 1, kLines, kLines + 1, 3 * kLines + 5}) {
      sets.push_back(LineSet::equal(count, 29));
      sets.push_back(LineSet::grid_axis(1, count, 31, 3));
      sets.push_back(LineSet::grid_axis(2, count, 3, 32));
    }
    for (const LineSet& lines : sets) {
      for (const double d : {1.05, 10.0}) {
        this->expect_solved(options, test::random_dominant<T>(lines, d), this->in_turn(), "random");
      }
      this->expect_solved(options, test::constant<T>(lines, -1, 2, -1), this->in_turn(), "Poisson");
      this->expect_solved(options, test::random_symmetric<T>(lines, 1.2), this->in_turn(), "symmetric");
    }
  });
}

TYPED_TEST(FpgaExact, LeavesLongLinesInMemoryOnTheWayDown) {
  using T = TypeParam;
  this->on_devices([&](const Options& options) {
    for (const LineSet& lines : {LineSet::equal(35, 9001), LineSet::grid_axis(1, 7, 9001, 2)}) {
      const std::string shape = "one work-item, " + std::to_string(TestFixture::kInTurn) + " lines in turn";
      this->expect_solved(options, test::random_dominant<T>(lines, 1.05), shape, "random");
      this->expect_solved(options, test::constant<T>(lines, -1, 2, -1), shape, "Poisson");
    }
  });
}

TYPED_TEST(FpgaExact, IsTakenByTheNameOfTheScheme) {
  using T = TypeParam;
  this->on_devices([&](Options options) {
    const Bands<T> bands = test::random_dominant<T>(LineSet::equal(70, 29), 1.5);
    options.method = MethodChoice::automatic;
    options.variant = "fpga-tdma";
    this->expect_solved(options, bands, kOneByOne, options.variant);
    options.variant = "fpga-batch";
    this->expect_solved(options, bands, this->in_turn(), options.variant);
  });
}

TYPED_TEST(FpgaExact, ReadsTheLowerCouplingsOfNoSymmetricMatrix) {
  using T = TypeParam;
  this->on_devices([&](const Options& options) {
    for (const LineSet& lines : {LineSet::one(1000), LineSet::equal(70, 29), LineSet::grid_axis(1, 37, 31, 3)}) {
      Solver<T> solver(options);
      this->set_up(solver, test::random_symmetric<T>(lines, 1.2));
      EXPECT_EQ(solver.report().form, Form::symmetric);
      EXPECT_EQ(solver.report().words_per_row, lines.count() > 1 ? 4 : 8);
      this->set_up(solver, test::random_dominant<T>(lines, 1.2));
      EXPECT_EQ(solver.report().form, Form::general);
      EXPECT_EQ(solver.report().words_per_row, lines.count() > 1 ? 5 : 9);
    }
  });
}

TYPED_TEST(FpgaExact, GivesTheSameBitsInChunks) {
  using T = TypeParam;
  this->on_devices([&](const Options& options) {
    for (const LineSet& lines : {LineSet::one(70'001), LineSet::equal(300, 61), LineSet::equal(12, 5000),
                                 LineSet::grid_axis(1, 37, 61, 9), LineSet::grid_axis(1, 3, 5000, 4)}) {
      const Bands<T> bands = test::random_dominant<T>(lines, 1.2);
      const std::vector<T> y = test::random_vector<T>(lines.extent());
      const std::vector<T> whole = this->solution(options, bands, y);
      for (const Index chunk : {1, 61, 1000, 7000}) {
        Options cut = options;
        cut.chunk = chunk;
        EXPECT_EQ(this->solution(cut, bands, y), whole) << lines.describe() << ", chunks of " << chunk;
      }
      Options small = options;
      const auto word = static_cast<Index>(sizeof(T));
      const Index window = 2 * TestFixture::kInTurn * lines.length(0);
      small.device_memory = (lines.count() > 1 ? 2 * lines.rows() + window : 7 * lines.rows()) * word;
      EXPECT_EQ(this->solution(small, bands, y), whole) << lines.describe();
    }
  });
}

TYPED_TEST(FpgaExact, KeepsNaNInItsLine) {
  using T = TypeParam;
  this->on_devices([&](const Options& options) {
    for (const LineSet& lines : {LineSet::unequal({0, 10, 43, 100, 6'130}), LineSet::unequal({0, 10, 43, 66, 99}),
                                 LineSet::equal(70, 37), LineSet::grid_axis(1, 37, 35, 3)}) {
      const Bands<T> bands = test::random_dominant<T>(lines, 1.5);
      std::vector<T> y = test::random_vector<T>(lines.extent());
      const std::vector<T> healthy = this->solution(options, bands, y);
      for (const T poison : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
        for (const Index row : {Index{0}, lines.length(2) / 2, lines.length(2) - 1}) {
          std::vector<T> poisoned = y;
          poisoned[static_cast<std::size_t>(lines.first(2) + row * lines.row_stride())] = poison;
          const std::vector<T> x = this->solution(options, bands, poisoned);
          for (Index l = 0; l < lines.count(); ++l) {
            for (Index i = 0; i < lines.length(l); ++i) {
              const auto at = static_cast<std::size_t>(lines.first(l) + i * lines.row_stride());
              if (l != 2) {
                ASSERT_EQ(x[at], healthy[at]) << lines.describe() << ", line " << l << " row " << i;
              } else if (i == row) {
                EXPECT_FALSE(std::isfinite(x[at]));
              }
            }
          }
        }
      }
    }
  });
}

TYPED_TEST(FpgaExact, GivesWayToPivotingWhereRowsAreNotDominant) {
  using T = TypeParam;
  this->on_devices([&](Options options) {
    options.method = MethodChoice::automatic;
    for (const LineSet& lines : {LineSet::one(100), LineSet::equal(70, 38), LineSet::grid_axis(1, 37, 36, 3)}) {
      Solver<T> solver(options);
      const Bands<T> weak = test::constant<T>(lines, 1, 0, 1);
      this->set_up(solver, weak);
      EXPECT_EQ(solver.report().method, Method::pivot) << lines.describe();
      EXPECT_LE(this->backward_error(solver, weak), 20) << lines.describe();
      // Rows that grow, and diagonals that rounding loses: the host's factors tell how far that comes true.
      Bands<T> grows = test::constant<T>(lines, -1, 20, -1);
      for (Index l = 0; l < lines.count(); ++l) grows.diag()[lines.first(l) + 8 * lines.row_stride()] = T(0.01);
      Bands<T> columns = test::column_sums_zero<T>(lines, 0.1);
      for (Bands<T>* hard : {&grows, &columns}) {
        this->set_up(solver, *hard);
        EXPECT_EQ(solver.report().device.name, "host") << lines.describe();
        EXPECT_LE(this->backward_error(solver, *hard), 20) << lines.describe();
      }
    }
  });
}

TYPED_TEST(FpgaExact, TakesRowsThatAreNotDominantIfTheyDoNotGrow) {
  using T = TypeParam;
  this->on_devices([&](Options options) {
    options.method = MethodChoice::automatic;
    for (const LineSet& lines : {LineSet::one(203), LineSet::equal(70, 38), LineSet::grid_axis(1, 37, 36, 3)}) {
      Solver<T> solver(options);
      // The Jacobian of u'' + u^2 on a fine grid, whose diagonals are a bit less than their couplings.
      const Bands<T> weak = test::constant<T>(lines, -1, T(2 - 1e-6), -1);
      this->set_up(solver, weak);
      EXPECT_NE(solver.report().device.name, "host") << lines.describe() << ": " << explain(solver.report()).front();
      EXPECT_EQ(solver.report().method, Method::exact_factored);
      EXPECT_LT(solver.report().dominance, 1);
      EXPECT_LE(solver.report().rounding, kRoundingLimit);
      EXPECT_LE(this->backward_error(solver, weak), 20) << lines.describe();
    }
  });
}

TYPED_TEST(FpgaExact, TakesNoSingularLine) {
  using T = TypeParam;
  this->on_devices([&](Options options) {
    options.method = MethodChoice::automatic;
    for (const LineSet& lines : {LineSet::one(100), LineSet::equal(70, 38), LineSet::grid_axis(1, 37, 36, 3)}) {
      Bands<T> bands = test::constant<T>(lines, -1, 2, -1);
      for (Index l = 0; l < lines.count(); ++l) {
        bands.diag()[lines.first(l)] = 1;
        bands.diag()[lines.first(l) + (lines.length(l) - 1) * lines.row_stride()] = 1;
      }
      Solver<T> solver(options);
      EXPECT_THROW(this->set_up(solver, bands), Breakdown) << lines.describe();
    }
  });
}

TYPED_TEST(FpgaExact, IsChosenForLinesSideBySide) {
  using T = TypeParam;
  this->on_devices([&](Options options) {
    options.method = MethodChoice::automatic;
    for (const LineSet& lines : {LineSet::grid_axis(1, 37, 31, 3), LineSet::grid_axis(2, 37, 3, 31)}) {
      this->expect_solved(options, test::random_dominant<T>(lines, 1.5), this->in_turn(), "random");
      this->expect_solved(options, test::constant<T>(lines, -1, 2, -1), this->in_turn(), "Poisson");
    }
  });
}

TYPED_TEST(FpgaExact, SaysWhyTheHostSolvesWhatTheMemoryDoesNotHold) {
  using T = TypeParam;
  this->on_devices([&](Options options) {
    options.device_memory = 100'000;
    for (const MethodChoice method : {MethodChoice::automatic, MethodChoice::exact, MethodChoice::exact_factored}) {
      options.method = method;
      const auto expect = [&](const LineSet& lines, const char* why) {
        Solver<T> solver(options);
        const Bands<T> bands = test::random_dominant<T>(lines, 1.5);
        this->set_up(solver, bands);
        EXPECT_EQ(solver.report().device.name, "host");
        EXPECT_NE(solver.report().device.why.find(why), std::string::npos) << solver.report().device.why;
        EXPECT_LE(this->backward_error(solver, bands), 20);
      };
      if (method != MethodChoice::automatic) expect(LineSet::one(100'003), "does not hold all rows at once");
      expect(LineSet::grid_axis(1, 300, 300, 2), "does not hold a block of 90000 places at once");
    }
  });
}

}  // namespace
}  // namespace oclspkt
