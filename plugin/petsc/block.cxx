// SPDX-License-Identifier: BSD-2-Clause
#include "block.hxx"

#include <string_view>

#include "boundary.hxx"

namespace oclspkt::petsc {
namespace {

/// Whether two objects are of one type, both bound to the host or none.
template <typename Object>
bool are_alike(Object a, Object b, PetscErrorCode (*bound_to_cpu)(Object, PetscBool*)) {
  const char* type;
  PetscBool same, a_bound = PETSC_FALSE, b_bound = PETSC_FALSE;
  must(PetscObjectGetType((PetscObject)b, &type));
  must(PetscObjectTypeCompare((PetscObject)a, type, &same));
  must((*bound_to_cpu)(a, &a_bound));
  must((*bound_to_cpu)(b, &b_bound));
  return same && a_bound == b_bound;
}

/// Whether a block is of the same type as another one, bound to the host where that is, and as wide.
bool fits(const Block& block, const Block& like) {
  if (like.matrix) {
    return block.matrix && block.count >= like.count && are_alike(block.matrix, like.matrix, MatBoundToCPU);
  }
  return block.vector && are_alike(block.vector, like.vector, VecBoundToCPU);
}

Mat make_columns(const Block& like) {
  Mat made;
  PetscInt rows, all_rows;
  MatType type;
  PetscBool bound;
  must(MatGetLocalSize(like.matrix, &rows, nullptr));
  must(MatGetSize(like.matrix, &all_rows, nullptr));
  must(MatGetType(like.matrix, &type));
  must(MatBoundToCPU(like.matrix, &bound));
  must(MatCreate(comm_of(like.matrix), &made));
  must(MatSetSizes(made, rows, PETSC_DECIDE, all_rows, like.count));
  must(MatSetType(made, type));
  must(MatSetUp(made));
  must(MatBindToCPU(made, bound));
  must(MatAssemblyBegin(made, MAT_FINAL_ASSEMBLY));
  must(MatAssemblyEnd(made, MAT_FINAL_ASSEMBLY));
  return made;
}

/// VecCopy() for any two types; that of ViennaCL does not write to vectors of the host (PETSc 3.24).
void copy_on_host(Vec from, Vec to) {
  const PetscScalar* values;
  PetscScalar* copies;
  PetscInt rows;
  must(VecGetLocalSize(from, &rows));
  must(VecGetArrayRead(from, &values));
  must(VecGetArrayWrite(to, &copies));
  must(PetscArraycpy(copies, values, rows));
  must(VecRestoreArrayWrite(to, &copies));
  must(VecRestoreArrayRead(from, &values));
}

}  // namespace

Columns<const PetscScalar> get_read(const Block& block) {
  const PetscScalar* array;
  PetscInt stride = 0;
  if (block.matrix) {
    must(MatDenseGetLDA(block.matrix, &stride));
    must(MatDenseGetArrayRead(block.matrix, &array));
  } else {
    must(VecGetArrayRead(block.vector, &array));
  }
  return Columns<const PetscScalar>{array, stride} + block.first;
}

void restore_read(const Block& block, const Columns<const PetscScalar>& columns) {
  const PetscScalar* array = (columns + -block.first).first;
  must(block.matrix ? MatDenseRestoreArrayRead(block.matrix, &array) : VecRestoreArrayRead(block.vector, &array));
}

Columns<PetscScalar> get_write(const Block& block) {
  PetscScalar* array;
  PetscInt stride = 0;
  if (block.matrix) {
    must(MatDenseGetLDA(block.matrix, &stride));
    must(block.first > 0 ? MatDenseGetArray(block.matrix, &array) : MatDenseGetArrayWrite(block.matrix, &array));
  } else {
    must(VecGetArrayWrite(block.vector, &array));
  }
  return Columns<PetscScalar>{array, stride} + block.first;
}

void restore_write(const Block& block, const Columns<PetscScalar>& columns) {
  PetscScalar* array = (columns + -block.first).first;
  if (!block.matrix) {
    must(VecRestoreArrayWrite(block.vector, &array));
  } else if (block.first > 0) {
    must(MatDenseRestoreArray(block.matrix, &array));
  } else {
    must(MatDenseRestoreArrayWrite(block.matrix, &array));
  }
}

bool is_of_host(VecType type) {
  const std::string_view own = type ? type : VECSTANDARD;
  return own == VECSTANDARD || own == VECSEQ || own == VECMPI;
}

void multiply(Mat matrix, Vec x, Vec product, bool transpose, std::array<Block, 2>& own) {
  VecType type, of_x;
  Vec &own_x = own[0].vector, &own_product = own[1].vector;
  const auto product_of = transpose ? MatMultTranspose : MatMult;
  must(MatGetVecType(matrix, &type));
  must(VecGetType(x, &of_x));
  /* "kokkos" is that of a matrix, "seqkokkos" or "mpikokkos" that of its vectors. */
  if (is_of_host(type) || std::string_view(of_x).ends_with(type)) {
    must(product_of(matrix, x, product));
    return;
  }
  if (!own_x) must(MatCreateVecs(matrix, &own_x, &own_product));
  copy_on_host(x, own_x);
  must(product_of(matrix, own_x, own_product));
  copy_on_host(own_product, product);
}

bool match_block(const Block& like, Block& block) {
  if (fits(block, like)) return false;
  destroy_block(block);
  if (like.matrix) {
    block.matrix = make_columns(like);
  } else {
    must(VecDuplicate(like.vector, &block.vector));
  }
  block.count = like.count;
  return true;
}

void destroy_block(Block& block) {
  must(VecDestroy(&block.vector));
  must(MatDestroy(&block.matrix));
  block = {};
}

}  // namespace oclspkt::petsc
