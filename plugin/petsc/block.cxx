// SPDX-License-Identifier: BSD-2-Clause
#include "block.hxx"

#include <string_view>

namespace oclspkt::petsc {
namespace {

PetscErrorCode SameType(PetscObject a, PetscObject b, PetscBool* same) {
  const char* type;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetType(b, &type));
  PetscCall(PetscObjectTypeCompare(a, type, same));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether a block is of the same type as another one, bound to the host where that is, and as wide.
PetscErrorCode Fits(const Block& block, const Block& like, PetscBool* fits) {
  PetscBool bound = PETSC_FALSE, like_bound = PETSC_FALSE;

  PetscFunctionBegin;
  *fits = PETSC_FALSE;
  if (like.matrix ? !block.matrix || block.count < like.count : !block.vector) PetscFunctionReturn(PETSC_SUCCESS);
  if (like.matrix) {
    PetscCall(SameType((PetscObject)block.matrix, (PetscObject)like.matrix, fits));
    PetscCall(MatBoundToCPU(block.matrix, &bound));
    PetscCall(MatBoundToCPU(like.matrix, &like_bound));
  } else {
    PetscCall(SameType((PetscObject)block.vector, (PetscObject)like.vector, fits));
    PetscCall(VecBoundToCPU(block.vector, &bound));
    PetscCall(VecBoundToCPU(like.vector, &like_bound));
  }
  if (bound != like_bound) *fits = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MakeColumns(const Block& like, Mat* made) {
  PetscInt rows, all_rows;
  MatType type;
  PetscBool bound;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(like.matrix, &rows, nullptr));
  PetscCall(MatGetSize(like.matrix, &all_rows, nullptr));
  PetscCall(MatGetType(like.matrix, &type));
  PetscCall(MatBoundToCPU(like.matrix, &bound));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)like.matrix), made));
  PetscCall(MatSetSizes(*made, rows, PETSC_DECIDE, all_rows, like.count));
  PetscCall(MatSetType(*made, type));
  PetscCall(MatSetUp(*made));
  PetscCall(MatBindToCPU(*made, bound));
  PetscCall(MatAssemblyBegin(*made, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*made, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// VecCopy() for any two types; that of ViennaCL does not write to vectors of the host (PETSc 3.24).
PetscErrorCode CopyOnHost(Vec from, Vec to) {
  const PetscScalar* values;
  PetscScalar* copies;
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(from, &rows));
  PetscCall(VecGetArrayRead(from, &values));
  PetscCall(VecGetArrayWrite(to, &copies));
  PetscCall(PetscArraycpy(copies, values, rows));
  PetscCall(VecRestoreArrayWrite(to, &copies));
  PetscCall(VecRestoreArrayRead(from, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode GetRead(const Block& block, Columns<const PetscScalar>* columns) {
  const PetscScalar* array;
  PetscInt stride = 0;

  PetscFunctionBegin;
  if (block.matrix) {
    PetscCall(MatDenseGetLDA(block.matrix, &stride));
    PetscCall(MatDenseGetArrayRead(block.matrix, &array));
  } else {
    PetscCall(VecGetArrayRead(block.vector, &array));
  }
  *columns = Columns<const PetscScalar>{array, stride} + block.first;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RestoreRead(const Block& block, Columns<const PetscScalar>* columns) {
  const PetscScalar* array = (*columns + -block.first).first;

  PetscFunctionBegin;
  PetscCall(block.matrix ? MatDenseRestoreArrayRead(block.matrix, &array) : VecRestoreArrayRead(block.vector, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetWrite(const Block& block, Columns<PetscScalar>* columns) {
  PetscScalar* array;
  PetscInt stride = 0;

  PetscFunctionBegin;
  if (block.matrix) {
    PetscCall(MatDenseGetLDA(block.matrix, &stride));
    PetscCall(block.first > 0 ? MatDenseGetArray(block.matrix, &array) : MatDenseGetArrayWrite(block.matrix, &array));
  } else {
    PetscCall(VecGetArrayWrite(block.vector, &array));
  }
  *columns = Columns<PetscScalar>{array, stride} + block.first;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RestoreWrite(const Block& block, Columns<PetscScalar>* columns) {
  PetscScalar* array = (*columns + -block.first).first;

  PetscFunctionBegin;
  if (!block.matrix) {
    PetscCall(VecRestoreArrayWrite(block.vector, &array));
  } else if (block.first > 0) {
    PetscCall(MatDenseRestoreArray(block.matrix, &array));
  } else {
    PetscCall(MatDenseRestoreArrayWrite(block.matrix, &array));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool is_of_host(VecType type) {
  const std::string_view own = type ? type : VECSTANDARD;
  return own == VECSTANDARD || own == VECSEQ || own == VECMPI;
}

PetscErrorCode Multiply(Mat matrix, Vec x, Vec product, bool transpose, std::array<Block, 2>* own) {
  VecType type, of_x;
  Vec &own_x = (*own)[0].vector, &own_product = (*own)[1].vector;
  const auto multiply = transpose ? MatMultTranspose : MatMult;

  PetscFunctionBegin;
  PetscCall(MatGetVecType(matrix, &type));
  PetscCall(VecGetType(x, &of_x));
  /* "kokkos" is that of a matrix, "seqkokkos" or "mpikokkos" that of its vectors. */
  if (is_of_host(type) || std::string_view(of_x).ends_with(type)) {
    PetscCall(multiply(matrix, x, product));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!own_x) PetscCall(MatCreateVecs(matrix, &own_x, &own_product));
  PetscCall(CopyOnHost(x, own_x));
  PetscCall(multiply(matrix, own_x, own_product));
  PetscCall(CopyOnHost(own_product, product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatchBlock(const Block& like, Block* block, PetscBool* made) {
  PetscBool fits;

  PetscFunctionBegin;
  PetscCall(Fits(*block, like, &fits));
  *made = static_cast<PetscBool>(!fits);
  if (fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DestroyBlock(block));
  if (like.matrix) {
    PetscCall(MakeColumns(like, &block->matrix));
  } else {
    PetscCall(VecDuplicate(like.vector, &block->vector));
  }
  block->count = like.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DestroyBlock(Block* block) {
  PetscFunctionBegin;
  PetscCall(VecDestroy(&block->vector));
  PetscCall(MatDestroy(&block->matrix));
  *block = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
