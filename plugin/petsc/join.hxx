// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "lines.hxx"

namespace oclspkt::petsc {

/// Find out which ranks hold parts of the lines that this one was given, and their neighbouring rows: each line has a
/// rank that keeps its register. Collective.
PetscErrorCode JoinGiven(PC pc, const GivenLines& given, LineLayout* layout);

/// Give the layout the exchange of the preconditioner if anything is cut on any rank; else forget its cuts. Collective.
PetscErrorCode ShareExchange(PC pc, LineLayout* layout);

}  // namespace oclspkt::petsc
