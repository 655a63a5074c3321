// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <string>
#include <vector>

#include "boundary.hxx"
#include "extract.hxx"
#include "neighbours.hxx"

namespace oclspkt::petsc {
namespace {

/// Types that hold no rows to read, and what their users do instead.
struct Cure {
  MatType type;
  const char* text;
};
constexpr Cure kCures[] = {
    {MATMFFD,
     "give an assembled matrix of type aij for the preconditioner (KSPSetOperators(); -snes_mf_operator, not "
     "-snes_mf)"},
    {MATSHELL,
     "give an assembled one for the preconditioner as the second matrix of KSPSetOperators(), with -mat_type "
     "aij"},
    {MATMPIADJ, "it is a graph without the values; give the matrix of type aij that it was made from"},
    {MATTRANSPOSEVIRTUAL, "make the transposed matrix with MatTranspose(), or MatConvert() it to MATAIJ"},
};
constexpr const char* kUsualCure =
    "use -mat_type aij (-dm_mat_type aij if a DM makes it), or MatConvert() it to MATAIJ";

void refuse_type(Mat matrix, MatType type) {
  const char* text = kUsualCure;
  PetscBool same;
  for (const Cure& cure : kCures) {
    must(PetscStrcmp(type, cure.type, &same));
    if (same) text = cure.text;
  }
  OclspktCheck(false, comm_of(matrix), PETSC_ERR_SUP,
               "PCOCLSPKT reads matrices of type aij, and by rows those that give them; this one is of type %s: %s",
               type, text);
}

/// The type of the matrix that the program gave, if it gave one.
MatType type_of(Mat matrix) {
  PetscInt rows;
  MatType type;
  must(MatGetType(matrix, &type));
  if (type) return type;
  must(MatGetSize(matrix, &rows, nullptr));
  OclspktCheck(rows >= 0, comm_of(matrix), PETSC_ERR_ORDER,
               "PCOCLSPKT was given no matrix: call KSPSetOperators() or PCSetOperators() with an assembled one before "
               "the set-up or the solve");
  OclspktCheck(false, comm_of(matrix), PETSC_ERR_ARG_WRONGSTATE,
               "The matrix given to PCOCLSPKT has no type yet; call MatSetType() or MatSetFromOptions(), fill and "
               "assemble it");
}

}  // namespace

void check_shape(Mat matrix) {
  const PetscInt *row_starts, *column_starts;
  PetscInt rows, columns;
  PetscBool alike;
  int rank = 0;
  must(MatGetSize(matrix, &rows, &columns));
  OclspktCheck(rows == columns, comm_of(matrix), PETSC_ERR_ARG_SIZ,
               "PCOCLSPKT needs a square matrix, this one has %" PetscInt_FMT " rows and %" PetscInt_FMT
               " columns; give PCSetOperators() or KSPSetOperators() the square one",
               rows, columns);
  /* Vectors of right-hand sides are laid out as rows, solutions as columns. All ranks know both layouts. */
  must(MatHasCongruentLayouts(matrix, &alike));
  if (alike) return;
  must(MatGetOwnershipRanges(matrix, &row_starts));
  must(MatGetOwnershipRangesColumn(matrix, &column_starts));
  while (row_starts[rank + 1] == column_starts[rank + 1]) ++rank;
  OclspktCheck(false, comm_of(matrix), PETSC_ERR_ARG_SIZ,
               "PCOCLSPKT needs as many local columns as local rows on each rank, and rank %d has %" PetscInt_FMT
               " rows and %" PetscInt_FMT " columns; give MatSetSizes() the same two local sizes",
               rank, row_starts[rank + 1] - row_starts[rank], column_starts[rank + 1] - column_starts[rank]);
}

namespace {

/// One row of this rank, and the rows that it couples to on its line.
struct Row {
  PetscInt number, above, below, count;  ///< global numbers; -1 for no neighbour
  const PetscInt* columns;
  const PetscScalar* values;
};

/// The bands by global rows of this rank.
struct Places {
  Bands<PetscScalar>& bands;
  const std::vector<Index>& place_of;  ///< by local row; empty: the same
  PetscInt first, end;                 ///< global rows
  PetscScalar* at(int band, PetscInt row) const {
    PetscScalar* const start[] = {bands.lower(), bands.diag(), bands.upper()};
    const auto local = static_cast<std::size_t>(row - first);
    return start[band] + (place_of.empty() ? static_cast<Index>(local) : place_of[local]);
  }
  bool here(PetscInt row) const { return row >= first && row < end; }
};

/// Add a row to bands that were 0 before. Of a matrix that stores its upper triangle, an entry stands for its mirror
/// image as well.
/// @return the column that is there twice, or -1
PetscInt take_row(const Row& row, bool upper_only, const Places& places, Coupling& coupling) {
  const PetscInt wanted[] = {row.above, row.number, row.below};
  bool seen[] = {false, false, false};
  PetscInt twice = -1;
  double along = 0, off = 0;
  for (PetscInt k = 0; k < row.count; ++k) {
    const PetscInt column = row.columns[k];
    if (upper_only && column < row.number) continue;  // inside a block on the diagonal, and again above it
    const auto* const band = std::find(wanted, wanted + 3, column);
    const int b = static_cast<int>(band - wanted);
    if (b == 3) {
      if (row.values[k] != PetscScalar(0)) coupling.ignored += upper_only ? 2 : 1;
      off += std::abs(row.values[k]);
      continue;
    }
    if (b != 1) along += std::abs(row.values[k]);
    if (seen[b]) twice = column;
    seen[b] = true;
    *places.at(b, row.number) = row.values[k];
    if (upper_only && b != 1 && places.here(column)) *places.at(2 - b, column) = row.values[k];
  }
  coupling.add(std::abs(*places.at(1, row.number)), along, off);
  return twice;
}

}  // namespace

Source find_source(Mat matrix) {
  const MatType type = type_of(matrix);
  PetscBool compressed, symmetric, by_rows, graph, assembled;
  check_shape(matrix);
  must(PetscObjectBaseTypeCompareAny((PetscObject)matrix, &compressed, MATSEQAIJ, MATMPIAIJ, ""));
  must(PetscObjectBaseTypeCompareAny((PetscObject)matrix, &symmetric, MATSEQSBAIJ, MATMPISBAIJ, ""));
  must(MatHasOperation(matrix, MATOP_GET_ROW, &by_rows)); /* a shell without it crashes in MatGetRow() */
  must(PetscObjectTypeCompare((PetscObject)matrix, MATMPIADJ, &graph));
  if (graph || (!compressed && !by_rows)) refuse_type(matrix, type);
  must(MatAssembled(matrix, &assembled));
  OclspktCheck(assembled, comm_of(matrix), PETSC_ERR_ARG_WRONGSTATE,
               "The matrix given to PCOCLSPKT is not assembled; call MatAssemblyBegin() and MatAssemblyEnd() with "
               "MAT_FINAL_ASSEMBLY first");
  return compressed ? Source::compressed : symmetric ? Source::upper_rows : Source::rows;
}

Coupling gather_rows(PC pc, Mat matrix, Source source, const LineLayout& layout, Bands<PetscScalar>& bands) {
  const bool upper_only = source == Source::upper_rows;
  PetscInt first, end, twice = -1;
  std::vector<Index> place_of(layout.rows.size());
  Coupling coupling;
  Row row;
  OclspktCheck(!upper_only || !layout.exchange, comm_of(pc), PETSC_ERR_SUP,
               "PCOCLSPKT reads matrices that store their upper triangle only where no line is cut by ranks; use "
               "-mat_type aij, or MatConvert() it to MATAIJ");
  must(MatGetOwnershipRange(matrix, &first, &end));
  const Neighbours neighbours = neighbours_of(layout, first);
  for (std::size_t i = 0; i < place_of.size(); ++i) {
    place_of[static_cast<std::size_t>(layout.rows[i])] = static_cast<Index>(i);
  }
  const Places places{bands, place_of, first, end};
  for (PetscScalar* band : {bands.lower(), bands.diag(), bands.upper()}) std::fill_n(band, end - first, PetscScalar(0));
  if (upper_only) must(MatGetRowUpperTriangular(matrix));
  for (row.number = first; row.number < end && twice < 0; ++row.number) {
    const auto& [above, below] = neighbours[static_cast<std::size_t>(row.number - first)];
    row.above = above;
    row.below = below;
    must(MatGetRow(matrix, row.number, &row.count, &row.columns, &row.values));
    twice = take_row(row, upper_only, places, coupling);
    must(MatRestoreRow(matrix, row.number, &row.count, &row.columns, &row.values));
  }
  if (upper_only) must(MatRestoreRowUpperTriangular(matrix));
  if (twice >= 0) throw stored_twice(row.number - 1, twice);
  return coupling;
}

}  // namespace oclspkt::petsc
