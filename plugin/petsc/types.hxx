// SPDX-License-Identifier: BSD-2-Clause
/* Dressed vectors and matrices are objects of PETSc's own types whose operations run on a device instead of the host.
   -oclspkt_types dresses all objects. Without it, only objects of the types `opencl` and `aijopencl` are dressed. */
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

struct GiveBack {
  std::size_t pages = 0;  ///< bytes of mapped pages; 0: the memory is from calloc()
  void operator()(void* memory) const;
};
using Zeros = std::unique_ptr<void, GiveBack>;
/// Make memory of zeros; null if there is no room. From 1 MB on, the memory is mapped pages, which take no room until
/// they are touched. calloc() may instead return freed memory, into which it writes zeros.
Zeros make_zeros(std::size_t bytes);

/// The state of a vector's two copies: their validity, and loans of them to the program. At least one copy is valid.
///
/// | what happens                                  | host      | device                              |
/// |-----------------------------------------------|-----------|-------------------------------------|
/// | made, array placed, reset or replaced         | valid     | invalid                             |
/// | array got for reading                         | valid     | unchanged                           |
/// | array got for writing, until it is restored   | valid     | invalid; copied before each use     |
/// | read by an operation on the device            | unchanged | valid                               |
/// | written by an operation on the device         | invalid   | valid; host valid if `out` > 0      |
/// | memory lent for writing, until it is restored | invalid   | valid                               |
struct Side {
  bool host = true, device = false;
  PetscObjectId of = 0;             ///< id of the vector, because a later vector may have the same address
  int out = 0;                      ///< number of arrays got for writing and not restored
  int read_by_program = 0;          ///< number of loans of device memory for reading
  bool written_by_program = false;  ///< device memory is lent for writing
  const struct _VecOps* host_operations = nullptr;  ///< PETSc's operations of the vector's type
  std::unique_ptr<DeviceArray> array = {};
  bool is_adopted = false;               ///< the program made `array`, and the array is not host memory
  const PetscScalar* wrapped = nullptr;  ///< the host memory that `array` uses, see Types::shared
  std::vector<Vec> parts = {};           ///< parts that the program has not restored, see vec_parts.cxx
  Vec whole = nullptr;                   ///< if this is a part: the vector whose host memory the part shares
  PetscInt first = 0;                    ///< if this is a part: its first row in `whole`
  PetscObjectState known = 0;            ///< if this is a part: its state when it had the values of `whole`
  Zeros host_memory;                     ///< null if PETSc allocated the host memory
};

/// With fewer rows on a rank, no driver is opened. A launch takes about 5 us and a sum about 15 us (H200). For short
/// vectors, the host is faster.
inline constexpr PetscInt kLeastRows = 10000;

/// The options -oclspkt_types and -oclspkt_types_*.
struct TypeOptions {
  PetscBool on = PETSC_FALSE;              ///< dress vectors and matrices of all types
  PetscBool sync = PETSC_FALSE;            ///< wait after each operation, so that PETSc times the operations
  PetscBool poison = PETSC_FALSE;          ///< set invalid copies to NaN, to find code that reads them
  PetscBool view = PETSC_FALSE;            ///< print a summary at the end of PETSc
  PetscBool least_is_fixed = PETSC_FALSE;  ///< the user set Types::least; else it is measured
  char devices[256] = "auto";
  char profile[PETSC_MAX_PATH_LEN] = "";  ///< file of measurements
};

/// The state of this process that all dressed objects share.
struct Types {
  TypeOptions options;
  bool ready = false;           ///< set while PETSc is initialised
  PetscInt least = kLeastRows;  ///< with fewer rows, a rank works on the host
  PetscInt least_of_cg = 0;     ///< of LeastRowsOfCg; 0: not measured yet
  bool failed = false;          ///< there is no device, or it was lost, and the host does all work
  std::string why;              ///< cause of `failed`
  std::shared_ptr<DeviceSpace> space;
  int sharers = 1;  ///< ranks of this node that use the device
  /// The device is the host's processor, and uses the vectors' own memory. It computes only products, because vector
  /// operations are as fast on one core as on several. False under TypeOptions::poison, which needs two copies.
  bool shared = false;
  struct {
    PetscErrorCode (*create_seq)(Vec) = nullptr, (*create_mpi)(Vec) = nullptr;
    struct _VecOps seq = {}, mpi = {};  ///< operations of PETSc's types
  } petscs;
  std::unordered_map<Vec, Side> sides;
  std::array<std::unique_ptr<DeviceArray>, 3> scratch;
  PetscScalar zero_by_zero =
      std::numeric_limits<PetscReal>::quiet_NaN();  ///< result of 0 / 0 in VecPointwiseDivide(); NaN: not known yet
  std::map<std::string, PetscInt64> fell_back;      ///< operations that fell back to the host, by name
  SpaceCounts begun;                                ///< counts of the device just after its measurement
  PetscInt64 ups = 0, downs = 0;                    ///< number of copies of vectors to the device and back
  PetscInt64 columns = 0;                           ///< number of columns of dense matrices solved through the host
};
Types& types();

bool is_dressed(Vec vector);
Side& side_of(Vec vector);
/// The host's copy of a vector, valid or not.
inline PetscScalar* host_array(Vec vector) { return *static_cast<PetscScalar**>(vector->data); }

/// The device of dressed objects; null if there is none.
DeviceSpace* any_space();
/// The device of dressed objects; null also if it does not pay off for so few rows.
DeviceSpace* space_for(PetscInt local_rows);
/// The device for operations on vectors alone; null also if the device shares the vectors' memory.
DeviceSpace* space_for_vectors(PetscInt local_rows);
/// While it lives, the device takes vectors from the number of rows on for which conjugate gradients without waiting
/// pay off, if that is less than Types::least and the user did not fix that. The number is measured at its first use.
class LeastRowsOfCg {
 public:
  /// @param rows  of a rank that works by itself; with fewer than kLeastRows, no driver is opened
  explicit LeastRowsOfCg(PetscInt rows);
  ~LeastRowsOfCg() { types().least = before_; }
  LeastRowsOfCg(const LeastRowsOfCg&) = delete;
  LeastRowsOfCg& operator=(const LeastRowsOfCg&) = delete;

 private:
  PetscInt before_;
};
/// One of three arrays for intermediate results. @param number  0 to 2. @throws DeviceError
DeviceArray& scratch(DeviceSpace& space, Index rows, std::size_t number = 0);
/// @throws PetscFailure if the program holds the vector's device memory for writing
void check_not_lent(Vec vector);
/// Make the host's copy valid.
void to_host(Vec vector);
/// Copy the device's values of a vector to the host. @throws DeviceError
void bring_down(Vec vector);
/// The number of unrestored arrays through which the program may write the vector.
int arrays_out(const Side& side);
/// The device's copy of a vector. It has the vector's values, unless `overwritten`.
/// @throws DeviceError, InvalidInput
DeviceArray& bring_to_device(DeviceSpace& space, Vec vector, bool overwritten);
/// Update a vector's copies after an operation on the device wrote it.
void wrote_on_device(Vec vector);
/// Record that the device failed. From now on, the host does all operations.
void lose_device(const std::string& why);

struct Operation {
  const char* name;      ///< name for users, such as VecAXPY
  PetscLogDouble flops;  ///< per row, as PETSc counts them, but with one flop more per sum
  std::vector<Vec> read;
  Vec written = nullptr;
  bool overwrites = false;  ///< the operation does not need the old values of `written`
};
/// Count an operation that the host does although its values lie on the device.
void note_fall_back(const Operation& work);

/// The device arrays of Operation::read, in its order.
using Arrays = std::vector<DeviceArray*>;
/// A function that does an operation on the device.
/// @param written  null if no vector is written
/// @throws DeviceError, InvalidInput
using RunOnArrays = std::function<void(DeviceSpace& space, const Arrays& read, DeviceArray* written)>;
/// Do an operation on the device, if its vectors can be there.
/// @return false if the host must do it
bool run_on_device(const Operation& work, const RunOnArrays& run);
/// Do an operation on the device. If the device fails, record its loss. @pre all vectors are dressed
/// @return false if the host must do it
/// @throws PetscFailure if the device fails and the host lacks values
bool run_in(DeviceSpace& space, const Operation& work, const RunOnArrays& run);

/// Replace PETSc's operations by device operations: on whole vectors in put_operations(), on parts in put_parts().
void put_operations(struct _VecOps* operations);
void put_parts(struct _VecOps* operations);
inline const struct _VecOps& of_host(Vec vector) { return *side_of(vector).host_operations; }

/// Call a function of PETSc while the vector has PETSc's own operation in `slot`. The operation may be null; PETSc's
/// function tests for null.
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
/// @param of  the vector with PETSc's operation for `slot`
template <typename Slot, typename... Arguments>
void on_device_or_host(const Operation& work, const RunOnArrays& run, Vec of, Slot slot, Arguments... arguments) {
  if (!run_on_device(work, run)) must((*(of_host(of).*slot))(arguments...));
}

/// Find PETSc's creator of a type. If `wanted`, register `create` in its place, unless `create` is registered.
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

/// Copy changed values of a vector's parts to the vector. @throws DeviceError
void take_from_parts(Vec whole);
/// Copy a changed vector's values to its parts, on the device or on the host. @throws DeviceError
void give_to_parts(Vec whole);
/// Detach a vector from its parts, and from the vector of which it is a part.
void forget_parts(Vec vector);
/// True for vectors that -oclspkt_types leaves to PETSc because they have too few rows.
bool is_too_short(Vec vector);
/// Put operations of the device into a vector of PETSc.
void dress(Vec vector);
/// Make a vector of PETSc's type seq or mpi, by its number of ranks, and dress it.
void create_dressed(Vec vector);

/// Read the options -oclspkt_types and -oclspkt_types_*, and register our creators in place of PETSc's.
void register_types();
void finalize_types();

/* Type names for single objects of a program. */
inline constexpr const char *kVecName = "opencl", *kMatName = "aijopencl", *kMatSeqName = "seqaijopencl",
                            *kMatMPIName = "mpiaijopencl";
bool has_our_name(Vec vector);
void register_named_types();
/// Register the Krylov method `cgdevice`.
void register_solver();
/// Free what its solvers keep on the device.
void forget_solvers();
/// Make PETSc refuse solvers that keep vectors over arrays of other vectors, because their results would be wrong.
void refuse_hidden_vectors();

/// Makes -log_view count the bytes and the time of copies to or from the device while the object lives.
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
