// SPDX-License-Identifier: BSD-2-Clause
#include "system.hxx"

#include "parallel.hpp"

namespace oclspkt::bench::petsc {
namespace {

/// Row by row; couplings that lead out of a line are not stored.
PetscErrorCode CreateMatrix(const LineSet& lines, const BandsView<PetscScalar>& bands, Mat* matrix) {
  const auto rows = static_cast<PetscInt>(lines.rows()), stride = static_cast<PetscInt>(lines.row_stride());

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, rows, rows, 3, nullptr, matrix));
  for (PetscInt i = 0; i < rows; ++i) {
    PetscInt columns[3], count = 0;
    PetscScalar values[3];
    const auto add = [&](PetscInt column, PetscScalar value) {
      columns[count] = column;
      values[count++] = value;
    };
    if (bands.lower[i] != 0) add(i - stride, bands.lower[i]);
    add(i, bands.diag[i]);
    if (bands.upper[i] != 0) add(i + stride, bands.upper[i]);
    PetscCall(MatSetValues(*matrix, 1, &i, count, columns, values, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*matrix, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

PetscErrorCode CreateVec(const PetscScalar* values, PetscInt rows, Vec* vec) {
  PetscScalar* own;

  PetscFunctionBeginUser;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, rows, vec));
  PetscCall(VecGetArrayWrite(*vec, &own));
  copy(values, rows, own);
  PetscCall(VecRestoreArrayWrite(*vec, &own));
  PetscFunctionReturn(0);
}

}  // namespace

PetscErrorCode System::Create(const MatrixSpec& spec, const LineSet& set, PetscInt n) {
  PetscScalar* values;

  PetscFunctionBeginUser;
  lines = set;
  Bands<PetscScalar> bands(lines);
  fill_bands(spec, bands);
  PetscCall(CreateMatrix(lines, bands.view(), &matrix));
  PetscCall(CreateVec(bands.lower(), rows(), &lower));
  PetscCall(CreateVec(bands.diag(), rows(), &diag));
  PetscCall(CreateVec(bands.upper(), rows(), &upper));
  PetscCall(MatCreateVecs(matrix, &solution, &right));
  PetscCall(VecGetArrayWrite(right, &values));
  fill_solution(spec.seed, rows(), values);
  PetscCall(VecRestoreArrayWrite(right, &values));
  if (n > 0) {
    PetscCall(DMDACreate3d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n,
                           n, n, 1, 1, 1, 1, 1, nullptr, nullptr, nullptr, &grid));
    PetscCall(DMSetUp(grid));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode System::Destroy() {
  PetscFunctionBeginUser;
  PetscCall(DMDestroy(&grid));
  PetscCall(MatDestroy(&matrix));
  for (Vec* vec : {&lower, &diag, &upper, &right, &solution}) PetscCall(VecDestroy(vec));
  PetscFunctionReturn(0);
}

PetscErrorCode System::ChangeValues() {
  constexpr PetscScalar kFactor = 1 + 0x1p-6;  // factors of the values before would show in every answer

  PetscFunctionBeginUser;
  PetscCall(MatScale(matrix, kFactor));
  for (Vec band : {lower, diag, upper}) PetscCall(VecScale(band, kFactor));
  PetscFunctionReturn(0);
}

PetscErrorCode System::BackwardError(double* error) const {
  Vec residual;
  PetscReal norms[4];

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(right, &residual));
  PetscCall(MatMult(matrix, solution, residual));
  PetscCall(VecAYPX(residual, -1, right));
  PetscCall(VecNorm(residual, NORM_INFINITY, &norms[0]));
  PetscCall(VecNorm(solution, NORM_INFINITY, &norms[1]));
  PetscCall(VecNorm(right, NORM_INFINITY, &norms[2]));
  PetscCall(MatNorm(matrix, NORM_INFINITY, &norms[3]));
  PetscCall(VecDestroy(&residual));
  *error = norms[0] / (norms[3] * norms[1] + norms[2]);
  PetscFunctionReturn(0);
}

PetscErrorCode ExtractBare(const System& system, Bands<PetscScalar>& bands) {
  const Index rows = system.lines.rows();
  const PetscScalar* values;

  PetscFunctionBeginUser;
  PetscCall(MatSeqAIJGetArrayRead(system.matrix, &values));
  PetscScalar *lower = bands.lower(), *diag = bands.diag(), *upper = bands.upper();
  for_each_share(rows, [&](Index first, Index last) {
    if (first == 0) diag[0] = values[0];
    if (first == 0 && rows > 1) upper[0] = values[1];
    for (Index i = std::max(first, Index{1}); i < std::min(last, rows - 1); ++i) {
      lower[i] = values[3 * i - 1];  // the first row has no lower coupling
      diag[i] = values[3 * i];
      upper[i] = values[3 * i + 1];
    }
    if (last == rows && rows > 1) {
      lower[rows - 1] = values[3 * rows - 4];
      diag[rows - 1] = values[3 * rows - 3];
    }
  });
  PetscCall(MatSeqAIJRestoreArrayRead(system.matrix, &values));
  PetscFunctionReturn(0);
}

}  // namespace oclspkt::bench::petsc
