// SPDX-License-Identifier: BSD-2-Clause
/* Vectors that lie on a device already. */
#include "place.hxx"

#include "boundary.hxx"
#include "flops.hxx"
#include "types.hxx"

namespace oclspkt::petsc {
namespace {

PetscErrorCode IsOfKokkos(Vec vector, PetscBool* is) {
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)vector, is, VECSEQKOKKOS, VECMPIKOKKOS, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The run-time by which vectors of a type of PETSc are kept on a device; none for types of the host.
PetscErrorCode KindOf(Vec vector, DeviceQueue::Kind* kind) {
  PetscBool of_cuda = PETSC_FALSE, of_opencl = PETSC_FALSE, bound = PETSC_FALSE;

  PetscFunctionBegin;
  *kind = DeviceQueue::Kind::none;
  PetscCall(VecBoundToCPU(vector, &bound));
  if (bound) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
      PetscObjectTypeCompareAny((PetscObject)vector, &of_cuda, VECSEQCUDA, VECMPICUDA, VECSEQKOKKOS, VECMPIKOKKOS, ""));
  if (of_cuda) *kind = DeviceQueue::Kind::cuda;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)vector, &of_opencl, VECSEQVIENNACL, VECMPIVIENNACL, ""));
  if (of_opencl) *kind = DeviceQueue::Kind::opencl;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The queue of a dressed vector; none if it has too few rows for the device.
PetscErrorCode QueueOfDressed(Vec vector, DeviceQueue* queue) {
  DeviceSpace* space;

  PetscFunctionBegin;
  PetscCall(SpaceForVectors(vector->map->n, &space));
  if (space) OclspktCall(nullptr, *queue = space->queue());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The queue by which PETSc orders work on a vector; none if it lies on the host.
PetscErrorCode QueueOfType(Vec vector, DeviceQueue* queue) {
  DeviceQueue::Kind kind;
  PetscBool of_kokkos;

  PetscFunctionBegin;
  *queue = {};
  if (is_dressed(vector)) {
    PetscCall(QueueOfDressed(vector, queue));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KindOf(vector, &kind));
  if (kind == DeviceQueue::Kind::cuda) {
    PetscCall(IsOfKokkos(vector, &of_kokkos));
    PetscCall(of_kokkos ? OclspktKokkosQueue(queue) : OclspktCudaQueue(queue));
  }
  if (kind == DeviceQueue::Kind::opencl) PetscCall(OclspktViennaCLQueue(vector, queue));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Set the solvers up again, for vectors on the device of a queue. Collective.
PetscErrorCode SetUpForQueue(PC pc, const DeviceQueue& queue) {
  PC_OCLSPKT* o = data(pc);
  Known known;

  PetscFunctionBegin;
  o->queue = queue;
  PetscCall(KnownOfMatrix(pc, &known));
  for (std::size_t s = 0; s < o->sweeps.size() && !pc->failedreason; ++s) {
    PetscCall(SetUpSweep(pc, *o->sweeps[s], known));
  }
  if (!pc->failedreason) PetscCall(SetUpVisit(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the solver of a direction takes vectors on the device of a queue. An apply sets nothing up: if the set-up
/// got no queue of that device, vectors go through the host until the next set-up, and the view says so.
PetscErrorCode TakesQueue(PC pc, Sweep& sweep, const DeviceQueue& queue, bool transpose, PetscBool* takes) {
  bool taken = false;

  PetscFunctionBegin;
  *takes = PETSC_FALSE;
  if (!queue || !sweep.layout.rows.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (data(pc)->queue.kind != queue.kind) {
    data(pc)->from_host =
        "copied: the set-up did not know that they lie on a device; use KSPSolve(), or give the matrix "
        "their type";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  OclspktCall(pc, taken = transpose ? sweep.solver.takes_transpose(queue) : sweep.solver.takes(queue));
  *takes = static_cast<PetscBool>(taken);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns in memory of a device.
struct OnDevice {
  const void* y;
  void* x;
  PetscInt y_stride, x_stride, count;
};

PetscErrorCode Enqueue(PC pc, Sweep& sweep, const DeviceQueue& queue, const OnDevice& v, bool transpose) {
  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  if (transpose) {
    OclspktCall(pc, sweep.solver.enqueue_transpose(queue, v.y, v.x));
  } else {
    OclspktCall(pc, sweep.solver.enqueue(queue, v.y, v.y_stride, v.x, v.x_stride, v.count));
  }
  PetscCall(PetscLogGpuTimeEnd());
  const Report& report = transpose ? sweep.solver.transpose_report() : sweep.solver.report();
  PetscCall(OclspktLogGpuFlops(static_cast<PetscLogDouble>(v.count) * apply_flops(report)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EnqueueCuda(PC pc, Sweep& sweep, const DeviceQueue& queue, Vec right, Vec solution, bool transpose,
                           PetscBool* solved) {
  const PetscScalar* y;
  PetscScalar* x;
  PetscMemType y_type, x_type;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(right, &y, &y_type));
  PetscCall(VecGetArrayWriteAndMemType(solution, &x, &x_type));
  *solved = static_cast<PetscBool>(PetscMemTypeCUDA(y_type) && PetscMemTypeCUDA(x_type));
  if (*solved) PetscCall(Enqueue(pc, sweep, queue, {y, x, 0, 0, 1}, transpose));
  PetscCall(VecRestoreArrayWriteAndMemType(solution, &x));
  PetscCall(VecRestoreArrayReadAndMemType(right, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EnqueueColumns(PC pc, Sweep& sweep, const DeviceQueue& queue, const Block& right, const Block& solution,
                              PetscBool* solved) {
  const PetscScalar* y;
  PetscScalar* x;
  PetscMemType y_type, x_type;
  PetscInt y_stride, x_stride;

  PetscFunctionBegin;
  PetscCall(MatDenseGetLDA(right.matrix, &y_stride));
  PetscCall(MatDenseGetLDA(solution.matrix, &x_stride));
  PetscCall(OclspktDenseRead(right.matrix, &y, &y_type));
  PetscCall(OclspktDenseWrite(solution.matrix, &x, &x_type));
  *solved = static_cast<PetscBool>(PetscMemTypeCUDA(y_type) && PetscMemTypeCUDA(x_type));
  if (*solved) {
    const PetscScalar* const from = y + static_cast<Index>(right.first) * y_stride;
    PetscScalar* const to = x + static_cast<Index>(solution.first) * x_stride;
    PetscCall(Enqueue(pc, sweep, queue, {from, to, y_stride, x_stride, solution.count}, false));
  }
  PetscCall(OclspktDenseRestoreWrite(solution.matrix, &x));
  PetscCall(OclspktDenseRestoreRead(right.matrix, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EnqueueViennaCL(PC pc, Sweep& sweep, const DeviceQueue& queue, Vec right, Vec solution, bool transpose) {
  void *y = nullptr, *x = nullptr;

  PetscFunctionBegin;
  PetscCall(OclspktViennaCLRead(right, &y));
  PetscCall(OclspktViennaCLWrite(solution, &x));
  PetscCall(Enqueue(pc, sweep, queue, {y, x, 0, 0, 1}, transpose));
  PetscCall(OclspktViennaCLRestoreWrite(solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EnqueueDressed(PC pc, Sweep& sweep, const DeviceQueue& queue, Vec right, Vec solution, bool transpose) {
  DeviceSpace* space;
  DeviceArray *y = nullptr, *x = nullptr;

  PetscFunctionBegin;
  PetscCall(SpaceFor(right->map->n, &space));
  OclspktCall(pc, BringToDevice(*space, right, false, &y));
  OclspktCall(pc, BringToDevice(*space, solution, true, &x));
  PetscCall(Enqueue(pc, sweep, queue, {y->memory(), x->memory(), 0, 0, 1}, transpose));
  if (types().sync) OclspktCall(pc, space->finish());
  PetscCall(WroteOnDevice(solution));
  PetscCall(PetscObjectStateIncrease((PetscObject)solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The queue of two dense matrices; none unless both lie on a device of CUDA.
PetscErrorCode QueueOfColumns(Mat right, Mat solution, DeviceQueue* queue) {
  PetscBool of_cuda;

  PetscFunctionBegin;
  *queue = {};
  for (Mat matrix : {right, solution}) {
    PetscCall(PetscObjectTypeCompareAny((PetscObject)matrix, &of_cuda, MATSEQDENSECUDA, MATMPIDENSECUDA, ""));
    if (!of_cuda) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(OclspktCudaQueue(queue));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode QueueOf(const Block& right, const Block& solution, DeviceQueue* queue) {
  DeviceQueue::Kind of_right, of_solution;
  DeviceQueue other;

  PetscFunctionBegin;
  *queue = {};
  if (right.matrix) {
    PetscCall(QueueOfColumns(right.matrix, solution.matrix, queue));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (is_dressed(right.vector) != is_dressed(solution.vector)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KindOf(right.vector, &of_right));
  PetscCall(KindOf(solution.vector, &of_solution));
  if (of_right != of_solution) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(QueueOfType(right.vector, queue));
  /* To ask ViennaCL for the queue of the solution would bring its values to the device. */
  if (of_right == DeviceQueue::Kind::opencl) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(QueueOfType(solution.vector, &other));
  if (*queue != other) *queue = {}; /* one of Kokkos, and the current device context is another than Kokkos began in */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NoteVectors(PC pc, Vec vector) {
  PetscBool of_kokkos, bound;
  DeviceQueue queue;

  PetscFunctionBegin;
  data(pc)->from_host = nullptr;
  if (!PetscDefined(HAVE_KOKKOS)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(IsOfKokkos(vector, &of_kokkos));
  if (!of_kokkos) PetscFunctionReturn(PETSC_SUCCESS);
  if (PetscMemTypeHost(PETSC_MEMTYPE_KOKKOS)) {
    data(pc)->from_host = "in host memory: the Kokkos of this PETSc has no GPU";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecBoundToCPU(vector, &bound));
  PetscCall(QueueOfType(vector, &queue));
  if (!bound && !queue) data(pc)->from_host = "copied: Kokkos keeps them on a device by a run-time that is not CUDA";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindQueue(PC pc) {
  PC_OCLSPKT* o = data(pc);
  VecType type;
  Vec vector;

  PetscFunctionBegin;
  PetscCall(MatGetVecType(pc->pmat, &type));
  if (is_of_host(type) && !types().on) PetscFunctionReturn(PETSC_SUCCESS);
  /* To make a vector is collective, and the queue is this rank's: another one may have rows too few for its device. */
  if (o->queue_sought == type) PetscFunctionReturn(PETSC_SUCCESS);
  OclspktCall(pc, o->queue_sought = type);
  PetscCall(MatCreateVecs(pc->pmat, &vector, nullptr));
  PetscCall(QueueOfType(vector, &o->queue));
  PetscCall(NoteVectors(pc, vector));
  PetscCall(VecDestroy(&vector));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetUpForVectors(PC pc, Vec right, Vec solution) {
  DeviceQueue queue;
  VecType type;

  PetscFunctionBegin;
  PetscCall(VecGetType(right, &type)); /* the same on all ranks */
  if (is_of_host(type) && !types().on) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(QueueOf({.vector = right}, {.vector = solution}, &queue));
  int least[] = {static_cast<bool>(queue), data(pc)->queue.kind == queue.kind}; /* on a device; known of all ranks */
  OclspktAllreduce(MPI_IN_PLACE, least, 2, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc));
  if (least[0] && !least[1]) PetscCall(SetUpForQueue(pc, queue));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveOnDevice(PC pc, Sweep& sweep, const Block& right, const Block& solution, bool transpose,
                             PetscBool* solved) {
  DeviceQueue queue;
  PetscBool takes = PETSC_FALSE;

  PetscFunctionBegin;
  *solved = PETSC_FALSE;
  PetscCall(QueueOf(right, solution, &queue));
  if (right.matrix && !queue && types().ready) types().columns += right.count;
  if (!right.matrix || !transpose) PetscCall(TakesQueue(pc, sweep, queue, transpose, &takes));
  if (!takes) PetscFunctionReturn(PETSC_SUCCESS);
  if (right.matrix) {
    PetscCall(EnqueueColumns(pc, sweep, queue, right, solution, solved));
  } else if (is_dressed(right.vector)) {
    PetscCall(EnqueueDressed(pc, sweep, queue, right.vector, solution.vector, transpose));
    *solved = PETSC_TRUE;
  } else if (queue.kind == DeviceQueue::Kind::cuda) {
    PetscCall(EnqueueCuda(pc, sweep, queue, right.vector, solution.vector, transpose, solved));
  } else {
    PetscCall(EnqueueViennaCL(pc, sweep, queue, right.vector, solution.vector, transpose));
    *solved = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
