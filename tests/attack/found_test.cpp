// SPDX-License-Identifier: BSD-2-Clause
// Systems that earlier solvers answered wrongly without a word: each is right now, or its report tells.
#include <gtest/gtest.h>

#include "devices.hpp"
#include "settings.hpp"
#include "tally.hpp"

namespace oclspkt::attack {
namespace {

constexpr MethodChoice kAll[] = {MethodChoice::automatic,          MethodChoice::truncated_halo,
                                 MethodChoice::truncated_streamed, MethodChoice::exact_twopass,
                                 MethodChoice::exact_factored,     MethodChoice::pivot};

/// Expect of all answers to a case, by the host and every device, what `good` asks of them.
template <typename T, typename Good>
void expect_of_answers(const std::string& text, MethodChoice method, const Good& good) {
  const Exam<T> exam = make_exam<T>(parse_case(text));
  ASSERT_FALSE(exam.questions.empty());
  for (const Setting& setting : everywhere(method)) {
    SCOPED_TRACE("device " + setting.device + ", variant " + setting.variant + ", " + name(method) + ": " + text);
    const Outcome outcome = take(exam, setting);
    EXPECT_FALSE(outcome.broke) << outcome.refused;
    for (const Answer& a : outcome.answers) {
      EXPECT_TRUE(good(outcome, a)) << outcome.method << " " << outcome.shape << ", x "
                                    << kSolutionNames[static_cast<int>(a.kind)] << ": " << outcome.error(a)
                                    << " eps, bound " << outcome.bound << " eps, " << a.unit
                                    << " spreads in a unit (LAPACK " << a.lapack_unit << "), forward error "
                                    << a.forward << " eps (LAPACK " << a.lapack_forward << " eps)";
    }
  }
}

template <typename T>
void expect_right_or_told(const std::string& text, MethodChoice method = MethodChoice::automatic) {
  expect_of_answers<T>(
      text, method, [](const Outcome& outcome, const Answer& a) { return !outcome.failed(a) && !outcome.exceeded(a); });
}

/// The forward error is LAPACK's but for a factor, or the report tells that it may not be.
template <typename T>
void expect_near_lapack(const std::string& text, MethodChoice method = MethodChoice::automatic) {
  expect_of_answers<T>(text, method, [](const Outcome& outcome, const Answer& a) {
    return a.forward_share <= 1 || outcome.above_tolerance || !(outcome.bound <= kWrong);
  });
}

/// Nor is any answer of auto far from the truth in a unit without a word.
template <typename T>
void expect_right_in_units(const std::string& text) {
  expect_of_answers<T>(text, MethodChoice::automatic, [](const Outcome& outcome, const Answer& a) {
    return !outcome.failed(a) && !outcome.exceeded(a) && !outcome.astray(a);
  });
}

template <typename T>
void expect_right_or_told_by_all(const std::string& text) {
  for (const MethodChoice method : kAll) expect_right_or_told<T>(text, method);
}

TEST(FoundByAttack, AJumpOverItsDiagonalSweptFromBothEnds) {
  expect_right_or_told_by_all<double>("jump rows=597 at=347 K=1.72272854e13 f=1.12575 H=0.0184 over_diagonal");
}

TEST(FoundByAttack, CouplingsThatChangeSignAtADominanceOfOne) {
  for (const Index rows : {14, 23, 31, 47, 86, 95}) {
    const std::string start = "signs lower=-0.1156 start=16.23 step=1 rows=" + std::to_string(rows);
    for (const char* turn : {" turn=0", " turn=1"}) expect_right_or_told_by_all<double>(start + turn);
  }
}

TEST(FoundByAttack, CouplingsThatChangeSignInFloat) {
  for (const char* turn : {"0", "1"}) {
    expect_right_or_told<float>(std::string("signs lower=-0.1156 start=16.23 step=1 rows=74 turn=") + turn,
                                MethodChoice::truncated_halo);
  }
}

TEST(FoundByAttack, JumpsUnderKernelsForGpus) {
  expect_right_or_told_by_all<double>("jump rows=917 at=635 K=1974484.63 f=1.11387 H=0 over_diagonal");
  expect_right_or_told_by_all<float>("jump rows=2611 at=768 K=43958.1828 f=1.14115 H=4.95e-8 over_diagonal");
}

TEST(FoundByAttack, AJumpThatGrowsFromOneSetUpToTheNext) {
  // The tame matrix before it has K = 7.8e3.
  const std::string jump = "jump rows=1729 at=700 K=3.27e10 f=1.00000000000019 H=0 use=later";
  expect_right_or_told<double>(jump);
  expect_right_or_told<double>(jump + " over_diagonal");
}

TEST(FoundByAttack, LinesOfTwoRowsWithSmallDiagonals) {
  for (const int at : {0, 1}) {
    const std::string column = " at=" + std::to_string(at);
    expect_right_in_units<double>("small_diagonal rows=2 layout=equal lines=1000 diag=3.3 upper=1.1 decades=9" +
                                  column);
  }
}

// A column times 1e-9: LAPACK is lucky with some x, by 1e9 times and more, and far within the condition of that
// unknown.
TEST(FoundByAttack, ASmallDiagonalInAnyRow) {
  for (const int at : {1, 200, 500, 998}) {
    expect_right_in_units<double>("small_diagonal rows=1000 diag=3.3 upper=1.1 decades=9 at=" + std::to_string(at));
  }
}

TEST(FoundByAttack, TruncatedHaloAtADominanceOfOne) {
  expect_right_or_told_by_all<float>("jump rows=1040 at=929 K=177506.817 f=1.12299 H=0");
  expect_right_or_told<double>("jump rows=1040 at=929 K=177506.817 f=1.12299 H=0", MethodChoice::truncated_halo);
}

TEST(FoundByAttack, TransposesOfMatricesThatAreNotDominant) {
  for (const char* rest : {" over_diagonal", " transposed", " column_decades=2"}) {
    expect_right_or_told<double>("jump rows=1500 at=700 K=1e6 f=1.05 H=0 use=transpose" + std::string(rest));
  }
}

TEST(FoundByAttack, CertificatesUnderALoosenedToleranceAreBounds) {
  // Pivots that converge slowly: a lead-in as long as the tolerance asks is too short for the certificate.
  for (const char* rtol : {"0.2", "1e-2", "1e-6"}) {
    for (const char* lambda : {"100", "1e4", "1e6"}) {
      const std::string text = "diffusion rows=4000 lambda=" + std::string(lambda) + " rtol=" + rtol;
      expect_near_lapack<double>(text);
      expect_near_lapack<double>(text, MethodChoice::truncated_streamed);
    }
  }
}

TEST(FoundByAttack, DorrIsSolvedAsLapackDoes) {
  // Backward errors do not see what forgiving an excess of -2 eps does to it: the solution of another matrix is 3e44.
  for (const int rows : {127, 255, 511}) expect_near_lapack<double>("dorr theta=1e-4 rows=" + std::to_string(rows));
}

TEST(FoundByAttack, PlainPivotsThatHaveNoDigitLeft) {
  // Couplings of different sizes and row sums of 0: the bound took pivots as they would be without rounding.
  for (const char* text : {"dorr rows=180 theta=4.4357849190399757e-06 reversed seed=11253713014578093655",
                           "dorr rows=263 theta=0.0012213595642585077 column_decades=0.28621282553142569",
                           "zero_sums rows=491 decades=3.7471156543016457 reversed seed=12555567032047245788"}) {
    expect_right_or_told<double>(text, MethodChoice::truncated_halo);
    expect_right_or_told<double>(text);
  }
}

TEST(FoundByAttack, ForgivenExcessesThatAreAllThatIsLeftOfAPivot) {
  expect_right_or_told_by_all<double>(
      "zero_sums rows=446 decades=5.5048692176586549 layout=beside lines=10 seed=10843388312815217045");
  expect_right_or_told_by_all<float>(
      "zero_sums rows=169 decades=2.7705476876548576 layout=unequal lines=67 over_diagonal seed=15098173041441549561");
  expect_right_or_told_by_all<float>(
      "jumps rows=1311 count=8 K=16680.781453907388 f=1.0421408873890168 H=0 use=later seed=9426092397240037461");
}

TEST(FoundByAttack, RoundingThatOverflows) {
  expect_right_or_told_by_all<float>("dorr rows=212 theta=0.0005881151747262536 reversed partition=3968");
  expect_right_or_told_by_all<float>("dorr rows=445 theta=0.00030195358244852896 reversed use=later");
  expect_right_or_told_by_all<float>(
      "jumps rows=3760 count=2 K=304329.31284264708 f=1.1038053296621391 H=7.6663992213112592e-07 over_diagonal "
      "reversed seed=2902054624618640764");
}

TEST(FoundByAttack, AnswersThatLeaveTheRange) {
  // Of the order of 1e39: four of eight answers were Inf behind a bound of 0.5 eps.
  expect_right_or_told<float>("dorr rows=407 theta=0.00079348602324595316 partition=1024 seed=14009161325511111000");
}

TEST(FoundByAttack, DifferencesOfSmallRightHandSides) {
  // What sweeps differ by was dropped below 2^-100 or 2^-900, whatever the right-hand side was: 225 and 224 eps behind
  // bounds of 5, 6.2 behind 5.0.
  expect_right_or_told<float>(
      "jump rows=1124 at=428 K=150920.91017698983 f=1.0085037521305138 H=0 over_diagonal reversed "
      "range=-26.352903846038039 partition=112 seed=4143990602165840066");
  expect_right_or_told<float>(
      "conductors rows=901 decades=3.3189164383067786 lambda=36.230505445273536 over_diagonal reversed pattern=decays "
      "range=-31.836169041094156 seed=5065619245730775316");
  expect_right_or_told<double>(
      "graded rows=2610 decades=9.7158564471283633 f=1.1553846895434401 H=1.5132672900359259 reversed pattern=blocks "
      "range=-267.00240928500449 seed=18263763938447331410");
}

TEST(FoundByAttack, ColumnsInUnlikeUnits) {
  // Pivots that were chosen by rows, and held against them, refused what elimination solves to rounding.
  expect_right_in_units<double>("diffusion rows=3000 lambda=100 column_decades=14 pattern=blocks");
  expect_right_in_units<float>("diffusion rows=3000 lambda=100 column_decades=6 pattern=blocks");
  expect_right_in_units<double>("diffusion rows=400 lambda=3 column_decades=14 pattern=decays");
  expect_right_in_units<double>("layers rows=600 thickness=30 K=1000 f=1.05 H=0.01 column_decades=13 pattern=turns");
  expect_right_in_units<double>(
      "advection rows=28 peclet=1.3266844130698028 H=0 down=1 over_diagonal reversed transposed "
      "column_decades=8.4950203949541692 seed=12597910640226145957");
  expect_right_in_units<float>(
      "random rows=163 dominance=1.5030508810177583 reversed transposed column_decades=5.3739176753527449 "
      "seed=8225628596918166205");
}

TEST(FoundByAttack, RowsOfATransposeInUnlikeUnits) {
  expect_right_in_units<double>(
      "resonant_blocks rows=75 block=5 distance=9.2399753725154898 coupling=3.2457538055290436 "
      "signs=0.98963007553550097 over_diagonal use=transpose seed=18198717228608223143");
}

TEST(FoundByAttack, UnitsAtTheEndsOfTheRange) {
  expect_right_in_units<double>(
      "jumps rows=6 count=9 K=25.316422118854504 f=1.0000000112408709 H=4.8351931413036896e-06 layout=beside lines=41 "
      "row_decades=2.0232468578465683 column_decades=273.18542718741668 pattern=decays inverse_rows "
      "seed=10219131255501588019");
  expect_right_in_units<double>("diffusion rows=50 lambda=2 range=-315");
  expect_right_in_units<float>("diffusion rows=50 lambda=2 range=-43");
}

TEST(FoundByAttack, ColumnsOfZeros) {
  for (const int at : {0, 7, 19}) {
    expect_right_or_told_by_all<double>("zero_column rows=20 dominance=1.5 at=" + std::to_string(at));
  }
}

}  // namespace
}  // namespace oclspkt::attack
