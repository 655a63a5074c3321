// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>

#include "oclspkt/line_set.hpp"
#include "petsc_compat.h"

namespace oclspkt::petsc {

/// Columns of a dense matrix on this rank, `stride` scalars apart.
template <typename Scalar>
struct Columns {
  Scalar* first;
  Index stride;
  Scalar* operator[](Index column) const { return first + column * stride; }
  Columns operator+(Index columns) const { return {first + columns * stride, stride}; }
};

/// What is solved for at once: a vector, or some columns of a dense matrix.
struct Block {
  Vec vector = nullptr;
  Mat matrix = nullptr;           ///< null: the vector
  PetscInt first = 0, count = 1;  ///< columns
};

/// The numbers of a block in memory of the host, to be read; every get has its restore.
PetscErrorCode GetRead(const Block& block, Columns<const PetscScalar>* columns);
PetscErrorCode RestoreRead(const Block& block, Columns<const PetscScalar>* columns);
/// The numbers of a block in memory of the host, to be overwritten. Columns before the block keep their values.
PetscErrorCode GetWrite(const Block& block, Columns<PetscScalar>* columns);
PetscErrorCode RestoreWrite(const Block& block, Columns<PetscScalar>* columns);

/// Call call(to, with) for the vectors of two blocks; where `with` is one vector, that for each of `to`.
/// @param call  changes `to`, reads `with`
template <typename Call>
PetscErrorCode EachVector(const Block& to, const Block& with, const Call& call) {
  PetscFunctionBegin;
  for (PetscInt k = 0; k < to.count; ++k) {
    const PetscInt other = with.first + PetscMin(k, with.count - 1);
    Vec changed = to.vector, read = with.vector;
    if (with.matrix) PetscCall(MatDenseGetColumnVecRead(with.matrix, other, &read));
    if (to.matrix) PetscCall(MatDenseGetColumnVec(to.matrix, to.first + k, &changed));
    PetscCall(call(changed, read));
    if (to.matrix) PetscCall(MatDenseRestoreColumnVec(to.matrix, to.first + k, &changed));
    if (with.matrix) PetscCall(MatDenseRestoreColumnVecRead(with.matrix, other, &read));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether a type of vectors, as MatGetVecType() tells it, has nothing but memory of the host.
bool is_of_host(VecType type);

/// product = A x, or A^T x: matrices on devices multiply vectors of their own type only, others are copied by
/// the host.
/// @param[in,out] own  vectors of the matrix's type, made when they are needed
PetscErrorCode Multiply(Mat matrix, Vec x, Vec product, bool transpose, std::array<Block, 2>* own);

/// Have a block be as another one: a vector of its type, or at least as many columns, where it lies.
/// @param[in,out] block  destroyed and made anew where it does not fit
/// @param[out]    made   its numbers are to be written
PetscErrorCode MatchBlock(const Block& like, Block* block, PetscBool* made);
PetscErrorCode DestroyBlock(Block* block);

}  // namespace oclspkt::petsc
