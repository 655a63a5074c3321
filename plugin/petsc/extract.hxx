// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <petscpc.h>

#include <vector>

#include "oclspkt/solver.hpp"

namespace oclspkt::petsc {

/// The error about a row that holds an entry of the bands more than once.
InvalidInput stored_twice(PetscInt row, PetscInt column);

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

/// How a matrix gives its entries.
enum class Source {
  compressed,  ///< aij: the arrays of compressed rows, positions are kept
  rows,        ///< MatGetRow(), every set-up anew
  upper_rows   ///< MatGetRow() of a symmetric type that stores its upper triangle
};

/// See that the matrix can be read, and how.
/// @return an error that names the type and the cure where it cannot
PetscErrorCode FindSource(Mat matrix, Source* source);

/// Fill the bands row by row.
/// @param[out] ignored values off the bands that are not 0
PetscErrorCode GatherRows(PC pc, Mat matrix, Source source, Bands<PetscScalar>& bands, Index* ignored);

/// The tridiagonal part of a PETSc matrix, with what can be kept between set-ups.
class Extraction {
 public:
  /// Fill the bands of `solver` from `matrix`, reusing positions while the pattern stays.
  PetscErrorCode Run(PC pc, Mat matrix, Solver<PetscScalar>& solver);

  /// Entries off the bands that are not 0 and were ignored.
  Index ignored() const { return ignored_; }
  std::int64_t bytes() const { return positions_.bytes(); }
  /// How often the pattern was looked through for the places of the bands.
  int searches() const { return searches_; }
  /// How often the values were read.
  int gathers() const { return gathers_; }

 private:
  PetscErrorCode GatherCompressed(PC pc, Mat matrix, Bands<PetscScalar>& bands);

  BandPositions positions_;
  PetscObjectId matrix_id_ = 0;
  PetscObjectState pattern_state_ = -1;
  PetscInt rows_ = -1;
  Index ignored_ = 0;
  int searches_ = 0, gathers_ = 0;
};

}  // namespace oclspkt::petsc
