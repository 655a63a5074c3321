// SPDX-License-Identifier: BSD-2-Clause
#include "sharing.hpp"

#include "profile_cases.hpp"

namespace oclspkt {
namespace {

TEST(MedianSeconds, AreOfAllAppliesAndOfTheQuickerOneOfTwo) {
  MedianSeconds median;
  EXPECT_EQ(median.value(), 0);
  median.add(9);
  EXPECT_EQ(median.value(), 9);
  median.add(1);
  EXPECT_EQ(median.value(), 1);
  median.add(2);
  EXPECT_EQ(median.value(), 2);
  EXPECT_EQ(median.count(), 3U);
  MedianSeconds slow_at_the_end;
  for (int k = 0; k < 1000; ++k) slow_at_the_end.add(k < 700 ? 1 : 10);
  EXPECT_EQ(slow_at_the_end.value(), 1);
}

/// Two processors that are named together. Both are the host, so that no device is opened.
class SharingOfTwo : public Profiles {
 protected:
  SharingOfTwo() {
    options_.profile = file_;
    processors_.host = true;
    processors_.devices.push_back({.index = 0});
    processors_.devices.front().info.driver_version = "of another kind";
    bands_.close_lines();
  }
  const Sharer* decide(double applies) {
    const Survey survey{};
    SharesReport report;
    return sharing_.decide(processors_, Outlook<double>{options_, bands_, survey, false, applies, 1e4}, report);
  }
  /// The estimate of the host alone, where a profile has `measured` seconds of all rows. @param few  the end of the key
  Estimate host_after(double seconds, double set_ups, double applies, const std::string& few) {
    ProfileStore store(file_);
    store.put("host |double, end to end, 2^10" + few + "|alone", {seconds / kRows, set_ups});
    store.write();
    sharing_.renew();
    decide(applies);
    return sharing_.sharers().back().alone;
  }

  static constexpr Index kRows = 1000;
  Options options_;
  Processors processors_;
  Bands<double> bands_{LineSet::one(kRows)};
  Sharing sharing_;
};

/// A figure of one moment does not decide: until it was measured again, half of what is predicted is hoped for.
TEST_F(SharingOfTwo, AreSureOfWhatWasMeasuredTwice) {
  decide(1e4);
  ASSERT_EQ(sharing_.sharers().size(), 2U);
  const Estimate predicted = sharing_.sharers().back().alone;
  EXPECT_GT(predicted.predicted, 0);
  EXPECT_EQ(predicted.measured, 0);
  EXPECT_EQ(predicted.hoped(), predicted.predicted / 2);
  const double slow = 1000 * predicted.predicted;
  EXPECT_DOUBLE_EQ(host_after(slow, 1, 1e4, "").seconds(), slow);
  EXPECT_DOUBLE_EQ(host_after(slow, 1, 1e4, "").hoped(), predicted.predicted / 2);
  EXPECT_DOUBLE_EQ(host_after(slow, 2, 1e4, "").hoped(), slow);
  EXPECT_LT(host_after(1, 2, 1, ", 2^1 applies").hoped(), 1) << "of a whole solve";
  EXPECT_DOUBLE_EQ(host_after(1, 3, 1, ", 2^1 applies").hoped(), 1);
  options_.reproducible = true;
  const Estimate alone = host_after(slow, 2, 1e4, "");
  EXPECT_EQ(alone.measured, 0);
  EXPECT_TRUE(alone.sure) << "nothing is tried";
}

TEST_F(SharingOfTwo, ExpectAProcessorAloneToBeNoSlowerThanBesideOthers) {
  ProfileStore store(file_);
  store.put("host |double, end to end, 2^10|beside", {1e-12});
  store.write();
  decide(1e4);
  EXPECT_DOUBLE_EQ(sharing_.sharers().back().alone.predicted, kRows * 1e-12);
  EXPECT_GT(sharing_.sharers().front().alone.predicted, kRows * 1e-12);
}

/// While a processor solves alone, the other one idles, which takes nearly as much power here.
TEST_F(SharingOfTwo, LeaveTheRowsToOneWhoseApplyAloneTakesFewerJoules) {
  options_.balance = "energy";
  decide(1e4);
  std::vector<std::string> names;
  for (const Sharer& s : sharing_.sharers()) names.push_back(s.processor.figures_of() + "|double, end to end, 2^10|");
  for (const bool quick : {false, true}) {
    ProfileStore store(file_);
    for (const std::string& name : names) {
      store.put(name + "beside", {1e-6});
      store.put(name + "power", {10});
      store.put(name + "idle power", {9});
      store.put(name + "alone", {quick && name == names.back() ? 1e-7 : 1e-6, 3});
    }
    store.write();
    sharing_.renew();
    const Sharer* const only = decide(1e4);
    EXPECT_EQ(only == &sharing_.sharers().back(), quick);
    EXPECT_EQ(sharing_.pieces().empty(), quick);
  }
}

TEST_F(SharingOfTwo, LearnNothingFromAppliesBeforeTheyWereNamedTogether) {
  const auto run = [&](int applies, double seconds) {
    sharing_.watch_single(Processor().index, 0);
    for (int k = 0; k < applies; ++k) sharing_.note_apply(seconds);
    sharing_.learn();
  };
  run(100, 1e-9);
  decide(1e4);
  run(20, 1e-3);
  decide(1e4);
  EXPECT_DOUBLE_EQ(sharing_.sharers().back().alone.measured, 1e-3);
}

/// Whichever is quicker solves, although other programs interrupt each fourth of its applies, and none of the other's.
TEST_F(SharingOfTwo, ChooseTheQuickerOneAlthoughSomeAppliesAreSlow) {
  for (const int quick : {-1, 0}) {
    sharing_.renew();
    fs::remove(file_);
    int solves = 0;
    for (int set_up = 0; set_up < 10; ++set_up) {
      sharing_.learn();
      const Sharer* const only = decide(12);
      EXPECT_TRUE(sharing_.pieces().empty());
      solves = only != nullptr ? only->processor.index : 0;
      sharing_.watch_single(solves, 0);
      for (int k = 0; k < 12; ++k) sharing_.note_apply(solves != quick ? 1.2e-3 : k % 4 == 1 ? 1e-2 : 1e-3);
    }
    EXPECT_EQ(solves, quick);
  }
}

}  // namespace
}  // namespace oclspkt
