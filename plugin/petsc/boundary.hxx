// SPDX-License-Identifier: BSD-2-Clause
/* Errors: what our code throws and what PETSc's functions return. Functions that PETSc or a program calls return error
   codes and have PETSc's frame; all others throw, and call PETSc's functions by must(). */
#pragma once

#include <exception>
#include <span>
#include <string>

#include "oclspkt/error.hpp"
#include "petsc_compat.h"

namespace oclspkt::petsc {

/// The communicator of an object of PETSc.
template <typename Object>
MPI_Comm comm_of(Object object) {
  return PetscObjectComm((PetscObject)object);
}

/// A place in the sources.
struct Where {
  int line;
  const char *function, *file;
};

/// An error of a function of PETSc, or one found by OclspktCheck(), on its way to OclspktCall(), which raises it. It is
/// no std::exception, so that nobody takes it for an error of the solver.
struct PetscFailure {
  PetscErrorCode code;
  Where at;
  MPI_Comm comm;     ///< its first rank prints the text
  std::string text;  ///< empty: PETSc has printed its own
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
/// The first kMostText - 1 letters of one rank's text, on all ranks. Collective.
std::string text_of(MPI_Comm comm, int rank, const std::string& own);
inline constexpr std::size_t kMostText = 256;

/// @throws PetscFailure with a text as that of std::printf()
[[noreturn, gnu::format(printf, 4, 5)]] void refuse(const Where& at, MPI_Comm comm, PetscErrorCode code,
                                                    const char* format, ...);

/// What an exception is to PETSc, in bytes that ranks can send each other.
struct Caught {
  PetscErrorCode code;
  PCFailedReason reason;  ///< of a Breakdown, which is a result and no error; else PC_NOERROR
  char text[2000];
};
Caught describe(const std::exception_ptr& exception);

/// Turn the exception being handled into a PETSc error, raised at the place given.
///
/// A Breakdown is a result and no error, unless the user asked for errors: it becomes the PC's failed reason, and 0 is
/// returned.
/// @param pc the preconditioner concerned, of type PCOCLSPKT; or null
PetscErrorCode TranslateException(PC pc, int line, const char* function, const char* file);

/// Record that a PC failed.
PetscErrorCode MarkFailed(PC pc, const Caught& breakdown);

/// Do what may throw, and go on after a Breakdown, which marks the PC as failed unless the user asked for errors.
template <typename F>
void attempt(PC pc, const F& f) {
  try {
    f();
  } catch (const Breakdown&) {
    if (pc->erroriffailure) throw;
    must(MarkFailed(pc, describe(std::current_exception())));
  }
}

/// Keeps an exception of this rank until all ranks agree on it. A rank that returned at once would leave the others
/// waiting.
class Trouble {
 public:
  /// Do what may throw, unless something threw before. Calls of PETSc do not belong inside, see OclspktCall().
  template <typename F>
  void attempt(const F& f) {
    if (met_) return;
    try {
      f();
    } catch (const PetscFailure&) {  // PETSc has printed it
      throw;
    } catch (...) {
      met_ = std::current_exception();
    }
  }
  /// Do what may throw, also if something threw before, because other ranks wait for what it sends.
  template <typename F>
  void keep_on(const F& f) {
    Trouble own;
    own.attempt(f);
    if (!met_) met_ = own.met();
  }
  const std::exception_ptr& met() const { return met_; }

 private:
  std::exception_ptr met_;
};

/// Add up numbers over all ranks, and raise what one of them met on all. Errors come before breakdowns, the first rank
/// before others. Collective, one reduction unless there is trouble.
/// @param[in,out] sums  at most 3
/// @return the same on all ranks; 0 where a Breakdown became the failed reason of all
void agree_on(PC pc, const Trouble& trouble, std::span<double> sums = {});

/// See that what shapes the work of all ranks is the same on all: the options, and which lines and bands the program
/// gave. Collective, one reduction unless something differs.
/// @return whether `stays` is true on all ranks
bool agree_on_settings(PC pc, bool stays);

/// See that all ranks or none gave -oclspkt_types: a rank without it would wait for other messages than are sent. While
/// PETSc begins this is collective, one reduction, as is what loads the libraries of -dll_append. Later it does
/// nothing: a program may register us on some ranks only.
void agree_on_types(PetscBool given);

/// @param place  of the argument of a function, in words
inline PetscErrorCode CheckPointer(MPI_Comm comm, const char* place, const char* function, const void* value) {
  PetscFunctionBegin;
  PetscCheck(value, comm, PETSC_ERR_ARG_NULL, "The %s argument of %s() is a null pointer: pass the address of a value",
             place, function);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

/// Evaluate an expression that may throw; what takes several statements is a function or a named lambda. After it,
/// pc->failedreason tells whether a Breakdown was caught. Calls of PETSc do not belong inside: an exception would skip
/// the end of PETSc's call stack. PetscError() takes the function off that stack, so an error returns without
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

/// A function that throws, as PETSc calls it: `ops->set = Called<vec_set>`.
template <auto function, typename... Arguments>
PetscErrorCode Called(Arguments... arguments) {
  PetscFunctionBegin;
  OclspktCall(nullptr, function(arguments...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

/// @throws PetscFailure unless a condition holds
#define OclspktCheck(condition, ...)                                                                                 \
  do {                                                                                                               \
    if (PetscUnlikely(!(condition))) oclspkt::petsc::refuse({__LINE__, PETSC_FUNCTION_NAME, __FILE__}, __VA_ARGS__); \
  } while (0)

/// MPIU_Allreduce(), which checks in debug builds that all ranks mean the same reduction. @throws PetscFailure
#define OclspktReduce(...)                       \
  oclspkt::petsc::must([&]() -> PetscErrorCode { \
    OclspktAllreduce(__VA_ARGS__);               \
    return PETSC_SUCCESS;                        \
  }())

/* PETSc's own checks are empty in optimised builds; there a null pointer, which other languages hand over easily, would
   end the program. */
#define OclspktValidPC(pc)                                                                                          \
  do {                                                                                                              \
    PetscCheck(pc, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,                                                             \
               "The PC is a null pointer: take it from PCCreate() or KSPGetPC() first");                            \
    PetscCheck(((PetscObject)(pc))->classid == PC_CLASSID, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,                    \
               "The first argument is not a PC, or one that was destroyed: take it from PCCreate() or KSPGetPC()"); \
  } while (0)
