// SPDX-License-Identifier: BSD-2-Clause
#include "flavour.hxx"

#include <cstdint>
#include <cstdio>
#include <cstring>

#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
#error "oclspkt needs a PETSc with real scalars in double precision"
#endif

namespace oclspkt::petsc {

PetscErrorCode RunningFlavour(Flavour* flavour) {
  // Room for a 64-bit PetscInt behind every pointer to one: the callee may write 8 bytes.
  union Wide {
    std::int64_t wide;
    PetscInt index;
  } width, major, minor, subminor, release;
  PetscDataType scalar, real;
  // And for a PetscBool of 4 bytes, which it was before PETSc 3.24.
  union WideBool {
    std::int32_t wide;
    PetscBool flag;
  } found;

  PetscFunctionBegin;
  *flavour = Flavour();
  flavour->initialized = PETSC_COMM_WORLD != MPI_COMM_NULL;
  if (!flavour->initialized) PetscFunctionReturn(PETSC_SUCCESS);
  width.wide = -1;
  PetscCall(PetscOptionsStringToInt("7", &width.index));
  flavour->index_bits = width.wide == 7 ? 64 : 32;
  major.wide = minor.wide = 0;
  PetscCall(PetscGetVersionNumber(&major.index, &minor.index, &subminor.index, &release.index));
  flavour->major = static_cast<int>(major.index);
  flavour->minor = static_cast<int>(minor.index);
  PetscCall(PetscDataTypeFromString("scalar", &scalar, &found.flag));
  PetscCall(PetscDataTypeFromString("real", &real, &found.flag));
  flavour->complex_scalars = scalar == PETSC_COMPLEX;
  flavour->double_precision = real == PETSC_DOUBLE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string describe(const Flavour& flavour) {
  return "PETSc " + std::to_string(flavour.major) + "." + std::to_string(flavour.minor) + " with " +
         (flavour.complex_scalars ? "complex" : "real") + " scalars in " +
         (flavour.double_precision ? "double" : "another than double") + " precision and " +
         std::to_string(flavour.index_bits) + "-bit indices";
}

std::string complaint(const Flavour& built, const Flavour& running) {
  if (!running.initialized) {
    return "liboclspkt.so was built for " + describe(built) +
           " and is bound to a libpetsc in which PetscInitialize() was not called. Either the program runs another "
           "build "
           "of PETSc: run it with the one the plugin was built for, or leave out -dll_append of liboclspkt.so. Or it "
           "called PCOCLSPKTInitializePackage() too early: call PetscInitialize() first";
  }
  if (built == running) return "";
  std::string cure =
      "Build oclspkt against the program's PETSc (PETSC_DIR and PETSC_ARCH, or PKG_CONFIG_PATH, name it)";
  if (running.complex_scalars || !running.double_precision) {
    cure = "oclspkt supports only PETSc with real scalars in double precision: link the program with such a one";
  }
  return "liboclspkt.so was built for " + describe(built) + " and this program runs " + describe(running) + ". " +
         cure + ", or leave out -dll_append of liboclspkt.so";
}

PetscErrorCode CheckFlavour() {
  Flavour running;
  char text[1024] = "";

  PetscFunctionBegin;
  PetscCall(RunningFlavour(&running));
  try {
    std::snprintf(text, sizeof text, "%s", complaint(Flavour(), running).c_str());
  } catch (...) {
    std::snprintf(text, sizeof text, "liboclspkt.so is out of memory");
  }
  if (!running.initialized) {
    // This libpetsc has no streams and no error handler yet; the program's own prints only the code returned.
    std::fprintf(stderr, "%s\n", text);
    PetscFunctionReturn(PETSC_ERR_LIB);
  }
  PetscCheck(text[0] == '\0', PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
