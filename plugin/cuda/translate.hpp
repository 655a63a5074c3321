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

/// A kernel file in OpenCL C, translated to CUDA C++.
struct CudaProgram {
  std::string text;                  ///< argument of nvrtcCreateProgram; needs no headers
  std::vector<std::string> options;  ///< arguments of nvrtcCompileProgram, without --gpu-architecture
  std::vector<std::string> kernels;  ///< unmangled names of all kernels, including those that #if excludes
};

/// Translate a program from OpenCL C to CUDA C++17 for NVRTC. Lines keep their numbers in NVRTC's log.
///
/// kernels/cuda/prelude.cuh, which precedes the program, defines most of OpenCL C. The function rewrites these parts:
///   - `__kernel` becomes extern "C" __global__, and reqd_work_group_size becomes launch_bounds;
///   - variables declared `__local` become __shared__;
///   - a `__local` pointer of a kernel (one at most) is the shared memory that a launch adds. The parameter becomes an
///     unread number of 4 bytes; it must be in the parameter list itself, not in a macro;
///   - variables declared `__constant` get CUDA's address space;
///   - a vector literal (type)(a, b) becomes type(a, b), because in C++ (a, b) is b;
///   - `#pragma OPENCL` is removed; FP_CONTRACT OFF becomes an option for the whole text.
/// Vectors of 3 numbers, images, pipes, and components other than s0 to s3 are not supported and do not compile.
///
/// @param text     OpenCL C 1.2; includes are resolved
/// @param options  options of clBuildProgram
/// @throws BuildError for an option or a text that cannot be translated
CudaProgram translate(std::string_view text, std::string_view options);

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
  int group[3] = {};  ///< the required work-group size; zeros: any size
  std::vector<Parameter> parameters;
};

/// Returns the name of a kernel's variable in the compiled module: an array of int in device memory, for signature().
/// The compiler derives its contents from the kernel's type, after conditions and macros.
std::string signature_variable(std::string_view kernel);

/// Returns the signature that a kernel's variable describes.
/// @param numbers  all elements of the variable
/// @throws BuildError if `numbers` is no signature
KernelSignature signature(std::span<const int> numbers);

}  // namespace oclspkt::cuda
