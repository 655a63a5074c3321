// SPDX-License-Identifier: BSD-2-Clause
#include "extract.hxx"

#include <string>

#include "boundary.hxx"

namespace oclspkt::petsc {
namespace {

/// The same as BandPositions::gather for a matrix that stores nothing but its three bands, rows in order.
void gather_packed(PetscInt rows, const PetscScalar* values, Bands<PetscScalar>& bands) {
  PetscScalar *lower = bands.lower(), *diag = bands.diag(), *upper = bands.upper();
  lower[0] = upper[rows - 1] = 0;
  diag[0] = values[0];
  if (rows == 1) return;
  upper[0] = values[1];
  for (PetscInt i = 1; i < rows - 1; ++i) {
    const PetscScalar* row = values + 3 * static_cast<std::size_t>(i) - 1;
    lower[i] = row[0];
    diag[i] = row[1];
    upper[i] = row[2];
  }
  const PetscScalar* last = values + 3 * static_cast<std::size_t>(rows - 1) - 1;
  lower[rows - 1] = last[0];
  diag[rows - 1] = last[1];
}

/// True if the pattern is that of gather_packed().
bool is_packed(PetscInt rows, const PetscInt* row_starts, const PetscInt* columns) {
  if (rows == 0 || row_starts[rows] != 3 * static_cast<Index>(rows) - 2) return false;
  for (PetscInt i = 0; i < rows; ++i) {
    const PetscInt first = i == 0 ? 0 : 3 * i - 1, last = i == rows - 1 ? 3 * i + 1 : 3 * i + 2;
    if (row_starts[i] != first) return false;
    for (PetscInt k = first; k < last; ++k) {
      if (columns[k] != k - 2 * i) return false;
    }
  }
  return true;
}

Index count_nonzeros(const PetscScalar* values, PetscInt count) {
  Index nonzeros = 0;
  for (PetscInt i = 0; i < count; ++i) nonzeros += values[i] != PetscScalar(0);
  return nonzeros;
}

}  // namespace

InvalidInput stored_twice(PetscInt row, PetscInt column) {
  return InvalidInput("row " + std::to_string(row) + " of the matrix stores column " + std::to_string(column) +
                      " twice; assemble it with MatSetValues(), which adds them up");
}

void BandPositions::find(PetscInt rows, const PetscInt* row_starts, const PetscInt* columns) {
  rows_ = rows;
  entries_ = row_starts[rows];
  packed_ = is_packed(rows, row_starts, columns);
  positions_ = {};
  if (packed_) {
    found_ = entries_;
    return;
  }
  found_ = 0;
  positions_.assign(3 * static_cast<std::size_t>(rows), -1);
  for (PetscInt i = 0; i < rows; ++i) {
    PetscInt* row = positions_.data() + 3 * static_cast<std::size_t>(i);
    for (PetscInt k = row_starts[i]; k < row_starts[i + 1]; ++k) {
      const PetscInt band = columns[k] - i + 1;
      if (band < 0 || band > 2) continue;
      if (row[band] >= 0) {
        throw stored_twice(i, columns[k]);
      }
      row[band] = k;
      ++found_;
    }
  }
}

Index BandPositions::gather(const PetscScalar* values, Bands<PetscScalar>& bands) const {
  if (packed_) {
    gather_packed(rows_, values, bands);
    return 0;
  }
  PetscScalar *lower = bands.lower(), *diag = bands.diag(), *upper = bands.upper();
  for (PetscInt i = 0; i < rows_; ++i) {
    const PetscInt* row = positions_.data() + 3 * static_cast<std::size_t>(i);
    lower[i] = row[0] < 0 ? 0 : values[row[0]];
    diag[i] = row[1] < 0 ? 0 : values[row[1]];
    upper[i] = row[2] < 0 ? 0 : values[row[2]];
  }
  if (found_ == entries_) return 0;
  return count_nonzeros(values, entries_) - count_nonzeros(lower, rows_) - count_nonzeros(diag, rows_) -
         count_nonzeros(upper, rows_);
}

PetscErrorCode Extraction::GatherCompressed(PC pc, Mat matrix, Bands<PetscScalar>& bands) {
  Mat local = matrix;
  PetscInt rows = 0;
  const PetscInt *row_starts = nullptr, *columns = nullptr;
  const PetscScalar* values = nullptr;
  PetscBool done = PETSC_FALSE, parallel;
  PetscObjectId id;
  PetscObjectState pattern;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)matrix, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(matrix, &local, nullptr, nullptr));
  PetscCall(PetscObjectGetId((PetscObject)local, &id));
  PetscCall(MatGetNonzeroState(local, &pattern));
  PetscCall(MatGetRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &rows, &row_starts, &columns, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "The matrix does not give its compressed rows; use -mat_type aij");
  PetscCall(MatSeqAIJGetArrayRead(local, &values));
  if (id != matrix_id_ || pattern != pattern_state_ || rows != rows_) {
    matrix_id_ = 0;
    OclspktCall(pc, positions_.find(rows, row_starts, columns));
    matrix_id_ = id;
    pattern_state_ = pattern;
    rows_ = rows;
    ++searches_;
  }
  ignored_ = positions_.gather(values, bands);
  PetscCall(MatSeqAIJRestoreArrayRead(local, &values));
  PetscCall(MatRestoreRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &rows, &row_starts, &columns, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Extraction::Run(PC pc, Mat matrix, Solver<PetscScalar>& solver) {
  Source source;
  PetscInt rows;
  Bands<PetscScalar>* bands = nullptr;

  PetscFunctionBegin;
  PetscCall(FindSource(matrix, &source));
  PetscCall(MatGetSize(matrix, &rows, nullptr));
  OclspktCall(pc, bands = &solver.bands(LineSet::one(rows)));
  if (source == Source::compressed) {
    PetscCall(GatherCompressed(pc, matrix, *bands));
  } else {
    positions_ = {};
    matrix_id_ = 0;
    PetscCall(GatherRows(pc, matrix, source, *bands, &ignored_));
  }
  ++gathers_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
