// SPDX-License-Identifier: BSD-2-Clause
#include "block.hxx"

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
