// SPDX-License-Identifier: BSD-2-Clause
#include "flavour.hpp"

#include <cstdint>

namespace oclspkt::petsc {
namespace {

/// Storage for a PetscInt of unknown width, 32 or 64 bits. On little-endian machines, the low half is the 32-bit
/// number.
union Wide {
  std::int64_t wide;
  std::int32_t narrow;
};

/// The number of PETSc's data type with this name; -1 if PETSc has no such type.
int data_type(const PetscQuestions& petsc, const char* name) {
  using DataTypeFromString = int (*)(const char*, int*, std::int32_t*);
  int type = -1;
  std::int32_t found = 0;  // a PetscBool has 4 bytes before PETSc 3.24 and 1 since
  if (reinterpret_cast<DataTypeFromString>(petsc.data_type_from_string)(name, &type, &found) != 0) return -1;
  return found != 0 ? type : -1;
}

}  // namespace

Flavour ask(const PetscQuestions& petsc) {
  using StringToInt = int (*)(const char*, Wide*);
  using GetVersionNumber = int (*)(Wide*, Wide*, Wide*, Wide*);
  Flavour flavour;
  Wide width{-1}, major{0}, minor{0}, subminor{0}, release{0};
  reinterpret_cast<StringToInt>(petsc.options_string_to_int)("7", &width);
  flavour.index_bits = width.wide == 7 ? 64 : 32;
  reinterpret_cast<GetVersionNumber>(petsc.get_version_number)(&major, &minor, &subminor, &release);
  flavour.major = major.narrow;
  flavour.minor = minor.narrow;
  flavour.complex_scalars = data_type(petsc, "scalar") == data_type(petsc, "complex");
  const int real = data_type(petsc, "real");
  if (real == data_type(petsc, "float")) {
    flavour.precision = "single";
  } else if (real != data_type(petsc, "double")) {
    flavour.precision = "another than double";
  }
  return flavour;
}

bool is_supported(const Flavour& flavour) { return flavour.precision == "double"; }

bool is_newer_than_tested(const Flavour& flavour) {
  return flavour.major > kNewestTestedMajor ||
         (flavour.major == kNewestTestedMajor && flavour.minor > kNewestTestedMinor);
}

std::string describe(const Flavour& flavour) {
  return "PETSc " + std::to_string(flavour.major) + "." + std::to_string(flavour.minor) + " with " +
         (flavour.complex_scalars ? "complex" : "real") + " scalars in " + flavour.precision + " precision and " +
         std::to_string(flavour.index_bits) + "-bit indices";
}

std::string kind(const Flavour& flavour) {
  return std::to_string(flavour.major) + "." + std::to_string(flavour.minor) +
         (flavour.complex_scalars ? "-complex" : "-real") + (flavour.index_bits == 64 ? "-64" : "");
}

std::string library_name(const std::string& kind) { return "liboclspkt-petsc-" + kind + ".so"; }

}  // namespace oclspkt::petsc
