// SPDX-License-Identifier: BSD-2-Clause
/* Dressed matrices: the functions that those of one process and those of several share. */
#pragma once

#include <petsc/private/matimpl.h>

#include <memory>
#include <string>
#include <vector>

#include "types.hxx"

namespace oclspkt::petsc {

/// The copy of a matrix, or of its transpose, on the device.
struct Twin {
  std::unique_ptr<SpaceMatrix<PetscScalar>> form;
  PetscObjectState values = -1, pattern = -1;  ///< states of the matrix of which it was made
  PetscObjectState outer = -1;                 ///< state of the matrix whose block this is
  DeviceSpace* of = nullptr;
  PetscLogDouble entries = 0;
  bool packed = false;                 ///< it has only the rows that have entries
  std::unique_ptr<SpaceIndices> rows;  ///< these rows, if it is packed
  std::unique_ptr<DeviceArray> part;   ///< room for a number of each of them
};

/// Put operations of the device into a matrix of type `seqaij` that PETSc has made, unless they are there already.
PetscErrorCode DressMatrix(Mat matrix);
/// Make a matrix of PETSc's type `mpiaij`, or one of `seqaij`, which is dressed.
PetscErrorCode CreateDressed(Mat matrix, bool parallel);

/// True for matrices of one process whose products can be made on the device.
bool is_dressed(Mat matrix);
/// The copies of a dressed matrix.
Twin& twin_of(Mat matrix, bool transposed);

/// Bring the device's copy up to the state of the matrix.
/// @param outer         state of the matrix whose block it is, which may change values without notice; -1: none
/// @param[out] failure  empty on success
PetscErrorCode Follow(DeviceSpace& space, Mat matrix, PetscObjectState outer, bool transposed, Twin& twin,
                      std::string* failure);

/// The vectors that a product reads and writes: z = A x, or z = y + A x if y is given.
Operation operation_of(const char* name, Vec x, Vec y, Vec z);
/// The device for a product; null if one of the vectors is not dressed, or has too few rows.
PetscErrorCode SpaceOfProduct(const Operation& work, DeviceSpace** space);

/// Make a matrix of PETSc's type `mpiaij`, with products of ours. @pre RegisterMatrices()
PetscErrorCode CreateParallel(Mat matrix);
/// Put products of ours into a matrix of type `mpiaij` that PETSc has made.
void DressParallel(Mat matrix);

/// Find PETSc's creators; with -oclspkt_types, register ours in their place.
PetscErrorCode RegisterMatrices();
PetscErrorCode RegisterParallelMatrices();
PetscErrorCode ForgetMatrices();
PetscErrorCode ForgetParallelMatrices();

/// Find PETSc's creator of a type; with -oclspkt_types, register `create` in its place.
PetscErrorCode ReplaceCreator(const char* type, PetscErrorCode (*create)(Mat), PetscErrorCode (**of_petsc)(Mat));

}  // namespace oclspkt::petsc
