// SPDX-License-Identifier: BSD-2-Clause
/* Functions that PETSc or a program calls return error codes and appear on PETSc's call stack. All other functions
   throw, and call PETSc's functions by must(). */
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

struct Where {
  int line;
  const char *function, *file;
};

/// A PETSc error, thrown by must() and OclspktCheck(). OclspktCall() turns it into an error code. It does not derive
/// from std::exception, so handlers of the solver's errors do not catch it.
struct PetscFailure {
  PetscErrorCode code;
  Where at;
  MPI_Comm comm;     ///< the first rank of this communicator prints the text
  std::string text;  ///< empty if PETSc has printed the error
};

/// @throws PetscFailure
inline void must(PetscErrorCode code, int line = __builtin_LINE(), const char* function = __builtin_FUNCTION(),
                 const char* file = __builtin_FILE()) {
  if (PetscUnlikely(code != PETSC_SUCCESS)) throw PetscFailure{code, {line, function, file}, PETSC_COMM_SELF, {}};
}
/// @throws PetscFailure
void must_mpi(int code, int line = __builtin_LINE(), const char* function = __builtin_FUNCTION(),
              const char* file = __builtin_FILE());

int ranks_of(MPI_Comm comm);
int rank_of(MPI_Comm comm);
/// Send the text of rank `rank` to all ranks, cut to kMostText - 1 characters. Collective.
std::string text_of(MPI_Comm comm, int rank, const std::string& own);
inline constexpr std::size_t kMostText = 256;

/// Throw PetscFailure with a text formatted as by std::printf().
[[noreturn, gnu::format(printf, 4, 5)]] void refuse(const Where& at, MPI_Comm comm, PetscErrorCode code,
                                                    const char* format, ...);

/// The error code and the text of an exception. MPI can send this type as bytes.
struct Caught {
  PetscErrorCode code;
  PCFailedReason reason;  ///< PC_NOERROR unless the exception is a Breakdown
  char text[2000];
};
Caught describe(const std::exception_ptr& exception);

/// In a catch clause: raise the exception as a PETSc error, at `line` of `file`.
///
/// A Breakdown only marks the PC as failed, and the function returns 0. If the PC is null or has erroriffailure set, a
/// Breakdown is an error as well.
/// @param pc  of type PCOCLSPKT; may be null
PetscErrorCode TranslateException(PC pc, int line, const char* function, const char* file);

PetscErrorCode MarkFailed(PC pc, const Caught& breakdown);

/// If the exception is a Breakdown, mark the PC as failed.
/// @throws the exception if it is no Breakdown or pc->erroriffailure is set
void accept_breakdown(PC pc, const std::exception_ptr& exception);

/// Keeps this rank's first exception until agree_on(). If a rank returned early, the other ranks would wait for it.
class Trouble {
 public:
  /// Do nothing if an exception is kept. Otherwise call f(), which must not call PETSc, and keep an exception of f().
  template <typename F>
  void attempt(const F& f) {
    if (met_) return;
    try {
      f();
    } catch (...) {
      keep();
    }
  }
  /// In a catch clause: keep this rank's first exception, but rethrow a PetscFailure.
  void keep() {
    try {
      throw;
    } catch (const PetscFailure&) {
      throw;
    } catch (...) {
      if (!met_) met_ = std::current_exception();
    }
  }
  const std::exception_ptr& met() const { return met_; }

 private:
  std::exception_ptr met_;
};

/// Add up numbers over all ranks. If ranks keep exceptions in `trouble`, raise one exception on all ranks. Errors come
/// before Breakdowns, and lower ranks before higher ranks. Collective; one reduction if no rank keeps an exception.
/// @param[in,out] sums  at most 3 numbers
/// @throws PetscFailure on all ranks; a Breakdown may instead mark the PC as failed on all ranks
void agree_on(PC pc, const Trouble& trouble, std::span<double> sums = {});

/// Check that the options are equal on all ranks, and that the program gave lines and bands on all ranks or on none.
/// Collective; one reduction if nothing differs.
/// @return true if `stays` is true on all ranks
bool agree_on_settings(PC pc, bool stays);

/// Check that -oclspkt_types is set on all ranks or on none: in a mixture, some ranks would wait for messages forever.
/// During PetscInitialize(), the call is collective with one reduction. After PetscInitialize(), it does nothing,
/// because a program may register the library on some ranks only.
void agree_on_types(PetscBool given);

/// @param place  the position of the argument in the argument list of `function`, such as "second"
inline PetscErrorCode CheckPointer(MPI_Comm comm, const char* place, const char* function, const void* value) {
  PetscFunctionBegin;
  PetscCheck(value, comm, PETSC_ERR_ARG_NULL, "The %s argument of %s() is a null pointer: pass the address of a value",
             place, function);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

/// Evaluate an expression and return its exceptions as PETSc errors. After a Breakdown, pc->failedreason is set.
/// No exception may leave a function with PetscFunctionBegin: the function would stay on PETSc's call stack. The macro
/// returns errors without PetscFunctionReturn(), as PetscCall() does.
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

/// A callback for PETSc that calls `function` and returns exceptions as error codes: `ops->set = Called<vec_set>`.
template <auto function, typename... Arguments>
PetscErrorCode Called(Arguments... arguments) {
  PetscFunctionBegin;
  OclspktCall(nullptr, function(arguments...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

/// @throws PetscFailure if the condition is false
#define OclspktCheck(condition, ...)                                                                                 \
  do {                                                                                                               \
    if (PetscUnlikely(!(condition))) oclspkt::petsc::refuse({__LINE__, PETSC_FUNCTION_NAME, __FILE__}, __VA_ARGS__); \
  } while (0)

/// Call MPIU_Allreduce(), which in debug builds checks that all ranks are at the same line of the sources.
/// @throws PetscFailure
#define OclspktReduce(...)                       \
  oclspkt::petsc::must([&]() -> PetscErrorCode { \
    OclspktAllreduce(__VA_ARGS__);               \
    return PETSC_SUCCESS;                        \
  }())

/* Check a PC in optimised builds as well, where PETSc's own checks are empty. Programs in other languages easily pass
   null pointers. */
#define OclspktValidPC(pc)                                                                                          \
  do {                                                                                                              \
    PetscCheck(pc, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,                                                             \
               "The PC is a null pointer: take it from PCCreate() or KSPGetPC() first");                            \
    PetscCheck(((PetscObject)(pc))->classid == PC_CLASSID, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,                    \
               "The first argument is not a PC, or one that was destroyed: take it from PCCreate() or KSPGetPC()"); \
  } while (0)
