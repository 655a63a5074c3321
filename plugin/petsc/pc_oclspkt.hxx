// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "extract.hxx"
#include "oclspkt/oclspkt.h"
#include "oclspkt/solver.hpp"
#include "options.hpp"
#include "petsc_compat.h"

namespace oclspkt::petsc {

/// What stands behind pc->data.
struct PC_OCLSPKT {
  Solver<PetscScalar> solver;
  Extraction extraction;
  bool explain = false;         ///< Settings::explain
  bool ready = false;           ///< the operator of the last set-up can be applied
  std::string failure;          ///< why the last set-up failed; empty if it did not
  std::size_t losses_seen = 0;  ///< lost devices that were logged already
  bool degraded_printed = false;
};

inline PC_OCLSPKT* data(PC pc) { return static_cast<PC_OCLSPKT*>(pc->data); }

/// Flops of one row, counted as Thomas' algorithm does it with stored factors, whatever method runs: rates of different
/// methods then compare as times do.
inline constexpr PetscLogDouble kSetUpFlopsPerRow = 3, kSolveFlopsPerRow = 5;

/// The composed functions behind the public ones of oclspkt.h.
PetscErrorCode ComposeFunctions(PC pc);
PetscErrorCode RemoveFunctions(PC pc);

Settings settings(PC pc);

/// Read every option of the table.
PetscErrorCode ReadSettings(PC pc, OclspktOptionItems PetscOptionsObject, Settings& settings);

/// Give the solver new settings; where they concern the operator the next PCSetUp() runs even if the matrix stays.
PetscErrorCode ChangeSettings(PC pc, const Settings& settings);

PetscErrorCode View(PC pc, PetscViewer viewer);

/// Print what the last set-up chose and why, for Settings::explain.
PetscErrorCode Explain(PC pc);

}  // namespace oclspkt::petsc

/// The constructor that PCRegister() is given.
PetscErrorCode PCCreate_OCLSPKT(PC pc);
