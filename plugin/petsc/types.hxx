// SPDX-License-Identifier: BSD-2-Clause
/* Dressed vectors and matrices: objects of PETSc's own types whose operations run on a device instead of the host. With
   -oclspkt_types all objects are dressed; without it, those of the types `opencl` and `aijopencl`. */
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

#include "boundary.hxx"
#include "device.hpp"
#include "space.hpp"

namespace oclspkt::petsc {

using DeviceSpace = Space<PetscScalar>;
using DeviceArray = SpaceArray<PetscScalar>;

/// Frees the memory of make_zeros().
struct GiveBack {
  std::size_t pages = 0;  ///< bytes of mapped pages; 0: the memory is from calloc()
  void operator()(void* memory) const;
};
using Zeros = std::unique_ptr<void, GiveBack>;
/// Zeros that take no memory until they are touched; null if there is no room. Arrays of 1 MB and more are mapped
/// pages, because calloc() may return freed memory, into which it then writes zeros.
Zeros make_zeros(std::size_t bytes);

/// The state of a vector's two copies: which of them are valid, and who else may write them. At least one is valid.
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
  PetscObjectId of = 0;                             ///< id of the vector: a later vector may have the same address
  int out = 0;                                      ///< arrays got for writing and not restored
  int read_by_program = 0;                          ///< times that memory of the device is lent to be read
  bool written_by_program = false;                  ///< memory of the device is lent to be written
  const struct _VecOps* host_operations = nullptr;  ///< PETSc's operations of the vector's type
  std::unique_ptr<DeviceArray> array = {};
  bool is_adopted = false;               ///< the program gave the array, and it is not host memory
  const PetscScalar* wrapped = nullptr;  ///< the host memory that `array` uses, see Types::shared
  std::vector<Vec> parts = {};           ///< the parts that are out, see vec_parts.cxx
  Vec whole = nullptr;                   ///< of a part: the vector whose host memory it shares
  PetscInt first = 0;                    ///< of a part: its first place in `whole`
  PetscObjectState known = 0;            ///< of a part: its state when it had the values of `whole`
  Zeros host_memory;                     ///< null: the host memory is PETSc's
};

/// Rows of a rank below which no driver is opened: a launch takes about 5 us and a sum about 15 us (H200), and the host
/// needs no more than that for short vectors.
inline constexpr PetscInt kLeastRows = 10000;

/// The options -oclspkt_types and -oclspkt_types_*.
struct TypeOptions {
  PetscBool on = PETSC_FALSE;              ///< dress all vectors and matrices, not only those of our types
  PetscBool sync = PETSC_FALSE;            ///< wait after each operation, so that PETSc times the operations
  PetscBool poison = PETSC_FALSE;          ///< set invalid copies to NaN, to find code that reads them
  PetscBool view = PETSC_FALSE;            ///< print a summary at the end
  PetscBool least_is_fixed = PETSC_FALSE;  ///< the user set Types::least; else opening the device finds it
  char devices[256] = "auto";
  char profile[PETSC_MAX_PATH_LEN] = "";  ///< file of measured figures
};

/// The state of this process that all dressed objects share.
struct Types {
  TypeOptions options;
  bool ready = false;           ///< PETSc has begun and not yet ended
  PetscInt least = kLeastRows;  ///< least rows of a rank for which the device works
  bool failed = false;          ///< there is no device, or it was lost; the host works
  std::string why;              ///< the reason, if failed
  std::shared_ptr<DeviceSpace> space;
  int sharers = 1;  ///< ranks of this node that use the device
  /// The device is the host's processor, and works in the vectors' own memory. It computes products alone, because one
  /// core is as fast as several in operations on vectors. False under TypeOptions::poison, which needs two copies.
  bool shared = false;
  struct {
    PetscErrorCode (*create_seq)(Vec) = nullptr, (*create_mpi)(Vec) = nullptr;
    struct _VecOps seq = {}, mpi = {};  ///< operations of PETSc's types
  } petscs;
  std::unordered_map<Vec, Side> sides;
  std::array<std::unique_ptr<DeviceArray>, 3> scratch;  ///< see scratch()
  PetscScalar zero_by_zero =
      std::numeric_limits<PetscReal>::quiet_NaN();  ///< result of 0 / 0 in VecPointwiseDivide(); NaN: not found yet
  std::map<std::string, PetscInt64> fell_back;      ///< by operation: how often the host replaced the device
  SpaceCounts begun;                                ///< the counts when the device was opened and measured
  PetscInt64 ups = 0, downs = 0;                    ///< copies of vectors to the device and back
  PetscInt64 columns = 0;                           ///< solved columns of dense matrices
};
Types& types();

bool is_dressed(Vec vector);
Side& side_of(Vec vector);
/// The host's copy of a vector, valid or not.
inline PetscScalar* host_array(Vec vector) { return *static_cast<PetscScalar**>(vector->data); }

/// The device of the types; null if there is none.
DeviceSpace* any_space();
/// any_space(), or null if a device does not pay off for so few rows.
DeviceSpace* space_for(PetscInt local_rows);
/// space_for() for operations on vectors alone; null if the device shares their memory.
DeviceSpace* space_for_vectors(PetscInt local_rows);
/// An array for intermediate results of an operation, one of three. @throws DeviceError
DeviceArray& scratch(DeviceSpace& space, Index rows, std::size_t number = 0);
/// Fail if the program holds the vector's device memory for writing.
void check_not_lent(Vec vector);
/// Make the host's copy valid.
void to_host(Vec vector);
/// Copy the device's values of a vector to the host. @throws DeviceError
void bring_down(Vec vector);
/// The number of arrays that are out and by which others may write the vector.
int arrays_out(const Side& side);
/// The device's copy of a vector. Its values are made valid, unless they are to be overwritten.
/// @throws DeviceError, InvalidInput
DeviceArray& bring_to_device(DeviceSpace& space, Vec vector, bool overwritten);
/// Update a vector's copies after an operation on the device wrote it.
void wrote_on_device(Vec vector);
/// Record that the device failed; from now on the host does all operations.
void lose_device(const std::string& why);

/// An operation on vectors.
struct Operation {
  const char* name;      ///< the name that users know
  PetscLogDouble flops;  ///< per row, as PETSc counts them, except for one flop per sum
  std::vector<Vec> read;
  Vec written = nullptr;
  bool overwrites = false;  ///< the previous values of `written` are not needed
};
/// Count an operation that the host does although its values lie on the device.
void note_fall_back(const Operation& work);

/// The arrays that an operation reads, in the order of its vectors.
using Arrays = std::vector<DeviceArray*>;
/// A function that does an operation on the device.
/// @param written  null if no vector is written
/// @throws DeviceError, InvalidInput
using RunOnArrays = std::function<void(DeviceSpace& space, const Arrays& read, DeviceArray* written)>;
/// Do an operation on the device, if there is one for its vectors.
/// @return false: the host has to do it
bool run_on_device(const Operation& work, const RunOnArrays& run);
/// Do an operation on the device. If it fails, the device is lost, and the host goes on if it has the values.
/// @pre all vectors are dressed
/// @return false: the host has to do it
bool run_in(DeviceSpace& space, const Operation& work, const RunOnArrays& run);

/// Replace operations by those of the device: on whole vectors, and on their parts.
void put_operations(struct _VecOps* operations);
void put_parts(struct _VecOps* operations);
/// PETSc's operations of the vector's type.
inline const struct _VecOps& of_host(Vec vector) { return *side_of(vector).host_operations; }

/// Call a function of PETSc while the vector has PETSc's own operation in `slot`. That operation may be null; PETSc's
/// function tests for it.
template <typename Slot, typename Call>
void as_petsc_does(Vec x, Slot slot, const Call& call) {
  auto& operation = (*x->ops).*slot;
  const auto own = operation;
  operation = of_host(x).*slot;
  const PetscErrorCode code = call();
  operation = own;
  must(code);
}

/// Do an operation on the device, or else on the host by PETSc's function.
/// @param of  the vector whose operation it is
template <typename Slot, typename... Arguments>
void on_device_or_host(const Operation& work, const RunOnArrays& run, Vec of, Slot slot, Arguments... arguments) {
  if (!run_on_device(work, run)) must((*(of_host(of).*slot))(arguments...));
}

/// Find PETSc's creator of a type. If `wanted`, register `create` in its place, unless `create` is there already.
template <typename Create, typename Register>
void replace_creator(PetscFunctionList list, const char* objects, const char* type, bool wanted, Create create,
                     Create* of_petsc, const Register& register_type) {
  Create found = nullptr;
  must(PetscFunctionListFind(list, type, &found));
  OclspktCheck(found, PETSC_COMM_SELF, PETSC_ERR_PLIB, "this PETSc has no %s of type %s", objects, type);
  if (found == create) return;
  *of_petsc = found;
  if (wanted) must(register_type(type, create));
}

/// Copy to a vector the values of its parts that have changed. @throws DeviceError
void take_from_parts(Vec whole);
/// Give the values of a changed vector to its parts, on the device or on the host. @throws DeviceError
void give_to_parts(Vec whole);
/// Detach a vector from its parts, and from the vector of which it is a part.
void forget_parts(Vec vector);
/// True for vectors that -oclspkt_types leaves to PETSc because they have too few rows.
bool is_too_short(Vec vector);
/// Put operations of the device into a vector that PETSc has made.
void dress(Vec vector);
/// Make a vector of PETSc's type for its number of ranks, and dress it.
void create_dressed(Vec vector);

/// Read the options -oclspkt_types and -oclspkt_types_*, and register our creators in place of PETSc's.
void register_types();
void finalize_types();

/* Names of the types that a program gives to some of its objects. */
inline constexpr const char *kVecName = "opencl", *kMatName = "aijopencl", *kMatSeqName = "seqaijopencl",
                            *kMatMPIName = "mpiaijopencl";
bool has_our_name(Vec vector);
void register_named_types();
/// Register the Krylov method `cgdevice`.
void register_solver();
/// Free what its solvers keep on the device.
void forget_solvers();
/// Make PETSc refuse solvers that keep vectors over arrays of other vectors: their results would be wrong.
void refuse_hidden_vectors();

/// While this object lives, -log_view counts the bytes and the time of copies to or from the device.
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
