// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <petscdmda.h>
#include <petscmat.h>

#include "matrices.hpp"

namespace oclspkt::bench::petsc {

/// A tridiagonal matrix of PETSc, AIJ on one rank, with what is solved and where it lies.
struct System {
  /// @param lines one line, or those along an axis of the grid
  /// @param n     points along each axis of the grid that the lines are of; 0: no grid
  PetscErrorCode Create(const MatrixSpec& spec, const LineSet& lines, PetscInt n);
  PetscErrorCode Destroy();

  /// Other values in the same pattern, as a time step or a Newton step makes them: all of them a little larger.
  PetscErrorCode ChangeValues();

  /// max |b - A x| / (norm of A * max |x| + max |b|), of the values as they are now.
  PetscErrorCode BackwardError(double* error) const;

  PetscInt rows() const { return static_cast<PetscInt>(lines.rows()); }

  LineSet lines;
  DM grid = nullptr;
  Mat matrix = nullptr;
  Vec lower = nullptr, diag = nullptr, upper = nullptr;  ///< the same bands, for PCOCLSPKTSetBands()
  Vec right = nullptr, solution = nullptr;
};

/// The bands of one line out of the values of its matrix by all threads, knowing where they stand: no set-up that
/// reads the matrix can be faster.
/// @param[out] bands of LineSet::one(rows); couplings that lead out of it are not written
/// @cost 3 words read and 3 written a row
PetscErrorCode ExtractBare(const System& system, Bands<PetscScalar>& bands);

}  // namespace oclspkt::bench::petsc
