// SPDX-License-Identifier: BSD-2-Clause
#include "user_files.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace oclspkt {
namespace {

/// The value of an environment variable if it is an absolute path; else empty.
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

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

}  // namespace

std::string why_no_room(const std::string& folder, std::int64_t bytes) {
  const auto why = [] { return std::string(std::strerror(errno)); };
  if (!make_folder(folder)) return why();
  std::string name = folder + "/oclspkt-XXXXXX";
  const Descriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (file.get() < 0) return why();
  ::unlink(name.c_str());
  struct rlimit limit {};
  // A write beyond the limit of file sizes would end the process by a signal.
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < static_cast<rlim_t>(bytes)) return "";
  if (::fallocate(file.get(), 0, 0, bytes) == 0 || errno == EINTR) return "";
  if (errno != EOPNOTSUPP && errno != ENOSYS) return why();
  struct statvfs room {};
  const bool known = ::fstatvfs(file.get(), &room) == 0;
  if (!known || static_cast<double>(room.f_bavail) * static_cast<double>(room.f_frsize) >= static_cast<double>(bytes))
    return "";
  errno = ENOSPC;
  return why();
}

std::optional<std::string> read_file(const std::string& path, std::int64_t most, bool own) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (own ? O_NOFOLLOW : 0)));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || status.st_size > most || (own && !is_private(status))) return std::nullopt;
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t bytes = ::read(file.get(), text.data() + done, text.size() - done);
    if (bytes == 0 || (bytes < 0 && errno != EINTR)) return std::nullopt;
    if (bytes > 0) done += static_cast<std::size_t>(bytes);
  }
  return text;
}

bool is_private(const struct stat& status) {
  return status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

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
  constexpr int kTries = 16;  // files of killed programs may occupy some names
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
  // Some file systems report a full disk only when the file is closed.
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
