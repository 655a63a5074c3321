// SPDX-License-Identifier: BSD-2-Clause
#include "boundary.hxx"

#include <new>

#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

PetscErrorCode Raise(PC pc, int line, const char* function, const char* file, PetscErrorCode code, const char* text) {
  const MPI_Comm comm = pc ? PetscObjectComm((PetscObject)pc) : PETSC_COMM_SELF;
  return PetscError(comm, line, function, file, code, PETSC_ERROR_INITIAL, "%s", text);
}

/// @return 0 if the PC was marked as failed and the program may go on
PetscErrorCode TakeBreakdown(PC pc, int line, const char* function, const char* file, PCFailedReason reason,
                             const char* text) {
  const PetscErrorCode code = reason == PC_FACTOR_OTHER ? PETSC_ERR_FP : PETSC_ERR_MAT_LU_ZRPVT;
  if (!pc || pc->erroriffailure) return Raise(pc, line, function, file, code, text);
  if (pc->data) {
    try {
      data(pc)->failure = text;
    } catch (...) {  // the reason below is told even if there is no memory for the text
    }
  }
  PetscErrorCode ierr = PCSetFailedReason(pc, reason);
  if (ierr == PETSC_SUCCESS) ierr = PetscInfo(pc, "set-up failed: %s\n", text);
  if (ierr == PETSC_SUCCESS) return PETSC_SUCCESS;
  return PetscError(PetscObjectComm((PetscObject)pc), line, function, file, ierr, PETSC_ERROR_REPEAT, " ");
}

}  // namespace

PetscErrorCode TranslateException(PC pc, int line, const char* function, const char* file) {
  try {
    throw;
  } catch (const NotFinite& e) {
    return TakeBreakdown(pc, line, function, file, PC_FACTOR_OTHER, e.what());
  } catch (const Breakdown& e) {
    return TakeBreakdown(pc, line, function, file, PC_FACTOR_NUMERIC_ZEROPIVOT, e.what());
  } catch (const InvalidInput& e) {
    return Raise(pc, line, function, file, PETSC_ERR_ARG_WRONG, e.what());
  } catch (const BuildError& e) {
    return Raise(pc, line, function, file, PETSC_ERR_LIB, e.what());
  } catch (const DeviceError& e) {
    return Raise(pc, line, function, file, PETSC_ERR_GPU, e.what());
  } catch (const std::bad_alloc&) {
    return Raise(pc, line, function, file, PETSC_ERR_MEM,
                 "PCOCLSPKT is out of host memory: use more ranks or fewer rows on each");
  } catch (const std::exception& e) {
    return Raise(pc, line, function, file, PETSC_ERR_LIB, e.what());
  } catch (...) {
    return Raise(pc, line, function, file, PETSC_ERR_LIB, "PCOCLSPKT caught an exception of unknown type");
  }
}

}  // namespace oclspkt::petsc
