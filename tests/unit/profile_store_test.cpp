// SPDX-License-Identifier: BSD-2-Clause
#include "profile_store.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <random>
#include <thread>
#include <vector>

#include "profile_cases.hpp"
#include "user_files.hpp"

namespace oclspkt {
namespace {

TEST_F(Profiles, ComeBackAsTheyWerePut) {
  const Measured odd{1.0 / 3e9, 1}, power{100.0 / 3, 2};
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
  write("a", {1, 2});
  one.write();
  expect_equal(read("a"), {1, 2});  // one had nothing new
}

TEST_F(Profiles, OfOtherHostsAreKeptAndNotRead) {
  std::string first;
  std::vector<std::string> columns = good_columns(first);
  const std::string mine = line_of(columns);
  columns[3] = "another";
  columns[4] = "z";
  put_text(first + "\n" + line_of(columns) + mine);
  EXPECT_FALSE(read("z"));
  write("b");
  EXPECT_NE(text(file_).find("\n" + line_of(columns)), std::string::npos);
  EXPECT_TRUE(read("a"));
  EXPECT_TRUE(read("b"));
}

/// The third version had three figures in a line; the first was JSON.
TEST_F(Profiles, OfAnotherVersionOrKindAreToldAndRebuilt) {
  std::string first;
  const std::string figure = line_of(good_columns(first));
  for (const std::string& bad :
       {"oclspkt profile 3: seconds\n" + figure,
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
  other[4] = "b";
  std::vector<std::string> texts{std::string(2 << 20, 'x') + "\n", first + "\n", line_of(columns).substr(0, 20) + "\n"};
  for (const auto& bad : {fewer, tabs, words, {""}}) texts.push_back(line_of(bad));
  for (const std::string& bad : texts) {
    put_text(first + "\n" + line_of(other) + bad + line_of(columns) + "17");
    EXPECT_EQ(ProfileStore(file_).why(), "");
    expect_equal(read("a"), kGood);
    expect_equal(read("b"), kGood);
    write("c", {1, 2});
    expect_equal(read("a"), kGood);
    expect_equal(read("c"), {1, 2});
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
        EXPECT_TRUE(std::isfinite(found->figure) && found->figure > 0) << bad;
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
        with(1, "0"), with(1, "inf"), with(2, "-1e-9"), with(2, "nan"), with(2, "inf"), with(2, "0")}) {
    put_text(bad);
    EXPECT_FALSE(read("a")) << bad;
  }
  for (const std::string& fine :
       {with(0, std::to_string(now - (stale - 1) * day)), with(0, std::to_string(now + day / 2))}) {
    put_text(fine);
    EXPECT_TRUE(read("a")) << fine;
  }
}

TEST_F(Profiles, WithoutMeaningAreNotKept) {
  ProfileStore store(file_);
  const double nan = std::nan("");
  for (const Measured& bad : {Measured{0}, Measured{-1}, Measured{1, 0}, Measured{nan}, Measured{1, nan},
                              Measured{kInfinity}, Measured{1, kInfinity}}) {
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
  columns[3] = "another";
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

// Profiles where files cannot be, or are something else.

TEST(UserFiles, FoldersThatCannotTakeSoMuchSayWhy) {
  const test::FreshFolder folder;
  const std::string inner = (folder.path() / "made" / "anew").string();
  EXPECT_EQ(why_no_room(inner, 1 << 20), "");
  EXPECT_NE(why_no_room(inner, std::int64_t{1} << 60), "");
  EXPECT_TRUE(fs::is_empty(inner));
  EXPECT_EQ(why_no_room("/dev/null/folder", 1), "Not a directory");
}

/// A file that turns into a pipe between a look and the read would be waited for; here it turns all the time.
TEST(UserFiles, ArePipesThatNobodyWaitsFor) {
  const test::FreshFolder folder;
  const std::string path = (folder.path() / "file").string(), pipe = path + ".pipe", text = path + ".text";
  std::atomic<bool> done{false};
  std::ofstream(path) << "text";
  std::thread turns([&] {
    for (bool as_pipe = true; !done; as_pipe = !as_pipe) {
      as_pipe ? void(::mkfifo(pipe.c_str(), 0600)) : void(std::ofstream(text) << "text");
      fs::rename(as_pipe ? pipe : text, path);
    }
  });
  int read = 0, refused = 0;
  for (int i = 0; i < 1'000'000 && (i < 2000 || read == 0 || refused == 0); ++i) {
    const std::optional<std::string> found = read_file(path, 100);
    if (found) {
      EXPECT_EQ(*found, "text");
    }
    ++(found ? read : refused);
  }
  done = true;
  turns.join();
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(read_file("/dev/zero", 100), std::nullopt);
  std::ofstream(text) << std::string(101, 'x');
  EXPECT_EQ(read_file(text, 100), std::nullopt);
}

/// Expect words at the first try, and others where a figure was to be written, which the store keeps.
void expect_told(const std::string& path, const char* first, const char* then) {
  ProfileStore store(path);
  expect_one_line(store, first);
  store.put("b", kGood);
  store.write();
  expect_one_line(store, then);
  expect_equal(store.find("b"), kGood);
}

TEST_F(Profiles, BelowAFileAreToldOf) {
  put_text("mine");
  expect_told(file_ + "/profile.txt", "not read", "not written");
  EXPECT_EQ(text(file_), "mine");
}

TEST_F(Profiles, InAFolderOrPipeAreToldOfAndLeaveItAlone) {
  const std::string pipe = folder_ + "/pipe", inner = folder_ + "/inner";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(::mkdir(inner.c_str(), 0700), 0);
  for (const std::string& path : {pipe, inner, inner + "/", std::string("/dev/full")}) {
    expect_told(path, "regular", "regular");
  }
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_EQ(files(), 2U);
}

TEST_F(Profiles, OfAReadOnlyFileOrFolderAreToldOf) {
  // Permissions do not bind root, who becomes somebody else here.
  constexpr uid_t kNobody = 65534;
  const uid_t user = ::geteuid();
  if (user == 0 && (::chown(folder_.c_str(), kNobody, gid_t(-1)) != 0 || ::seteuid(kNobody) != 0))
    GTEST_SKIP() << "permissions do not bind root";
  write("a");
  const std::string before = text(file_);
  EXPECT_EQ(::chmod(file_.c_str(), 0400), 0);
  EXPECT_EQ(::chmod(folder_.c_str(), 0500), 0);
  for (const std::string& path : {file_, folder_ + "/another"}) {
    EXPECT_EQ(ProfileStore(path).find("a").has_value(), path == file_);
    expect_told(path, "permit", "permit");
  }
  EXPECT_EQ(text(file_), before);
  EXPECT_EQ(::chmod(folder_.c_str(), 0700), 0);
  EXPECT_EQ(::chmod(file_.c_str(), 0), 0);
  ProfileStore store(file_);
  expect_one_line(store, "not read");
  EXPECT_EQ(::seteuid(user), 0);
}

TEST_F(Profiles, ThatCannotBeWrittenAreToldOfBeforeTheFirstWrite) {
  for (const std::string file : {"/dev/null/profile.txt", "/dev/null/folder/profile.txt", "/dev/full"}) {
    ProfileStore store(file);
    expect_one_line(store, "name another file, or none");
  }
  EXPECT_EQ(ProfileStore(folder_ + "/not/yet/there.txt").why(), "");
}

TEST_F(Profiles, BehindALinkAreWrittenThroughIt) {
  const fs::path folder(folder_), link = folder / "link.json", far = folder / "far.json";
  fs::create_directory(folder / "real");
  fs::create_symlink("far.json", link);
  fs::create_symlink(folder / "real" / "profile.txt", far);  // which is not there yet
  file_ = link.string();
  for (const char* key : {"a", "b"}) write(key);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_TRUE(fs::is_symlink(far));
  EXPECT_TRUE(fs::is_regular_file(folder / "real" / "profile.txt"));
  ProfileStore store((folder / "real" / "profile.txt").string());
  EXPECT_TRUE(store.find("a"));
  EXPECT_TRUE(store.find("b"));
  // Links in a circle lead nowhere.
  fs::create_symlink("round.json", folder / "round.json");
  ProfileStore round((folder / "round.json").string());
  round.put("a", kGood);
  round.write();
  EXPECT_NE(round.why(), "");
}

TEST_F(Profiles, OnAFullDiskKeepWhatTheyHave) {
  write("a");
  ProfileStore store(file_);
  store.put("b", kGood);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit small{fs::file_size(file_) + 20, old.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  store.write();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, handler);
  expect_one_line(store, "not written");
  expect_equal(read("a"), kGood);
  EXPECT_FALSE(read("b"));
  store.write();
  EXPECT_EQ(store.why(), "");
  EXPECT_TRUE(read("a"));
  EXPECT_TRUE(read("b"));
}

TEST_F(Profiles, NeedAHome) {
  const Variable cache("XDG_CACHE_HOME", nullptr);
  {
    const Variable home("HOME", nullptr);
    EXPECT_EQ(ProfileStore::default_file(), "");
    expect_told("", "HOME", "HOME");
    const Variable relative("XDG_CACHE_HOME", "cache");
    EXPECT_EQ(ProfileStore::default_file(), "");
  }
  const Variable home("HOME", folder_.c_str());
  EXPECT_EQ(ProfileStore::default_file(), folder_ + "/.cache/oclspkt/profile.txt");
  EXPECT_EQ(ProfileStore("").file(), ProfileStore::default_file());
  const Variable other("XDG_CACHE_HOME", (folder_ + "/c").c_str());
  EXPECT_EQ(ProfileStore::default_file(), folder_ + "/c/oclspkt/profile.txt");
  file_ = ProfileStore::default_file();
  write("a");
  EXPECT_TRUE(read("a"));
}

/// Other programs make nothing faster.
TEST_F(Profiles, FollowAShorterTimeAtOnceAndALongerOneSlowly) {
  ProfileStore store(file_);
  const auto put = [&](double seconds) {
    store.put_seconds("a", seconds);
    return store.find("a")->figure;
  };
  EXPECT_DOUBLE_EQ(put(1), 1);
  EXPECT_DOUBLE_EQ(put(3), 1.05);
  EXPECT_DOUBLE_EQ(put(3), 1.1025);
  EXPECT_DOUBLE_EQ(put(1.07), 1.07);
  EXPECT_DOUBLE_EQ(put(0.5), 0.5);
  EXPECT_DOUBLE_EQ(put(0), 0.5) << "no figure";
  expect_equal(store.find("a"), {0.5, 5});
}

}  // namespace
}  // namespace oclspkt
