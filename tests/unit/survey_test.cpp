// SPDX-License-Identifier: BSD-2-Clause
#include "survey.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "matrices.hpp"
#include "parallel.hpp"
#include "past_caches.hpp"
#include "scalar_test.hpp"

namespace oclspkt {
namespace {

template <typename T>
class SurveyOf : public ::testing::Test {};

/// Row by row, as the header words it.
template <typename T>
Survey obvious_survey(const LineSet& lines, const BandsView<T>& bands) {
  Survey s{
      .dominance = INFINITY, .finite = true, .symmetric = true, .shared = lines.count() > 1, .smallest_row = INFINITY};
  for (Index l = 0; l < lines.count(); ++l) {
    for (Index i = 0; i < lines.length(l); ++i) {
      const Index at = lines.first(l) + i * lines.row_stride(), first = lines.first(0) + i * lines.row_stride();
      const double a = std::abs(static_cast<double>(bands.lower[at])),
                   b = std::abs(static_cast<double>(bands.diag[at])),
                   c = std::abs(static_cast<double>(bands.upper[at]));
      const double d = b / (a + c);
      if (d < s.dominance || (d == s.dominance && lines.gapless() && at < s.weakest_row)) {
        s.dominance = d;
        s.weakest_row = at;
      }
      s.largest_row = std::max({s.largest_row, a, b, c});
      s.smallest_row = std::min(s.smallest_row, std::max({a, b, c}));
      s.lower_share = std::max(s.lower_share, a / b);
      s.upper_share = std::max(s.upper_share, c / b);
      s.uncoupled_above += a == 0;
      s.symmetric = s.symmetric && (i == 0 || bands.lower[at] == bands.upper[at - lines.row_stride()]);
      s.shared = s.shared && lines.length(l) == lines.length(0) && bands.lower[at] == bands.lower[first] &&
                 bands.diag[at] == bands.diag[first] && bands.upper[at] == bands.upper[first];
    }
  }
  return s;
}

void expect_same(const Survey& s, const Survey& expected, bool lines_compared = true) {
  EXPECT_TRUE(s.finite);
  EXPECT_EQ(s.dominance, expected.dominance);
  EXPECT_EQ(s.weakest_row, expected.weakest_row);
  EXPECT_EQ(s.largest_row, expected.largest_row);
  EXPECT_EQ(s.smallest_row, expected.smallest_row);
  EXPECT_EQ(s.lower_share, expected.lower_share);
  EXPECT_EQ(s.upper_share, expected.upper_share);
  EXPECT_EQ(s.uncoupled_above, expected.uncoupled_above);
  if (!lines_compared) return;
  EXPECT_EQ(s.symmetric, expected.symmetric);
  EXPECT_EQ(s.shared, expected.shared);
}

/// Sets in every layout, with and without gaps, of less than a block and of several pieces.
std::vector<LineSet> layouts() {
  std::vector<LineSet> sets{LineSet::one(1),
                            LineSet::one(kPieceRows + 1),
                            LineSet::one(3 * kPieceRows - 5),
                            LineSet::equal(7, 130),
                            LineSet::unequal({0, 5, 5, 700, 701, 5000}),
                            LineSet::strided(40, 3, 3, 1, 50, 120),
                            LineSet::strided(30, 100, 90, 1, 2, 3100),
                            LineSet::strided(20, 1, 10, 25)};
  for (int axis = 0; axis < 3; ++axis) sets.push_back(LineSet::grid_axis(axis, 50, 41, 67));
  return sets;
}

SCALAR_TEST(SurveyOf, EveryLayoutIsWhatItsRowsSay) {
  for (const LineSet& lines : layouts()) {
    SCOPED_TRACE(lines.describe());
    const Bands<T> random = test::closed(test::random_dominant<T>(lines, 1.5));
    expect_same(survey(lines, random.view()), obvious_survey(lines, random.view()));
    const Bands<T> alike = test::closed(test::constant<T>(lines, -1, 3, -1));
    expect_same(survey(lines, alike.view()), obvious_survey(lines, alike.view()));
  }
}

SCALAR_TEST(SurveyOf, BandsThatAreFilledMeanwhileIsTheSame) {
  for (const LineSet& lines : layouts()) {
    SCOPED_TRACE(lines.describe());
    const Bands<T> random = test::random_dominant<T>(lines, 1.5);
    Bands<T> filled(lines);
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(lines.extent()));
    const Survey s = survey_while<T>(filled, [&](const BandsPart<T>& part, Index first, Index end) {
      test::fill_from(random)(part, first, end);
      for (Index i = first; i < end; ++i) ++calls[static_cast<std::size_t>(i)];
    });
    for (const auto& times : calls) ASSERT_EQ(times, 1);
    const Bands<T> closed = test::closed(test::random_dominant<T>(lines, 1.5));
    expect_same(s, obvious_survey(lines, closed.view()), false);
    Index differing = 0;
    for (Index l = 0; l < lines.count(); ++l) {
      for (Index i = 0, at = lines.first(l); i < lines.length(l); ++i, at += lines.row_stride()) {
        differing += filled.view().lower[at] != closed.view().lower[at] ||
                     filled.view().diag[at] != closed.view().diag[at] ||
                     filled.view().upper[at] != closed.view().upper[at];
      }
    }
    EXPECT_EQ(differing, 0) << "couplings out of lines are 0, and nothing else changed";
  }
}

SCALAR_TEST(SurveyOf, BandsThatAreWrittenPastTheCachesIsTheSame) {
  const Index rows = kPastCaches / (3 * static_cast<Index>(sizeof(T))) + 1013;
  for (const LineSet& lines :
       {LineSet::grid_axis(0, rows / 1000, 1000, 1), LineSet::grid_axis(1, 1000, rows / 1000, 1)}) {
    SCOPED_TRACE(lines.describe());
    const Bands<T> random = test::random_dominant<T>(lines, 1.5);
    Bands<T> filled(lines);
    const Survey s = survey_while<T>(filled, test::fill_from(random));
    const Bands<T> closed = test::closed(test::random_dominant<T>(lines, 1.5));
    expect_same(s, obvious_survey(lines, closed.view()), false);
    EXPECT_TRUE(test::same_bands(filled, closed));
  }
}

SCALAR_TEST(SurveyOf, ANumberThatIsNotFiniteNamesTheFirstSuchRow) {
  const LineSet lines = LineSet::one(2 * kPieceRows + 100);
  for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
    for (const Index row : {Index{0}, Index{127}, Index{511}, kPieceRows - 1, kPieceRows, lines.rows() - 1}) {
      for (int band = 0; band < 3; ++band) {
        Bands<T> bands = test::closed(test::constant<T>(lines, -1, 3, -1));
        T* const numbers = band == 0 ? bands.lower() : band == 1 ? bands.diag() : bands.upper();
        numbers[row] = bad;
        if (row + 7 < lines.rows()) bands.diag()[row + 7] = bad;
        const Survey s = survey(lines, bands.view());
        EXPECT_FALSE(s.finite || s.symmetric || s.shared);
        EXPECT_EQ(s.dominance, 0);
        EXPECT_EQ(s.weakest_row, row);
      }
    }
  }
}

SCALAR_TEST(SurveyOf, RowsAtTheEndsOfTheRangeKeepTheirNumbers) {
  const T most = std::numeric_limits<T>::max();
  Bands<T> bands = test::closed(test::constant<T>(LineSet::one(1000), most, most, most));
  Survey s = survey(bands.lines(), bands.view());
  EXPECT_TRUE(s.finite);
  EXPECT_NEAR(s.dominance, 0.5, 1e-6) << "only the sum of a row overflows";
  EXPECT_FALSE(in_range<T>(s));
  bands = test::closed(test::constant<T>(LineSet::one(1000), 0, 2, 0));
  bands.diag()[600] = 0;
  s = survey(bands.lines(), bands.view());
  EXPECT_EQ(s.dominance, 0);
  EXPECT_EQ(s.weakest_row, 600);
  EXPECT_EQ(s.smallest_row, 2) << "rows of zeros do not count";
}

SCALAR_TEST(SurveyOf, LinesThatNothingCouplesAreFoundWhereverPiecesBegin) {
  constexpr Index kThreePieces = 3 * kPieceRows + 5;
  const LineSet one = LineSet::one(kThreePieces);
  Bands<T> bands = test::closed(test::constant<T>(one, -1, 4, -1));
  EXPECT_EQ(uncoupled_lines(one, bands.view()), one);
  const std::vector<Index> starts{0, 1, kPieceRows, kPieceRows + 1, 2 * kPieceRows + 7, kThreePieces - 1, kThreePieces};
  for (std::size_t k = 1; k + 1 < starts.size(); ++k) bands.lower()[starts[k]] = bands.upper()[starts[k] - 1] = 0;
  bands.lower()[17] = 0;  // one coupling alone
  EXPECT_EQ(uncoupled_lines(one, bands.view()), LineSet::unequal(starts));
}

SCALAR_TEST(SurveyOf, LinesOfUnequalLengthsAreNotShared) {
  for (const std::vector<Index>& starts : {std::vector<Index>{0, 9, 10}, {0, 3, 6, 10}, {0, 0, 5}}) {
    const Bands<T> bands = test::closed(test::constant<T>(LineSet::unequal(starts), -1, 4, -1));
    EXPECT_FALSE(is_shared(bands.lines(), bands.view()));
  }
  const Bands<T> alike = test::closed(test::constant<T>(LineSet::unequal({0, 5, 10}), -1, 4, -1));
  EXPECT_TRUE(is_shared(alike.lines(), alike.view()));
}

SCALAR_TEST(SurveyOf, OneLineIsUniformIfItsInnerRowsAreTheSame) {
  const Index n = kPieceRows + 1000;
  Bands<T> bands = test::closed(test::constant<T>(LineSet::one(n), -1, 4, -2));
  EXPECT_TRUE(is_uniform(bands.lines(), bands.view()));
  bands.diag()[0] = 9;
  bands.diag()[n - 1] = 8;
  EXPECT_TRUE(is_uniform(bands.lines(), bands.view()));
  for (const Index row : {Index{1}, Index{2}, Index{513}, kPieceRows + 1, n - 2}) {
    for (T* const band : {bands.lower(), bands.diag(), bands.upper()}) {
      const T before = std::exchange(band[row], std::nextafter(band[row], T(100)));
      EXPECT_FALSE(is_uniform(bands.lines(), bands.view())) << "row " << row;
      band[row] = before;
    }
  }
  for (const Index few : {1, 2, 3}) {
    const Bands<T> some = test::closed(test::constant<T>(LineSet::one(few), -1, 4, -2));
    EXPECT_FALSE(is_uniform(some.lines(), some.view())) << few;
  }
  const Bands<T> lines = test::closed(test::constant<T>(LineSet::equal(10, 100), -1, 4, -2));
  EXPECT_FALSE(is_uniform(lines.lines(), lines.view()));
}

TEST(Decay, IsThatOfTheSolutionWhereRowsAreAlike) {
  const Bands<double> bands = test::closed(test::constant<double>(LineSet::one(100), -10, 21, -10));
  const Survey s = survey(bands.lines(), bands.view());
  EXPECT_NEAR(s.decay(), (21 + std::sqrt(41.0)) / 20, 1e-12) << "a root of 10 x^2 - 21 x + 10";
  const Bands<double> weak = test::closed(test::constant<double>(LineSet::one(100), -1, 1.9, -1));
  EXPECT_EQ(survey(weak.lines(), weak.view()).decay(), 1.9 / 2) << "nothing but its dominance is known";
}

TEST(Decay, IsAtLeastTheDominanceAndCoversTheTruncationOfRandomRows) {
  for (const double d : {1.01, 1.3, 3.0}) {
    const Bands<double> bands = test::closed(test::random_dominant<double>(LineSet::one(2000), d));
    const Survey s = survey(bands.lines(), bands.view());
    EXPECT_GE(s.decay(), s.dominance);
    double down = 0, up = 0;  // |upper / pivot| from above, |lower / pivot| from below
    for (Index i = 0; i < 2000; ++i) {
      down =
          std::abs(bands.view().upper[i] / (std::abs(bands.view().diag[i]) - std::abs(bands.view().lower[i]) * down));
      EXPECT_LE(down, (1 + 1e-12) / s.decay());
    }
    for (Index i = 1999; i >= 0; --i) {
      up = std::abs(bands.view().lower[i] / (std::abs(bands.view().diag[i]) - std::abs(bands.view().upper[i]) * up));
      EXPECT_LE(up, (1 + 1e-12) / s.decay());
    }
  }
}

TEST(CopyPastCaches, TakesBytesFromAnywhereToAnywhereAndNoneBeside) {
  constexpr Index kAround = 128;
  for (const Index bytes : {0, 1, 63, 64, 65, 127, 200, 5000}) {
    for (const Index from : {0, 1, 8, 63}) {
      for (const Index to : {0, 4, 33, 64}) {
        std::vector<std::byte> source(static_cast<std::size_t>(bytes + kAround));
        for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i % 251);
        std::vector<std::byte> copy(static_cast<std::size_t>(bytes + 2 * kAround), std::byte{255}), expected = copy;
        std::copy_n(source.data() + from, bytes, expected.data() + to);
        copy_past_caches(source.data() + from, bytes, copy.data() + to);
        order_stores();
        EXPECT_EQ(copy, expected) << bytes << " bytes from " << from << " to " << to;
      }
    }
  }
}

}  // namespace
}  // namespace oclspkt
