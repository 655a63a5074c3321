// SPDX-License-Identifier: BSD-2-Clause
#include "threads.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "node.hpp"

namespace oclspkt::ocl {

void limit_driver_threads() {
  const int share = processor_share();
  if (share <= 0 || share >= sysconf(_SC_NPROCESSORS_ONLN)) return;
  const std::string count = std::to_string(share);
  for (const char* variable : {"POCL_MAX_PTHREAD_COUNT", "CL_CONFIG_CPU_TBB_NUM_WORKERS"}) {
    setenv(variable, count.c_str(), 0);
  }
}

}  // namespace oclspkt::ocl
