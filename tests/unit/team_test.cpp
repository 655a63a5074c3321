// SPDX-License-Identifier: BSD-2-Clause
#include "oclspkt/team.hpp"

#include <array>
#include <atomic>
#include <vector>

#include "process.hpp"
#include "thrown.hpp"

namespace oclspkt {
namespace {

TEST(Team, RunsEachMemberOnceAndAgain) {
  Team team(5);
  std::array<std::atomic<int>, 5> runs{};
  for (int i = 0; i < 1000; ++i) team.run([&](int member) { ++runs[static_cast<std::size_t>(member)]; });
  for (const auto& count : runs) EXPECT_EQ(count, 1000);
}

TEST(Team, ThrowsWhatAMemberMeetsAndGoesOn) {
  Team team(3);
  for (int bad = 0; bad < 3; ++bad) {
    const auto fail = [&](int member) {
      if (member == bad) throw Breakdown("line 7 is singular");
      throw Breakdown("process 1: line 7 is singular");  // as an Accord tells the others
    };
    EXPECT_EQ(test::thrown_text<Breakdown>([&] { team.run(fail); }), "line 7 is singular");
  }
  std::atomic<int> sum{0};
  team.run([&](int member) { sum += member; });
  EXPECT_EQ(sum, 3);
}

TEST(Team, ExchangesNumbersInOrder) {
  constexpr int kMembers = 4, kRounds = 500;
  Team team(kMembers);
  team.run([&](int member) {
    const auto exchange = team.exchange(member);
    ASSERT_EQ(exchange->rank(), member);
    ASSERT_EQ(exchange->size(), kMembers);
    std::vector<Exchange::Leg> legs;
    for (int other = 0; other < kMembers; ++other) {
      if (other != member) legs.push_back({other, 2});
    }
    const auto first = exchange->open(legs, legs, sizeof(int)), second = exchange->open(legs, legs, sizeof(int));
    for (int round = 0; round < kRounds; ++round) {
      std::vector<int> out, in(6), in_second(6);
      for (int k = 0; k < 3; ++k) out.insert(out.end(), {100 * member + k, round});
      std::vector<int> negated(out);
      for (int& number : negated) number = -number;
      first->start(out.data(), in.data());
      second->start(negated.data(), in_second.data());
      second->finish();
      first->finish();
      for (std::size_t k = 0; k < 3; ++k) {
        const int other = legs[k].process, place = member < other ? member : member - 1;
        ASSERT_EQ(in[2 * k], 100 * other + place);
        ASSERT_EQ(in[2 * k + 1], round);
        ASSERT_EQ(in_second[2 * k], -in[2 * k]);
      }
      std::vector<double> values{static_cast<double>(member), static_cast<double>(-member)};
      exchange->largest(values);
      ASSERT_EQ(values, (std::vector<double>{kMembers - 1.0, 0.0}));
    }
  });
}

TEST(Team, MembersThatWaitForOneThatLeftDoNotHang) {
  Team team(3);
  const auto wait_for_first = [&](int member) {
    if (member == 0) throw std::bad_alloc();
    std::vector<double> values{1};
    team.exchange(member)->largest(values);
  };
  EXPECT_THROW(team.run(wait_for_first), std::bad_alloc);
  EXPECT_THROW(team.run([](int) {}), DeviceError) << "messages may be left over";
}

TEST(Team, IsOfNoUseInAForkedProcessAndSaysSo) {
  Team team(2);
  team.run([](int) {});
  const auto refuses = [&] {
    return test::thrown_text<DeviceError>([&] { team.run([](int) {}); }) != "nothing was thrown";
  };
  EXPECT_EQ(test::status_of_child(refuses), 0);
}

}  // namespace
}  // namespace oclspkt
