// SPDX-License-Identifier: BSD-2-Clause
#include "measure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mkl_peers.hpp"
#include "oclspkt/error.hpp"
#include "peers.hpp"
#include "thomas.hpp"

namespace oclspkt::bench {
namespace {

/// A contestant that lets Thomas solve and then spoils one number of the answer.
Contestant<double> spoiled(Problem<double>& problem, double by, Outcome outcome = Outcome::timed) {
  Contestant<double> c;
  c.record.outcome = outcome;
  c.record.note = "certificate 1e-3";
  c.run = [&problem, by, right = make_thomas(problem).run](int repeats) {
    const double seconds = right(repeats);
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

/// Everybody's name, behind the stream's.
std::vector<std::string> all_peers() {
  std::vector<std::string> names{"stream"};
  for (const PeerFacts& peer : peers()) names.push_back(peer.name);
  return names;
}

TYPED_TEST(Peers, AllThatAreThereSolveTheProblemFromOneRowUp) {
  for (const Index n : {1, 2, 3, 1009}) {
    Problem<TypeParam> problem(MatrixSpec{.symmetric = true}, n);
    Progress progress;
    auto field = make_field<TypeParam>(all_peers(), "host", problem, progress);
    ASSERT_EQ(field.contestants.size(), 1 + peers().size());
    for (auto& c : field.contestants) {
      check(c, problem);
      check(c, problem);  // the input survives
      if (c.record.solver == "mkl" && c.record.outcome == Outcome::absent) continue;
      EXPECT_EQ(c.record.outcome, Outcome::timed) << c.record.solver << ": " << c.record.note;
      EXPECT_LE(c.record.error, 20 * std::numeric_limits<TypeParam>::epsilon()) << c.record.variant << ", " << n;
    }
  }
}

TYPED_TEST(Peers, SolveAsOftenAsAsked) {
  Problem<TypeParam> problem(MatrixSpec{.symmetric = true}, 100);
  for (const PeerFacts& facts : peers()) {
    auto peer = facts.make(problem);
    if (!peer.absent.empty()) continue;
    EXPECT_GT(peer.run(7), 0) << facts.name;
    Contestant<TypeParam> c;
    c.run = [&](int) { return peer.run(3); };
    check(c, problem);
    EXPECT_EQ(c.record.outcome, Outcome::timed) << facts.name << c.record.note;
  }
}

TEST(PeersThatAreAbsent, SayWhyAndDoNotRun) {
  Problem<double> general(MatrixSpec{}, 1000), indefinite(MatrixSpec{.dominance = 0.1, .symmetric = true}, 1000);
  EXPECT_EQ(find_peer("pttrs")->make(general).absent, "the matrix is not symmetric");
  EXPECT_EQ(find_peer("pttrs")->make(indefinite).absent, "the matrix is not positive definite");
  Progress progress;
  auto field = make_field<double>({"pttrs"}, "host", general, progress);
  check(field.contestants[0], general);
  EXPECT_EQ(field.contestants[0].record.outcome, Outcome::absent);
  EXPECT_TRUE(std::isnan(field.contestants[0].record.error));
}

TEST(RoundingHalo, LeavesLessThanRoundingBehindIt) {
  const double eps = std::numeric_limits<double>::epsilon();
  for (const double d : {1.1, 1.9, 3.0}) {
    const Index halo = rounding_halo(Problem<double>(MatrixSpec{.dominance = d}, 1000));
    EXPECT_LE(std::pow(d, -halo), eps / 8 * 1.01) << d;
    EXPECT_GT(std::pow(d, -halo + 1), eps / 8) << d;
  }
  EXPECT_EQ(rounding_halo(Problem<double>(MatrixSpec{.matrix = Matrix::poisson}, 1000)), 0);
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
  idle.run = [](int) { return 1.0; };
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
  field[0].run = [](int) -> double { throw DeviceError("the device is lost"); };
  Progress progress;
  time_interleaved(field, Budget{.rounds = 3}, progress);
  EXPECT_EQ(field[0].record.outcome, Outcome::failed);
  EXPECT_EQ(field[0].record.note, "the device is lost");
  EXPECT_EQ(field[1].record.seconds.size(), 3u);
}

TEST(Budget, SmallProblemsAreSolvedManyTimesInOneMeasurement) {
  Problem<double> problem(MatrixSpec{}, 10);
  std::vector<Contestant<double>> field(2);
  int calls = 0, most = 0;
  field[0].run = [&](int repeats) {
    ++calls;
    most = std::max(most, repeats);
    return 1e-6;
  };
  field[1].run = [&](int repeats) {
    EXPECT_EQ(repeats, 1);
    return 1.0;
  };
  Progress progress;
  time_interleaved(field, Budget{.rounds = 5, .least_seconds = 1e-3}, progress);
  EXPECT_EQ(most, 1000);
  EXPECT_EQ(calls, 6) << "one to find out how many";
  EXPECT_EQ(field[0].record.seconds, std::vector<double>(5, 1e-6));
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
