// SPDX-License-Identifier: BSD-2-Clause
/* PETSc's own vectors and matrices, with operations of a device in place of the host's: all of them with
   -oclspkt_types, and those of the types `opencl` and `aijopencl` without it. */
#pragma once

#include <petsc/private/vecimpl.h>

#include <array>
#include <cstddef>
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

/// Gives zeros of make_zeros() back.
struct GiveBack {
  std::size_t pages = 0;  ///< bytes of pages; 0: what calloc() gave
  void operator()(void* memory) const;
};
using Zeros = std::unique_ptr<void, GiveBack>;
/// Zeros that take no memory until they are touched; null if there is no room. For arrays of 1 MB and more calloc() is
/// no good: once an array was given back it takes others from that memory, and writes zeros there.
Zeros make_zeros(std::size_t bytes);

/// Which copies of a vector are valid, and who else may write them. One of them always is.
///
/// | what happens                                  | host      | device                              |
/// |-----------------------------------------------|-----------|-------------------------------------|
/// | made, array placed, reset or replaced         | valid     | invalid                             |
/// | array got for reading                         | valid     | as it was                           |
/// | array got for writing, until it is restored   | valid     | invalid: brought up for each use    |
/// | read by an operation on the device            | as it was | valid                               |
/// | written by an operation on the device         | invalid   | valid; host valid if an array is out |
/// | memory lent to be written, until it is back   | invalid   | valid                               |
struct Side {
  bool host = true, device = false;
  PetscObjectId of = 0;                             ///< the vector: another one may take its place in memory
  int out = 0;                                      ///< arrays got for writing and not restored
  int read_by_program = 0;                          ///< times that memory of the device is lent to be read
  bool written_by_program = false;                  ///< memory of the device is lent to be written
  const struct _VecOps* host_operations = nullptr;  ///< PETSc's, of the vector's type
  std::unique_ptr<DeviceArray> array;
  bool is_adopted = false;               ///< the array is memory of the program, and not the host's
  const PetscScalar* wrapped = nullptr;  ///< the host's memory that the array is, see Types::shared
  std::vector<Vec> parts;                ///< that are out, see vec_parts.cxx
  Vec whole = nullptr;                   ///< of a part: the vector that it is of, and shares the host's memory with
  PetscInt first = 0;                    ///< then: its first place there
  PetscObjectState known = 0;            ///< then: its state when both had the same values
  Zeros host_memory;                     ///< null: PETSc's
};

/// For fewer rows of a rank no driver is opened: a launch takes some 5 us, a sum some 15 (H200), the host no longer.
inline constexpr PetscInt kLeastRows = 10000;

/// The types of this process.
struct Types {
  bool ready = false;                      ///< between the beginning and the end of PETSc
  PetscBool on = PETSC_FALSE;              ///< for all vectors and matrices, not only for those of our names
  PetscBool sync = PETSC_FALSE;            ///< wait after each operation, so that PETSc's times are those of operations
  PetscBool poison = PETSC_FALSE;          ///< what is not valid is made NaN, so that who reads it is found
  PetscBool view = PETSC_FALSE;            ///< print at the end what was done
  PetscInt least = kLeastRows;             ///< rows of a rank from which on the device works
  PetscBool least_is_fixed = PETSC_FALSE;  ///< by the user; else it is found when the device is opened
  char devices[256] = "auto";
  char profile[PETSC_MAX_PATH_LEN] = "";  ///< file of measured figures
  bool failed = false;                    ///< there is no device, or it was lost: the host works
  std::string why;                        ///< then
  std::shared_ptr<DeviceSpace> space;
  int sharers = 1;  ///< ranks of this node that use the device
  /// The device is the host's processor: it works in the vectors' own memory, and on products alone, since one core is
  /// as quick as several with what a vector's operations read. Not with poison, which asks for two copies.
  bool shared = false;
  PetscErrorCode (*create_seq)(Vec) = nullptr, (*create_mpi)(Vec) = nullptr;  ///< PETSc's
  struct _VecOps seq = {}, mpi = {};                                          ///< operations of its types
  std::unordered_map<Vec, Side> sides;
  std::array<std::unique_ptr<DeviceArray>, 3> scratch;                     ///< see scratch()
  PetscScalar zero_by_zero = std::numeric_limits<PetscReal>::quiet_NaN();  ///< of VecPointwiseDivide(); NaN: not asked
  std::map<std::string, PetscInt64> fell_back;  ///< operations that the host did although vectors lay on the device
  SpaceCounts begun;                            ///< what the device had done when it was opened and measured
  PetscInt64 ups = 0, downs = 0;                ///< copies of vectors
  PetscInt64 columns = 0;                       ///< of dense matrices, that were solved for
};
Types& types();

/// True if a vector is one of ours.
bool is_dressed(Vec vector);
Side& side_of(Vec vector);
/// The array of the host, valid or not.
inline PetscScalar* host_array(Vec vector) { return *static_cast<PetscScalar**>(vector->data); }

/// The device of the types; null if there is none.
PetscErrorCode AnySpace(DeviceSpace** space);
/// The device of the types; null if there is none, or if so few rows do not pay.
PetscErrorCode SpaceFor(PetscInt local_rows, DeviceSpace** space);
/// The device for operations on vectors alone; null also where it shares the memory of the host.
PetscErrorCode SpaceForVectors(PetscInt local_rows, DeviceSpace** space);
/// From how many rows on the device is quicker than the host, at least kLeastRows. The figures come from the user's
/// profile; if it has none they are measured, which takes a few ms beside building the kernels.
/// @param profile  see ProfileStore
/// @throws DeviceError, BuildError
PetscInt find_least_rows(DeviceSpace& space, const std::string& profile);
/// One of three arrays for intermediate results of an operation. @throws DeviceError
DeviceArray& scratch(DeviceSpace& space, Index rows, std::size_t number = 0);
/// Refuse a vector whose memory on the device the program is writing.
PetscErrorCode CheckNotLent(Vec vector);
/// Make the host's copy valid.
PetscErrorCode ToHost(Vec vector);
/// Copy the device's values of a vector to the host. @throws DeviceError
void bring_down(Vec vector);
/// Arrays that others may write a vector by.
int arrays_out(const Side& side);
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
/// Do an operation on the device, if there is one for its vectors.
/// @param[out] done  false: the host has to do it
PetscErrorCode RunOnDevice(const Operation& work, PetscBool* done, const RunOnArrays& run);
/// Do an operation on the device. If that fails the device is lost, and the host goes on if it has the values.
/// @pre all vectors are dressed
/// @param[out] done  false: the host has to do it
PetscErrorCode RunIn(DeviceSpace& space, const Operation& work, PetscBool* done, const RunOnArrays& run);

/// Put those of the device in the place of operations: place by place, numbers of vectors, parts of vectors.
void put_operations(struct _VecOps* operations);
void put_sums(struct _VecOps* operations);
void put_parts(struct _VecOps* operations);
void put_error_norms(struct _VecOps* operations);
/// PETSc's operations of the vector's type.
inline const struct _VecOps& of_host(Vec vector) { return *side_of(vector).host_operations; }

/// Call a function of PETSc's that asks the vector for an operation which its own types may not have.
template <typename Slot, typename Call>
PetscErrorCode AsPetscDoes(Vec x, Slot slot, const Call& call) {
  auto& operation = (*x->ops).*slot;
  const auto own = operation;

  PetscFunctionBegin;
  operation = of_host(x).*slot;
  const PetscErrorCode code = call();
  operation = own;
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A vector takes the values of its parts that have changed. @throws DeviceError
void take_from_parts(Vec whole);
/// Its parts take the values of a vector that has changed, on the device or on the host. @throws DeviceError
void give_to_parts(Vec whole);
/// A vector is destroyed: its parts, and the vector that it is a part of, no longer know of it.
void forget_parts(Vec vector);
/// True for vectors that -oclspkt_types leaves to PETSc because they have too few rows.
bool is_too_short(Vec vector);
/// Put operations of the device into a vector that PETSc has made.
void dress(Vec vector);
/// Make a vector of PETSc's type for its number of ranks, and dress it.
PetscErrorCode CreateDressed(Vec vector);

/// Read -oclspkt_types and the like; register our creators in the place of PETSc's.
PetscErrorCode RegisterTypes();
PetscErrorCode FinalizeTypes();

/* Types for some objects of a program only. */
inline constexpr const char *kVecName = "opencl", *kMatName = "aijopencl", *kMatSeqName = "seqaijopencl",
                            *kMatMPIName = "mpiaijopencl";
bool has_our_name(Vec vector);
PetscErrorCode RegisterNamedTypes();
/// Have PETSc refuse what keeps vectors over arrays of other vectors, which it would silently get wrong.
PetscErrorCode RefuseHiddenVectors();

/// While this lives, -log_view counts what is copied to the device, or from it, and how long that takes.
class LoggedCopy {
 public:
  enum class Way { up, down };
  LoggedCopy(const DeviceSpace& space, Way way);
  ~LoggedCopy();
  LoggedCopy(const LoggedCopy&) = delete;
  LoggedCopy& operator=(const LoggedCopy&) = delete;

 private:
  std::int64_t moved() const;

  const DeviceSpace& space_;
  Way way_;
  std::int64_t before_;
};

}  // namespace oclspkt::petsc
