// SPDX-License-Identifier: BSD-2-Clause
// Compiled programs that are kept in files.
#include <sys/stat.h>

#include <thread>

#include "card.hpp"
#include "program_cache.hpp"
#include "surroundings.hpp"

namespace oclspkt::test {
namespace {

using ocl::ProgramCache;
namespace files = std::filesystem;

/// A fresh folder, which the cache is told to use.
class CudaPrograms : public SolverFixture<double> {
 protected:
  CudaPrograms() {
    use(folder_);
    fake::restart();
    fake::nvrtc::restart();
  }
  ~CudaPrograms() override {
    release_devices();
    use("none");
  }

  static void use(const files::path& folder) { setenv("OCLSPKT_KERNEL_CACHE", folder.c_str(), 1); }

  /// Set a solver up and apply it. @return how many programs were compiled
  int compilations() {
    release_devices();
    const int before = fake::nvrtc::compilations();
    Solver<double> solver(on_cards("0"));
    set_up(solver, bands_);
    EXPECT_LE(backward_error(solver, bands_), 100);
    return fake::nvrtc::compilations() - before;
  }

  std::vector<files::path> kept() const {
    std::vector<files::path> all;
    if (files::exists(folder_)) {
      for (const auto& entry : files::directory_iterator(folder_)) all.push_back(entry.path());
    }
    return all;
  }

  const Bands<double> bands_ = random_dominant<double>(LineSet::one(3000), 3);
  const FreshFolder fresh_;
  const files::path root_ = fresh_.path();
  files::path folder_ = root_ / "programs";
};

TEST_F(CudaPrograms, AreCompiledOnce) {
  const int first = compilations();
  EXPECT_GT(first, 0);
  ASSERT_EQ(static_cast<int>(kept().size()), first);
  EXPECT_EQ(files::status(folder_).permissions(), files::perms::owner_all);
  for (const files::path& file : kept()) {
    EXPECT_EQ(files::status(file).permissions(), files::perms::owner_read | files::perms::owner_write);
  }
  EXPECT_EQ(compilations(), 0);
  fake::set_compute_capability(8, 0);
  EXPECT_GT(compilations(), 0) << "another architecture";
  EXPECT_EQ(fake::last_module(), "cubin 80");
  EXPECT_EQ(compilations(), 0);
}

TEST_F(CudaPrograms, AreKeptWithTheUsersOtherFilesUnlessAFolderIsNamed) {
  Variable cache("XDG_CACHE_HOME", root_.c_str());
  unsetenv("OCLSPKT_KERNEL_CACHE");
  EXPECT_GT(compilations(), 0);
  EXPECT_EQ(compilations(), 0);
  folder_ = root_ / "oclspkt" / "kernels";
  EXPECT_FALSE(kept().empty());
  use("none");
  EXPECT_GT(compilations(), 0);
  cache.set("");
  const Variable home("HOME", nullptr);
  unsetenv("OCLSPKT_KERNEL_CACHE");
  EXPECT_GT(compilations(), 0) << "no folder, no cache";
  EXPECT_GT(compilations(), 0);
}

TEST_F(CudaPrograms, OfDamagedFilesAreCompiledAndWrittenAnew) {
  const int all = compilations();
  const std::vector<files::path> names = kept();
  std::vector<std::string> good;
  for (const files::path& file : names) good.push_back(contents_of(file));
  const auto damage = [&](const auto& change) {
    for (std::size_t i = 0; i < names.size(); ++i) change(names[i], good[i]);
    EXPECT_EQ(compilations(), all);
    for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(contents_of(names[i]), good[i]) << "not rewritten";
    EXPECT_EQ(compilations(), 0);
  };
  damage([](const files::path& file, std::string text) {
    text.back() = static_cast<char>(text.back() + 1);
    write_file(file, text);
  });
  damage([](const files::path& file, const std::string& text) { write_file(file, text.substr(0, text.size() - 3)); });
  damage([](const files::path& file, const std::string& /*text*/) { write_file(file, ""); });
  damage([](const files::path& file, const std::string& /*text*/) { write_file(file, "something else\n"); });
  damage([](const files::path& file, const std::string& text) { write_file(file, text + "more"); });
  damage([](const files::path& file, std::string text) {  // that of another program under this name
    text[text.find('\n') + 1] ^= 1;
    write_file(file, text);
  });
}

TEST_F(CudaPrograms, ThatTheDriverDoesNotLoadAreCompiledAnew) {
  const int all = compilations();
  fake::restart();
  release_devices();
  fake::fail("cuModuleLoadData", 0, 200);
  EXPECT_EQ(compilations(), 1);
  EXPECT_GE(all, 1);
  EXPECT_EQ(compilations(), 0);
}

TEST_F(CudaPrograms, AreNotTakenFromWhatOthersMayWrite) {
  const int all = compilations();
  for (const files::path& file : kept()) {
    files::permissions(file, files::perms::group_write, files::perm_options::add);
  }
  EXPECT_EQ(compilations(), all);
  EXPECT_EQ(compilations(), 0) << "the files are written anew for the user alone";
  files::permissions(folder_, files::perms::others_write, files::perm_options::add);
  EXPECT_EQ(compilations(), all);
  EXPECT_EQ(compilations(), all);
  files::permissions(folder_, files::perms::others_write, files::perm_options::remove);
  for (const files::path& file : kept()) {
    files::rename(file, file.string() + ".moved");
    files::create_symlink(file.string() + ".moved", file);
  }
  EXPECT_EQ(compilations(), all) << "links are not followed";
  EXPECT_EQ(compilations(), all) << "nor replaced";
}

TEST_F(CudaPrograms, NeedNoFolderThatCanBeWritten) {
  write_file(root_ / "file", "");
  for (const files::path& folder : {root_ / "file" / "below", root_ / "file"}) {
    use(folder);
    EXPECT_GT(compilations(), 0);
    EXPECT_GT(compilations(), 0);
  }
}

TEST_F(CudaPrograms, AreSharedByThreads) {
  std::vector<std::thread> threads;
  const ProgramCache cache;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int again = 0; again < 100; ++again) {
        cache.keep(std::string(64, 'a'), "code");
        EXPECT_EQ(cache.find(std::string(64, 'a')), "code");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(kept().size(), 1U);
}

TEST_F(CudaPrograms, HaveKeysOfAllThatTheirCodeDependsOn) {
  using Parts = std::vector<std::string>;
  const std::string key = ProgramCache::key({"13.0", "sm_90", "text", "-a", "-b"});
  EXPECT_EQ(key.size(), 64U);
  EXPECT_EQ(key, ProgramCache::key({"13.0", "sm_90", "text", "-a", "-b"}));
  for (const Parts& other : {Parts{"13.1", "sm_90", "text", "-a", "-b"}, Parts{"13.0", "sm_90", "text ", "-a", "-b"},
                             Parts{"13.0", "sm_90", "text", "-a"}, Parts{"13.0", "sm_90", "text", "-b", "-a"},
                             Parts{"13.0", "sm_90", "text", "-a-b"}, Parts{"13.0sm_90", "text", "-a", "-b"}}) {
    EXPECT_NE(key, ProgramCache::key(other));
  }
}

/// Once in a process, so in one of its own.
TEST_F(CudaPrograms, AreForgottenWhereThereAreTooMany) {
  const int most = static_cast<int>(ProgramCache::kMostBytes >> 20), count = most + 6;
  files::create_directory(folder_);
  files::permissions(folder_, files::perms::owner_all);
  const auto name = [&](int i) { return folder_ / ("old" + std::to_string(i) + ".program"); };
  for (int i = 0; i < count; ++i) {
    write_file(name(i), "");
    files::resize_file(name(i), 1 << 20);
    files::last_write_time(name(i), files::file_time_type::clock::now() - std::chrono::hours(count - i));
  }
  write_file(folder_ / "another's", "");
  const ProgramCache cache;
  cache.keep(std::string(64, 'a'), "code");
  EXPECT_EQ(cache.find(std::string(64, 'a')), "code");
  EXPECT_TRUE(files::exists(folder_ / "another's"));
  for (int i = 0; i < count; ++i) EXPECT_EQ(files::exists(name(i)), i >= count - most + 1) << i;
}

}  // namespace
}  // namespace oclspkt::test
