// SPDX-License-Identifier: BSD-2-Clause
#include "second_look.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <vector>

namespace oclspkt {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// How often each is measured anew in `set_ups` set-ups.
std::map<std::size_t, int> looks(const std::vector<double>& seconds, std::size_t chosen, std::int64_t set_ups) {
  std::map<std::size_t, int> count;
  for (std::int64_t i = 1; i <= set_ups; ++i) {
    if (const auto who = second_look(seconds, chosen, i)) ++count[*who];
  }
  return count;
}

TEST(SecondLook, IsForThoseMeasuredInTurn) {
  const std::vector<double> seconds{1.4, 1, 1.3, kUnknown, std::numeric_limits<double>::infinity()};
  const std::map<std::size_t, int> expected{{0, 2}, {2, 2}};
  EXPECT_EQ(looks(seconds, 1, 4 * kSecondLook), expected);
}

TEST(SecondLook, IsEarlyForThoseNearlyAsFast) {
  const std::vector<double> seconds{1.4, 1.2, 1, 1.1, kUnknown};
  const std::map<std::size_t, int> expected{{1, 1}, {3, 1}};
  EXPECT_EQ(looks(seconds, 2, kSecondLook - 1), expected);
}

/// Whoever was measured to be slow in a bad moment is not left out for good.
TEST(SecondLook, IsRareForThoseFarSlower) {
  const std::vector<double> seconds{1, kWorthALook, 3 * kWorthALook, 1e9};
  const std::map<std::size_t, int> expected{{1, 9}, {2, 1}};
  EXPECT_EQ(looks(seconds, 0, 3 * 9 * kSecondLook), expected);
}

TEST(SecondLook, CostsLittle) {
  for (const double slower : {1.1, kWorthALook, 1.6, 2.0, 3.0, 10.0, 100.0}) {
    const std::vector<double> seconds{1, slower, slower, slower};
    const std::int64_t set_ups = 100000 * kSecondLook;
    double lost = 0;
    for (const auto& [who, count] : looks(seconds, 0, set_ups)) lost += count * (seconds[who] - seconds[0]);
    EXPECT_GT(lost, 0);
    EXPECT_LE(lost / static_cast<double>(set_ups), slower <= kWorthALook ? 0.016 : 0.018) << slower;
  }
}

TEST(SecondLook, NeedsWhatIsKnown) {
  EXPECT_TRUE(looks({1}, 0, 10 * kSecondLook).empty());
  EXPECT_TRUE(looks({1, kUnknown}, 0, 10 * kSecondLook).empty());
  EXPECT_TRUE(looks({kUnknown, 1}, 0, 10 * kSecondLook).empty()) << "the chosen one itself was never measured";
  EXPECT_TRUE(looks({1, 1}, 2, 10 * kSecondLook).empty());
  EXPECT_FALSE(second_look(std::vector<double>{1, 1}, 0, 0));
}

}  // namespace
}  // namespace oclspkt
