// SPDX-License-Identifier: BSD-2-Clause
// This file is linked into every library of the plugin except liboclspkt.so.
#include <dlfcn.h>

#include <cstdio>
#include <exception>

#include "oclspkt/export.hpp"
#include "own_library.hpp"

namespace {

constexpr int kErrorInLibrary = 76;  // the value of PETSC_ERR_LIB

int hand_over(const void* return_address) {
  std::string why;
  void* const plugin = oclspkt::open_library(oclspkt::beside_own_file("liboclspkt.so"), RTLD_NOW | RTLD_LOCAL, why);
  const auto enter =
      plugin != nullptr ? reinterpret_cast<int (*)(const void*)>(dlsym(plugin, "oclspkt_load_for")) : nullptr;
  if (enter != nullptr) return enter(return_address);
  if (plugin != nullptr) why = "it is of another version";
  std::fprintf(
      stderr,
      "-dll_append names " OCLSPKT_FILE_NAME
      ", which is a part of oclspkt. Name liboclspkt.so instead; the one in the same folder cannot be used: %s\n",
      why.c_str());
  return kErrorInLibrary;
}

}  // namespace

// The exported name ends with the library's name, as in PetscDLLibraryRegister_oclspkt_solver. Names of flavours have
// a dot, which only asm allows.
extern "C" OCLSPKT_API int oclspkt_part_of_plugin() asm("PetscDLLibraryRegister_" OCLSPKT_REGISTERS_AS);

/// Let liboclspkt.so register the plugin. PETSc calls this function if -dll_append names this library, or the folder of
/// the libraries. Without the function, PETSc would continue without the plugin and report nothing.
int oclspkt_part_of_plugin() {
  try {
    return hand_over(__builtin_return_address(0));
  } catch (const std::exception& error) {
    std::fprintf(stderr, OCLSPKT_FILE_NAME ": %s\n", error.what());
    return kErrorInLibrary;
  }
}
