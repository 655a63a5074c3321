// SPDX-License-Identifier: BSD-2-Clause
#include "profile_store.hpp"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
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
  const Measured odd{0, 1.0 / 3e9, 1, 0}, power{0, 0, 1, 1.0 / 3};
  ProfileStore store(file_);
  store.read();
  EXPECT_EQ(store.why(), "");
  EXPECT_EQ(files(), 0U) << "reading creates nothing";
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
  EXPECT_EQ(files(), 2U) << "the file and its lock";
}

TEST_F(Profiles, FoldersAndFilesAreTheUsersAlone) {
  file_ = folder_ + "/one/two/profile.txt";
  write("a");
  struct stat status {};
  for (const std::string& path : {folder_ + "/one", folder_ + "/one/two", file_, file_ + ".lock"}) {
    ASSERT_EQ(::stat(path.c_str(), &status), 0) << path;
    EXPECT_EQ(status.st_mode & 077, 0U) << path;
  }
}

TEST_F(Profiles, OfTwoStoresAreMerged) {
  ProfileStore one(file_), two(file_);
  one.read();
  two.read();
  one.put("a", kGood);
  two.put("b", kGood);
  one.write();
  two.write();
  EXPECT_TRUE(read("a"));
  EXPECT_TRUE(read("b"));
  write("a", {0, 1, 2, 0});
  one.write();
  expect_equal(read("a"), {0, 1, 2, 0});  // one had nothing new
  one.read();
  expect_equal(one.find("a"), {0, 1, 2, 0});
}

TEST_F(Profiles, NotYetWrittenOutliveARead) {
  write("a");
  ProfileStore store(file_);
  store.put("a", {0, 1, 2, 0});
  store.read();
  expect_equal(store.find("a"), {0, 1, 2, 0});
  store.write();
  expect_equal(read("a"), {0, 1, 2, 0});
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

/// The one before was JSON, and had watts for seconds.
TEST_F(Profiles, OfAnotherVersionAreIgnoredAndRebuilt) {
  std::string first;
  const std::string figure = line_of(good_columns(first));
  for (const std::string& old :
       {"oclspkt profile 0: seconds\n" + figure,
        std::string("{\n \"oclspkt\": \"profile 1\",\n \"hosts\": {\n  \"h\": {\n   \"a\": {\"latency\": 0, "
                    "\"seconds_per_row\": 45, \"applies\": 1, \"when\": 1}\n  }\n }\n}\n")}) {
    put_text(old);
    ProfileStore store(file_);
    store.read();
    EXPECT_FALSE(store.find("a"));
    expect_one_line(store, "another version");
    store.put("b", kGood);
    store.write();
    EXPECT_EQ(store.why(), "");
    EXPECT_TRUE(text(file_).starts_with(first));
    EXPECT_FALSE(read("a"));
    EXPECT_TRUE(read("b"));
  }
}

TEST_F(Profiles, ThatAreNoneAreToldAndRebuilt) {
  std::string first;
  const std::vector<std::string> columns = good_columns(first);
  std::vector<std::string> fewer = columns, tabs = columns, words = columns;
  fewer.pop_back();
  tabs.back() += "\tmore";
  words[2] += "s";
  std::vector<std::string> texts{"", std::string(2, '\0'), "{", "null", first + std::string(2 << 20, 'x')};
  for (const auto& bad : {fewer, tabs, words, {""}}) texts.push_back(first + "\n" + line_of(bad));
  texts.push_back(first + "\n" + line_of(columns).substr(0, 20));
  for (const std::string& bad : texts) {
    put_text(bad);
    ProfileStore store(file_);
    store.read();
    expect_one_line(store, "not read");
    store.put("a", kGood);
    store.write();
    EXPECT_EQ(store.why(), "") << bad.substr(0, 100);
    expect_equal(read("a"), kGood);
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
    ASSERT_NO_THROW(store.read()) << bad;
    for (const char* key : {"a", "b", "c"})
      if (const auto found = store.find(key)) {
        EXPECT_TRUE(std::isfinite(found->latency) && found->latency >= 0) << bad;
        EXPECT_TRUE(std::isfinite(found->seconds_per_row) && found->seconds_per_row >= 0) << bad;
        EXPECT_TRUE(std::isfinite(found->watts) && found->watts >= 0) << bad;
        EXPECT_TRUE(std::isfinite(found->applies) && found->applies >= 1) << bad;
      }
    store.put("d", kGood);
    ASSERT_NO_THROW(store.write()) << bad;
    EXPECT_EQ(store.why(), "");
    ASSERT_TRUE(read("d")) << bad;
  }
}

TEST_F(Profiles, ThatAreWrongOrStaleAreIgnoredAndDropped) {
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
        with(1, "0"), with(1, "inf"), with(2, "-1"), with(3, "-1e-9"), with(3, "nan"), with(4, "-1"), with(4, "inf")}) {
    put_text(bad);
    EXPECT_FALSE(read("a")) << bad;
    write("b");
    EXPECT_EQ(lines(), 2) << bad;
  }
  for (const std::string& fine : {with(0, std::to_string(now - (stale - 1) * day)),
                                  with(0, std::to_string(now + day / 2)), with(3, "0"), with(4, "0")}) {
    put_text(fine);
    EXPECT_TRUE(read("a")) << fine;
  }
}

TEST_F(Profiles, WithoutMeaningAreNotKept) {
  ProfileStore store(file_);
  const double nan = std::nan("");
  for (const Measured& bad :
       {Measured{0, 0, 1, 0}, Measured{-1, 1, 1, 0}, Measured{0, -1, 1, 1}, Measured{0, 1, 0, 0}, Measured{0, 1, 1, -1},
        Measured{nan, 1, 1, 0}, Measured{0, nan, 1, 0}, Measured{0, 1, nan, 0}, Measured{0, 1, 1, nan},
        Measured{kInfinity, 1, 1, 0}, Measured{0, kInfinity, 1, 0}, Measured{0, 1, kInfinity, 0},
        Measured{0, 1, 1, kInfinity}}) {
    store.put("a", bad);
    EXPECT_FALSE(store.find("a"));
  }
  for (const char* key : {"a\tb", "a\nb"}) {
    store.put(key, kGood);
    EXPECT_FALSE(store.find(key));
  }
  store.write();
  EXPECT_EQ(files(), 0U);
  store.put("not UTF-8: \xff\xfe", kGood);
  ASSERT_NO_THROW(store.write());
  EXPECT_TRUE(read("not UTF-8: \xff\xfe"));
}

TEST_F(Profiles, BeyondTheLimitLoseTheOldest) {
  std::string first;
  std::vector<std::string> columns = good_columns(first);
  std::string all = first + "\n" + line_of(columns);
  const long long when = std::stoll(columns[0]);
  int i = 0;
  for (; all.size() < (std::size_t{1} << 20) - 80; ++i) {
    columns[0] = std::to_string(when - i - 1);
    columns[5] = "host " + std::to_string(i);
    columns[6] = std::string(40, 'k');
    all += line_of(columns);
  }
  ASSERT_LE(all.size(), std::size_t{1} << 20);
  put_text(all);
  write("b" + std::string(100, 'b'));
  EXPECT_LE(fs::file_size(file_), std::uintmax_t{1} << 20);
  EXPECT_TRUE(read("a"));
  EXPECT_TRUE(read("b" + std::string(100, 'b')));
  EXPECT_NE(text(file_).find("\thost 0\t"), std::string::npos);
  EXPECT_EQ(text(file_).find("\thost " + std::to_string(i - 1) + "\t"), std::string::npos);
}

TEST_F(Profiles, LockedByOthersAreNotWaitedFor) {
  write("a");
  const int lock = ::open((file_ + ".lock").c_str(), O_RDWR);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  ProfileStore store(file_);
  store.put("b", kGood);
  for (const bool reads : {true, false}) {
    const auto start = std::chrono::steady_clock::now();
    reads ? store.read() : store.write();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(300));
    expect_one_line(store, "lock");
  }
  EXPECT_FALSE(store.find("a"));
  ::close(lock);
  store.write();
  EXPECT_EQ(store.why(), "");
  EXPECT_TRUE(read("a"));
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
        do {
          store.write();
          EXPECT_TRUE(store.why().empty() || store.why().find("lock") != std::string::npos) << store.why();
        } while (store.why().find("lock") != std::string::npos);
        EXPECT_TRUE(text(file_).ends_with("\n"));
      }
    });
  for (std::thread& thread : threads) thread.join();
  ProfileStore store(file_);
  store.read();
  EXPECT_EQ(store.why(), "");
  for (int t = 0; t < kThreads; ++t)
    for (int i = 0; i < kWrites; ++i) EXPECT_TRUE(store.find(std::to_string(t) + " " + std::to_string(i))) << t << i;
  EXPECT_EQ(files(), 2U);
}

TEST_F(Profiles, NamedNoneTouchNothing) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  ProfileStore store("none");
  store.read();
  store.put("a", kGood);
  store.write();
  EXPECT_EQ(store.why(), "");
  EXPECT_TRUE(store.find("a"));
  fs::current_path(before);
  EXPECT_EQ(files(), 0U);
}

}  // namespace
}  // namespace oclspkt
