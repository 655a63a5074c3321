// SPDX-License-Identifier: BSD-2-Clause
/* Memory of dressed vectors for kernels of the program, and its memory for vectors: oclspkt_vec.h. */
#include "boundary.hxx"
#include "oclspkt/oclspkt_vec.h"
#include "types.hxx"

namespace oclspkt::petsc {
namespace {

/// The space of this process, driven by OpenCL; anything else is an error.
PetscErrorCode OpenCLSpace(DeviceSpace** space) {
  DeviceQueue queue;

  PetscFunctionBegin;
  PetscCheck(types().ready, PETSC_COMM_SELF, PETSC_ERR_ORDER,
             "vectors on devices are not there: call PCOCLSPKTInitializePackage() after PetscInitialize(), or load the "
             "plugin with -dll_append; a PETSc with thread safety has none");
  PetscCall(AnySpace(space));
  PetscCheck(*space, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "vectors are on the host: %s. Name a device by -oclspkt_types_device; oclspkt-devices lists them",
             types().why.c_str());
  OclspktCall(nullptr, queue = (*space)->queue());
  PetscCheck(
      queue.kind == DeviceQueue::Kind::opencl, PETSC_COMM_SELF, PETSC_ERR_SUP,
      "vectors are on %s, which is driven by CUDA here and has neither cl_mem nor cl_command_queue: name a device of "
      "an OpenCL platform by -oclspkt_types_device",
      (*space)->device().name.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode QueueOfSpace(const DeviceSpace& space, struct _cl_command_queue** queue) {
  PetscFunctionBegin;
  OclspktCall(nullptr, *queue = static_cast<struct _cl_command_queue*>(space.queue().handle));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckVector(Vec vector) {
  PetscFunctionBegin;
  PetscCheck(vector && ((PetscObject)vector)->classid == VEC_CLASSID, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "The first argument is not a vector, or one that was destroyed");
  if (is_too_short(vector)) dress(vector);
  PetscCheck(
      is_dressed(vector), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
      "a vector of type %s has no memory on an OpenCL device: make it with -vec_type opencl or VecSetType(), or give "
      "the program -oclspkt_types",
      ((PetscObject)vector)->type_name ? ((PetscObject)vector)->type_name : "(not set)");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Lend the device memory of a vector, which has its values when this returns.
/// @param work  the operation of the program on this vector
PetscErrorCode Lend(Vec vector, const Operation& work, struct _cl_mem** memory, struct _cl_command_queue** queue) {
  DeviceSpace* space;
  DeviceArray* array = nullptr;
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(CheckPointer(PetscObjectComm((PetscObject)vector), "second", work.name, memory));
  const Side& side = side_of(vector);
  PetscCheck(arrays_out(side) == 0, PETSC_COMM_SELF, PETSC_ERR_ORDER,
             "an array of the vector is out: restore it first, by VecRestoreArray() or VecRestoreSubVector()");
  PetscCheck(!side.written_by_program && (work.written == nullptr || side.read_by_program == 0), PETSC_COMM_SELF,
             PETSC_ERR_ORDER, "the program has the memory of this vector already: restore it first");
  PetscCall(OpenCLSpace(&space));
  PetscCall(RunIn(*space, work, &done, [&](DeviceSpace&, const Arrays& read, DeviceArray* written) {
    array = written != nullptr ? written : read[0];
  }));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_LIB, "the device was lost: %s", types().why.c_str());
  *memory = static_cast<struct _cl_mem*>(array->memory());
  if (queue) PetscCall(QueueOfSpace(*space, queue));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LendToWrite(Vec vector, const char* name, bool overwrites, struct _cl_mem** memory,
                           struct _cl_command_queue** queue) {
  PetscFunctionBegin;
  PetscCall(CheckVector(vector));
  PetscCall(VecSetErrorIfLocked(vector, 1));
  PetscCall(Lend(vector, {name, {}, vector, overwrites}, memory, queue));
  side_of(vector).written_by_program = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TakeBackWritten(Vec vector, struct _cl_mem** memory) {
  PetscFunctionBegin;
  PetscCall(CheckVector(vector));
  Side& side = side_of(vector);
  PetscCheck(side.written_by_program, PETSC_COMM_SELF, PETSC_ERR_ORDER,
             "nobody got the memory of this vector to write it: get it first");
  side.written_by_program = false;
  if (memory) *memory = nullptr;
  if (types().sync && types().space) OclspktCall(nullptr, types().space->finish());
  PetscCall(WroteOnDevice(vector));
  PetscCall(PetscObjectStateIncrease((PetscObject)vector));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace
}  // namespace oclspkt::petsc

using oclspkt::petsc::DeviceSpace;
using oclspkt::petsc::Side;
using oclspkt::petsc::types;

PetscErrorCode VecOpenCLGetQueue(struct _cl_command_queue** queue) {
  DeviceSpace* space;

  PetscFunctionBegin;
  PetscCall(oclspkt::petsc::CheckPointer(PETSC_COMM_SELF, "first", "VecOpenCLGetQueue", queue));
  PetscCall(oclspkt::petsc::OpenCLSpace(&space));
  PetscCall(oclspkt::petsc::QueueOfSpace(*space, queue));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecOpenCLGetMemRead(Vec vector, struct _cl_mem** memory, struct _cl_command_queue** queue) {
  PetscFunctionBegin;
  PetscCall(oclspkt::petsc::CheckVector(vector));
  PetscCall(oclspkt::petsc::Lend(vector, {"VecOpenCLGetMemRead", {vector}}, memory, queue));
  ++oclspkt::petsc::side_of(vector).read_by_program;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecOpenCLRestoreMemRead(Vec vector, struct _cl_mem** memory) {
  PetscFunctionBegin;
  PetscCall(oclspkt::petsc::CheckVector(vector));
  Side& side = oclspkt::petsc::side_of(vector);
  PetscCheck(side.read_by_program > 0, PETSC_COMM_SELF, PETSC_ERR_ORDER,
             "nobody got the memory of this vector to read it: call VecOpenCLGetMemRead() first");
  --side.read_by_program;
  if (types().shared) OclspktCall(nullptr, types().space->finish()); /* the host may write it now */
  if (memory) *memory = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecOpenCLGetMemWrite(Vec vector, struct _cl_mem** memory, struct _cl_command_queue** queue) {
  return oclspkt::petsc::LendToWrite(vector, "VecOpenCLGetMemWrite", true, memory, queue);
}

PetscErrorCode VecOpenCLRestoreMemWrite(Vec vector, struct _cl_mem** memory) {
  return oclspkt::petsc::TakeBackWritten(vector, memory);
}

PetscErrorCode VecOpenCLGetMemReadWrite(Vec vector, struct _cl_mem** memory, struct _cl_command_queue** queue) {
  return oclspkt::petsc::LendToWrite(vector, "VecOpenCLGetMemReadWrite", false, memory, queue);
}

PetscErrorCode VecOpenCLRestoreMemReadWrite(Vec vector, struct _cl_mem** memory) {
  return oclspkt::petsc::TakeBackWritten(vector, memory);
}

PetscErrorCode VecCreateOpenCLWithMem(MPI_Comm comm, PetscInt bs, PetscInt n, PetscInt N, struct _cl_mem* memory,
                                      Vec* vector) {
  DeviceSpace* space;
  Vec made;

  PetscFunctionBegin;
  PetscCall(oclspkt::petsc::CheckPointer(PETSC_COMM_SELF, "sixth", "VecCreateOpenCLWithMem", vector));
  PetscCall(oclspkt::petsc::OpenCLSpace(&space));
  PetscCall(VecCreate(comm, &made));
  PetscCall(VecSetSizes(made, n, N));
  PetscCall(VecSetBlockSize(made, bs));
  PetscCall(VecSetType(made, VECOPENCL));
  Side& side = oclspkt::petsc::side_of(made);
  OclspktCall(nullptr, side.array = space->adopt(memory, made->map->n));
  side.is_adopted = true;
  PetscCall(oclspkt::petsc::WroteOnDevice(made));
  PetscCall(PetscObjectStateIncrease((PetscObject)made)); /* newer PETScs remember that norms of new vectors are 0 */
  *vector = made;
  PetscFunctionReturn(PETSC_SUCCESS);
}
