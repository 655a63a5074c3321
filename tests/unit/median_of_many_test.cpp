// SPDX-License-Identifier: BSD-2-Clause
#include "median_of_many.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace oclspkt {
namespace {

double median_of(const std::vector<double>& numbers) {
  MedianOfMany median;
  for (const double number : numbers) median.add(number);
  EXPECT_EQ(median.count(), static_cast<std::int64_t>(numbers.size()));
  return median.value();
}

TEST(MedianOfMany, LeavesOutTheFirstNumberIfThereAreOthers) {
  EXPECT_EQ(median_of({}), 0);
  EXPECT_EQ(median_of({7}), 7);
  EXPECT_EQ(median_of({7, 2}), 2);
  EXPECT_EQ(median_of({7, 2, 9, 3}), 3);
}

TEST(MedianOfMany, IsOfAllAsLongAsTheyAreFew) {
  std::vector<double> numbers{1e9};
  for (int k = 1; k <= 31; ++k) numbers.push_back(k);
  EXPECT_EQ(median_of(numbers), 16);
}

TEST(MedianOfMany, IsOfTheWholeTimeHoweverManyThereAre) {
  for (const int count : {33, 64, 100, 1000, 4097, 100'000}) {
    std::vector<double> numbers{1e9};
    for (int k = 1; k <= count; ++k) numbers.push_back(k);
    EXPECT_NEAR(median_of(numbers), 0.5 * count, 0.05 * count + 1) << count;
  }
}

TEST(MedianOfMany, IsNotMovedByWhatIsSlowForAWhile) {
  for (const int begin : {1, 50, 110}) {
    std::vector<double> numbers(200, 1);
    for (int k = begin; k < begin + 90; ++k) numbers[static_cast<std::size_t>(k)] = 100;
    EXPECT_EQ(median_of(numbers), 1) << begin;
  }
}

TEST(MedianOfMany, ForgetsAll) {
  MedianOfMany median;
  for (int k = 0; k < 100; ++k) median.add(5);
  median.clear();
  EXPECT_EQ(median.count(), 0);
  EXPECT_EQ(median.value(), 0);
  median.add(3);
  EXPECT_EQ(median.value(), 3);
}

}  // namespace
}  // namespace oclspkt
