// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <petscsys.h>

#include "oclspkt/report.hpp"
#include "row_flops.hpp"

namespace oclspkt::petsc {

/// Flops of a set-up that chose what the report says. @pre report.ready
PetscLogDouble set_up_flops(const Report& report);
/// Flops of an apply of one right-hand side.
PetscLogDouble apply_flops(const Report& report);

}  // namespace oclspkt::petsc
