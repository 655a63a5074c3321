// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "discovery.hpp"
#include "opencl.hpp"
#include "program_file.hpp"

namespace oclspkt::ocl {

/// In place of a number of lanes: a kernel for FPGAs, of scalars and one work-item.
inline constexpr int kOneTask = -1;

/// The embedded text of a kernel.
/// @throws DeviceError if there is none of that name
const char* kernel_text(const std::string& kernel);

/// The options that a kernel is built with, beside those of its own.
/// @param lanes  see OpenDevice::kernel()
std::string build_options(const FoundDevice& device, bool is_double, int lanes);

/// Options that have a compiler leave a core registers for so many work-groups at a time, where it can be told: CUDA's
/// takes their number, NVIDIA's for OpenCL a number of registers, but only of kernels that require no size of
/// work-groups (kernels/gpu/tile_rows.clh).
std::string core_groups(const FoundDevice& device, int items, Index groups);

/// Build OpenCL C for one device, or load what an earlier process built of it where the run-time keeps nothing itself
/// (ProgramCache).
/// @throws BuildError with the first lines of the log
cl::Program build_program(const FoundDevice& device, const cl::Context& context, const WantedProgram& wanted);

}  // namespace oclspkt::ocl
