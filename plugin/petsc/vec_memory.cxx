// SPDX-License-Identifier: BSD-2-Clause
/* The functions of oclspkt_vec.h. They lend the device memory of vectors to a program's kernels, and make vectors from
   the program's memory. */
#include "oclspkt/oclspkt_vec.h"
#include "types.hxx"

namespace oclspkt::petsc {
namespace {

/// The OpenCL device of this process. @throws PetscFailure if the process has none
DeviceSpace& opencl_space() {
  OclspktCheck(
      types().ready, PETSC_COMM_SELF, PETSC_ERR_ORDER,
      "vectors on devices are not there: call PCOCLSPKTInitializePackage() after PetscInitialize(), or load the "
      "plugin with -dll_append; a PETSc with thread safety has none");
  DeviceSpace* const space = any_space();
  OclspktCheck(space, PETSC_COMM_SELF, PETSC_ERR_LIB,
               "vectors are on the host: %s. Name a device by -oclspkt_types_device; oclspkt-devices lists them",
               types().why.c_str());
  OclspktCheck(
      space->queue().kind == DeviceQueue::Kind::opencl, PETSC_COMM_SELF, PETSC_ERR_SUP,
      "vectors are on %s, which is driven by CUDA here and has neither cl_mem nor cl_command_queue: name a device of "
      "an OpenCL platform by -oclspkt_types_device",
      space->device().name.c_str());
  return *space;
}

struct _cl_command_queue* cl_queue_of(const DeviceSpace& space) {
  return static_cast<struct _cl_command_queue*>(space.queue().handle);
}

void check_vector(Vec vector) {
  OclspktCheck(vector && ((PetscObject)vector)->classid == VEC_CLASSID, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
               "The first argument is not a vector, or one that was destroyed");
  if (is_too_short(vector)) dress(vector);
  OclspktCheck(
      is_dressed(vector), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
      "a vector of type %s has no memory on an OpenCL device: make it with -vec_type opencl or VecSetType(), or give "
      "the program -oclspkt_types",
      ((PetscObject)vector)->type_name ? ((PetscObject)vector)->type_name : "(not set)");
}

/// Lend the device memory of a vector to the program. The memory then has the vector's values.
/// @param work  describes the program's access as an operation on this vector
void lend(Vec vector, const Operation& work, struct _cl_mem** memory, struct _cl_command_queue** queue) {
  DeviceArray* array = nullptr;
  must(CheckPointer(comm_of(vector), "second", work.name, memory));
  const Side& side = side_of(vector);
  OclspktCheck(arrays_out(side) == 0, PETSC_COMM_SELF, PETSC_ERR_ORDER,
               "an array of the vector is out: restore it first, by VecRestoreArray() or VecRestoreSubVector()");
  OclspktCheck(!side.written_by_program && (work.written == nullptr || side.read_by_program == 0), PETSC_COMM_SELF,
               PETSC_ERR_ORDER, "the program has the memory of this vector already: restore it first");
  DeviceSpace& space = opencl_space();
  const bool done = run_in(space, work, [&](DeviceSpace&, const Arrays& read, DeviceArray* written) {
    array = written != nullptr ? written : read[0];
  });
  OclspktCheck(done, PETSC_COMM_SELF, PETSC_ERR_LIB, "the device was lost: %s", types().why.c_str());
  *memory = static_cast<struct _cl_mem*>(array->memory());
  if (queue) *queue = cl_queue_of(space);
}

void lend_to_read(Vec vector, struct _cl_mem** memory, struct _cl_command_queue** queue) {
  check_vector(vector);
  lend(vector, {"VecOpenCLGetMemRead", 0, {vector}}, memory, queue);
  ++side_of(vector).read_by_program;
}

void take_back_read(Vec vector, struct _cl_mem** memory) {
  check_vector(vector);
  Side& side = side_of(vector);
  OclspktCheck(side.read_by_program > 0, PETSC_COMM_SELF, PETSC_ERR_ORDER,
               "nobody got the memory of this vector to read it: call VecOpenCLGetMemRead() first");
  --side.read_by_program;
  if (types().shared) types().space->finish(); /* wait before the host writes this memory */
  if (memory) *memory = nullptr;
}

void lend_to_write(Vec vector, const char* name, bool overwrites, struct _cl_mem** memory,
                   struct _cl_command_queue** queue) {
  check_vector(vector);
  must(VecSetErrorIfLocked(vector, 1));
  lend(vector, {name, 0, {}, vector, overwrites}, memory, queue);
  side_of(vector).written_by_program = true;
}

void take_back_written(Vec vector, struct _cl_mem** memory) {
  check_vector(vector);
  Side& side = side_of(vector);
  OclspktCheck(side.written_by_program, PETSC_COMM_SELF, PETSC_ERR_ORDER,
               "nobody got the memory of this vector to write it: get it first");
  side.written_by_program = false;
  if (memory) *memory = nullptr;
  if (types().options.sync && types().space) types().space->finish();
  wrote_on_device(vector);
  must(PetscObjectStateIncrease((PetscObject)vector));
}

Vec make_over(MPI_Comm comm, PetscInt bs, PetscInt n, PetscInt N, struct _cl_mem* memory) {
  DeviceSpace& space = opencl_space();
  Vec made;
  must(VecCreate(comm, &made));
  must(VecSetSizes(made, n, N));
  must(VecSetBlockSize(made, bs));
  must(VecSetType(made, VECOPENCL));
  Side& side = side_of(made);
  side.array = space.adopt(memory, made->map->n);
  side.is_adopted = true;
  wrote_on_device(made);
  must(PetscObjectStateIncrease((PetscObject)made)); /* newer releases of PETSc cache the norm 0 of new vectors */
  return made;
}

}  // namespace
}  // namespace oclspkt::petsc

using namespace oclspkt::petsc;

PetscErrorCode VecOpenCLGetQueue(struct _cl_command_queue** queue) {
  PetscFunctionBegin;
  PetscCall(CheckPointer(PETSC_COMM_SELF, "first", "VecOpenCLGetQueue", queue));
  OclspktCall(nullptr, *queue = cl_queue_of(opencl_space()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecOpenCLGetMemRead(Vec vector, struct _cl_mem** memory, struct _cl_command_queue** queue) {
  return Called<lend_to_read>(vector, memory, queue);
}

PetscErrorCode VecOpenCLRestoreMemRead(Vec vector, struct _cl_mem** memory) {
  return Called<take_back_read>(vector, memory);
}

PetscErrorCode VecOpenCLGetMemWrite(Vec vector, struct _cl_mem** memory, struct _cl_command_queue** queue) {
  return Called<lend_to_write>(vector, "VecOpenCLGetMemWrite", true, memory, queue);
}

PetscErrorCode VecOpenCLRestoreMemWrite(Vec vector, struct _cl_mem** memory) {
  return Called<take_back_written>(vector, memory);
}

PetscErrorCode VecOpenCLGetMemReadWrite(Vec vector, struct _cl_mem** memory, struct _cl_command_queue** queue) {
  return Called<lend_to_write>(vector, "VecOpenCLGetMemReadWrite", false, memory, queue);
}

PetscErrorCode VecOpenCLRestoreMemReadWrite(Vec vector, struct _cl_mem** memory) {
  return Called<take_back_written>(vector, memory);
}

PetscErrorCode VecCreateOpenCLWithMem(MPI_Comm comm, PetscInt bs, PetscInt n, PetscInt N, struct _cl_mem* memory,
                                      Vec* vector) {
  PetscFunctionBegin;
  PetscCall(CheckPointer(PETSC_COMM_SELF, "sixth", "VecCreateOpenCLWithMem", vector));
  OclspktCall(nullptr, *vector = make_over(comm, bs, n, N, memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}
