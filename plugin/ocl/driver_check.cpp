// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>

#include "drivers.hpp"
#include "own_library.hpp"

extern char** environ;

namespace oclspkt::ocl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{2};

std::string error_text(int number) { return std::strerror(number); }

[[noreturn]] void distrust(const std::string& helper, const std::string& why, const std::string& cure) {
  throw std::runtime_error("the program " + helper + ", which tests drivers, " + why + "; " + cure);
}

/// Returns the path of the helper program, which lies beside the library of this function.
/// @throws std::runtime_error unless only the library's owner can have put the program there
std::string trusted_helper() {
  const std::string library = own_file();
  struct stat of_library, of_folder, of_helper;
  if (library.empty() || stat(library.c_str(), &of_library) != 0) {
    throw std::runtime_error(std::string("the folder of the OpenCL module is not known, where ") + kDriverCheck +
                             " must be, which tests drivers; load the library by an absolute path");
  }
  const std::string folder = library.substr(0, library.rfind('/'));
  std::string helper = folder + "/" + kDriverCheck;
  if (lstat(helper.c_str(), &of_helper) != 0) {
    distrust(helper, "is not there: " + error_text(errno), "install it beside the library");
  }
  if (!S_ISREG(of_helper.st_mode)) distrust(helper, "is no regular file", "install it anew");
  if (of_helper.st_uid != of_library.st_uid) {
    distrust(helper,
             "is owned by user " + std::to_string(of_helper.st_uid) + ", the library by user " +
                 std::to_string(of_library.st_uid),
             "install both as one user");
  }
  if ((of_helper.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    distrust(helper, "can be written by others than its owner", "run chmod go-w on it");
  }
  if (stat(folder.empty() ? "/" : folder.c_str(), &of_folder) != 0 || (of_folder.st_mode & S_IWOTH) != 0) {
    distrust(helper, "is in a folder that everybody can write", "run chmod o-w on the folder");
  }
  if (access(helper.c_str(), X_OK) != 0) distrust(helper, "cannot be run: " + error_text(errno), "make it executable");
  return helper;
}

std::chrono::seconds time_limit() {
  const char* text = std::getenv(kDriverSecondsVariable);
  int seconds = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), seconds);
  return std::chrono::seconds(seconds > 0 ? seconds : kDriverSeconds);
}

/// Returns a new token. A driver does not know the token, so only a child that finishes can write it.
std::string new_token() {
  std::random_device random;
  char text[33];
  std::snprintf(text, sizeof text, "%08x%08x%08x%08x", random(), random(), random(), random());
  return text;
}

/// Returns the environment of this process. In it, `folder` is the only folder of the ICD loader.
std::vector<std::string> environment_with(const std::string& folder) {
  std::vector<std::string> words{std::string(kVendorVariable) + "=" + folder};
  for (char** word = environ; word != nullptr && *word != nullptr; ++word) {
    const auto sets = [&](const char* name) {
      const std::size_t length = std::strlen(name);
      return std::strncmp(*word, name, length) == 0 && (*word)[length] == '=';
    };
    if (!sets(kVendorVariable) &&
        std::none_of(std::begin(kOtherVendorVariables), std::end(kOtherVendorVariables), sets))
      words.emplace_back(*word);
  }
  return words;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// A pipe that a child writes to. Reads do not block. Neither end replaces a standard stream.
class OutputPipe {
 public:
  OutputPipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    for (int i = 0; i < 2; ++i) {
      ends_[i] = fcntl(ends[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
      close(ends[i]);
    }
  }
  ~OutputPipe() {
    for (const int end : ends_) {
      if (end >= 0) close(end);
    }
  }
  OutputPipe& operator=(OutputPipe&&) = delete;

  bool open() const { return ends_[0] >= 0 && ends_[1] >= 0; }
  int input() const { return ends_[1]; }
  /// Returns the text in the pipe, cut off after about kMost bytes.
  std::string text() const {
    std::string all;
    char part[4096];
    for (ssize_t size = 0; (size = read(ends_[0], part, sizeof part)) > 0 && all.size() < kMost;) {
      all.append(part, static_cast<std::size_t>(size));
    }
    return all;
  }

 private:
  static constexpr std::size_t kMost = 1 << 16;
  int ends_[2] = {-1, -1};
};

/// Returns the last line of a text in quotes, without characters that control a terminal; empty for an empty text.
std::string quoted_last_line(std::string text) {
  constexpr std::size_t kLongest = 200;
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  text.erase(0, text.rfind('\n') + 1);
  text.erase(0, text.find_first_not_of(' '));
  for (char& c : text) c = std::isprint(static_cast<unsigned char>(c)) ? c : '?';
  return text.empty() ? "" : ", after '" + text.substr(0, kLongest) + "'";
}

/// A child process that tries a driver. A child that misses its time limit is killed, with all processes that its
/// driver started.
class Child {
 public:
  Child(const std::string& helper, const std::string& library, const std::string& folder) : token_(new_token()) {
    start_error_ = answer_.open() && errors_.open() ? start(helper, library, folder) : errno;
  }
  ~Child() { end(); }
  Child& operator=(Child&&) = delete;

  /// Returns the fault of the driver; empty if it has none.
  std::string verdict(Clock::time_point limit, std::chrono::seconds seconds) {
    if (start_error_ != 0) return "cannot be tested, no process can be started: " + error_text(start_error_);
    int status = 0;
    for (pid_t ended = 0;;) {
      ended = waitpid(process_, &status, WNOHANG);
      if (ended == process_ || (ended < 0 && errno != EINTR)) break;  // ended, or other code has waited for the child
      if (Clock::now() > limit) {
        return "does not list its devices within " + std::to_string(seconds.count()) + " s; set " +
               kDriverSecondsVariable + " to more if it is only slow";
      }
      std::this_thread::sleep_for(kLook);
    }
    const pid_t group = std::exchange(process_, -1);
    kill(-group, SIGKILL);  // end the processes that the driver started
    return judge(status);
  }

 private:
  /// @return 0, or the error number if no child was started
  int start(const std::string& helper, const std::string& library, const std::string& folder) {
    std::vector<std::string> words{helper, token_, library}, variables = environment_with(folder);
    const std::vector<char*> arguments = pointers_to(words), environment = pointers_to(variables);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (const int error = posix_spawn_file_actions_init(&actions)) return error;
    if (const int error = posix_spawnattr_init(&attributes)) {
      posix_spawn_file_actions_destroy(&actions);
      return error;
    }
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, answer_.input(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors_.input(), STDERR_FILENO);
    const int error =
        posix_spawn(&process_, helper.c_str(), &actions, &attributes, arguments.data(), environment.data());
    if (error != 0) process_ = -1;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
  }

  std::string judge(int status) const {
    const std::string answer = answer_.text();
    if (answer.rfind(token_ + "\n", 0) == 0) return answer.substr(token_.size() + 1);
    const std::string how = WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
                            : WIFEXITED(status) ? "exit status " + std::to_string(WEXITSTATUS(status))
                                                : "no status";
    return "ends the process that loads it and lists its devices: " + how + quoted_last_line(errors_.text());
  }

  void end() {
    if (process_ < 0) return;
    kill(-process_, SIGKILL);
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  std::string token_;
  OutputPipe answer_, errors_;
  pid_t process_ = -1;
  int start_error_ = 0;
};

}  // namespace

std::vector<std::string> try_in_children(const std::vector<Driver>& drivers, VendorFolders& folders) {
  const std::string helper = trusted_helper();
  const std::chrono::seconds seconds = time_limit();
  const Clock::time_point limit = Clock::now() + seconds;
  std::vector<std::unique_ptr<Child>> children;
  for (const Driver& driver : drivers) {
    const bool named = !driver.library.empty();
    children.push_back(named ? std::make_unique<Child>(helper, driver.library, folders.add({driver.library}))
                             : nullptr);
  }
  std::vector<std::string> verdicts;
  verdicts.reserve(children.size());
  for (const auto& child : children) {
    verdicts.push_back(child ? child->verdict(limit, seconds) : "cannot be read or names no library");
  }
  return verdicts;
}

}  // namespace oclspkt::ocl
