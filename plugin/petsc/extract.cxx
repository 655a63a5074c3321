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

void BandPositions::find(const LineLayout& layout, const Pattern& inner, const Pattern& outer) {
  const bool in_order = layout.rows.empty() && layout.lines.count() == 1 && layout.lines.contiguous();
  rows_ = layout.lines.rows();
  inner_entries_ = inner.entries();
  outer_entries_ = outer.entries();
  packed_ = in_order && outer_entries_ == 0 && is_packed(inner.rows, inner.row_starts, inner.columns);
  positions_ = {};
  ends_.clear();
  if (packed_) {
    found_ = inner_entries_;
    return;
  }
  found_ = 0;
  positions_.assign(3 * static_cast<std::size_t>(rows_), -1);
  std::vector<PetscInt> above, below;
  find_neighbours(layout, inner.first_column, above, below);
  for (Index place = 0; place < rows_; ++place) {
    const PetscInt row = layout.row(place);
    const auto r = static_cast<std::size_t>(row);
    const PetscInt wanted[] = {above[r], inner.first_column + row, below[r]};
    PetscInt* const found = positions_.data() + 3 * static_cast<std::size_t>(place);
    const auto look = [&](const Pattern& pattern, const auto& take) {
      for (PetscInt k = pattern.row_starts[row]; k < pattern.row_starts[row + 1]; ++k) {
        const PetscInt column = pattern.column(k);
        for (int band = 0; band < 3; ++band) {
          if (column == wanted[band]) take(band, k, column);
        }
      }
    };
    look(inner, [&](int band, PetscInt k, PetscInt column) {
      if (found[band] >= 0) throw stored_twice(inner.first_column + row, column);
      found[band] = k;
      ++found_;
    });
    if (outer.rows == 0) continue;
    look(outer, [&](int band, PetscInt k, PetscInt) {
      ends_.push_back({place, band, k});
      ++found_;
    });
  }
}

Index BandPositions::gather(const PetscScalar* inner, const PetscScalar* outer, Bands<PetscScalar>& bands) const {
  if (rows_ == 0) return 0;
  if (packed_) {
    gather_packed(static_cast<PetscInt>(rows_), inner, bands);
    return 0;
  }
  PetscScalar* const band[] = {bands.lower(), bands.diag(), bands.upper()};
  for (Index i = 0; i < rows_; ++i) {
    const PetscInt* row = positions_.data() + 3 * static_cast<std::size_t>(i);
    for (int b = 0; b < 3; ++b) band[b][i] = row[b] < 0 ? 0 : inner[row[b]];
  }
  for (const End& end : ends_) band[end.band][end.place] = outer[end.position];
  if (found_ == static_cast<Index>(inner_entries_) + outer_entries_) return 0;
  const auto rows = static_cast<PetscInt>(rows_);
  return count_nonzeros(inner, inner_entries_) + count_nonzeros(outer, outer_entries_) - count_nonzeros(band[0], rows) -
         count_nonzeros(band[1], rows) - count_nonzeros(band[2], rows);
}

PetscErrorCode Extraction::Identify(Mat part, Known* known) {
  PetscFunctionBegin;
  *known = {};
  if (!part) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetId((PetscObject)part, &known->id));
  PetscCall(MatGetNonzeroState(part, &known->pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Extraction::GatherCompressed(PC pc, Mat matrix, const LineLayout& layout, Bands<PetscScalar>& bands) {
  Mat parts[2] = {matrix, nullptr};
  Pattern patterns[2];
  const PetscScalar* values[2] = {nullptr, nullptr};
  Known known[2];
  PetscBool done, parallel;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)matrix, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(matrix, &parts[0], &parts[1], &patterns[1].global_columns));
  PetscCall(MatGetOwnershipRange(matrix, &patterns[0].first_column, nullptr));
  for (int p = 0; p < 2 && parts[p]; ++p) {
    Pattern& pattern = patterns[p];
    PetscCall(Identify(parts[p], &known[p]));
    PetscCall(MatGetRowIJ(parts[p], 0, PETSC_FALSE, PETSC_FALSE, &pattern.rows, &pattern.row_starts, &pattern.columns,
                          &done));
    PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "The matrix does not give its compressed rows; use -mat_type aij");
    PetscCall(MatSeqAIJGetArrayRead(parts[p], &values[p]));
  }
  if (known[0] != inner_ || known[1] != outer_) {
    forget();
    OclspktCall(pc, positions_.find(layout, patterns[0], patterns[1]));
    inner_ = known[0];
    outer_ = known[1];
    ++searches_;
  }
  ignored_ = positions_.gather(values[0], values[1], bands);
  for (int p = 0; p < 2 && parts[p]; ++p) {
    Pattern& pattern = patterns[p];
    PetscCall(MatSeqAIJRestoreArrayRead(parts[p], &values[p]));
    PetscCall(MatRestoreRowIJ(parts[p], 0, PETSC_FALSE, PETSC_FALSE, &pattern.rows, &pattern.row_starts,
                              &pattern.columns, &done));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Extraction::Run(PC pc, Mat matrix, const LineLayout& layout, Bands<PetscScalar>& bands) {
  Source source;

  PetscFunctionBegin;
  PetscCall(FindSource(matrix, &source));
  if (source == Source::compressed) {
    PetscCall(GatherCompressed(pc, matrix, layout, bands));
  } else {
    positions_ = {};
    forget();
    PetscCall(GatherRows(pc, matrix, source, layout, bands, &ignored_));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &ignored_, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  ++gathers_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
