// SPDX-License-Identifier: BSD-2-Clause
#include "shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "thrown.hpp"

namespace oclspkt {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr int kCases = 300;

/// Describe a processor by its rate; its kernel is twice as fast as all of an apply.
ShareModel processor(double rows_per_second, double host_bytes_per_row = 0) {
  ShareModel model;
  model.seconds_per_row = 1 / rows_per_second;
  model.kernel_seconds_per_row = 0.5 / rows_per_second;
  model.host_bytes_per_row = host_bytes_per_row;
  return model;
}

/// Draws machines that look like those there are, from a seed that is always the same.
class Drawer {
 public:
  double between(double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(engine_));
  }
  bool coin(double chance) { return std::bernoulli_distribution(chance)(engine_); }
  Index grain() { return coin(0.3) ? 1 : static_cast<Index>(between(2, 5000)); }
  Index rows() { return static_cast<Index>(between(1e3, 1e10)); }
  std::vector<ShareModel> models() {
    std::vector<ShareModel> all(std::uniform_int_distribution<std::size_t>(1, 6)(engine_));
    for (ShareModel& model : all) {
      model = processor(between(1e8, 1e10), between(1, 100));
      model.kernel_seconds_per_row = model.seconds_per_row * between(0.1, 1);
      model.latency = between(1e-7, 1e-3);
      model.watts = between(10, 500);
    }
    return all;
  }
  NodeModel node() { return {coin(0.3) ? kNoLimit : between(1e10, 1e12), coin(0.3) ? 0 : between(1e-6, 1e-4)}; }

 private:
  std::mt19937_64 engine_{20190913};
};

/// Test some hundred machines, and rows to share on each.
template <typename Test>
void on_machines(const Test& test) {
  Drawer draw;
  for (int i = 0; i < kCases; ++i) {
    const auto models = draw.models();
    const NodeModel node = draw.node();
    test(draw, models, node, draw.rows());
  }
}

Index sum(const Shares& shares) { return std::accumulate(shares.rows.begin(), shares.rows.end(), Index(0)); }

std::ptrdiff_t used(const Shares& shares) {
  return std::count_if(shares.rows.begin(), shares.rows.end(), [](Index rows) { return rows > 0; });
}

/// Seconds of the processor that is the fastest by itself.
double best_single(const std::vector<ShareModel>& models, const NodeModel& node, Index rows) {
  double best = kNoLimit;
  for (std::size_t i = 0; i < models.size(); ++i) {
    std::vector<Index> all(models.size(), 0);
    all[i] = rows;
    best = std::min(best, predict_shares(all, models, node).all_seconds);
  }
  return best;
}

/// Expect multiples of the grain, but for the last share that is not 0.
void expect_grains(const Shares& shares, Index grain) {
  bool last = true;
  for (auto rows = shares.rows.rbegin(); rows != shares.rows.rend(); ++rows) {
    EXPECT_GE(*rows, 0);
    EXPECT_TRUE(last || *rows % grain == 0) << *rows;
    if (*rows > 0) last = false;
  }
}

TEST(Shares, HaveExactSumsWhateverTheyAreMadeFor) {
  on_machines([](Drawer& draw, const auto& models, const NodeModel& node, Index rows) {
    if (draw.coin(0.1)) rows = 7;
    const Index grain = draw.grain();
    std::vector<double> weights(models.size());
    for (double& weight : weights) weight = draw.between(0.1, 10);
    for (const Objective objective :
         {Objective::time, Objective::kernel, Objective::even, Objective::weights, Objective::energy}) {
      const Shares shares = share_rows(rows, grain, models, node, {objective, weights});
      EXPECT_EQ(sum(shares), rows);
      expect_grains(shares, grain);
    }
  });
}

TEST(Shares, AreNeverSlowerThanTheBestProcessorAlone) {
  on_machines([](Drawer&, const auto& models, const NodeModel& node, Index rows) {
    for (const Objective objective : {Objective::time, Objective::kernel}) {
      const Shares shares = share_rows(rows, 256, models, node, {objective, {}});
      std::vector<ShareModel> counted = models;
      NodeModel where = node;
      if (objective == Objective::kernel) {
        for (ShareModel& model : counted) model.seconds_per_row = model.kernel_seconds_per_row;
        where.host_bytes_per_second = kNoLimit;
      }
      const double alone = best_single(counted, where, rows);
      EXPECT_LE(shares.all_seconds, alone);
      EXPECT_TRUE(used(shares) == 1 || shares.all_seconds * kLeastGain < alone * (1 + 1e-12));
    }
  });
}

/// A grid of all shares in sixteenths finds nothing faster.
TEST(Shares, AreTheFastestOfThreeProcessors) {
  on_machines([](Drawer&, auto models, const NodeModel& node, Index part) {
    models.resize(3, processor(1e9, 8));
    const Shares shares = share_rows(16 * part, 1, models, node, {});
    const double allowed = used(shares) == 1 ? kLeastGain : 1 + 1e-3;
    for (Index a = 0; a <= 16; ++a) {
      for (Index b = 0; a + b <= 16; ++b) {
        const std::vector<Index> rows{a * part, b * part, (16 - a - b) * part};
        const double seconds = predict_shares(rows, models, node).all_seconds;
        ASSERT_LE(shares.all_seconds, seconds * allowed + 1e-9) << a << ' ' << b;
      }
    }
  });
}

/// One processor that just does not gain kLeastGain beside another is left out, hence that much and no more may be
/// lost.
TEST(Shares, DoNotBecomeSlowerWhenAProcessorBecomesFaster) {
  on_machines([](Drawer& draw, auto models, const NodeModel& node, Index rows) {
    rows += 1000000;
    const Shares before = share_rows(rows, 1, models, node, {});
    for (ShareModel& model : models) {
      const ShareModel kept = model;
      model.seconds_per_row /= draw.between(1.001, 3);
      const Shares after = share_rows(rows, 1, models, node, {});
      const bool alike = used(before) == 1 || used(after) > 1;
      EXPECT_LE(after.all_seconds, before.all_seconds * (alike ? 1 + 1e-5 : kLeastGain));
      model = kept;
    }
  });
}

TEST(Shares, HardlyChangeTheTimeWhenRatesAreNoisy) {
  on_machines([](Drawer& draw, auto models, const NodeModel& node, Index rows) {
    rows += 1000000;
    const Shares quiet = share_rows(rows, 1, models, node, {});
    for (ShareModel& model : models) model.seconds_per_row *= draw.between(0.99, 1.01);
    const Shares noisy = share_rows(rows, 1, models, node, {});
    const bool alike = (used(quiet) == 1) == (used(noisy) == 1);
    const double allowed = alike ? 1.02 : 1.02 * kLeastGain;
    EXPECT_LE(noisy.all_seconds, quiet.all_seconds * allowed);
    EXPECT_GE(noisy.all_seconds, quiet.all_seconds / allowed);
  });
}

TEST(Shares, OfNoRowsAreNone) {
  const std::vector<ShareModel> models{processor(1e9), processor(2e9)};
  for (const char* language : {"time", "kernel", "even", "energy", "1,2"}) {
    const Shares shares = share_rows(0, 64, models, {1e9, 1}, parse_balance(language));
    EXPECT_EQ(shares.rows, (std::vector<Index>{0, 0}));
    EXPECT_EQ(shares.seconds, (std::vector<double>{0, 0}));
    EXPECT_EQ(shares.all_seconds, 0);
  }
}

TEST(Shares, OfFewerRowsThanProcessorsLeaveSomeOut) {
  const std::vector<ShareModel> models(5, processor(1e9));
  for (const char* language : {"time", "kernel", "even", "energy", "1,1,1,1,1"}) {
    const Shares shares = share_rows(3, 1, models, {}, parse_balance(language));
    EXPECT_EQ(sum(shares), 3);
    EXPECT_LE(used(shares), 3) << language;
  }
  EXPECT_EQ(share_rows(3, 1, models, {}, parse_balance("even")).rows, (std::vector<Index>{1, 1, 1, 0, 0}));
  EXPECT_EQ(share_rows(130, 64, models, {}, parse_balance("even")).rows, (std::vector<Index>{64, 66, 0, 0, 0}));
  EXPECT_EQ(share_rows(40, 64, models, {}, parse_balance("1,1,5,1,1")).rows, (std::vector<Index>{0, 0, 40, 0, 0}));
}

TEST(Shares, LeaveOutAProcessorThatDoesNotPay) {
  std::vector<ShareModel> models{processor(1e9), processor(4e7)};
  EXPECT_EQ(share_rows(1000000, 1, models, {}, {}).rows, (std::vector<Index>{1000000, 0}));  // gains 4 %
  models[1] = processor(1e9);
  EXPECT_EQ(share_rows(1000000, 1, models, {}, {}).rows, (std::vector<Index>{500000, 500000}));
  models[1].latency = 1;
  EXPECT_EQ(share_rows(1000000, 1, models, {}, {}).rows, (std::vector<Index>{1000000, 0}));
  models[1].latency = 0;
  EXPECT_EQ(share_rows(1000000, 1, models, {kNoLimit, 1e-3}, {}).rows, (std::vector<Index>{1000000, 0}));
}

/// As cores beside cards that copy: the cards share.
TEST(Shares, LeaveOutAProcessorThatTakesForEver) {
  std::vector<ShareModel> models(3, processor(1e9));
  for (const std::size_t slow : {0U, 1U, 2U}) {
    std::vector<ShareModel> some = models;
    some[slow].seconds_per_row = kNoLimit;
    std::vector<Index> rows(3, 500000);
    rows[slow] = 0;
    EXPECT_EQ(share_rows(1000000, 1, some, {}, {}).rows, rows);
  }
}

TEST(Shares, UseOneDriverOfAPhysicalDevice) {
  std::vector<ShareModel> models{processor(2e9), processor(1e9), processor(1.1e9)};
  models[1].physical = models[2].physical = "the CPU";
  for (const char* language : {"time", "kernel", "energy"}) {
    const Shares shares = share_rows(3000000, 1, models, {}, parse_balance(language));
    EXPECT_TRUE(shares.rows[1] == 0 || shares.rows[2] == 0) << language;
  }
  EXPECT_GT(share_rows(3000000, 1, models, {}, {}).rows[2], 1000000);
  EXPECT_EQ(used(share_rows(3000000, 1, models, {}, parse_balance("1,1,1"))), 3);
  EXPECT_EQ(used(share_rows(3000000, 1, models, {}, parse_balance("even"))), 3);
}

TEST(Shares, UseOneDriverOfEachOfManyDevices) {
  std::vector<ShareModel> models(20, processor(1e9));
  for (std::size_t i = 0; i < models.size(); ++i) models[i].physical = "device " + std::to_string(i / 2);
  const Shares shares = share_rows(20000000, 1, models, {}, {});
  EXPECT_EQ(used(shares), 10);
  for (std::size_t i = 0; i < models.size(); i += 2) EXPECT_TRUE(shares.rows[i] == 0 || shares.rows[i + 1] == 0);
  EXPECT_NEAR(shares.all_seconds, 2e-3, 1e-8);
}

/// A GPU and a host that would make 8.9e9 rows a second if the host's memory were fast enough.
class SharedMemory : public testing::Test {
 protected:
  static double rate(double host_bytes_per_second, const Balance& balance) {
    return static_cast<double>(kRows) / shares(host_bytes_per_second, balance).all_seconds;
  }
  static Shares shares(double host_bytes_per_second, const Balance& balance) {
    const std::vector<ShareModel> models{processor(6.2e9, 16), processor(2.7e9, 40)};
    return share_rows(kRows, 64, models, {host_bytes_per_second, 0}, balance);
  }
  static constexpr Index kRows = 1000000000;
};

TEST_F(SharedMemory, BoundsWhatProcessorsDoTogether) {
  EXPECT_NEAR(rate(kNoLimit, {}), 8.9e9, 0.01e9);
  EXPECT_NEAR(rate(108e9, parse_balance("6.2,0.22")), 6.42e9, 0.01e9);  // 6.2e9 * 16 + 0.22e9 * 40 = 108e9
  EXPECT_NEAR(rate(108e9, parse_balance("6.2,2.7")), 4.65e9, 0.05e9);   // by rates: slower than the GPU alone
}

TEST_F(SharedMemory, MakesASecondProcessorPayOnlyWhereBandwidthIsLeft) {
  EXPECT_EQ(used(shares(108e9, {})), 1);  // 6.42 for 6.2 is a gain of 3.6 %
  EXPECT_NEAR(rate(108e9, {}), 6.2e9, 0.01e9);
  EXPECT_EQ(used(shares(120e9, {})), 2);
  EXPECT_NEAR(rate(120e9, {}), 6.72e9, 0.01e9);
}

TEST(Shares, AreKernelTimesAloneUnderKernel) {
  std::vector<ShareModel> models{processor(1e9, 100), processor(1e9, 100)};
  models[0].kernel_seconds_per_row = 1e-10;
  models[1].kernel_seconds_per_row = 1e-9;
  const Shares shares = share_rows(11000, 1, models, {1e9, 0}, parse_balance("kernel"));
  EXPECT_EQ(shares.rows, (std::vector<Index>{10000, 1000}));
  EXPECT_NEAR(shares.all_seconds, 1e-6, 1e-12);
}

TEST(Shares, FollowWeights) {
  const std::vector<ShareModel> models(3, processor(1e9));
  EXPECT_EQ(share_rows(1000, 1, models, {}, parse_balance("5,3,2")).rows, (std::vector<Index>{500, 300, 200}));
  EXPECT_EQ(share_rows(1000, 1, models, {}, parse_balance("0,1e308,1e308")).rows, (std::vector<Index>{0, 500, 500}));
  EXPECT_EQ(share_rows(1000, 64, models, {}, parse_balance("0,1,0")).rows, (std::vector<Index>{0, 1000, 0}));
  const std::string text = test::thrown_text([&] { share_rows(1000, 1, models, {}, parse_balance("1,2")); });
  for (const char* words : {"2 weights", "3 processors", "one weight for each"}) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  }
}

TEST(Shares, TakeTheFewestJoules) {
  std::vector<ShareModel> models{processor(5e9), processor(3e9), processor(1e9)};
  models[0].watts = 500;
  models[1].watts = 100;
  models[2].watts = 50;
  const Balance energy = parse_balance("energy");
  EXPECT_EQ(share_rows(90000, 1, models, {}, energy).rows, (std::vector<Index>{0, 90000, 0}));
  models[1].latency = 1;  // 100 joules before its first row
  EXPECT_EQ(share_rows(150000, 1, models, {}, energy).rows, (std::vector<Index>{0, 0, 150000}));
  models[0].watts = 0;
  EXPECT_EQ(share_rows(90000, 1, models, {}, energy).rows, share_rows(90000, 1, models, {}, {}).rows);
}

/// With watts of idling a slower apply is not always cheaper: all wait for it.
TEST(Shares, CountTheJoulesOfIdling) {
  std::vector<ShareModel> models{processor(2e9), processor(1e9)};
  models[0].watts = 300;
  models[1].watts = 100;
  const Balance energy = parse_balance("energy");
  const Shares alone = share_rows(3000000000, 1, models, {}, energy);
  EXPECT_EQ(alone.rows, (std::vector<Index>{0, 3000000000}));
  EXPECT_DOUBLE_EQ(alone.joules, 300);
  models[0].idle_watts = 200;  // 100 more at work: rows of both take 50 and 60 nJ, and each second 240 J
  models[1].idle_watts = 40;
  const Shares both = share_rows(3000000000, 1, models, {}, energy);
  EXPECT_NEAR(static_cast<double>(both.rows[0]), 2e9, 1e6);
  EXPECT_NEAR(both.joules, 400, 0.1);
  EXPECT_NEAR(both.all_seconds, 1, 1e-3);
}

/// By its own model, energy never takes more joules than time does.
TEST(Shares, OfEnergyNeverTakeMoreJoulesThanThoseOfTime) {
  int fewer = 0;
  on_machines([&](Drawer& draw, auto models, const NodeModel& node, Index rows) {
    const Index grain = draw.grain();
    for (ShareModel& model : models) model.idle_watts = draw.coin(0.3) ? 0 : model.watts * draw.between(0.05, 0.9);
    const Shares time = share_rows(rows, grain, models, node, {}),
                 energy = share_rows(rows, grain, models, node, parse_balance("energy"));
    EXPECT_LE(energy.joules, time.joules);
    EXPECT_GE(energy.all_seconds, time.all_seconds / kLeastGain * (1 - 1e-3));
    fewer += energy.joules < 0.99 * time.joules;
  });
  EXPECT_GT(fewer, kCases / 10);
}

/// No other shares of two processors take fewer joules.
TEST(Shares, OfEnergyTakeTheFewestJoulesOfAll) {
  Drawer draw;
  constexpr Index kThousand = 1000;
  for (int i = 0; i < kCases; ++i) {
    std::vector<ShareModel> models{processor(draw.between(1e5, 1e7)), processor(draw.between(1e5, 1e7))};
    for (ShareModel& model : models) {
      model.watts = draw.between(10, 500);
      model.idle_watts = model.watts * draw.between(0.05, 0.9);
      model.latency = draw.coin(0.5) ? 0 : draw.between(1e-6, 1e-3);
    }
    double least = kNoLimit;
    for (Index first = 0; first <= kThousand; ++first) {
      least = std::min(least, predict_shares(std::vector<Index>{first, kThousand - first}, models, {}).joules);
    }
    EXPECT_LE(share_rows(kThousand, 1, models, {}, parse_balance("energy")).joules, least * 1.005);
  }
}

TEST(Shares, OfTwelveProcessorsAreFoundAtOnce) {
  Drawer draw;
  for (const bool alike : {true, false}) {
    std::vector<ShareModel> models;
    for (int i = 0; i < 12; ++i) models.push_back(processor(alike ? 1e9 : draw.between(5e8, 2e9), 20));
    const Shares shares = share_rows(1000000007, 64, models, {100e9, 1e-5}, {});
    EXPECT_NEAR(shares.all_seconds, 0.2, 0.2e-3);
    EXPECT_EQ(sum(shares), 1000000007);
  }
}

TEST(Shares, AreTheSameForTheSameFigures) {
  Drawer draw;
  const auto models = draw.models();
  const Shares one = share_rows(123456789, 64, models, {1e11, 1e-5}, {});
  const Shares two = share_rows(123456789, 64, models, {1e11, 1e-5}, {});
  EXPECT_EQ(one.rows, two.rows);
  EXPECT_EQ(one.all_seconds, two.all_seconds);
}

TEST(Shares, OfFiguresThatAreNoNumbersGoToOne) {
  std::vector<ShareModel> models{processor(1e9), processor(1e9)};
  for (ShareModel& model : models) model.seconds_per_row = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(share_rows(1000, 1, models, {}, {}).rows, (std::vector<Index>{1000, 0}));
  models[1] = processor(1e9);
  EXPECT_EQ(share_rows(1000, 1, models, {}, {}).rows, (std::vector<Index>{0, 1000}));
  models[0] = processor(2e9);
  models[1].seconds_per_row = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(share_rows(1000, 1, models, {}, {}).rows, (std::vector<Index>{1000, 0}));
}

TEST(ParseBalance, TakesEveryWord) {
  const std::map<std::string, Objective> words{{"time", Objective::time},
                                               {"kernel", Objective::kernel},
                                               {"even", Objective::even},
                                               {"energy", Objective::energy}};
  for (const auto& [word, objective] : words) {
    EXPECT_EQ(parse_balance(word).objective, objective);
    EXPECT_TRUE(parse_balance(word).weights.empty());
  }
  EXPECT_EQ(parse_balance(" 3, 1,0.5e1 ").weights, (std::vector<double>{3, 1, 5}));
  EXPECT_EQ(parse_balance("7").objective, Objective::weights);
}

TEST(ParseBalance, NamesWhatItDoesNotTake) {
  for (const std::string language : {"tiem", "1,two", "", "1,,2", "1,", "time,kernel", "1;2", "0x10"}) {
    const std::string text = test::thrown_text([&] { parse_balance(language); });
    for (const char* word : {"time", "kernel", "even", "energy", "weights"}) {
      EXPECT_NE(text.find(word), std::string::npos) << language << ": " << text;
    }
  }
  EXPECT_NE(test::thrown_text([] { parse_balance("1,two"); }).find("'two'"), std::string::npos);
  for (const std::string weight : {"-1", "nan", "inf", "-inf", "1e999"}) {
    const std::string text = test::thrown_text([&] { parse_balance("2," + weight); });
    EXPECT_NE(text.find("'" + weight + "'"), std::string::npos) << text;
  }
  EXPECT_THROW(parse_balance("0,0"), InvalidInput);
}

}  // namespace
}  // namespace oclspkt
