// SPDX-License-Identifier: BSD-2-Clause
// Profiles where files cannot be, or are something else.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

#include "profile_cases.hpp"
#include "user_files.hpp"

namespace oclspkt {
namespace {

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
  for (const char* key : {"a", "b"}) {
    ProfileStore store(link.string());
    store.put(key, kGood);
    store.write();
    ASSERT_EQ(store.why(), "");
  }
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

}  // namespace
}  // namespace oclspkt
