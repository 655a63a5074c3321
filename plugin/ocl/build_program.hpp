// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "discovery.hpp"
#include "opencl.hpp"
#include "program_file.hpp"

namespace oclspkt::ocl {

/// A number of lanes that asks for kernels for FPGAs. They have one work-item and use only scalars.
inline constexpr int kOneTask = -1;

/// Returns the embedded text of a kernel. @throws DeviceError if no kernel has that name
const char* kernel_text(const std::string& kernel);

/// Returns the build options common to all kernels with the same device, scalar type and number of lanes.
/// @param lanes  as for OpenDevice::kernel()
std::string build_options(const FoundDevice& device, bool is_double, int lanes);

/// Returns build options that limit a kernel's registers. Then `groups` work-groups fit on a multiprocessor at a time.
/// CUDA's compiler takes the number of work-groups. NVIDIA's OpenCL compiler takes the number of registers, but only
/// for kernels without a required work-group size (kernels/gpu/tile_rows.clh).
std::string core_groups(const FoundDevice& device, int items, Index groups);

/// Build OpenCL C for one device. Some run-times have no cache of their own. For them, the program comes from our cache
/// (ProgramCache) if an earlier process built it.
/// @throws BuildError with the first lines of the log
cl::Program build_program(const FoundDevice& device, const cl::Context& context, const WantedProgram& wanted);

}  // namespace oclspkt::ocl
