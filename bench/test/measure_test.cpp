// SPDX-License-Identifier: BSD-2-Clause
#include "measure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "oclspkt/error.hpp"
#include "peers.hpp"

namespace oclspkt::bench {
namespace {

/// A contestant that lets Thomas solve and then spoils one number of the answer.
Contestant<double> spoiled(Problem<double>& problem, double by, Outcome outcome = Outcome::timed) {
  Contestant<double> c;
  c.record.outcome = outcome;
  c.record.note = "certificate 1e-3";
  c.run = [&problem, by] {
    const double seconds = thomas(problem);
    problem.x[problem.n() / 2] += by;
    return seconds;
  };
  return c;
}

TEST(Measure, MedianAndSpreadOfFewAndManyRounds) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({4, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(spread({3}), 0);
  EXPECT_EQ(spread({5, 1, 2, 4, 3}), 2.0 / 3);
}

template <typename T>
class Peers : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Peers, Scalars);

TYPED_TEST(Peers, AllSolveTheProblemFromOneRowUp) {
  for (const Index n : {1, 2, 3, 1009}) {
    Problem<TypeParam> problem(MatrixSpec{}, n);
    Progress progress;
    auto field = make_field<TypeParam>({"stream", "gtsv", "gttrs", "thomas"}, "host", problem, progress);
    ASSERT_EQ(field.contestants.size(), 4u);
    for (auto& c : field.contestants) {
      check(c, problem);
      check(c, problem);  // the input survives
      EXPECT_EQ(c.record.outcome, Outcome::timed) << c.record.solver << ": " << c.record.note;
      EXPECT_LE(c.record.error, 20 * std::numeric_limits<TypeParam>::epsilon()) << c.record.solver << ", " << n;
    }
  }
}

TEST(Check, AnAnswerThatIsOffIsWrongAndIsNotTimed) {
  Problem<double> problem(MatrixSpec{}, 1000);
  std::vector<Contestant<double>> field{spoiled(problem, 1e-6), spoiled(problem, 0)};
  for (auto& c : field) check(c, problem);
  EXPECT_EQ(field[0].record.outcome, Outcome::wrong);
  EXPECT_GT(field[0].record.error, 1e-8);
  EXPECT_EQ(field[1].record.outcome, Outcome::timed);
  Progress progress;
  time_interleaved(field, Budget{.rounds = 4}, progress);
  EXPECT_EQ(field[0].record.seconds.size(), 0u);
  EXPECT_EQ(field[1].record.seconds.size(), 4u);
}

TEST(Check, NaNInTheAnswerIsWrong) {
  Problem<double> problem(MatrixSpec{}, 1000);
  auto c = spoiled(problem, std::numeric_limits<double>::quiet_NaN());
  check(c, problem);
  EXPECT_EQ(c.record.outcome, Outcome::wrong);
  EXPECT_TRUE(std::isnan(c.record.error));
}

TEST(Check, AnAnswerThatIsNotWrittenIsWrongThoughTheLastOneWasRight) {
  Problem<double> problem(MatrixSpec{}, 1000);
  auto right = spoiled(problem, 0);
  check(right, problem);
  auto idle = right;
  idle.run = [] { return 1.0; };
  check(idle, problem);
  EXPECT_EQ(idle.record.outcome, Outcome::wrong);
}

TEST(Check, AMethodThatTheLibraryWarnedOfIsNotCoveredUnlessItsAnswerIsRight) {
  Problem<double> problem(MatrixSpec{}, 1000);
  auto off = spoiled(problem, 1e-6, Outcome::not_covered), right = spoiled(problem, 0, Outcome::not_covered);
  check(off, problem);
  check(right, problem);
  EXPECT_EQ(off.record.outcome, Outcome::not_covered);
  EXPECT_NE(off.record.note.find("certificate 1e-3"), std::string::npos);
  EXPECT_EQ(right.record.outcome, Outcome::timed);
}

TEST(Check, WhoThrowsFailsWithTheCauseAndTheOthersGoOn) {
  Problem<double> problem(MatrixSpec{}, 1000);
  std::vector<Contestant<double>> field{spoiled(problem, 0), spoiled(problem, 0)};
  for (auto& c : field) check(c, problem);
  field[0].run = []() -> double { throw DeviceError("the device is lost"); };
  Progress progress;
  time_interleaved(field, Budget{.rounds = 3}, progress);
  EXPECT_EQ(field[0].record.outcome, Outcome::failed);
  EXPECT_EQ(field[0].record.note, "the device is lost");
  EXPECT_EQ(field[1].record.seconds.size(), 3u);
}

TEST(Budget, NoRoundBeginsAfterItButTheFirstThree) {
  Problem<double> problem(MatrixSpec{}, 1000);
  std::vector<Contestant<double>> field{spoiled(problem, 0)};
  Progress progress;
  time_interleaved(field, Budget{.rounds = 100, .seconds = 0}, progress);
  EXPECT_EQ(field[0].record.seconds.size(), 3u);
}

}  // namespace
}  // namespace oclspkt::bench
