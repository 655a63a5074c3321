// SPDX-License-Identifier: BSD-2-Clause
#include "check_flavour.hxx"

#include <petsc/private/matimpl.h>

#include <cstdio>
#include <exception>

#if !defined(PETSC_USE_REAL_DOUBLE)
#error "oclspkt needs a PETSc in double precision"
#endif

namespace oclspkt::petsc {
namespace {

/// Test whether PETSc's functions write members of a PC and of a Mat where this library's headers place them. The
/// tested members lie behind members that exist only in some builds of PETSc.
PetscErrorCode FindMembers(PetscBool value, bool* found) {
  PC pc;
  Mat matrix;

  PetscFunctionBegin;
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetErrorIfFailure(pc, value));
  PetscCall(PCSetReusePreconditioner(pc, value));
  PetscCall(PCSetFailedReason(pc, value ? PC_SUBPC_ERROR : PC_NOERROR));
  PetscCall(MatCreate(PETSC_COMM_SELF, &matrix));
  PetscCall(MatSetErrorIfFailure(matrix, value));
  *found = pc->erroriffailure == value && pc->reusepreconditioner == value &&
           pc->failedreason == (value ? PC_SUBPC_ERROR : PC_NOERROR) && matrix->erroriffailure == value;
  PetscCall(MatDestroy(&matrix));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckLayout() {
  bool set = false, cleared = false;

  PetscFunctionBegin;
  PetscCall(FindMembers(PETSC_TRUE, &set));
  PetscCall(FindMembers(PETSC_FALSE, &cleared));
  PetscCheck(
      set && cleared, PETSC_COMM_SELF, PETSC_ERR_LIB,
      "oclspkt was built with headers that lay out PC and Mat in another way than this program's PETSc %d.%d, as "
      "builds of PETSc with GPUs or SAWs do. Build oclspkt against the program's PETSc (PETSC_DIR and PETSC_ARCH, "
      "or PKG_CONFIG_PATH, name it), or leave out -dll_append of liboclspkt.so",
      PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

Flavour BuiltFlavour() {
  return {PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PetscDefined(USE_COMPLEX) != 0, "double",
          8 * static_cast<int>(sizeof(PetscInt))};
}

Flavour RunningFlavour() {
  return ask({reinterpret_cast<void*>(&PetscGetVersionNumber), reinterpret_cast<void*>(&PetscOptionsStringToInt),
              reinterpret_cast<void*>(&PetscDataTypeFromString)});
}

std::string complaint(const Flavour& built, const Flavour& running) {
  if (built == running) return "";
  std::string cure =
      "Build oclspkt against the program's PETSc (PETSC_DIR and PETSC_ARCH, or PKG_CONFIG_PATH, name it)";
  if (!is_supported(running)) {
    cure = "oclspkt supports only PETSc in double precision: link the program with such a one";
  }
  return library_name(kind(built)) + " was built for " + describe(built) + " and this program runs " +
         describe(running) + ". " + cure + ", or do not link the plugin and load liboclspkt.so by -dll_append";
}

std::string complaint_of_stranger(const Flavour& built) {
  return library_name(kind(built)) + " was built for " + describe(built) +
         " and is bound to a libpetsc in which PetscInitialize() was not called. Either the program runs another build "
         "of PETSc: run it with the one the plugin was built for, or leave out -dll_append of liboclspkt.so. Or it "
         "called PCOCLSPKTInitializePackage() too early: call PetscInitialize() first";
}

PetscErrorCode CheckFlavour() {
  const bool initialized = PETSC_COMM_WORLD != MPI_COMM_NULL;
  char text[1024] = "";

  PetscFunctionBegin;
  try {
    const Flavour built = BuiltFlavour();
    const std::string why = initialized ? complaint(built, RunningFlavour()) : complaint_of_stranger(built);
    std::snprintf(text, sizeof text, "%s", why.c_str());
  } catch (const std::exception& error) {
    std::snprintf(text, sizeof text, "oclspkt: %s", error.what());
  }
  if (!initialized) {
    // PetscError() needs PetscInitialize() of this libpetsc. The program's own PETSc prints only the error code.
    std::fprintf(stderr, "%s\n", text);
    PetscFunctionReturn(PETSC_ERR_LIB);
  }
  PetscCheck(text[0] == '\0', PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", text);
  PetscCall(CheckLayout());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
