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
  const Measured odd{0, 1.0 / 3e9, 1};
  ProfileStore store(file_);
  store.read();
  EXPECT_EQ(store.why(), "");
  EXPECT_EQ(files(), 0U) << "reading creates nothing";
  store.put("a \"quoted\" key, with \xc3\xa4", kGood);
  store.put("b", odd);
  expect_equal(store.find("b"), odd);
  store.write();
  EXPECT_EQ(store.why(), "");
  expect_equal(read("a \"quoted\" key, with \xc3\xa4"), kGood);
  expect_equal(read("b"), odd);
  EXPECT_FALSE(read("c"));
  EXPECT_EQ(files(), 2U) << "the file and its lock";
}

TEST_F(Profiles, FoldersAndFilesAreTheUsersAlone) {
  file_ = folder_ + "/one/two/profile.json";
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
  write("a", {0, 1, 2});
  one.write();
  expect_equal(read("a"), {0, 1, 2});  // one had nothing new
  one.read();
  expect_equal(one.find("a"), {0, 1, 2});
}

TEST_F(Profiles, NotYetWrittenOutliveARead) {
  write("a");
  ProfileStore store(file_);
  store.put("a", {0, 1, 2});
  store.read();
  expect_equal(store.find("a"), {0, 1, 2});
  store.write();
  expect_equal(read("a"), {0, 1, 2});
}

TEST_F(Profiles, OfOtherHostsAreKeptAndNotRead) {
  std::string host;
  Json changed = good_document(host);
  changed["hosts"]["another"]["z"] = changed["hosts"][host]["a"];
  put_document(changed);
  EXPECT_FALSE(read("z"));
  write("b");
  EXPECT_EQ(document()["hosts"]["another"]["z"], changed["hosts"]["another"]["z"]);
  EXPECT_TRUE(read("a"));
  EXPECT_TRUE(read("b"));
}

TEST_F(Profiles, OfAnotherVersionAreIgnoredAndRebuilt) {
  std::string host;
  Json changed = good_document(host);
  const Json version = changed["oclspkt"];
  changed["oclspkt"] = "profile 0";
  put_document(changed);
  ProfileStore store(file_);
  store.read();
  EXPECT_FALSE(store.find("a"));
  expect_one_line(store, "another version");
  store.put("b", kGood);
  store.write();
  EXPECT_EQ(store.why(), "");
  EXPECT_EQ(document()["oclspkt"], version);
  EXPECT_FALSE(read("a"));
  EXPECT_TRUE(read("b"));
}

TEST_F(Profiles, ThatAreNoneAreToldAndRebuilt) {
  const std::string deep = std::string(300000, '[') + std::string(300000, ']');
  const std::vector<std::string> texts{
      "",
      std::string(2, '\0'),
      "{",
      "null",
      "[]",
      "17",
      "\"text\"",
      "{}",
      "{\"hosts\": {}}",
      "{\"oclspkt\": 1, \"hosts\": {}}",
      "{\"oclspkt\": \"profile 1\"}",
      "{\"oclspkt\": \"profile 1\", \"hosts\": []}",
      "{\"oclspkt\": NaN}",
      "{\"oclspkt\": 1e999}",
      deep,
      std::string(300000, '['),
      "{\"oclspkt\": \"profile 1\", \"hosts\": {}, \"x\": \"" + std::string(2 << 20, 'x') + "\"}"};
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

TEST_F(Profiles, NestedBeyondAnyStackAreLeftOut) {
  std::string host;
  const std::string good = good_document(host).dump();
  const std::string deep = std::string(400000, '[') + std::string(400000, ']');
  std::string changed = good;
  changed.insert(good.find("\"" + host), "\"else\": {\"a\": " + deep + ", \"b\": {\"when\": 0}}, ");
  put_text(changed);
  EXPECT_TRUE(read("a"));
  write("b");
  EXPECT_EQ(document()["hosts"].size(), 1U);
}

TEST_F(Profiles, CutOrFlippedNeverThrowNorGiveNonsense) {
  std::string host;
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
        EXPECT_TRUE(std::isfinite(found->seconds_per_row) && found->seconds_per_row > 0) << bad;
        EXPECT_TRUE(std::isfinite(found->applies) && found->applies >= 1) << bad;
      }
    store.put("d", kGood);
    ASSERT_NO_THROW(store.write()) << bad;
    EXPECT_EQ(store.why(), "");
    ASSERT_TRUE(read("d")) << bad;
  }
}

TEST_F(Profiles, ThatAreWrongOrStaleAreIgnoredAndDropped) {
  std::string host;
  const Json good = good_document(host);
  const double now = static_cast<double>(std::time(nullptr)), day = 86400;
  const auto with = [&](const char* name, const Json& value) {
    Json changed = good;
    changed["hosts"][host]["a"][name] = value;
    return changed;
  };
  for (const Json& bad :
       {with("when", now - 91 * day), with("when", now + 2 * day), with("when", -1e300), with("when", "today"),
        with("latency", -1), with("latency", nullptr), with("seconds_per_row", 0), with("seconds_per_row", -1e-9),
        with("seconds_per_row", "fast"), with("seconds_per_row", Json::array()), with("applies", 0),
        with("applies", false), with("applies", kInfinity)}) {
    put_document(bad);
    EXPECT_FALSE(read("a")) << bad;
    write("b");
    EXPECT_EQ(document()["hosts"][host].size(), 1U) << bad;
  }
  for (const Json& fine : {with("when", now - 89 * day), with("when", now + day / 2), with("latency", 0)}) {
    put_document(fine);
    EXPECT_TRUE(read("a")) << fine;
  }
}

TEST_F(Profiles, WithoutMeaningAreNotKept) {
  ProfileStore store(file_);
  const double nan = std::nan("");
  for (const Measured& bad : {Measured{0, 0, 1}, Measured{-1, 1, 1}, Measured{0, -1, 1}, Measured{0, 1, 0},
                              Measured{nan, 1, 1}, Measured{0, nan, 1}, Measured{0, 1, nan}, Measured{kInfinity, 1, 1},
                              Measured{0, kInfinity, 1}, Measured{0, 1, kInfinity}}) {
    store.put("a", bad);
    EXPECT_FALSE(store.find("a"));
  }
  store.write();
  EXPECT_EQ(files(), 0U);
  store.put("not UTF-8: \xff\xfe", kGood);
  ASSERT_NO_THROW(store.write());
  EXPECT_EQ(document()["hosts"].size(), 1U);
}

TEST_F(Profiles, BeyondTheLimitLoseTheOldest) {
  std::string host;
  Json many = good_document(host);
  const Json figure = many["hosts"][host]["a"];
  for (int i = 0; i < 10000; ++i) {
    Json& other = many["hosts"]["host " + std::to_string(i)]["k"] = figure;
    other["when"] = figure["when"].get<long long>() - i - 1;
  }
  put_document(many);
  ASSERT_LT(fs::file_size(file_), std::uintmax_t{1} << 20);
  write("b");
  EXPECT_LE(fs::file_size(file_), std::uintmax_t{1} << 20);
  EXPECT_TRUE(read("a"));
  EXPECT_TRUE(read("b"));
  EXPECT_TRUE(document()["hosts"].contains("host 0"));
  EXPECT_FALSE(document()["hosts"].contains("host 9999"));
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
        const std::string seen = text(file_);
        EXPECT_TRUE(Json::accept(seen)) << seen;
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
