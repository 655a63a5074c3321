// SPDX-License-Identifier: BSD-2-Clause
/* Functions shared by the dressed matrices of one process and those of several processes. */
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
  /// State, when the copy was made, of the MPI matrix that has this matrix as a block; -1: no such matrix.
  PetscObjectState outer = -1;
  DeviceSpace* of = nullptr;
  PetscLogDouble entries = 0;
  bool packed = false;                 ///< the copy has only the rows that have entries
  std::unique_ptr<SpaceIndices> rows;  ///< the rows that have entries, if packed
  std::unique_ptr<DeviceArray> part;   ///< scratch, shape [rows]
};

/// True for matrices of one process whose products can be made on the device.
bool is_dressed(Mat matrix);
/// The copy of a dressed matrix, or of its transpose.
Twin& twin_of(Mat matrix, bool transposed);

/// Bring the device's copy up to the state of the matrix.
/// @param outer  state of the MPI matrix that has `matrix` as a block, because blocks change without notice; -1: none
/// @return why this failed; empty on success
std::string follow(DeviceSpace& space, Mat matrix, PetscObjectState outer, bool transposed, Twin& twin);

/// A product: z = A x, or z = y + A x if y is given, with the transposed matrix if `transposed`.
struct Product {
  Mat matrix;
  bool transposed;
  Vec x, y, z;
  /// @param last  receives the result; null: `second` receives it, and nothing is added
  Product(Mat matrix_of, bool is_transposed, Vec of, Vec second, Vec last = nullptr)
      : matrix(matrix_of), transposed(is_transposed), x(of), y(last ? second : nullptr), z(last ? last : second) {}
  const char* name() const {
    if (y == nullptr) return transposed ? "MatMultTranspose" : "MatMult";
    return transposed ? "MatMultTransposeAdd" : "MatMultAdd";
  }
  /// The product as an operation on vectors.
  Operation work() const { return {name(), 0, y == nullptr ? std::vector{x} : std::vector{x, y}, z, true}; }
};
/// Replace the four products of a matrix by those of a template.
#define OCLSPKT_PUT_PRODUCTS(ops, multiply)                                         \
  (ops)->mult = Called<multiply<&_MatOps::mult, false, Vec, Vec>>;                  \
  (ops)->multadd = Called<multiply<&_MatOps::multadd, false, Vec, Vec, Vec>>;       \
  (ops)->multtranspose = Called<multiply<&_MatOps::multtranspose, true, Vec, Vec>>; \
  (ops)->multtransposeadd = Called<multiply<&_MatOps::multtransposeadd, true, Vec, Vec, Vec>>

/// The device for a product; null if a vector is not dressed or has too few rows.
DeviceSpace* space_of_product(const Operation& work);

/// Make a matrix of PETSc's type `mpiaij`, with our products. @pre register_matrices()
void create_parallel(Mat matrix);
/// Put our products into a matrix of type `mpiaij` that PETSc has made.
void dress_parallel(Mat matrix);

/// Find PETSc's creators of matrices; with -oclspkt_types, register ours in their place.
void register_matrices();
void register_parallel_matrices();
void forget_matrices();
void forget_parallel_matrices();

}  // namespace oclspkt::petsc
