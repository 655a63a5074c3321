// SPDX-License-Identifier: BSD-2-Clause
#include "fault.hpp"

extern "C" OCLSPKT_API void oclspkt_cl_set_fault_hook(oclspkt::ocl::FaultHook hook) {
  oclspkt::ocl::fault_hook.store(hook);
}
