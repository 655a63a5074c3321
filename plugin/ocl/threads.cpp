// SPDX-License-Identifier: BSD-2-Clause
#include "threads.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "node.hpp"

namespace oclspkt::ocl {
namespace {

/// Processors in the affinity mask of the process; 0 if it cannot be asked for.
int allowed_processors(long configured) {
  // The kernel refuses masks shorter than its own: leave room for processors that are not there.
  for (long room = configured > 1024 ? configured : 1024; room <= (1L << 20); room *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> mask(CPU_ALLOC(room), [](cpu_set_t* m) { CPU_FREE(m); });
    if (!mask) return 0;
    if (sched_getaffinity(0, CPU_ALLOC_SIZE(room), mask.get()) == 0)
      return CPU_COUNT_S(CPU_ALLOC_SIZE(room), mask.get());
  }
  return 0;
}

}  // namespace

void limit_driver_threads() {
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  const int allowed = allowed_processors(sysconf(_SC_NPROCESSORS_CONF));
  if (allowed <= 0) return;
  // Ranks that are bound have their share already; those that are not share the machine.
  const int share = allowed >= online ? std::max(1, allowed / node_place().ranks) : allowed;
  if (share >= online) return;
  const std::string count = std::to_string(share);
  for (const char* variable : {"POCL_MAX_PTHREAD_COUNT", "CL_CONFIG_CPU_TBB_NUM_WORKERS"}) {
    setenv(variable, count.c_str(), 0);
  }
}

}  // namespace oclspkt::ocl
