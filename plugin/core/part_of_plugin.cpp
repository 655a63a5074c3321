// SPDX-License-Identifier: BSD-2-Clause
/// A part of every library of ours but liboclspkt.so.
#include <dlfcn.h>

#include <cstdio>
#include <exception>

#include "oclspkt/export.hpp"
#include "own_library.hpp"

namespace {

constexpr int kErrorInLibrary = 76;  // PETSC_ERR_LIB

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

// PetscDLLibraryRegister_oclspkt_solver for liboclspkt-solver.so. That of a flavour has a dot, hence by asm.
extern "C" OCLSPKT_API int oclspkt_part_of_plugin() asm("PetscDLLibraryRegister_" OCLSPKT_REGISTERS_AS);

/// What PETSc calls if -dll_append names this library, or the folder with all of them: liboclspkt.so does the work. If
/// PETSc found no such function, it would go on without the plugin and say nothing.
int oclspkt_part_of_plugin() {
  try {
    return hand_over(__builtin_return_address(0));
  } catch (const std::exception& error) {
    std::fprintf(stderr, OCLSPKT_FILE_NAME ": %s\n", error.what());
    return kErrorInLibrary;
  }
}
