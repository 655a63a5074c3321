// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace oclspkt::ocl {

/// A file of kernels/ with its includes resolved, embedded at build time.
struct KernelSource {
  const char* name;    ///< name of the file without folder and ending; also the kernel's name
  const char* folder;  ///< folder of the file: common, cpu, gpu, fpga
  const char* text;
};

/// All kernel files; cmake/EmbedKernels.cmake makes the array. The last entry has a null name.
extern const KernelSource kKernelSources[];

}  // namespace oclspkt::ocl
