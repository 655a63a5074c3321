// SPDX-License-Identifier: BSD-2-Clause
/* -oclspkt_types: PETSc's own vectors and matrices, with operations of a device in place of the host's. */
#pragma once

#include <petsc/private/vecimpl.h>

#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "device.hpp"
#include "petsc_compat.h"
#include "space.hpp"

namespace oclspkt::petsc {

using DeviceSpace = Space<PetscScalar>;
using DeviceArray = SpaceArray<PetscScalar>;

/// Which copies of a vector are valid, and who else may write them. One of them always is.
///
/// | what happens                                  | host      | device                              |
/// |-----------------------------------------------|-----------|-------------------------------------|
/// | made, array placed, reset or replaced         | valid     | invalid                             |
/// | array got for reading                         | valid     | as it was                           |
/// | array got for writing, until it is restored   | valid     | invalid: brought up for each use    |
/// | read by an operation on the device            | as it was | valid                               |
/// | written by an operation on the device         | invalid   | valid; host valid if an array is out |
struct Side {
  bool host = true, device = false;
  PetscObjectId of = 0;                             ///< the vector: another one may take its place in memory
  int out = 0;                                      ///< arrays got for writing and not restored
  const struct _VecOps* host_operations = nullptr;  ///< PETSc's, of the vector's type
  std::unique_ptr<DeviceArray> array;
  std::unique_ptr<void, decltype(&std::free)> host_memory{nullptr, &std::free};  ///< null: PETSc's
};

/// Below so many rows of a rank the host is quicker: a launch takes some 5 us, a sum some 15 (H200).
inline constexpr PetscInt kLeastRows = 10000;

/// The types of this process.
struct Types {
  PetscBool on = PETSC_FALSE;
  PetscBool poison = PETSC_FALSE;  ///< what is not valid is made NaN, so that who reads it is found
  PetscBool view = PETSC_FALSE;    ///< print at the end what was done
  PetscInt least = kLeastRows;     ///< rows of a rank from which on the device works
  char devices[256] = "auto";
  bool failed = false;  ///< there is no device, or it was lost: the host works
  std::string why;      ///< then
  std::shared_ptr<DeviceSpace> space;
  PetscErrorCode (*create_seq)(Vec) = nullptr, (*create_mpi)(Vec) = nullptr;  ///< PETSc's
  struct _VecOps seq = {}, mpi = {};                                          ///< operations of its types
  std::unordered_map<Vec, Side> sides;
  PetscScalar zero_by_zero = std::numeric_limits<PetscReal>::quiet_NaN();  ///< of VecPointwiseDivide(); NaN: not asked
  std::map<std::string, PetscInt64> fell_back;  ///< operations that the host did although vectors lay on the device
  PetscInt64 ups = 0, downs = 0;                ///< copies of vectors
  PetscInt64 columns = 0;                       ///< of dense matrices, that were solved for
};
Types& types();

/// True if a vector is one of ours.
bool is_dressed(Vec vector);
Side& side_of(Vec vector);
/// The array of the host, valid or not.
inline PetscScalar* host_array(Vec vector) { return *static_cast<PetscScalar**>(vector->data); }

/// The device of the types; null if there is none, or fewer rows than pay.
PetscErrorCode SpaceFor(PetscInt local_rows, DeviceSpace** space);
/// Make the host's copy valid.
PetscErrorCode ToHost(Vec vector);
/// Make the device's copy valid, unless its values are to be overwritten.
/// @throws DeviceError, InvalidInput
void BringToDevice(DeviceSpace& space, Vec vector, bool overwritten, DeviceArray** array);
/// After an operation on the device wrote a vector.
PetscErrorCode WroteOnDevice(Vec vector);
/// The device failed: vectors go on on the host.
PetscErrorCode LoseDevice(const std::string& why);

/// An operation on vectors.
struct Operation {
  const char* name;  ///< as users know it
  std::vector<Vec> read;
  Vec written = nullptr;
  bool overwrites = false;  ///< what is written, whatever it held before
};
/// Count an operation that the host does although its values lie on the device.
void NoteFallBack(const Operation& work);

/// The arrays of what an operation reads, in the order of its vectors.
using Arrays = std::vector<DeviceArray*>;
/// @param written  null if nothing is
/// @throws DeviceError, InvalidInput
using RunOnArrays = std::function<void(DeviceSpace& space, const Arrays& read, DeviceArray* written)>;
/// Do an operation on the device. If that fails the device is lost, and the host goes on if it has the values.
/// @pre all vectors are dressed
/// @param[out] done  false: the host has to do it
PetscErrorCode RunIn(DeviceSpace& space, const Operation& work, PetscBool* done, const RunOnArrays& run);

/// Put those of the device in the place of operations.
void put_operations(struct _VecOps* operations);
/// Put operations of the device into a vector that PETSc has made.
void dress(Vec vector);

/// Read -oclspkt_types and the like; register our creators in the place of PETSc's.
PetscErrorCode RegisterTypes();
PetscErrorCode FinalizeTypes();
/// The same of matrices.
PetscErrorCode RegisterMatrices();
void forget_matrices();

}  // namespace oclspkt::petsc
