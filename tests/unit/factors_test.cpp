// SPDX-License-Identifier: BSD-2-Clause
#include "factors.hpp"

#include <algorithm>

#include "matrices.hpp"
#include "scalar_test.hpp"

namespace oclspkt {
namespace {

template <typename T>
class FactorsOf : public ::testing::Test {};

/// Widths and counts next to those of bundles, lengths from 1 on.
std::vector<LineSet> layouts() {
  std::vector<LineSet> sets;
  for (const Index count : {1, 7, 8, 9, 17, 64}) {
    sets.push_back(LineSet::equal(count, 33));
    sets.push_back(LineSet::strided(33, count + 2, count, 1, 3, 33 * (count + 2)));
    sets.push_back(LineSet::strided(9, 1, count, 11));
  }
  for (const Index width : {511, 513, 4100}) sets.push_back(LineSet::strided(5, width, width, 1));
  sets.push_back(LineSet::unequal({0, 4, 8, 12, 16, 20, 24, 28, 32, 32, 33, 60}));
  sets.push_back(LineSet::equal(40, 1));
  return sets;
}

/// Rows of a set of lines whose factors differ from those of each line by itself.
template <typename T>
Index rows_that_differ(const Bands<T>& bands, Order order) {
  const LineSet& lines = bands.lines();
  Factors<T> together, single;
  together.factor(lines, bands.view(), Form::general, order);
  EXPECT_TRUE(together.doubtful().empty());
  Index differing = 0;
  for (Index l = 0; l < lines.count(); ++l) {
    const Bands<T> one = test::alone(bands, l);
    single.factor(one.lines(), one.view(), Form::general, order);
    for (Index i = 0, at = lines.first(l); i < lines.length(l); ++i, at += lines.row_stride()) {
      differing += together.view().multiplier[at] != single.view().multiplier[i] ||
                   together.view().reciprocal[at] != single.view().reciprocal[i] ||
                   together.view().coupling[at] != single.view().coupling[i];
    }
    EXPECT_LE(single.pivots().rounding, together.pivots().rounding * (1 + 1e-6));
  }
  return differing;
}

SCALAR_TEST(FactorsOf, LinesInBundlesAreThoseOfEachLineToTheBit) {
  std::vector<LineSet> sets = layouts();
  // Next to the lengths up to which lines are swept abreast, and to the rows that are read at once.
  for (const Index length : {2, 64, 127, 129, 256, 257}) sets.push_back(LineSet::equal(9, length));
  for (const LineSet& lines : sets) {
    SCOPED_TRACE(lines.describe());
    Bands<T> bands = test::closed(test::random_dominant<T>(lines, 1.1));
    for (const Order order : {Order::down, Order::inwards}) EXPECT_EQ(rows_that_differ(bands, order), 0);
  }
}

SCALAR_TEST(FactorsOf, CouplingsOfSymmetricLinesAreTheMultipliersToTheBit) {
  for (const LineSet& lines : layouts()) {
    if (!lines.beside()) continue;
    SCOPED_TRACE(lines.describe());
    Bands<T> bands = test::closed(test::random_symmetric<T>(lines, 1.1));
    Factors<T> all, serving;
    all.factor(lines, bands.view(), Form::general);
    serving.factor(lines, bands.view(), Form::symmetric);
    Index differing = 0;
    for (Index l = 0; l < lines.count(); ++l) {
      for (Index i = 0, at = lines.first(l); i < lines.length(l); ++i, at += lines.row_stride()) {
        differing += (i > 0 && all.view().multiplier_at(at) != serving.view().multiplier_at(at)) ||
                     all.view().reciprocal[at] != serving.view().reciprocal[at] ||
                     all.view().coupling[at] != serving.view().coupling[at];
      }
    }
    EXPECT_EQ(differing, 0);
    EXPECT_EQ(3 * serving.bytes(), 2 * all.bytes());
    EXPECT_EQ(serving.pivots().rounding, all.pivots().rounding);
  }
}

SCALAR_TEST(FactorsOf, NarrowOnesAreTheOthersRoundedOnce) {
  for (const LineSet& lines : layouts()) {
    if (!lines.beside()) continue;
    SCOPED_TRACE(lines.describe());
    Bands<T> bands = test::closed(test::random_symmetric<T>(lines, 1.1));
    // A line that is not sound is factored by itself.
    for (const double diag : {0.0, 1e-4, 1.0}) {
      if (diag < 1 && lines.length(0) > 1) bands.diag()[lines.first(lines.count() / 2)] = static_cast<T>(diag);
      for (const Form form : {Form::general, Form::symmetric}) {
        Factors<T> wide, narrow;
        wide.factor(lines, bands.view(), form);
        narrow.factor(lines, bands.view(), form, Order::down, 0, true);
        const auto differ = [](T a, float b) { return !(static_cast<float>(a) == b || std::isnan(b)); };
        Index differing = 0;
        for (Index l = 0; l < lines.count(); ++l) {
          for (Index i = 0, at = lines.first(l); i < lines.length(l); ++i, at += lines.row_stride()) {
            differing += (i > 0 && differ(wide.view().multiplier_at(at), narrow.narrow_view().multiplier_at(at))) ||
                         differ(wide.view().reciprocal[at], narrow.narrow_view().reciprocal[at]) ||
                         differ(wide.view().coupling[at], narrow.narrow_view().coupling[at]);
          }
        }
        EXPECT_EQ(differing, 0);
        EXPECT_EQ(narrow.doubtful(), wide.doubtful());
        EXPECT_EQ(std::isnan(narrow.pivots().rounding), std::isnan(wide.pivots().rounding));
        EXPECT_EQ(narrow.pivots().sound(), wide.pivots().sound());
        EXPECT_EQ(narrow.view().reciprocal, nullptr);
        EXPECT_EQ(narrow.bytes() * static_cast<Index>(sizeof(T) / sizeof(float)), wide.bytes());
      }
    }
  }
}

SCALAR_TEST(FactorsOf, GivenBackKeepWhatTheyShowed) {
  Bands<T> bands = test::closed(test::random_dominant<T>(LineSet::equal(20, 33), 1.1));
  Factors<T> factors;
  factors.factor(bands.lines(), bands.view(), Form::general);
  const typename Factors<T>::Pivots before = factors.pivots();
  EXPECT_GE(factors.bytes(), 3 * bands.lines().rows() * static_cast<Index>(sizeof(T)));
  factors.release();
  EXPECT_EQ(factors.bytes(), 0);
  EXPECT_EQ(factors.view().reciprocal, nullptr);
  EXPECT_EQ(factors.pivots().rounding, before.rounding);
  EXPECT_EQ(factors.lines(), bands.lines());
}

SCALAR_TEST(FactorsOf, OneBadLineInABundleIsTheOnlyDoubtfulOne) {
  for (const LineSet& lines : layouts()) {
    if (lines.length(0) < 2) continue;
    SCOPED_TRACE(lines.describe());
    const Index bad = lines.count() / 2;
    for (const double diag : {0.0, 1e-4}) {
      Bands<T> bands = test::closed(test::random_dominant<T>(lines, 1.1));
      bands.diag()[lines.first(bad)] = static_cast<T>(diag);
      Factors<T> factors;
      factors.factor(lines, bands.view(), Form::general);
      EXPECT_EQ(factors.doubtful(), std::vector<Index>{bad});
      EXPECT_FALSE(factors.pivots().sound());
      EXPECT_EQ(std::isnan(factors.pivots().rounding), diag == 0);
    }
  }
}

/// 1 / u_i of a line, by Thomas' algorithm in wider numbers. Excesses keep what diagonals lose where rows sum to 0.
template <typename T>
std::vector<long double> reciprocals(const Bands<T>& bands) {
  std::vector<long double> of_rows;
  long double excess = 0, upper = 0, reciprocal = 0;
  for (Index i = 0; i < bands.lines().rows(); ++i) {
    const BandsView<T> b = bands.view();
    const long double lower = b.lower[i], own = std::abs(b.diag[i] * 1.0L) - std::abs(lower) - std::abs(b.upper[i]);
    // Signs as in diffusion: all that a row above has too much is passed on.
    excess = own + (upper > 0 ? std::abs(lower) * excess * reciprocal : 0);
    upper = std::abs(b.upper[i] * 1.0L);
    reciprocal = 1 / (excess + upper);
    of_rows.push_back(reciprocal);
  }
  return of_rows;
}

/// Long enough for pieces of sweeps; where pivots decay slowly, pieces do not meet, and all is swept at once.
SCALAR_TEST(FactorsOf, LinesThatAreDroppedLeaveTheFactorsOfTheOthers) {
  for (const Order order : {Order::down, Order::inwards}) {
    const LineSet lines = LineSet::equal(20, 33);
    Bands<T> bands = test::random_dominant<T>(lines, 1.1);
    bands.diag()[3 * 33 + 5] = bands.diag()[11 * 33] = 0;
    bands.close_lines();
    Factors<T> dropped, anew;
    dropped.factor(lines, bands.view(), Form::general, order);
    EXPECT_EQ(dropped.doubtful(), (std::vector<Index>{3, 11}));
    EXPECT_FALSE(dropped.drop({3})) << "another one is not sound";
    EXPECT_TRUE(dropped.drop({3, 7, 11}));
    for (const Index line : {3, 7, 11}) {
      for (Index at = line * 33; at < (line + 1) * 33; ++at) {
        bands.lower()[at] = bands.upper()[at] = 0;
        bands.diag()[at] = 1;
      }
    }
    anew.factor(lines, bands.view(), Form::general, order);
    EXPECT_TRUE(dropped.doubtful().empty());
    EXPECT_TRUE(dropped.pivots().sound());
    EXPECT_GE(dropped.pivots().rounding, anew.pivots().rounding);
    Index differing = 0;
    for (Index at = 0; at < lines.rows(); ++at) {
      differing += dropped.view().multiplier[at] != anew.view().multiplier[at] ||
                   dropped.view().reciprocal[at] != anew.view().reciprocal[at] ||
                   dropped.view().coupling[at] != anew.view().coupling[at];
    }
    EXPECT_EQ(differing, 0);
  }
}

SCALAR_TEST(FactorsOf, ALongLineHasThePivotsOfOneSweep) {
  const Index n = 300'017;
  for (const double lambda : {1.0, 100.0, 1e4, 1e8}) {
    SCOPED_TRACE(lambda);
    Bands<T> bands = test::closed(test::diffusion<T>(LineSet::one(n), lambda));
    Bands<T> mirrored(bands.lines());
    for (Index i = 0; i < n; ++i) {
      mirrored.lower()[i] = bands.upper()[n - 1 - i];
      mirrored.diag()[i] = bands.diag()[n - 1 - i];
      mirrored.upper()[i] = bands.lower()[n - 1 - i];
    }
    const auto above = reciprocals(bands), below = reciprocals(mirrored);
    for (const Index towards : {n - 1, n / 2, Index{0}}) {
      Factors<T> factors;
      factors.factor(bands.lines(), bands.view(), Form::general, Order::towards, towards);
      long double worst = 0;
      for (Index i = 0; i < n; ++i) {
        if (i == towards) continue;
        const long double right =
            i < towards ? above[static_cast<std::size_t>(i)] : below[static_cast<std::size_t>(n - 1 - i)];
        worst = std::max(worst, std::abs(factors.view().reciprocal[i] - right) / right);
      }
      // What is rounded is forgotten after sqrt(lambda) rows.
      const double rows = std::sqrt(std::min(lambda, 1e4));
      EXPECT_LE(worst, (10 + rows) * std::numeric_limits<T>::epsilon()) << towards;
      EXPECT_TRUE(factors.doubtful().empty());
    }
  }
}

}  // namespace
}  // namespace oclspkt
