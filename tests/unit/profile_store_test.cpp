// SPDX-License-Identifier: BSD-2-Clause
#include "profile_store.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <random>
#include <thread>
#include <vector>

#include "profile_cases.hpp"

namespace oclspkt {
namespace {

TEST_F(Profiles, ComeBackAsTheyWerePut) {
  const Measured odd{1.0 / 3e9, 0, 1}, power{0, 1.0 / 3, 1};
  ProfileStore store(file_);
  EXPECT_EQ(store.why(), "");
  store.put("a \"quoted\" key, with \xc3\xa4", kGood);
  store.put("b", odd);
  store.put("w", power);
  expect_equal(store.find("b"), odd);
  store.write();
  EXPECT_EQ(store.why(), "");
  expect_equal(read("a \"quoted\" key, with \xc3\xa4"), kGood);
  expect_equal(read("b"), odd);
  expect_equal(read("w"), power);
  EXPECT_FALSE(read("c"));
  EXPECT_EQ(files(), 1U);
}

TEST_F(Profiles, FoldersAndFilesAreTheUsersAlone) {
  file_ = folder_ + "/one/two/profile.txt";
  write("a");
  struct stat status {};
  for (const std::string& path : {folder_ + "/one", folder_ + "/one/two", file_}) {
    ASSERT_EQ(::stat(path.c_str(), &status), 0) << path;
    EXPECT_EQ(status.st_mode & 077, 0U) << path;
  }
}

TEST_F(Profiles, OfTwoStoresAreMerged) {
  ProfileStore one(file_), two(file_);
  one.put("a", kGood);
  two.put("b", kGood);
  one.write();
  two.write();
  EXPECT_TRUE(read("a"));
  EXPECT_TRUE(read("b"));
  write("a", {1, 0, 2});
  one.write();
  expect_equal(read("a"), {1, 0, 2});  // one had nothing new
}

TEST_F(Profiles, OfOtherHostsAreKeptAndNotRead) {
  std::string first;
  std::vector<std::string> columns = good_columns(first);
  const std::string mine = line_of(columns);
  columns[5] = "another";
  columns[6] = "z";
  put_text(first + "\n" + line_of(columns) + mine);
  EXPECT_FALSE(read("z"));
  write("b");
  EXPECT_NE(text(file_).find("\n" + line_of(columns)), std::string::npos);
  EXPECT_TRUE(read("a"));
  EXPECT_TRUE(read("b"));
}

/// The second version had seconds of latency; the first was JSON, and had watts for seconds.
TEST_F(Profiles, OfAnotherVersionOrKindAreToldAndRebuilt) {
  std::string first;
  const std::string figure = line_of(good_columns(first));
  for (const std::string& bad :
       {"oclspkt profile 2: seconds\n1\t0\t" + figure,
        std::string("{\n \"oclspkt\": \"profile 1\",\n \"hosts\": {\n  \"h\": {\n   \"a\": {\"latency\": 0, "
                    "\"seconds_per_row\": 45, \"applies\": 1, \"when\": 1}\n  }\n }\n}\n"),
        std::string(2, '\0'), std::string("{"), std::string("null\n")}) {
    put_text(bad);
    ProfileStore store(file_);
    EXPECT_FALSE(store.find("a"));
    expect_one_line(store, "not read: it is no profile, or another version");
    store.put("b", kGood);
    store.write();
    EXPECT_EQ(store.why(), "") << bad;
    EXPECT_TRUE(text(file_).starts_with(first));
    EXPECT_EQ(lines(), 2);
    EXPECT_FALSE(read("a"));
    expect_equal(read("b"), kGood);
  }
}

/// Whatever a line has lost or too much, it is no figure, and the others are.
TEST_F(Profiles, LinesThatAreNoFiguresAreSkipped) {
  std::string first;
  const std::vector<std::string> columns = good_columns(first);
  std::vector<std::string> fewer = columns, tabs = columns, words = columns, other = columns;
  fewer.pop_back();
  tabs.back() += "\tmore";
  words[2] += "s";
  other[6] = "b";
  std::vector<std::string> texts{std::string(2 << 20, 'x') + "\n", first + "\n", line_of(columns).substr(0, 20) + "\n"};
  for (const auto& bad : {fewer, tabs, words, {""}}) texts.push_back(line_of(bad));
  for (const std::string& bad : texts) {
    put_text(first + "\n" + line_of(other) + bad + line_of(columns) + "17");
    EXPECT_EQ(ProfileStore(file_).why(), "");
    expect_equal(read("a"), kGood);
    expect_equal(read("b"), kGood);
    write("c", {1, 0, 2});
    expect_equal(read("a"), kGood);
    expect_equal(read("c"), {1, 0, 2});
  }
}

TEST_F(Profiles, CutOrFlippedNeverThrowNorGiveNonsense) {
  for (const char* key : {"a", "b", "c"}) write(key);
  const std::string good = text(file_);
  std::mt19937 random(11);
  const auto below = [&](std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random); };
  for (int i = 0; i < 600; ++i) {
    std::string bad = good;
    if (i % 3 == 0) bad.resize(below(bad.size()));
    if (i % 3 == 1)
      for (std::size_t flips = 1 + below(4); flips > 0; --flips)
        bad[below(bad.size())] ^= static_cast<char>(1U << below(8));
    if (i % 3 == 2)
      for (char& c : bad) c = static_cast<char>(below(256));
    put_text(bad);
    ProfileStore store(file_);
    for (const char* key : {"a", "b", "c"})
      if (const auto found = store.find(key)) {
        EXPECT_TRUE(std::isfinite(found->seconds_per_row) && found->seconds_per_row >= 0) << bad;
        EXPECT_TRUE(std::isfinite(found->latency) && found->latency >= 0) << bad;
        EXPECT_TRUE(std::isfinite(found->watts) && found->watts >= 0) << bad;
        EXPECT_TRUE(std::isfinite(found->set_ups) && found->set_ups >= 1) << bad;
      }
    store.put("d", kGood);
    ASSERT_NO_THROW(store.write()) << bad;
    EXPECT_EQ(store.why(), "");
    ASSERT_TRUE(read("d")) << bad;
  }
}

TEST_F(Profiles, ThatAreWrongOrStaleAreIgnored) {
  std::string first;
  const std::vector<std::string> good = good_columns(first);
  const double now = static_cast<double>(std::time(nullptr)), day = 86400, stale = ProfileStore::kStaleDays;
  const auto with = [&](std::size_t column, const std::string& value) {
    std::vector<std::string> changed = good;
    changed[column] = value;
    return first + "\n" + line_of(changed);
  };
  for (const std::string& bad :
       {with(0, std::to_string(now - (stale + 1) * day)), with(0, std::to_string(now + 2 * day)), with(0, "-1e300"),
        with(1, "0"), with(1, "inf"), with(2, "-1e-9"), with(2, "nan"), with(3, "-1"), with(3, "inf"), with(4, "-1")}) {
    put_text(bad);
    EXPECT_FALSE(read("a")) << bad;
  }
  for (const std::string& fine : {with(0, std::to_string(now - (stale - 1) * day)),
                                  with(0, std::to_string(now + day / 2)), with(2, "0"), with(3, "0")}) {
    put_text(fine);
    EXPECT_TRUE(read("a")) << fine;
  }
}

TEST_F(Profiles, WithoutMeaningAreNotKept) {
  ProfileStore store(file_);
  const double nan = std::nan("");
  for (const Measured& bad : {Measured{0, 0, 1}, Measured{-1, 1, 1}, Measured{1, 0, 0}, Measured{1, -1, 1},
                              Measured{nan, 0, 1}, Measured{1, 0, nan}, Measured{1, nan, 1}, Measured{kInfinity, 0, 1},
                              Measured{1, 0, kInfinity}, Measured{1, kInfinity, 1}}) {
    store.put("a", bad);
    EXPECT_FALSE(store.find("a"));
  }
  for (const char* key : {"a\tb", "a\nb"}) {
    store.put(key, kGood);
    EXPECT_FALSE(store.find(key));
  }
  store.write();
  EXPECT_EQ(text(file_), "");
  store.put("not UTF-8: \xff\xfe", kGood);
  ASSERT_NO_THROW(store.write());
  EXPECT_TRUE(read("not UTF-8: \xff\xfe"));
}

TEST_F(Profiles, BeyondTheLimitLoseThoseOfOtherHosts) {
  std::string first;
  std::vector<std::string> columns = good_columns(first);
  columns[0] = std::to_string(std::stol(columns[0]) - 86400);
  const std::string mine = line_of(columns);
  std::string all = first + "\n" + mine;
  columns[5] = "another";
  while (all.size() < std::size_t{1} << 20) all += line_of(columns);
  put_text(all);
  write("b");
  EXPECT_EQ(lines(), 3) << "a and b, below the first line";
  EXPECT_TRUE(text(file_).starts_with(first + "\n" + mine)) << "it is as old as before";
  EXPECT_TRUE(read("b"));
}

TEST_F(Profiles, OfManyThreadsAreAllKept) {
  constexpr int kThreads = 8, kWrites = 20;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kWrites; ++i) {
        ProfileStore store(file_);
        store.put(std::to_string(t) + " " + std::to_string(i), kGood);
        store.write();
        EXPECT_EQ(store.why(), "");
      }
    });
  for (std::thread& thread : threads) thread.join();
  // Before, a reader may find another's line half written: the system writes page by page.
  EXPECT_TRUE(text(file_).ends_with("\n"));
  const ProfileStore store(file_);
  EXPECT_EQ(store.why(), "");
  for (int t = 0; t < kThreads; ++t)
    for (int i = 0; i < kWrites; ++i) EXPECT_TRUE(store.find(std::to_string(t) + " " + std::to_string(i))) << t << i;
  EXPECT_EQ(files(), 1U);
}

TEST_F(Profiles, NamedNoneTouchNothing) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  ProfileStore store("none");
  store.put("a", kGood);
  store.write();
  EXPECT_EQ(store.why(), "");
  EXPECT_TRUE(store.find("a"));
  fs::current_path(before);
  EXPECT_EQ(files(), 0U);
}

}  // namespace
}  // namespace oclspkt
