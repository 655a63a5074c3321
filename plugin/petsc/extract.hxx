// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <petscpc.h>

#include <vector>

#include "lines.hxx"

namespace oclspkt::petsc {

/// The error about a row that holds an entry of the bands more than once.
InvalidInput stored_twice(PetscInt row, PetscInt column);

/// A matrix in compressed rows, or a part of its columns.
struct Pattern {
  PetscInt rows = 0;
  const PetscInt *row_starts = nullptr, *columns = nullptr;
  const PetscInt* global_columns = nullptr;  ///< by column; null: columns begin at first_column
  PetscInt first_column = 0;
  PetscInt entries() const { return rows > 0 ? row_starts[rows] : 0; }
  PetscInt column(PetscInt k) const { return global_columns ? global_columns[columns[k]] : first_column + columns[k]; }
};

/// Where the three bands of a line layout stand among the values of a matrix in compressed rows, the columns of which
/// may be in two parts: those of this rank's rows, and those of others.
class BandPositions {
 public:
  /// Look through the patterns once. Columns of a row may come in any order.
  /// @param outer columns of other ranks; no rows if there are none
  /// @throws InvalidInput if an entry of the bands is there twice
  void find(const LineLayout& layout, const Pattern& inner, const Pattern& outer);

  /// Copy the bands out of the values; what is not stored is 0.
  /// @param inner, outer shapes [entries] of the patterns
  /// @return how many values off the bands are not 0
  /// @cost 6 words of values and at most 3 PetscInt a row; all values are read if some are off the bands
  Index gather(const PetscScalar* inner, const PetscScalar* outer, Bands<PetscScalar>& bands) const;

  std::int64_t bytes() const {
    return static_cast<std::int64_t>(positions_.capacity() * sizeof(PetscInt) + ends_.capacity() * sizeof(End));
  }

 private:
  /// An entry in the columns of other ranks.
  struct End {
    Index place;
    int band;
    PetscInt position;
  };

  Index rows_ = 0, found_ = 0;
  PetscInt inner_entries_ = 0, outer_entries_ = 0;
  bool packed_ = false;              ///< nothing but the three bands, in order: positions need no table
  std::vector<PetscInt> positions_;  ///< lower, diag, upper of each place; -1 where nothing is stored; empty if packed
  std::vector<End> ends_;
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
/// @param[out] ignored values off the bands that are not 0, on this rank
PetscErrorCode GatherRows(PC pc, Mat matrix, Source source, const LineLayout& layout, Bands<PetscScalar>& bands,
                          Index* ignored);

/// The tridiagonal part of a PETSc matrix along the lines of a layout, with what can be kept between set-ups.
class Extraction {
 public:
  /// Fill `bands` from `matrix`, reusing positions while the pattern stays. Collective.
  /// @param layout the same object as before, or forget() comes first
  PetscErrorCode Run(PC pc, Mat matrix, const LineLayout& layout, Bands<PetscScalar>& bands);
  /// The layout changed.
  void forget() { inner_ = outer_ = {}; }

  /// Entries off the bands that are not 0 and were ignored, on all ranks.
  Index ignored() const { return ignored_; }
  std::int64_t bytes() const { return positions_.bytes(); }
  /// How often the pattern was looked through for the places of the bands.
  int searches() const { return searches_; }
  /// How often the values were read.
  int gathers() const { return gathers_; }

 private:
  /// A matrix whose pattern was looked through.
  struct Known {
    PetscObjectId id = 0;
    PetscObjectState pattern = -1;
    bool operator==(const Known&) const = default;
  };

  PetscErrorCode GatherCompressed(PC pc, Mat matrix, const LineLayout& layout, Bands<PetscScalar>& bands);
  static PetscErrorCode Identify(Mat part, Known* known);

  BandPositions positions_;
  Known inner_, outer_;
  Index ignored_ = 0;
  int searches_ = 0, gathers_ = 0;
};

}  // namespace oclspkt::petsc
