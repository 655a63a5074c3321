// SPDX-License-Identifier: BSD-2-Clause
#include "sharers.hpp"

#include "profile_cases.hpp"
#include "shared_lines.hpp"

namespace oclspkt {
namespace {

/// The host as the only processor that is named.
class SharersOfHost : public Profiles {
 protected:
  SharersOfHost() {
    options_.profile = file_;
    processors_.host = true;
    bands_.close_lines();
  }
  void find(double applies = 1e4) {
    const Survey survey{};
    sharers_.find(processors_, Outlook<double>{options_, bands_, survey, false, applies, 1e4});
  }
  /// Keep seconds of all rows. @return what is known then
  Estimate put(double seconds, double applies = 1e4) {
    sharers_.put("host ", "alone", {.seconds_per_row = seconds / kRows}, applies);
    find(applies);
    return sharers_.each().front().alone;
  }

  static constexpr Index kRows = 1000;
  Options options_;
  Processors processors_;
  Bands<double> bands_{LineSet::one(kRows)};
  Sharers sharers_;
};

TEST(MeanSeconds, LeavesOutTheFirstIfThereAreOthers) {
  MeanSeconds mean;
  EXPECT_EQ(mean.value(), 0);
  mean.add(9);
  EXPECT_EQ(mean.value(), 9);
  mean.add(1);
  mean.add(2);
  EXPECT_EQ(mean.value(), 1.5);
  EXPECT_EQ(mean.count(), 3);
}

/// Others' work makes nothing faster.
TEST_F(SharersOfHost, FollowAShorterTimeAtOnceAndALongerOneByTenths) {
  find();
  ASSERT_EQ(sharers_.each().size(), 1U);
  EXPECT_EQ(sharers_.each().front().who, "host ");
  EXPECT_DOUBLE_EQ(put(1).seconds(), 1);
  EXPECT_DOUBLE_EQ(put(3).seconds(), 1.1);
  EXPECT_DOUBLE_EQ(put(3).seconds(), 1.21);
  EXPECT_DOUBLE_EQ(put(1.05).seconds(), 1.05);
  EXPECT_DOUBLE_EQ(put(0.5).seconds(), 0.5);
  EXPECT_DOUBLE_EQ(put(0).seconds(), 0.5) << "no figure";
}

/// A figure of one moment does not decide: until it was measured again, half of what is predicted is hoped for.
TEST_F(SharersOfHost, AreSureOfWhatWasMeasuredTwice) {
  find();
  const Estimate predicted = sharers_.each().front().alone, once = put(1000 * predicted.predicted), twice = put(1);
  EXPECT_GT(predicted.predicted, 0);
  EXPECT_EQ(predicted.measured, 0);
  EXPECT_DOUBLE_EQ(once.seconds(), 1000 * predicted.predicted);
  EXPECT_EQ(once.hoped(), predicted.predicted / 2);
  EXPECT_DOUBLE_EQ(twice.hoped(), std::min(1.0, 1100 * predicted.predicted));
  for (const double hoped : {put(1, 1).hoped(), put(1, 1).hoped()}) EXPECT_LT(hoped, 1) << "of a whole solve";
  EXPECT_DOUBLE_EQ(put(1, 1).hoped(), 1);
}

TEST_F(SharersOfHost, KeepSecondsAndWattsApart) {
  find();
  sharers_.put("host ", "power", {.watts = 250});
  sharers_.put("host ", "alone", {.seconds_per_row = 2e-9});
  sharers_.write(true);
  expect_equal(read("host |double, end to end, 2^10|power"), {0, 250, 1});
  expect_equal(read("host |double, end to end, 2^10|alone"), {2e-9, 0, 1});
  options_.reproducible = true;
  sharers_.renew();
  find();
  EXPECT_FALSE(sharers_.learns());
  EXPECT_EQ(sharers_.each().front().alone.measured, 0);
  EXPECT_TRUE(sharers_.each().front().alone.sure) << "nothing is tried";
}

}  // namespace
}  // namespace oclspkt
