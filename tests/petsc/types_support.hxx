// SPDX-License-Identifier: BSD-2-Clause
// What tests of vectors and matrices on devices share.
#pragma once

#include <petscksp.h>

#include "support.hxx"

namespace oclspkt::test {

/// The square matrix of all ranks with rows (-1, 2, -1) times a factor, in planes of `plane` unknowns.
inline Mat second_differences(PetscInt local, PetscScalar factor = 1, PetscInt plane = 1) {
  Mat A;
  PetscInt first, end, rows;
  MatCreateAIJ(PETSC_COMM_WORLD, local, local, PETSC_DETERMINE, PETSC_DETERMINE, 3, nullptr, 2, nullptr, &A);
  MatGetOwnershipRange(A, &first, &end);
  MatGetSize(A, &rows, nullptr);
  for (PetscInt i = first; i < end; ++i) {
    for (const PetscInt j : {i - plane, i, i + plane}) {
      if (j >= 0 && j < rows) MatSetValue(A, i, j, (i == j ? 2 : -1) * factor, INSERT_VALUES);
    }
  }
  assemble(A);
  return A;
}

/// It keeps vectors over arrays of others.
inline void expect_gasm_refused() {
  PC pc;
  OK(PCCreate(PETSC_COMM_WORLD, &pc));
  EXPECT_ERROR(PCSetType(pc, PCGASM), PETSC_ERR_SUP, "use -pc_type asm");
  OK(PCDestroy(&pc));
}

}  // namespace oclspkt::test
