// SPDX-License-Identifier: BSD-2-Clause
#include "profile_store.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "surroundings.hpp"
#include "user_files.hpp"

namespace oclspkt {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const Measured kGood{1.25e-5, 3.1e-9, 40};

using test::Variable;

class Profiles : public testing::Test {
 protected:
  static std::string text(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void put_text(const std::string& text) const { std::ofstream(file_, std::ios::binary) << text; }
  Json document() const { return Json::parse(text(file_)); }
  void put_document(const Json& document) const { put_text(document.dump()); }

  /// Writes figures of one key.
  void write(const std::string& key, const Measured& measured = kGood) const {
    ProfileStore store(file_);
    store.put(key, measured);
    store.write();
    ASSERT_EQ(store.why(), "");
  }
  std::optional<Measured> read(const std::string& key) const {
    ProfileStore store(file_);
    store.read();
    return store.find(key);
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  /// A document with key "a" of this host, and the name of this host in it.
  Json good_document(std::string& host) const {
    write("a");
    const Json result = document();
    host = result["hosts"].begin().key();
    return result;
  }

  const test::FreshFolder fresh_;
  const std::string folder_ = fresh_.path();
  std::string file_ = folder_ + "/profile.json";
};

void expect_equal(const std::optional<Measured>& measured, const Measured& expected) {
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->latency, expected.latency);
  EXPECT_EQ(measured->seconds_per_row, expected.seconds_per_row);
  EXPECT_EQ(measured->applies, expected.applies);
}

void expect_one_line(const ProfileStore& store, const std::string& part) {
  EXPECT_NE(store.why().find(part), std::string::npos) << store.why();
  EXPECT_NE(store.why().find("; "), std::string::npos) << "no cure: " << store.why();
  EXPECT_EQ(store.why().find('\n'), std::string::npos) << store.why();
}

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

TEST_F(Profiles, BelowAFileAreToldOf) {
  put_text("mine");
  ProfileStore store(file_ + "/profile.json");
  store.read();
  expect_one_line(store, "not read");
  store.put("a", kGood);
  store.write();
  expect_one_line(store, "not written");
  expect_equal(store.find("a"), kGood);
  EXPECT_EQ(text(file_), "mine");
}

TEST_F(Profiles, InAFolderOrPipeAreToldOfAndLeaveItAlone) {
  const std::string pipe = folder_ + "/pipe", inner = folder_ + "/inner";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(::mkdir(inner.c_str(), 0700), 0);
  for (const std::string& path : {pipe, inner, inner + "/", std::string("/dev/full")}) {
    ProfileStore store(path);
    store.read();
    expect_one_line(store, path == inner || path == inner + "/" ? "folder" : "regular");
    store.put("a", kGood);
    store.write();
    expect_one_line(store, path == inner || path == inner + "/" ? "folder" : "regular");
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
  for (const bool of_folder : {false, true}) {
    const std::string path = of_folder ? folder_ : file_;
    EXPECT_EQ(::chmod(path.c_str(), of_folder ? 0500 : 0400), 0);
    ProfileStore store(file_);
    store.read();
    EXPECT_EQ(store.why(), "");
    EXPECT_TRUE(store.find("a"));
    store.put("b", kGood);
    store.write();
    expect_one_line(store, "permit");
    EXPECT_EQ(text(file_), before);
    EXPECT_EQ(::chmod(path.c_str(), 0700), 0);
  }
  EXPECT_EQ(::chmod(file_.c_str(), 0), 0);
  ProfileStore store(file_);
  store.read();
  expect_one_line(store, "not read");
  EXPECT_EQ(::seteuid(user), 0);
}

TEST_F(Profiles, ThatCannotBeWrittenAreToldOfBeforeTheFirstWrite) {
  for (const std::string file : {"/dev/null/profile.json", "/dev/null/folder/profile.json", "/dev/full"}) {
    ProfileStore store(file);
    store.read();
    store.look();
    expect_one_line(store, "name another file, or none");
  }
  ProfileStore store(folder_ + "/not/yet/there.json");
  store.read();
  store.look();
  EXPECT_EQ(store.why(), "");
  EXPECT_EQ(files(), 0U) << "nothing is made by a look";
}

TEST_F(Profiles, BehindALinkAreWrittenThroughIt) {
  const fs::path folder(folder_), link = folder / "link.json", far = folder / "far.json";
  fs::create_directory(folder / "real");
  fs::create_symlink("far.json", link);
  fs::create_symlink(folder / "real" / "profile.json", far);  // which is not there yet
  for (const char* key : {"a", "b"}) {
    ProfileStore store(link.string());
    store.put(key, kGood);
    store.write();
    ASSERT_EQ(store.why(), "");
  }
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_TRUE(fs::is_symlink(far));
  EXPECT_TRUE(fs::is_regular_file(folder / "real" / "profile.json"));
  ProfileStore store((folder / "real" / "profile.json").string());
  store.read();
  EXPECT_TRUE(store.find("a"));
  EXPECT_TRUE(store.find("b"));
  // Links in a circle lead nowhere.
  fs::create_symlink("round.json", folder / "round.json");
  ProfileStore round((folder / "round.json").string());
  round.put("a", kGood);
  round.write();
  EXPECT_NE(round.why(), "");
}

TEST_F(Profiles, OnAFullDiskStayAsTheyWere) {
  write("a");
  const std::string before = text(file_);
  ProfileStore store(file_);
  store.put("b", kGood);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit small{100, old.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  store.write();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, handler);
  expect_one_line(store, "not written");
  EXPECT_EQ(text(file_), before);
  EXPECT_EQ(files(), 2U);
  store.write();
  EXPECT_TRUE(read("b"));
}

TEST_F(Profiles, NeedAHome) {
  const Variable cache("XDG_CACHE_HOME", nullptr);
  {
    const Variable home("HOME", nullptr);
    EXPECT_EQ(ProfileStore::default_file(), "");
    ProfileStore store("");
    store.read();
    expect_one_line(store, "HOME");
    store.put("a", kGood);
    store.write();
    expect_one_line(store, "HOME");
    EXPECT_TRUE(store.find("a"));
    const Variable relative("XDG_CACHE_HOME", "cache");
    EXPECT_EQ(ProfileStore::default_file(), "");
  }
  const Variable home("HOME", folder_.c_str());
  EXPECT_EQ(ProfileStore::default_file(), folder_ + "/.cache/oclspkt/profile.json");
  EXPECT_EQ(ProfileStore("").file(), ProfileStore::default_file());
  const Variable other("XDG_CACHE_HOME", (folder_ + "/c").c_str());
  EXPECT_EQ(ProfileStore::default_file(), folder_ + "/c/oclspkt/profile.json");
  file_ = ProfileStore::default_file();
  write("a");
  EXPECT_TRUE(read("a"));
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
