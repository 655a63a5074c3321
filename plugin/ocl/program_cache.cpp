// SPDX-License-Identifier: BSD-2-Clause
#include "program_cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <tuple>
#include <vector>

#include "sha256.hpp"
#include "user_files.hpp"

namespace oclspkt::ocl {
namespace {

/// First line of a file. Increase the number when the file format changes.
constexpr const char* kForm = "oclspkt program 2";
constexpr const char* kEnding = ".program";
constexpr long long kLongestFile = 16 << 20;

std::string hash(const std::string& text) {
  return sha256({reinterpret_cast<const unsigned char*>(text.data()), text.size()});
}

std::string header(const std::string& key, const std::string& code) {
  return std::string(kForm) + "\n" + key + "\n" + hash(code) + "\n";
}

bool is_private_folder(const std::string& folder) {
  struct stat status {};
  return ::stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && is_private(status);
}

struct Folder {
  explicit Folder(const std::string& path) : stream(::opendir(path.c_str())) {}
  ~Folder() {
    if (stream != nullptr) ::closedir(stream);
  }
  Folder& operator=(Folder&&) = delete;
  DIR* stream;
};

/// Returns date, bytes and name of the cached files in a folder, including temporary files of killed programs.
std::vector<std::tuple<long long, long long, std::string>> files_in(const Folder& folder) {
  std::vector<std::tuple<long long, long long, std::string>> files;
  while (const dirent* entry = folder.stream != nullptr ? ::readdir(folder.stream) : nullptr) {
    const std::string name = entry->d_name;
    struct stat status {};
    if (name.find(kEnding) == std::string::npos ||
        ::fstatat(::dirfd(folder.stream), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode)) {
      continue;
    }
    files.emplace_back(status.st_mtime, status.st_size, name);
  }
  return files;
}

/// Remove the oldest files until the remaining files are small enough.
void remove_oldest(const std::string& path) {
  const Folder folder(path);
  auto files = files_in(folder);
  long long sum = 0;
  for (const auto& file : files) sum += std::get<1>(file);
  std::sort(files.begin(), files.end());
  for (const auto& [date, bytes, name] : files) {
    if (sum <= ProgramCache::kMostBytes) return;
    ::unlinkat(::dirfd(folder.stream), name.c_str(), 0);
    sum -= bytes;
  }
}

}  // namespace

ProgramCache::ProgramCache() {
  const char* named = std::getenv("OCLSPKT_KERNEL_CACHE");
  if (named != nullptr && *named != '\0') {
    if (std::string(named) != "none") folder_ = named;
    return;
  }
  const std::string folder = cache_folder();
  if (!folder.empty()) folder_ = folder + "/kernels";
}

std::string ProgramCache::key(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += std::to_string(part.size()) + '\n' + part;
  return hash(all);
}

std::string ProgramCache::find(const std::string& key) const {
  if (folder_.empty() || !is_private_folder(folder_)) return "";
  const std::string text = read_file(folder_ + "/" + key + kEnding, kLongestFile, true).value_or("");
  const std::size_t begin = header(key, "").size();
  if (text.size() <= begin) return "";
  const std::string code = text.substr(begin);
  return text.compare(0, begin, header(key, code)) == 0 ? code : "";
}

void ProgramCache::keep(const std::string& key, const std::string& code) const {
  static std::atomic<bool> looked{false};
  const std::string text = header(key, code) + code;
  if (folder_.empty() || static_cast<long long>(text.size()) > kLongestFile) return;
  if (!make_folder(folder_) || !is_private_folder(folder_)) return;
  const std::string file = folder_ + "/" + key + kEnding;
  struct stat status {};
  // Replace only plain files, never a link.
  if (::lstat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return;
  if (replace_file(file, text) && !looked.exchange(true)) remove_oldest(folder_);
}

}  // namespace oclspkt::ocl
