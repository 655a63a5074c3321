// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "discovery.hpp"
#include "opencl.hpp"
#include "program_file.hpp"

namespace oclspkt::ocl {

/// In place of a number of lanes: asks for kernels for FPGAs, which have one work-item and use scalars only.
inline constexpr int kOneTask = -1;

/// The embedded text of a kernel. @throws DeviceError if no kernel has that name
const char* kernel_text(const std::string& kernel);

/// The build options that all kernels of a device, scalar type and number of lanes share.
/// @param lanes  see OpenDevice::kernel()
std::string build_options(const FoundDevice& device, bool is_double, int lanes);

/// Build options that limit a kernel's registers, so that `groups` work-groups fit on a multiprocessor at a time.
/// CUDA's compiler takes the number of work-groups. NVIDIA's OpenCL compiler takes the number of registers, but only
/// for kernels without a required work-group size (kernels/gpu/tile_rows.clh).
std::string core_groups(const FoundDevice& device, int items, Index groups);

/// Build OpenCL C for one device. For run-times without a cache of their own, load the program from ours (ProgramCache)
/// if an earlier process has built it.
/// @throws BuildError with the first lines of the log
cl::Program build_program(const FoundDevice& device, const cl::Context& context, const WantedProgram& wanted);

}  // namespace oclspkt::ocl
