// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "discovery.hpp"
#include "opencl.hpp"
#include "program_file.hpp"

namespace oclspkt::ocl {

/// A value for a number of lanes: kernels for FPGAs, which use scalars and one work-item.
inline constexpr int kOneTask = -1;

/// @throws DeviceError if there is none of that name
const char* kernel_text(const std::string& kernel);

/// The options for building a kernel, without the kernel's own.
/// @param lanes  see OpenDevice::kernel()
std::string build_options(const FoundDevice& device, bool is_double, int lanes);

/// Options that make a compiler leave registers for so many work-groups on a multiprocessor at a time. CUDA's compiler
/// takes the number of work-groups. NVIDIA's for OpenCL takes a number of registers, but only for kernels without a
/// required work-group size (kernels/gpu/tile_rows.clh).
std::string core_groups(const FoundDevice& device, int items, Index groups);

/// Build OpenCL C for one device. If the run-time keeps no programs itself, load the program of an earlier process
/// instead (ProgramCache).
/// @throws BuildError with the first lines of the log
cl::Program build_program(const FoundDevice& device, const cl::Context& context, const WantedProgram& wanted);

}  // namespace oclspkt::ocl
