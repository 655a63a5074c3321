// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace oclspkt::test {

/// Bytes of this process that are in memory.
inline std::int64_t resident_bytes() {
  std::int64_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// Threads of this process, whoever started them.
inline int thread_count() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

/// Processors that this process may run on.
inline int allowed_processors() {
  cpu_set_t mask;
  return sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 0;
}

/// Run f in a child process, which ends without exit handlers.
/// @return what waitpid() says of it: 0 if f() is true; -1 if there is no child
template <typename F>
int status_of_child(const F& f) {
  const pid_t child = fork();
  if (child == 0) {
    bool good = false;
    try {
      good = f();
    } catch (...) {
    }
    _exit(good ? 0 : 1);
  }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

}  // namespace oclspkt::test
