// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <exception>
#include <span>

#include "petsc_compat.h"

namespace oclspkt::petsc {

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
PetscErrorCode AgreeOn(PC pc, const Trouble& trouble, std::span<double> sums = {});

/// See that what shapes the work of all ranks is the same on all: the options, and which lines and bands the program
/// gave. Collective, one reduction unless something differs.
/// @param[in,out] stays  whether it is true on all ranks
PetscErrorCode AgreeOnSettings(PC pc, PetscBool* stays);

/// See that all ranks or none gave -oclspkt_types: a rank without it would wait for other messages than are sent. While
/// PETSc begins this is collective, one reduction, as is what loads the libraries of -dll_append. Later it does
/// nothing: a program may register us on some ranks only.
PetscErrorCode AgreeOnTypes(PetscBool given);

}  // namespace oclspkt::petsc
