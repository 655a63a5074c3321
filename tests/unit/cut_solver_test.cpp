// SPDX-License-Identifier: BSD-2-Clause
#include "oclspkt/cut_solver.hpp"

#include <gtest/gtest.h>

#include "cut_case.hpp"
#include "hard_matrices.hpp"
#include "line_judge.hpp"
#include "residual.hpp"

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
  static constexpr double eps = std::numeric_limits<T>::epsilon();

  /// y = A x for x around 3: small against what the parts make of it alone.
  static std::vector<T> smooth(const Bands<T>& bands) {
    const std::vector<T> x = test::random_vector<T>(bands.lines().extent());
    std::vector<T> y(x.size());
    multiply(bands.lines(), bands.view(), x.data(), y.data());
    return y;
  }
  static double error(const Bands<T>& bands, const std::vector<T>& x, const std::vector<T>& y) {
    return componentwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()) / eps;
  }
  /// Solve for both kinds of right-hand sides, and expect the error to be small.
  static CutOutcome<T> expect_right(const CutCase& c, const Bands<T>& bands, double limit, const std::string& what,
                                    const CutRun& run = {}) {
    CutOutcome<T> outcome;
    for (const auto& y : {test::random_vector<T>(bands.lines().extent()), smooth(bands)}) {
      outcome = solve_cut(c, bands, y, run);
      EXPECT_TRUE(outcome.none_threw()) << what << ": " << outcome.texts();
      const double found = error(bands, outcome.x, y);
      EXPECT_LE(found, limit) << what;
      if (!(found <= largest_)) largest_ = found;
    }
    return outcome;
  }
  static void TearDownTestSuite() { std::printf("largest componentwise backward error: %.1f eps\n", largest_); }

 private:
  inline static double largest_ = 0;
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CutLinesOf, Scalars);

/// Ways to cut lines: rows of each process.
const std::vector<std::vector<Index>> kRows = {
    {50},   {50, 50},     {1, 40},       {40, 1},         {30, 2, 30},           {30, 1, 30},       {1, 1, 1},
    {2, 2}, {3, 3, 3, 3}, {20, 1, 2, 7}, {1, 1, 1, 1, 1}, {100, 3, 17, 64, 200}, {30, 0, 30, 0, 1}, {0, 10, 0}};

std::string describe(const std::vector<Index>& rows, Layout layout) {
  std::string text = "layout " + std::to_string(static_cast<int>(layout)) + ", rows";
  for (const Index r : rows) text += " " + std::to_string(r);
  return text;
}

TYPED_TEST(CutLinesOf, DominantRowsAreSolvedInEveryLayout) {
  using T = TypeParam;
  for (const Layout layout : {Layout::end_to_end, Layout::strided_y, Layout::strided_z}) {
    for (const auto& rows : kRows) {
      for (const Index count : {1, 6, 7}) {
        const CutCase c = CutCase::equal(count, rows, layout);
        for (const double d : {1.0, 1.01, 3.0}) {
          this->expect_right(c, test::random_dominant<T>(c.all(), d), 10,
                             describe(rows, layout) + " d " + std::to_string(d));
        }
      }
    }
  }
}

TYPED_TEST(CutLinesOf, RowsWithDominanceOneAreSolved) {
  using T = TypeParam;
  for (const auto& rows : kRows) {
    const CutCase c = CutCase::equal(1, rows);
    const Index n = c.all().rows();
    test::at_dominance_one<T>(n, [&](const char* name, const Bands<T>& one) {
      if (std::string(name) == "column sums 0" || n < 3) return;
      Bands<T> bands(c.all());
      std::copy_n(one.view().lower, n, bands.lower());
      std::copy_n(one.view().diag, n, bands.diag());
      std::copy_n(one.view().upper, n, bands.upper());
      this->expect_right(c, bands, 10, std::string(name) + ", " + describe(rows, Layout::end_to_end));
    });
  }
}

}  // namespace
}  // namespace oclspkt
