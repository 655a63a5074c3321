// SPDX-License-Identifier: BSD-2-Clause
#include "user_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace oclspkt {
namespace {

/// The value of an environment variable that holds a path from the root; empty otherwise.
std::string folder_in_environment(const char* name) {
  const char* value = std::getenv(name);
  return value && value[0] == '/' ? value : "";
}

bool write_all(int descriptor, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t bytes = ::write(descriptor, text.data() + done, text.size() - done);
    if (bytes < 0 && errno != EINTR) return false;
    if (bytes > 0) done += static_cast<std::size_t>(bytes);
  }
  return true;
}

}  // namespace

std::string cache_folder() {
  const std::string cache = folder_in_environment("XDG_CACHE_HOME"), home = folder_in_environment("HOME");
  if (!cache.empty()) return cache + "/oclspkt";
  return home.empty() ? "" : home + "/.cache/oclspkt";
}

bool make_folder(const std::string& folder) {
  struct stat status {};
  if (folder.empty() || ::stat(folder.c_str(), &status) == 0) return true;
  if (errno != ENOENT) return false;
  const std::size_t slash = folder.find_last_of('/');
  if (slash != std::string::npos && !make_folder(folder.substr(0, slash))) return false;
  return ::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST;
}

bool replace_file(const std::string& file, const std::string& text) {
  static std::atomic<unsigned> counter{0};
  constexpr int kTries = 16;  // names may be left from programs that were killed
  std::string beside;
  int descriptor = -1;
  for (int i = 0; i < kTries && descriptor < 0; ++i) {
    beside = file + "." + std::to_string(::getpid()) + "." + std::to_string(counter++) + ".new";
    descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0 && errno != EEXIST) return false;
  }
  if (descriptor < 0) return false;
  bool good = write_all(descriptor, text);
  int error = errno;
  // A full disk may be told as late as here.
  if (::close(descriptor) != 0 && good) {
    good = false;
    error = errno;
  }
  if (good && std::rename(beside.c_str(), file.c_str()) == 0) return true;
  if (good) error = errno;
  ::unlink(beside.c_str());
  errno = error;
  return false;
}

}  // namespace oclspkt
