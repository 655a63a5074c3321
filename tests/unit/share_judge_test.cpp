// SPDX-License-Identifier: BSD-2-Clause
// Set-ups of processors whose true times are known, measured with noise: what the judge makes of them.
#include "share_judge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace oclspkt {
namespace {

constexpr double kRows = 1e6;

/// Seconds of an apply and of a set-up.
struct Truth {
  double apply, set_up;
};

/// A machine of two processors, and a program that applies so often after each set-up.
class Machine {
 public:
  /// @param predicted  true seconds of an apply times this
  Machine(Truth first, Truth second, Truth together, double applies, double predicted, unsigned seed)
      : truths_{first, second, together}, random_(seed) {
    for (const char* name : {"1", "2"}) {
      Sharer sharer;
      sharer.word = sharer.share = name;
      sharer.processor.info.driver_version = name;
      sharer.alone.seconds_per_row = predicted * truths_[sharers_.each.size()].apply / kRows;
      sharers_.each.push_back(sharer);
    }
    sharers_.names = "both";
    sharers_.rows = kRows;
    sharers_.applies = applies;
    shares_ = {{500000, 500000}, {0, 0}, predicted * together.apply, 0};
    figures_.open("none");
    figures_.expect("solves");
  }

  /// Now and then a measurement is off by three, as when others use the machine.
  void disturb() { disturbed_ = true; }

  /// Seconds of an apply, with its share of the set-up, of whoever was chosen.
  double set_up() {
    sharers_.take(figures_);
    const ShareVerdict verdict = ShareJudge(sharers_, figures_, trials_).judge(shares_);
    const Sharer& alone = verdict.only != nullptr ? *verdict.only : sharers_.best_alone();
    const std::size_t who = verdict.shared ? 2 : static_cast<std::size_t>(&alone - sharers_.each.data());
    const std::string name = verdict.shared ? sharers_.names : alone.processor.figures_of();
    const std::string how = verdict.shared ? "together" : "alone";
    const auto applies = static_cast<std::int64_t>(sharers_.applies);
    figures_.put(name, how.c_str(), measure(truths_[who].apply), kRows, applies);
    if (last_ == who) figures_.put(name, (how + ", set-up").c_str(), measure(truths_[who].set_up), kRows, 1);
    last_ = who;
    return cost(who);
  }
  double best() const { return std::min({cost(0), cost(1), cost(2)}); }

 private:
  double cost(std::size_t who) const { return truths_[who].apply + truths_[who].set_up / sharers_.applies; }
  double measure(double seconds) {
    const double noise = std::uniform_real_distribution<double>(0.98, 1.02)(random_);
    const bool bad = disturbed_ && std::uniform_int_distribution<int>(0, 19)(random_) == 0;
    return seconds * noise * (bad ? 3 : 1);
  }

  std::vector<Truth> truths_;  ///< of each by itself, and of both
  std::mt19937 random_;
  bool disturbed_ = false;
  std::size_t last_ = 3;
  Sharers sharers_;
  Shares shares_;
  ShareFigures figures_;
  ShareTrials trials_;
};

struct Case {
  const char* name;
  Truth first, second, together;
  double applies;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

/// Applies from the hundredth set-up on, over those of the best.
double after_a_while(Machine machine) {
  constexpr int kBefore = 100, kCounted = 1000;
  for (int k = 0; k < kBefore; ++k) machine.set_up();
  double sum = 0;
  for (int k = 0; k < kCounted; ++k) sum += machine.set_up();
  return sum / kCounted / machine.best();
}

class ShareJudgeOf : public ::testing::TestWithParam<Case> {};

/// With predictions that are off by a factor of up to 1.9 either way.
TEST_P(ShareJudgeOf, FindsTheBestWhateverIsPredicted) {
  const Case& c = GetParam();
  for (const double predicted : {0.55, 1.0, 1.9}) {
    for (const unsigned seed : {1U, 2U, 3U}) {
      EXPECT_LE(after_a_while(Machine(c.first, c.second, c.together, c.applies, predicted, seed)), 1.03)
          << predicted << " " << seed;
    }
  }
}

TEST_P(ShareJudgeOf, IsNotMisledForLongByBadMoments) {
  const Case& c = GetParam();
  double sum = 0;
  constexpr unsigned kSeeds = 20;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Machine machine(c.first, c.second, c.together, c.applies, 1, seed);
    machine.disturb();
    sum += after_a_while(std::move(machine));
  }
  EXPECT_LE(sum / kSeeds, 1.1);
}

/// The first set-ups may try what turns out to be slower, each but a few times.
TEST_P(ShareJudgeOf, TriesLittle) {
  const Case& c = GetParam();
  Machine machine(c.first, c.second, c.together, c.applies, 1, 1);
  int slow = 0;
  for (int k = 0; k < 30; ++k) slow += machine.set_up() > 1.06 * machine.best() ? 1 : 0;
  EXPECT_LE(slow, 6);
}

INSTANTIATE_TEST_SUITE_P(
    Machines, ShareJudgeOf,
    ::testing::Values(Case{"SharingPays", {2e-3, 0}, {3e-3, 0}, {1.4e-3, 0}, 1000},
                      Case{"SharingCosts", {2e-3, 0}, {3e-3, 0}, {2.5e-3, 0}, 1000},
                      Case{"TheFirstIsFaster", {2e-3, 0}, {2.3e-3, 0}, {2.2e-3, 0}, 1000},
                      Case{"TheSecondIsFaster", {2.3e-3, 0}, {2e-3, 0}, {2.2e-3, 0}, 1000},
                      Case{"SetUpsDecide", {2e-3, 12e-3}, {3e-3, 5e-3}, {1.5e-3, 15e-3}, 1},
                      Case{"SetUpsOfSharesAreDear", {2e-3, 1e-3}, {3e-3, 1e-3}, {1.2e-3, 9e-3}, 1},
                      Case{"SharingPaysInSpiteOfSetUps", {4e-3, 2e-3}, {4e-3, 2e-3}, {2e-3, 2.5e-3}, 1},
                      Case{"AFewApplies", {4e-3, 2e-3}, {5e-3, 9e-3}, {2.2e-3, 20e-3}, 5}),
    [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace oclspkt
