// SPDX-License-Identifier: BSD-2-Clause
#include <string>

#include "boundary.hxx"
#include "extract.hxx"

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

PetscErrorCode Refuse(Mat matrix, MatType type) {
  const char* text = kUsualCure;
  PetscBool same;

  PetscFunctionBegin;
  for (const Cure& cure : kCures) {
    PetscCall(PetscStrcmp(type, cure.type, &same));
    if (same) text = cure.text;
  }
  SETERRQ(PetscObjectComm((PetscObject)matrix), PETSC_ERR_SUP,
          "PCOCLSPKT reads matrices of type aij, and by rows those that give them; this one is of type %s: %s", type,
          text);
}

/// What holds for every type.
PetscErrorCode CheckShape(Mat matrix) {
  PetscMPIInt ranks;
  PetscInt rows, columns;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)matrix), &ranks));
  PetscCheck(ranks == 1, PetscObjectComm((PetscObject)matrix), PETSC_ERR_SUP,
             "PCOCLSPKT solves on one rank and the matrix is spread over %d; solve each rank's part with -pc_type "
             "bjacobi -sub_pc_type oclspkt",
             ranks);
  PetscCall(MatGetSize(matrix, &rows, &columns));
  PetscCheck(rows == columns, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "PCOCLSPKT needs a square matrix, this one has %" PetscInt_FMT " rows and %" PetscInt_FMT
             " columns; give PCSetOperators() or KSPSetOperators() the square one",
             rows, columns);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One row and the bands that it goes to.
struct Row {
  PetscInt number, count;
  const PetscInt* columns;
  const PetscScalar* values;
};

/// @return the column that is there twice, or -1
PetscInt take_row(const Row& row, bool upper_only, Bands<PetscScalar>& bands, Index& ignored) {
  PetscScalar* const places[] = {bands.lower() + row.number, bands.diag() + row.number, bands.upper() + row.number};
  bool there[] = {false, false, false};
  for (int band = upper_only ? 1 : 0; band < 3; ++band) *places[band] = 0;  // lower came with the row before
  PetscInt twice = -1;
  for (PetscInt k = 0; k < row.count; ++k) {
    const PetscInt column = row.columns[k];
    if (upper_only && column < row.number) continue;  // inside a block on the diagonal, and again above it
    const PetscInt band = column - row.number + 1;
    if (band < 0 || band > 2) {
      if (row.values[k] != PetscScalar(0)) ignored += upper_only ? 2 : 1;
      continue;
    }
    if (there[band]) twice = column;
    there[band] = true;
    *places[band] = row.values[k];
  }
  return twice;
}

}  // namespace

PetscErrorCode FindSource(Mat matrix, Source* source) {
  MatType type;
  PetscBool compressed, symmetric, by_rows, graph, assembled;

  PetscFunctionBegin;
  PetscCall(MatGetType(matrix, &type));
  PetscCheck(type, PetscObjectComm((PetscObject)matrix), PETSC_ERR_ARG_WRONGSTATE,
             "The matrix given to PCOCLSPKT has no type yet; call MatSetType() or MatSetFromOptions(), fill and "
             "assemble it");
  PetscCall(CheckShape(matrix));
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)matrix, &compressed, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)matrix, &symmetric, MATSEQSBAIJ, MATMPISBAIJ, ""));
  PetscCall(MatHasOperation(matrix, MATOP_GET_ROW, &by_rows)); /* a shell without it crashes in MatGetRow() */
  PetscCall(PetscObjectTypeCompare((PetscObject)matrix, MATMPIADJ, &graph));
  if (graph || (!compressed && !by_rows)) PetscCall(Refuse(matrix, type));
  PetscCall(MatAssembled(matrix, &assembled));
  PetscCheck(assembled, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The matrix given to PCOCLSPKT is not assembled; call MatAssemblyBegin() and MatAssemblyEnd() with "
             "MAT_FINAL_ASSEMBLY first");
  *source = compressed ? Source::compressed : symmetric ? Source::upper_rows : Source::rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GatherRows(PC pc, Mat matrix, Source source, Bands<PetscScalar>& bands, Index* ignored) {
  const bool upper_only = source == Source::upper_rows;
  const auto rows = static_cast<PetscInt>(bands.lines().rows());
  Row row;
  PetscInt twice = -1;

  PetscFunctionBegin;
  *ignored = 0;
  if (upper_only) PetscCall(MatGetRowUpperTriangular(matrix));
  if (upper_only && rows > 0) bands.lower()[0] = 0;
  for (row.number = 0; row.number < rows && twice < 0; ++row.number) {
    PetscCall(MatGetRow(matrix, row.number, &row.count, &row.columns, &row.values));
    twice = take_row(row, upper_only, bands, *ignored);
    if (upper_only && row.number + 1 < rows) bands.lower()[row.number + 1] = bands.upper()[row.number];
    PetscCall(MatRestoreRow(matrix, row.number, &row.count, &row.columns, &row.values));
  }
  if (upper_only) PetscCall(MatRestoreRowUpperTriangular(matrix));
  if (twice >= 0) OclspktCall(pc, throw stored_twice(row.number - 1, twice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
