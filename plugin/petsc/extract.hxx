// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <petscpc.h>

#include <vector>

#include "oclspkt/solver.hpp"

namespace oclspkt::petsc {

/// Where the three bands stand among the values of a matrix in compressed rows.
class BandPositions {
 public:
  /// Look through the pattern once. Columns of a row may come in any order.
  /// @param row_starts shape [rows+1]
  /// @throws InvalidInput if an entry of the bands is there twice
  void find(PetscInt rows, const PetscInt* row_starts, const PetscInt* columns);

  /// Copy the bands out of the values; what is not stored is 0.
  /// @return how many values off the bands are not 0
  /// @cost 6 words of values and at most 3 PetscInt a row; all values are read if some are off the bands
  Index gather(const PetscScalar* values, Bands<PetscScalar>& bands) const;

  std::int64_t bytes() const { return static_cast<std::int64_t>(positions_.capacity() * sizeof(PetscInt)); }

 private:
  PetscInt rows_ = 0, entries_ = 0, found_ = 0;
  bool packed_ = false;              ///< nothing but the three bands, in order: positions need no table
  std::vector<PetscInt> positions_;  ///< lower, diag, upper of each row; -1 where nothing is stored; empty if packed
};

/// The tridiagonal part of a PETSc matrix, with what can be kept between set-ups.
class Extraction {
 public:
  /// Fill the bands of `solver` from `matrix`, reusing positions while the pattern stays.
  PetscErrorCode Run(PC pc, Mat matrix, Solver<PetscScalar>& solver);

  /// Entries off the bands that are not 0 and were ignored.
  Index ignored() const { return ignored_; }
  std::int64_t bytes() const { return positions_.bytes(); }
  /// How often the pattern was looked through.
  int searches() const { return searches_; }

 private:
  BandPositions positions_;
  PetscObjectId matrix_id_ = 0;
  PetscObjectState pattern_state_ = -1;
  PetscInt rows_ = -1;
  Index ignored_ = 0;
  int searches_ = 0;
};

}  // namespace oclspkt::petsc
