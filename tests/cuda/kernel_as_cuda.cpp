// SPDX-License-Identifier: BSD-2-Clause
// Write a kernel as NVRTC gets it: oclspkt-kernel-as-cuda KERNEL OPTIONS FILE
#include <cstdio>
#include <fstream>
#include <string_view>

#include "kernel_source.hpp"
#include "translate.hpp"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: oclspkt-kernel-as-cuda KERNEL OPTIONS FILE\n", stderr);
    return 2;
  }
  for (const auto* source = oclspkt::ocl::kKernelSources; source->name != nullptr; ++source) {
    if (std::string_view(source->name) != argv[1]) continue;
    std::ofstream file(argv[3]);
    file << oclspkt::cuda::translate(source->text, argv[2]).text;
    file.close();
    return file ? 0 : 1;
  }
  std::fprintf(stderr, "there is no kernel %s\n", argv[1]);
  return 1;
}
