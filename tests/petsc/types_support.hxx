// SPDX-License-Identifier: BSD-2-Clause
// What tests of vectors and matrices on devices share.
#pragma once

#include <petscksp.h>

#include "support.hxx"

namespace oclspkt::test {

/// Give a square matrix of all ranks the rows (side, diag, side), in planes of `plane` unknowns.
inline void fill_differences(Mat A, PetscScalar side, PetscScalar diag, PetscInt plane) {
  PetscInt first, end, rows;
  MatGetOwnershipRange(A, &first, &end);
  MatGetSize(A, &rows, nullptr);
  for (PetscInt i = first; i < end; ++i) {
    for (const PetscInt j : {i - plane, i, i + plane}) {
      if (j >= 0 && j < rows) MatSetValue(A, i, j, i == j ? diag : side, INSERT_VALUES);
    }
  }
  assemble(A);
}

/// The square matrix of all ranks with rows (-1, 2, -1) times a factor, in planes of `plane` unknowns.
inline Mat second_differences(PetscInt local, PetscScalar factor = 1, PetscInt plane = 1) {
  Mat A;
  MatCreateAIJ(PETSC_COMM_WORLD, local, local, PETSC_DETERMINE, PETSC_DETERMINE, 3, nullptr, 2, nullptr, &A);
  fill_differences(A, -factor, 2 * factor, plane);
  return A;
}

/// What is written through parts of a vector of 20 rows a rank reaches it.
inline void expect_parts_written(Vec x) {
  PetscInt first, end;
  OK(VecGetOwnershipRange(x, &first, &end));
  for (const PetscInt step : {1, 2}) {
    SCOPED_TRACE(step);
    HeldIS places;
    Vec part;
    OK(VecSet(x, 1));
    OK(ISCreateStride(PETSC_COMM_WORLD, 5, first + 3, step, &places));
    OK(VecGetSubVector(x, places, &part));
    OK(VecScale(part, 4));
    OK(VecRestoreSubVector(x, places, &part));
    EXPECT_EQ(norm_of(x, NORM_1), 35 * PetscGlobalSize);
    OK(VecScale(x, 2));
    EXPECT_EQ(norm_of(x, NORM_1), 70 * PetscGlobalSize);
  }
}

/// It keeps vectors over arrays of others.
inline void expect_gasm_refused() {
  PC pc;
  OK(PCCreate(PETSC_COMM_WORLD, &pc));
  EXPECT_ERROR(PCSetType(pc, PCGASM), PETSC_ERR_SUP, "use -pc_type asm");
  OK(PCDestroy(&pc));
}

}  // namespace oclspkt::test
