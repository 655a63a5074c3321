// SPDX-License-Identifier: BSD-2-Clause
#include "driver_check.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

extern char** environ;

namespace oclspkt::ocl {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// A driver on a network may take long to load for the first time; one that hangs holds everything up that long.
constexpr std::chrono::seconds kLimit{60};
constexpr std::chrono::milliseconds kLook{2};

/// The tool that loads a driver for us, or nothing. OCLSPKT_TO_TOOLS leads from the folder of the library to it.
std::string checker() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&check_in_children), &info) == 0 || info.dli_fname == nullptr) return "";
  const fs::path folder = fs::path(info.dli_fname).parent_path();
  for (const char* way : {OCLSPKT_TO_TOOLS, "../bin"}) {
    const fs::path tool = folder / way / "oclspkt-devices";
    if (access(tool.c_str(), X_OK) == 0) return tool;
  }
  return "";
}

/// @return -1 if there is no child
pid_t start(const std::string& tool, const std::string& library) {
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return -1;
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  for (const int output : {1, 2}) posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0);
  std::string words[] = {tool, "--load-driver", library};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t child = -1;
  if (posix_spawn(&child, tool.c_str(), &actions, nullptr, arguments, environ) != 0) child = -1;
  posix_spawn_file_actions_destroy(&actions);
  return child;
}

std::string verdict(int status) {
  if (WIFSIGNALED(status)) {
    return std::string("ends the process that loads it: ") + strsignal(WTERMSIG(status));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "" : "ends the process that loads it";
}

/// How a child ends; one that outlives the limit is killed.
std::string wait_for(pid_t child, Clock::time_point limit) {
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return verdict(status);
    if (ended < 0 && errno != EINTR) return "";  // somebody else has waited for it
    if (Clock::now() > limit) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return "does not load within " + std::to_string(kLimit.count()) + " s";
    }
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace

std::vector<std::string> check_in_children(const std::vector<std::string>& libraries) {
  std::vector<std::string> ends(libraries.size());
  const std::string tool = checker();
  if (tool.empty()) return ends;
  const auto limit = Clock::now() + kLimit;
  std::vector<pid_t> children(libraries.size());
  std::transform(libraries.begin(), libraries.end(), children.begin(),
                 [&](const std::string& library) { return start(tool, library); });
  for (std::size_t i = 0; i < children.size(); ++i) {
    if (children[i] > 0) ends[i] = wait_for(children[i], limit);
  }
  return ends;
}

}  // namespace oclspkt::ocl
