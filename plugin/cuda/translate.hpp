// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oclspkt/export.hpp"

namespace oclspkt::cuda {

/// kernels/cuda/prelude.cuh with its includes resolved, embedded at build time.
extern const char* const kPrelude;

/// OpenCL C of one kernel file as CUDA C++.
struct CudaProgram {
  std::string text;                  ///< for nvrtcCreateProgram; needs no headers
  std::vector<std::string> options;  ///< for nvrtcCompileProgram; no --gpu-architecture among them
  std::vector<std::string> kernels;  ///< unmangled names of all kernels in the text, whatever its conditions
};

/// Translate a program from OpenCL C to CUDA C++17 for NVRTC. Lines keep their numbers in NVRTC's log.
///
/// kernels/cuda/prelude.cuh, which precedes the program, defines most of OpenCL C. The program's text changes where
///   - `__kernel` begins a kernel, which becomes extern "C" __global__; reqd_work_group_size becomes launch_bounds;
///   - `__local` declares variables, which become __shared__;
///   - a kernel takes a `__local` pointer (one at most), which is the shared memory that a launch adds. The parameter
///     becomes an unread number of 4 bytes; it must be in the parameter list itself, not in a macro;
///   - `__constant` declares variables;
///   - a vector literal (type)(a, b) becomes type(a, b), because in C++ (a, b) is b;
///   - `#pragma OPENCL` is left out; FP_CONTRACT OFF becomes an option, for the whole text.
/// Vectors of 3 numbers, images, pipes, and components other than s0 to s3 are not supported and do not compile.
///
/// @param text     OpenCL C 1.2; includes are resolved
/// @param options  as clBuildProgram takes them
/// @throws BuildError for an option that has no counterpart, and for a text that cannot be translated
CudaProgram translate(std::string_view text, std::string_view options);

/// How a kernel takes an argument.
enum class ParameterKind {
  value = 0,
  buffer = 1,  ///< __global or __constant pointer
  local = 2,   ///< __local pointer: the shared memory that a launch adds
};
struct Parameter {
  ParameterKind kind;
};

/// The signature that a compiled kernel carries.
struct KernelSignature {
  int group[3] = {};  ///< reqd_work_group_size, or zeros
  std::vector<Parameter> parameters;
};

/// The name of a variable in the compiled module, in device memory: an array of int for signature(). The compiler
/// derives it from the kernel's type, so conditions and macros of the text are respected.
std::string signature_variable(std::string_view kernel);

/// The signature in the variable of a kernel.
/// @param numbers  all elements of the variable
/// @throws BuildError if they are no signature
KernelSignature signature(std::span<const int> numbers);

}  // namespace oclspkt::cuda
