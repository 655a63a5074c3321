// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>

#include "boundary.hxx"
#include "oclspkt/line_set.hpp"

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
Columns<const PetscScalar> get_read(const Block& block);
void restore_read(const Block& block, const Columns<const PetscScalar>& columns);
/// The numbers of a block in memory of the host, to be overwritten. Columns before the block keep their values.
Columns<PetscScalar> get_write(const Block& block);
void restore_write(const Block& block, const Columns<PetscScalar>& columns);

/// Call call(to, with) for the vectors of two blocks; where `with` is one vector, that for each of `to`.
/// @param call  changes `to`, reads `with`
template <typename Call>
void each_vector(const Block& to, const Block& with, const Call& call) {
  for (PetscInt k = 0; k < to.count; ++k) {
    const PetscInt other = with.first + PetscMin(k, with.count - 1);
    Vec changed = to.vector, read = with.vector;
    if (with.matrix) must(MatDenseGetColumnVecRead(with.matrix, other, &read));
    if (to.matrix) must(MatDenseGetColumnVec(to.matrix, to.first + k, &changed));
    call(changed, read);
    if (to.matrix) must(MatDenseRestoreColumnVec(to.matrix, to.first + k, &changed));
    if (with.matrix) must(MatDenseRestoreColumnVecRead(with.matrix, other, &read));
  }
}

/// Whether a type of vectors, as MatGetVecType() tells it, has nothing but memory of the host.
bool is_of_host(VecType type);

/// product = A x, or A^T x: matrices on devices multiply vectors of their own type only, others are copied by
/// the host.
/// @param[in,out] own  vectors of the matrix's type, made when they are needed
void multiply(Mat matrix, Vec x, Vec product, bool transpose, std::array<Block, 2>& own);

/// Have a block be as another one: a vector of its type, or at least as many columns, where it lies.
/// @param[in,out] block  destroyed and made anew where it does not fit
/// @return whether it was made anew, so that its numbers are to be written
bool match_block(const Block& like, Block& block);
void destroy_block(Block& block);

}  // namespace oclspkt::petsc
