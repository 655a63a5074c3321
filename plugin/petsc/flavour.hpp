// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

namespace oclspkt::petsc {

/// The properties of a build of PETSc that decide its binary interface. Builds with different properties export the
/// same names but are incompatible. This file includes no header of PETSc, because the dispatcher serves every PETSc.
struct Flavour {
  int major = 0, minor = 0;
  bool complex_scalars = false;
  std::string precision = "double";
  int index_bits = 32;

  bool operator==(const Flavour&) const = default;
};

/// Addresses of functions that every libpetsc has and that reveal its flavour.
struct PetscQuestions {
  void* get_version_number = nullptr;     ///< PetscGetVersionNumber
  void* options_string_to_int = nullptr;  ///< PetscOptionsStringToInt
  void* data_type_from_string = nullptr;  ///< PetscDataTypeFromString

  bool complete() const { return get_version_number && options_string_to_int && data_type_from_string; }
};

/// The flavour of the libpetsc that contains these functions. The call also works before PetscInitialize().
/// @pre  petsc.complete()
Flavour ask(const PetscQuestions& petsc);

/// True if oclspkt can be built for this flavour: double precision.
bool is_supported(const Flavour& flavour);

/// The newest release of PETSc with which the tests were run.
inline constexpr int kNewestTestedMajor = 3, kNewestTestedMinor = 26;
bool is_newer_than_tested(const Flavour& flavour);

/// The flavour in words, such as "PETSc 3.18 with real scalars in double precision and 32-bit indices".
std::string describe(const Flavour& flavour);

/// The name of a flavour in CMake (oclspkt_petsc_kind), such as "3.24-real-64".
std::string kind(const Flavour& flavour);

/// The file name of the plugin for a kind of PETSc: "liboclspkt-petsc-3.24-real-64.so".
std::string library_name(const std::string& kind);

}  // namespace oclspkt::petsc
