// SPDX-License-Identifier: BSD-2-Clause
/* Error handling. Functions that PETSc or a program calls return error codes and have PETSc's frame. All other
   functions throw, and call PETSc's functions by must(). */
#pragma once

#include <exception>
#include <span>
#include <string>

#include "oclspkt/error.hpp"
#include "petsc_compat.h"

namespace oclspkt::petsc {

template <typename Object>
MPI_Comm comm_of(Object object) {
  return PetscObjectComm((PetscObject)object);
}

/// A place in the sources.
struct Where {
  int line;
  const char *function, *file;
};

/// An error that a function of PETSc returned or OclspktCheck() found. OclspktCall() catches it and raises the error of
/// PETSc. It is no std::exception, so that no handler takes it for an error of the solver.
struct PetscFailure {
  PetscErrorCode code;
  Where at;
  MPI_Comm comm;     ///< its first rank prints the text
  std::string text;  ///< empty: PETSc has printed its own text
};

/// Call a function of PETSc. @throws PetscFailure
inline void must(PetscErrorCode code, int line = __builtin_LINE(), const char* function = __builtin_FUNCTION(),
                 const char* file = __builtin_FILE()) {
  if (PetscUnlikely(code != PETSC_SUCCESS)) throw PetscFailure{code, {line, function, file}, PETSC_COMM_SELF, {}};
}
/// Call a function of MPI. @throws PetscFailure
void must_mpi(int code, int line = __builtin_LINE(), const char* function = __builtin_FUNCTION(),
              const char* file = __builtin_FILE());

int ranks_of(MPI_Comm comm);
int rank_of(MPI_Comm comm);
/// The first kMostText - 1 letters of the text of rank `rank`, on all ranks. Collective.
std::string text_of(MPI_Comm comm, int rank, const std::string& own);
inline constexpr std::size_t kMostText = 256;

/// @throws PetscFailure always, with the text that std::printf() would print
[[noreturn, gnu::format(printf, 4, 5)]] void refuse(const Where& at, MPI_Comm comm, PetscErrorCode code,
                                                    const char* format, ...);

/// An exception as PETSc reports it, in bytes that ranks can send each other.
struct Caught {
  PetscErrorCode code;
  PCFailedReason reason;  ///< the reason of a Breakdown, which is a result and no error; else PC_NOERROR
  char text[2000];
};
Caught describe(const std::exception_ptr& exception);

/// Turn the exception being handled into a PETSc error, raised at `line` of `file`.
///
/// A Breakdown is a result and no error, unless the user asked for errors: it becomes the PC's failed reason, and 0 is
/// returned.
/// @param pc the preconditioner concerned, of type PCOCLSPKT; may be null
PetscErrorCode TranslateException(PC pc, int line, const char* function, const char* file);

PetscErrorCode MarkFailed(PC pc, const Caught& breakdown);

/// In the handler of an exception: mark the PC as failed by a Breakdown.
/// @throws the exception, unless it is a Breakdown and the user asked for no errors
void accept_breakdown(PC pc);

/// Keeps an exception of this rank until all ranks agree on it. If a rank returned at once, the others would wait for
/// it.
class Trouble {
 public:
  /// Call f() and keep its exception, unless an exception is kept already. f must not call PETSc, see OclspktCall().
  template <typename F>
  void attempt(const F& f) {
    if (met_) return;
    try {
      f();
    } catch (...) {
      keep();
    }
  }
  /// In the handler of an exception: keep it, unless an exception is kept already. @throws PetscFailure
  void keep() {
    try {
      throw;
    } catch (const PetscFailure&) {  // PETSc has printed the error
      throw;
    } catch (...) {
      if (!met_) met_ = std::current_exception();
    }
  }
  const std::exception_ptr& met() const { return met_; }

 private:
  std::exception_ptr met_;
};

/// Add up numbers over all ranks. If ranks hold exceptions in `trouble`, raise one of them on all ranks: an error
/// before a Breakdown, and that of the first such rank. Collective, one reduction unless there is trouble.
/// @param[in,out] sums  at most 3
/// @throws PetscFailure on all ranks; a Breakdown may mark the PC as failed on all ranks instead
void agree_on(PC pc, const Trouble& trouble, std::span<double> sums = {});

/// Check that all ranks agree on the options, and on whether the program gave lines and bands. Collective, one
/// reduction unless something differs.
/// @return whether `stays` is true on all ranks
bool agree_on_settings(PC pc, bool stays);

/// Check that all ranks or none gave -oclspkt_types: a rank without it would wait for messages that no rank sends. The
/// call is collective during PetscInitialize(), as the loading of -dll_append is, and makes one reduction. Later it
/// does nothing, because a program may register the library on some ranks only.
void agree_on_types(PetscBool given);

/// @param place  the position among the arguments of `function`, in words
inline PetscErrorCode CheckPointer(MPI_Comm comm, const char* place, const char* function, const void* value) {
  PetscFunctionBegin;
  PetscCheck(value, comm, PETSC_ERR_ARG_NULL, "The %s argument of %s() is a null pointer: pass the address of a value",
             place, function);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

/// Evaluate an expression that may throw; for several statements, write a function or a named lambda. Afterwards,
/// pc->failedreason tells whether a Breakdown was caught. The expression must not call PETSc: an exception would leave
/// functions on PETSc's call stack. PetscError() takes the function off that stack, so an error returns without
/// PetscFunctionReturn(), as in PetscCall().
#define OclspktCall(pc, ...)                                                               \
  do {                                                                                     \
    PetscStackUpdateLine;                                                                  \
    try {                                                                                  \
      static_cast<void>(__VA_ARGS__);                                                      \
    } catch (...) {                                                                        \
      const PetscErrorCode ierr_oclspkt_ =                                                 \
          oclspkt::petsc::TranslateException(pc, __LINE__, PETSC_FUNCTION_NAME, __FILE__); \
      if (PetscUnlikely(ierr_oclspkt_ != PETSC_SUCCESS)) return ierr_oclspkt_;             \
    }                                                                                      \
  } while (0)

namespace oclspkt::petsc {

/// Wraps a function that throws in one that returns an error code, for PETSc to call: `ops->set = Called<vec_set>`.
template <auto function, typename... Arguments>
PetscErrorCode Called(Arguments... arguments) {
  PetscFunctionBegin;
  OclspktCall(nullptr, function(arguments...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

/// Check a condition. @throws PetscFailure if it does not hold
#define OclspktCheck(condition, ...)                                                                                 \
  do {                                                                                                               \
    if (PetscUnlikely(!(condition))) oclspkt::petsc::refuse({__LINE__, PETSC_FUNCTION_NAME, __FILE__}, __VA_ARGS__); \
  } while (0)

/// MPIU_Allreduce(), which checks in debug builds that all ranks call it in the same place of the sources.
/// @throws PetscFailure
#define OclspktReduce(...)                       \
  oclspkt::petsc::must([&]() -> PetscErrorCode { \
    OclspktAllreduce(__VA_ARGS__);               \
    return PETSC_SUCCESS;                        \
  }())

/* PETSc's own checks are empty in optimised builds. Without these checks, a null pointer would end the program there,
   and other languages easily pass one. */
#define OclspktValidPC(pc)                                                                                          \
  do {                                                                                                              \
    PetscCheck(pc, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,                                                             \
               "The PC is a null pointer: take it from PCCreate() or KSPGetPC() first");                            \
    PetscCheck(((PetscObject)(pc))->classid == PC_CLASSID, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,                    \
               "The first argument is not a PC, or one that was destroyed: take it from PCCreate() or KSPGetPC()"); \
  } while (0)
