// SPDX-License-Identifier: BSD-2-Clause
/* Functions shared by sequential and parallel dressed matrices. */
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
  PetscObjectState values = -1, pattern = -1;  ///< states of the matrix when the copy was made
  /// State of the parallel matrix with this block when the copy was made; -1: the matrix is no such block.
  PetscObjectState outer = -1;
  DeviceSpace* of = nullptr;
  PetscLogDouble entries = 0;
  bool packed = false;                 ///< the copy has only the nonempty rows
  std::unique_ptr<SpaceIndices> rows;  ///< indices of the nonempty rows, if packed
  std::unique_ptr<DeviceArray> part;   ///< scratch, shape [rows]
};

/// True for sequential matrices with products on the device.
bool is_dressed(Mat matrix);
Twin& twin_of(Mat matrix, bool transposed);

/// Update the device's copy if the matrix has changed. @return the cause of a failure; empty on success
/// @param outer  state of the parallel matrix with the block `matrix`, because blocks may change while their own states
///               stay; -1: no parallel matrix
std::string follow(DeviceSpace& space, Mat matrix, PetscObjectState outer, bool transposed, Twin& twin);

/// A product z = A x, or z = y + A x if y is set, with the transpose of A if `transposed`.
struct Product {
  Mat matrix;
  bool transposed;
  Vec x, y, z;
  /// @param second, last  y and z of z = y + A x; if `last` is null, `second` is z of z = A x
  Product(Mat matrix_of, bool is_transposed, Vec of, Vec second, Vec last = nullptr)
      : matrix(matrix_of), transposed(is_transposed), x(of), y(last ? second : nullptr), z(last ? last : second) {}
  const char* name() const {
    if (y == nullptr) return transposed ? "MatMultTranspose" : "MatMult";
    return transposed ? "MatMultTransposeAdd" : "MatMultAdd";
  }
  Operation work() const { return {name(), 0, y == nullptr ? std::vector{x} : std::vector{x, y}, z, true}; }
};
/// Replace the four products of a matrix by instances of the template `multiply`.
#define OCLSPKT_PUT_PRODUCTS(ops, multiply)                                         \
  (ops)->mult = Called<multiply<&_MatOps::mult, false, Vec, Vec>>;                  \
  (ops)->multadd = Called<multiply<&_MatOps::multadd, false, Vec, Vec, Vec>>;       \
  (ops)->multtranspose = Called<multiply<&_MatOps::multtranspose, true, Vec, Vec>>; \
  (ops)->multtransposeadd = Called<multiply<&_MatOps::multtransposeadd, true, Vec, Vec, Vec>>

/// The device for a product; null if a vector is not dressed or has too few rows.
DeviceSpace* space_of_product(const Operation& work);

/// Make a matrix of PETSc's type `mpiaij` with our products. @pre register_matrices()
void create_parallel(Mat matrix);
/// Put our products into an `mpiaij` matrix of PETSc.
void dress_parallel(Mat matrix);

/// Find PETSc's creators of matrices. With -oclspkt_types, register our creators in their place.
void register_matrices();
void register_parallel_matrices();
void forget_matrices();
void forget_parallel_matrices();

}  // namespace oclspkt::petsc
