// SPDX-License-Identifier: BSD-2-Clause
#include "boundary.hxx"

#include <new>
#include <string_view>

#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

Caught caught(PetscErrorCode code, const char* text, PCFailedReason reason = PC_NOERROR) {
  Caught told{code, reason, {}};
  (void)PetscStrncpy(told.text, text, sizeof told.text);
  return told;
}

/// @param comm all of its ranks raise the error, and its first rank prints it
/// @return 0 if the PC was marked as failed and the program may go on
PetscErrorCode Raise(PC pc, MPI_Comm comm, int line, const char* function, const char* file, const Caught& told) {
  if (told.reason == PC_NOERROR || !pc || pc->erroriffailure) {
    return PetscError(comm, line, function, file, told.code, PETSC_ERROR_INITIAL, "%s", told.text);
  }
  if (pc->data) {
    try {
      data(pc)->failure = told.text;
    } catch (...) {  // the reason below is told even if there is no memory for the text
    }
  }
  PetscErrorCode ierr = PCSetFailedReason(pc, told.reason);
  if (ierr == PETSC_SUCCESS)
    ierr = PetscInfo(pc, "%s failed: %s\n", pc->data && data(pc)->ready ? "apply" : "set-up", told.text);
  if (ierr == PETSC_SUCCESS) return PETSC_SUCCESS;
  return PetscError(comm, line, function, file, ierr, PETSC_ERROR_REPEAT, " ");
}

}  // namespace

Caught Describe(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const NotFinite& e) {
    return caught(PETSC_ERR_FP, e.what(), PC_FACTOR_OTHER);
  } catch (const Breakdown& e) {
    return caught(PETSC_ERR_MAT_LU_ZRPVT, e.what(), PC_FACTOR_NUMERIC_ZEROPIVOT);
  } catch (const InvalidInput& e) {
    return caught(PETSC_ERR_ARG_WRONG, e.what());
  } catch (const BuildError& e) {
    return caught(PETSC_ERR_LIB, e.what());
  } catch (const DeviceError& e) {
    return caught(PETSC_ERR_GPU, e.what());
  } catch (const std::bad_alloc&) {
    return caught(PETSC_ERR_MEM, "PCOCLSPKT is out of host memory: use more ranks or fewer rows on each");
  } catch (const std::exception& e) {
    return caught(PETSC_ERR_LIB, e.what());
  } catch (...) {
    return caught(PETSC_ERR_LIB, "PCOCLSPKT caught an exception of unknown type");
  }
}

PetscErrorCode TranslateException(PC pc, int line, const char* function, const char* file) {
  // The other ranks may have met nothing: on the PC's communicator only its first rank would print.
  return Raise(pc, PETSC_COMM_SELF, line, function, file, Describe(std::current_exception()));
}

PetscErrorCode RaiseOnAll(PC pc, const Caught& told, int rank) {
  Caught all = told;

  PetscFunctionBegin;
  /* A CutSolver has named the rank already, which it calls a process. */
  const bool named = std::string_view(told.text).starts_with("process ");
  if (rank >= 0 && !named) PetscCall(PetscSNPrintf(all.text, sizeof all.text, "rank %d: %s", rank, told.text));
  PetscStackUpdateLine;
  const PetscErrorCode ierr = Raise(pc, PetscObjectComm((PetscObject)pc), __LINE__, PETSC_FUNCTION_NAME, __FILE__, all);
  if (ierr != PETSC_SUCCESS) return ierr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
