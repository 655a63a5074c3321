// SPDX-License-Identifier: BSD-2-Clause
// The judge and what it judges: planted errors are seen, cases come back from their text.

#include <cctype>

#include "matrices.hpp"
#include "scalar_test.hpp"
#include "tally.hpp"

namespace oclspkt::attack {
namespace {

template <typename T>
class Judge : public ::testing::Test {
 protected:
  static constexpr double eps = std::numeric_limits<T>::epsilon();

  /// tridiag(-1, 4, -1) with x = 1, so that a row's sum is 6 and its y is 2.
  Judge() : bands_(test::closed(test::constant<T>(LineSet::one(kRows), -1, 4, -1))), x_(kRows, T(1)) {
    pieces_ = pieces_of(bands_);
    y_ = multiply(bands_, pieces_, x_);
  }

  Errors errors() const { return judge(bands_, pieces_, units_, x_.data(), y_.data()); }

  static constexpr Index kRows = 500;
  Bands<T> bands_;
  std::vector<Piece> pieces_;
  std::vector<double> units_ = std::vector<double>(kRows, 1.0);
  std::vector<T> x_, y_;
};

SCALAR_TEST(Judge, FindsNoErrorInTheSolution) { EXPECT_EQ(this->errors().row, 0); }

SCALAR_TEST(Judge, ReportsAnErrorOf200EpsInOneRow) {
  this->x_[250] = static_cast<T>(1 - 400 * this->eps);  // |r| = 1600 eps against 6 + 2
  const Errors errors = this->errors();
  EXPECT_NEAR(errors.row, 200, 0.1);
  EXPECT_EQ(errors.row_at, 250);
  EXPECT_NEAR(errors.norm, 1600.0 / 9, 0.1);  // max |y| is 3
}

SCALAR_TEST(Judge, SeesAnErrorInARowThatIsTinyBesideTheOthers) {
  const auto shrink = [](T& number) { number *= static_cast<T>(1e-6); };
  for (T* band : {this->bands_.lower(), this->bands_.diag(), this->bands_.upper()}) shrink(band[250]);
  shrink(this->y_[250]);
  this->y_[250] *= static_cast<T>(1 + 800 * this->eps);
  const Errors errors = this->errors();
  EXPECT_NEAR(errors.row, 200, 2);
  EXPECT_LT(errors.norm, 1);
}

SCALAR_TEST(Judge, SeesAnErrorInAColumnOfLargeNumbersByComponentAndInUnits) {
  // Columns 200 to 299 are 2^12 times as large, their unknowns that much smaller; one is wrong by 400 eps of itself.
  constexpr T kUnit = 1 << 12;
  for (Index i = 200; i < 300; ++i) {
    this->bands_.upper()[i - 1] *= kUnit;
    this->bands_.diag()[i] *= kUnit;
    this->bands_.lower()[i + 1] *= kUnit;
    this->x_[static_cast<std::size_t>(i)] /= kUnit;
    this->units_[static_cast<std::size_t>(i)] /= kUnit;
  }
  EXPECT_EQ(dominant_units(this->bands_, this->pieces_, this->units_), this->units_);
  this->x_[250] *= static_cast<T>(1 - 400 * this->eps);
  const Errors errors = this->errors();
  EXPECT_NEAR(errors.component, 200, 0.1);  // |r| = 1600 eps against 6 + 2
  EXPECT_NEAR(errors.units, 200, 0.1);
  EXPECT_EQ(errors.component_at, 250);
  EXPECT_LT(errors.row, 0.1);
}

SCALAR_TEST(Judge, MeasuresALineAgainstItsOwnSolution) {
  // Cut in the middle; the other half's solution is a million times as large.
  this->bands_.upper()[249] = this->bands_.lower()[250] = 0;
  this->pieces_ = pieces_of(this->bands_);
  ASSERT_EQ(this->pieces_.size(), 2U);
  for (std::size_t i = 250; i < 500; ++i) this->x_[i] = T(1 << 20);
  this->y_ = multiply(this->bands_, this->pieces_, this->x_);
  this->x_[100] = static_cast<T>(1 - 400 * this->eps);
  EXPECT_NEAR(this->errors().row, 200, 0.1);
}

SCALAR_TEST(Judge, CallsNaNInfinitelyWrong) {
  this->x_[3] = std::numeric_limits<T>::quiet_NaN();
  EXPECT_EQ(this->errors().row, std::numeric_limits<double>::infinity());
}

/// Bands of two rows.
template <typename T>
Bands<T> two_rows(T diag, T upper, T lower, T last) {
  return test::closed(test::fill<T>(LineSet::one(2), [&](Index i) {
    return test::Row{lower, i == 0 ? diag : last, upper};
  }));
}

SCALAR_TEST(Judge, KnowsHowFarRoundingSpreads) {
  // The inverse is (3, -1; -1, 2) / 5, and |A| |x| is (3, 4).
  const Bands<T> bands = two_rows<T>(2, 1, 1, 3);
  const std::vector<long double> spread = spread_of(bands, pieces_of(bands), {1, 1});
  EXPECT_NEAR(static_cast<double>(spread[0]), 2.6, 1e-15);
  EXPECT_NEAR(static_cast<double>(spread[1]), 2.2, 1e-15);
}

SCALAR_TEST(Judge, RaisesUnitsUntilAllRowsAreDominant) {
  // Row 0 wants 2 d_0 >= 8 d_1, and row 1 2 d_1 >= d_0 / 8.
  const Bands<T> bands = two_rows<T>(2, 8, T(1) / 8, 2);
  const std::vector<Piece> pieces = pieces_of(bands);
  EXPECT_EQ(dominant_units(bands, pieces, {1, 0.25}), (std::vector<double>{1, 0.25}));
  EXPECT_EQ(dominant_units(bands, pieces, {1, 0.5}), (std::vector<double>{2, 0.5}));
  EXPECT_EQ(dominant_units(bands, pieces, {64, 0.5}), (std::vector<double>{64, 4}));
  EXPECT_EQ(dominant_units(bands, pieces, {1, 1}), (std::vector<double>{1, 1})) << "as given";
}

SCALAR_TEST(Judge, RaisesUnitsOfALongLineToTheSolutionOfTheRowsThatAreNotDominant) {
  // tridiag(-1, 2, -1) wants concave units: those of columns 100 to 400 are hinted to be smaller.
  std::fill_n(this->bands_.diag(), this->kRows, T(2));
  for (Index i = 100; i <= 400; ++i) this->units_[static_cast<std::size_t>(i)] = 0.5;
  const std::vector<double> raised = dominant_units(this->bands_, this->pieces_, this->units_);
  for (const double unit : raised) EXPECT_NEAR(unit, 1, 1e-15);
}

SCALAR_TEST(Judge, CallsAnswersInUnitsThatMakeNoRowsDominantInfinitelyWrong) {
  const Bands<T> bands = two_rows<T>(1, 4, 4, 1);
  const std::vector<Piece> pieces = pieces_of(bands);
  const std::vector<double> units = dominant_units(bands, pieces, {1, 2});
  EXPECT_EQ(units, (std::vector<double>{0, 0}));
  const T x[] = {1, 1}, y[] = {5, 5};
  EXPECT_EQ(judge(bands, pieces, units, x, y).units, std::numeric_limits<double>::infinity());
}

SCALAR_TEST(Judge, HoldsAnswersToMatricesThatAreSingularToRoundingAgainstBothSolutions) {
  constexpr T kApart = 1 << 20;
  const auto errors_of = [&](const Bands<T>& bands, std::vector<T> y) {
    const std::vector<Piece> pieces = pieces_of(bands);
    Truth truth{{1, 2}, {}};
    truth.spread = spread_of(bands, pieces, truth.x);
    const T x[] = {1 + kApart, 2 - kApart};  // the solution and a million times (1, -1)
    const Truth both = truth.averaged(spread_of(bands, pieces, {x[0], x[1]}));
    return std::array<double, 3>{judge(bands, pieces, {1, 1}, x, y.data()).component,
                                 unit_error(pieces, {0, 0}, x, truth, 0), unit_error(pieces, {0, 0}, x, both, 0)};
  };
  const auto small = static_cast<T>(8 * this->eps);
  const auto [nearly, alone, both] = errors_of(two_rows<T>(1, 1, 1, 1 + small), {3, 3 + 2 * small});
  EXPECT_NEAR(nearly, 4, 0.01) << "|r| = 8 eps kApart against 2 kApart";
  EXPECT_GT(alone, 1e5);
  EXPECT_LE(both, 2 * nearly);
  const auto [wrong, wrong_alone, wrong_both] = errors_of(two_rows<T>(2, 1, 1, 3), {4, 7});
  EXPECT_GT(wrong_alone, 1e5);
  EXPECT_GT(wrong_both, 0.1 / this->eps) << "a wrong answer stays one";
  EXPECT_LE(wrong_both, 2 * wrong);
}

SCALAR_TEST(Judge, SolvesWhereDiagonalsAreZeroAndUnitsLieFarApart) {
  constexpr T kFar = static_cast<T>(1e30);
  const Bands<T> swap = two_rows<T>(0, 1 / kFar, kFar, 0);
  const std::vector<Piece> pieces = pieces_of(swap);
  const std::vector<long double> x = solve_exactly<T>(swap, pieces, {3, 5});
  EXPECT_EQ(x[0], 5 / static_cast<long double>(kFar));
  EXPECT_EQ(x[1], 3 / static_cast<long double>(1 / kFar));
  const Bands<T> singular = two_rows<T>(1, 2, 2, 4);
  EXPECT_TRUE(std::isnan(solve_exactly<T>(singular, pieces, {3, 5})[0]));
}

SCALAR_TEST(Judge, HoldsForwardErrorsAgainstTheSpreadOfTheirUnit) {
  const std::vector<Piece> pieces = {{0, 4, 1}};
  const Truth truth{{1, 1, 1e-6L, 1e-6L}, {2, 4, 2e-6L, 4e-6L}};
  std::vector<T> x(truth.x.begin(), truth.x.end());
  x[0] += static_cast<T>(16 * this->eps);
  EXPECT_NEAR(unit_error(pieces, {0, 0, 0, 0}, x.data(), truth, 0), 4, 1e-6);
  EXPECT_NEAR(unit_error(pieces, {0, 0, 0, 0}, x.data(), truth, 8 * this->eps), 2, 1e-6);
  x[3] += static_cast<T>(800e-6 * this->eps);
  EXPECT_NEAR(unit_error(pieces, {0, 0, -6, -6}, x.data(), truth, 0), 200, 1);
  x[1] = std::numeric_limits<T>::quiet_NaN();
  EXPECT_EQ(unit_error(pieces, {0, 0, 0, 0}, x.data(), truth, 0), std::numeric_limits<double>::infinity());
}

SCALAR_TEST(Judge, KnowsTheSolutionOfHarmlessMatricesAsLapackDoes) {
  for (const char* text : {"random rows=300 dominance=1.5", "diffusion rows=300 lambda=2 layout=beside lines=5",
                           "advection rows=40 peclet=10 H=1 down=1 layout=unequal lines=30"}) {
    const Exam<T> exam = make_exam<T>(parse_case(text));
    EXPECT_EQ(exam.questions.size(), std::size(kSolutionNames)) << text;
    for (const Question<T>& q : exam.questions) {
      for (const double error : q.lapack) EXPECT_LT(error, 50) << text;
    }
  }
}

/// Wrong answers fail where the report does not tell, answers are held against what it promises, and are astray or
/// beyond their bound where the truth is farther than it allows.
TEST(Outcomes, AreHeldAgainstTheirReports) {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr Promised row = Promised::row, units = Promised::units, component = Promised::component;
  const Answer wrong{.errors = {.row = 200, .norm = 1}}, unlike{.errors = {.row = 1, .units = 20, .component = 200}};
  const struct {
    Promised promised;
    double bound;
    bool above_tolerance;
    Answer answer;
    const char* verdicts;  ///< by their first letters, large where they must be so and small where they must not
  } cases[] = {{row, 12, false, wrong, "FE"},
               {row, 300, false, wrong, "fe"},
               {row, kNaN, false, wrong, "f"},
               {row, 12, true, wrong, "f"},
               {row, 12, false, {.errors = {.row = kInf}}, "F"},
               {row, 12, false, unlike, "e"},
               {units, 12, false, unlike, "Ef"},
               {component, 12, false, unlike, "F"},
               {row, 12, false, {.unit = 4}, "A"},
               {row, 101, false, {.unit = 4}, "a"},
               {component, 12, false, {.unit = 4}, "a"},
               {component, 12, false, {.unit = 25}, "A"},
               {row, 12, false, {.unit = 2}, "a"},
               {row, 12, false, {.unit = 25, .rows = 11}, "b"},
               {row, 12, false, {.unit = 25, .rows = 13}, "B"},
               {row, 12, true, {.unit = 25, .rows = 13}, "b"},
               {component, 12, false, {.unit = 25, .rows = 13}, "B"},
               {component, 12, false, {.unit = 23, .rows = 13}, "b"}};
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(kPromisedNames[static_cast<int>(c.promised)]) + " " + std::to_string(c.bound) + " " +
                 c.verdicts);
    Outcome outcome;
    outcome.promised = c.promised;
    outcome.bound = c.bound;
    outcome.above_tolerance = c.above_tolerance;
    const std::pair<char, bool> verdicts[] = {{'f', outcome.failed(c.answer)},
                                              {'e', outcome.exceeded(c.answer)},
                                              {'a', outcome.astray(c.answer)},
                                              {'b', outcome.beyond(c.answer)}};
    for (const char* letter = c.verdicts; *letter != '\0'; ++letter) {
      for (const auto& [name, is] : verdicts) {
        if (std::tolower(*letter) == name) {
          EXPECT_EQ(is, *letter != name) << name;
        }
      }
    }
  }
}

TEST(Outcomes, OfMatricesThatAreSingularToRoundingAreNotAstray) {
  // A null vector in other units, and answers a million times as large as the solutions.
  const Exam<float> exam =
      make_exam<float>(parse_case("neumann rows=18 decades=0.43580278568840242 layout=equal lines=270 reversed "
                                  "column_decades=2.2175990044186458 seed=17400258544425436131"));
  const Outcome outcome = take(exam, {});
  ASSERT_TRUE(outcome.refused.empty()) << outcome.refused;
  EXPECT_EQ(outcome.promised, Promised::component);
  for (const Answer& a : outcome.answers) {
    EXPECT_LT(a.errors.component, 3);
    EXPECT_GT(a.forward, 1e10);
    EXPECT_LE(a.unit, 2 * a.errors.component);
    EXPECT_FALSE(outcome.astray(a) || outcome.beyond(a));
  }
}

TEST(Cases, ComeBackFromTheirText) {
  Dice dice(3);
  for (const Family& family : families()) {
    for (int k = 0; k < 20; ++k) {
      Case drawn = draw_case(family, false, dice);
      if (k % 4 == 0) drawn = edited_case(edited_case(drawn, dice), dice);
      const Case read = parse_case(to_text(drawn));
      EXPECT_EQ(to_text(read), to_text(drawn));
      const System a = make_system(drawn), b = make_system(read);
      EXPECT_TRUE(a.lower == b.lower && a.diag == b.diag && a.upper == b.upper && a.lines == b.lines) << to_text(drawn);
    }
  }
}

TEST(Cases, SayWhatIsWrongWithTheirText) {
  for (const char* text :
       {"hill rows=3", "jump hight=3", "jump rows=many", "jump layout=heap", "jump edit=x3*2", "jump edit=d3"}) {
    EXPECT_THROW(parse_case(text), BadText) << text;
  }
}

}  // namespace
}  // namespace oclspkt::attack
