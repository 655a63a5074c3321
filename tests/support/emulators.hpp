// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "device.hpp"

namespace oclspkt::test {

/// Whether a device runs kernels that were made for GPUs. An emulator of FPGAs builds them by the compiler of the same
/// vendor's run-time for CPUs, which runs them as well; of each there are dozens of programs. It runs those made for
/// CPUs and for FPGAs.
inline bool runs_kernels_for_gpus(const DeviceInfo& info) { return !info.emulated; }

}  // namespace oclspkt::test
