// SPDX-License-Identifier: BSD-2-Clause
/* Vectors that lie on a device already. */
#include "boundary.hxx"
#include "logged.hxx"
#include "pc_oclspkt.hxx"
#include "types.hxx"

namespace oclspkt::petsc {
namespace {

bool is_of_kokkos(Vec vector) {
  PetscBool is;
  must(PetscObjectTypeCompareAny((PetscObject)vector, &is, VECSEQKOKKOS, VECMPIKOKKOS, ""));
  return is;
}

/// The run-time by which vectors of a type of PETSc are kept on a device; none for types of the host.
DeviceQueue::Kind kind_of(Vec vector) {
  PetscBool of_cuda, of_opencl, bound = PETSC_FALSE;
  must(VecBoundToCPU(vector, &bound));
  if (bound) return DeviceQueue::Kind::none;
  must(PetscObjectTypeCompareAny((PetscObject)vector, &of_cuda, VECSEQCUDA, VECMPICUDA, ""));
  if (of_cuda || is_of_kokkos(vector)) return DeviceQueue::Kind::cuda;
  must(PetscObjectTypeCompareAny((PetscObject)vector, &of_opencl, VECSEQVIENNACL, VECMPIVIENNACL, ""));
  return of_opencl ? DeviceQueue::Kind::opencl : DeviceQueue::Kind::none;
}

/// The queue by which PETSc orders work on a vector; none if it lies on the host, or has too few rows for the device.
DeviceQueue queue_of_vector(Vec vector) {
  DeviceQueue queue;
  if (is_dressed(vector)) {
    DeviceSpace* const space = space_for_vectors(vector->map->n);
    return space ? space->queue() : queue;
  }
  const DeviceQueue::Kind kind = kind_of(vector);
  if (kind == DeviceQueue::Kind::cuda) must((is_of_kokkos(vector) ? OclspktKokkosQueue : OclspktCudaQueue)(&queue));
  if (kind == DeviceQueue::Kind::opencl) must(OclspktViennaCLQueue(vector, &queue));
  return queue;
}

/// Whether the solver of a direction takes vectors on the device of a queue. An apply sets nothing up: if the set-up
/// got no queue of that device, vectors go through the host until the next set-up, and the view says so.
bool takes_queue(PC pc, Sweep& sweep, const DeviceQueue& queue, bool transpose) {
  bool takes = false;
  if (!queue || !sweep.layout.rows.empty()) return false;
  if (data(pc)->queue.kind != queue.kind) {
    data(pc)->from_host =
        "copied: the set-up did not know that they lie on a device; use KSPSolve(), or give the matrix their type";
    return false;
  }
  attempt(pc, [&] { takes = transpose ? sweep.solver.takes_transpose(queue) : sweep.solver.takes(queue); });
  return takes;
}

/// Columns in memory of a device.
struct OnDevice {
  const void* y;
  void* x;
  PetscInt y_stride = 0, x_stride = 0, count = 1;
};

void enqueue(PC pc, Sweep& sweep, const DeviceQueue& queue, const OnDevice& v, bool transpose) {
  must(PetscLogGpuTimeBegin());
  attempt(pc, [&] {
    transpose ? sweep.solver.enqueue_transpose(queue, v.y, v.x)
              : sweep.solver.enqueue(queue, v.y, v.y_stride, v.x, v.x_stride, v.count);
  });
  must(PetscLogGpuTimeEnd());
  must(OclspktLogGpuFlops(static_cast<PetscLogDouble>(v.count) * apply_flops(sweep.report(transpose))));
}

/// Solve where arrays of PETSc lie in memory of CUDA. @return false: one of them does not
bool enqueue_cuda(PC pc, Sweep& sweep, const DeviceQueue& queue, Vec right, Vec solution, bool transpose) {
  const PetscScalar* y;
  PetscScalar* x;
  PetscMemType y_type, x_type;
  must(VecGetArrayReadAndMemType(right, &y, &y_type));
  must(VecGetArrayWriteAndMemType(solution, &x, &x_type));
  const bool on_device = PetscMemTypeCUDA(y_type) && PetscMemTypeCUDA(x_type);
  if (on_device) enqueue(pc, sweep, queue, {y, x}, transpose);
  must(VecRestoreArrayWriteAndMemType(solution, &x));
  must(VecRestoreArrayReadAndMemType(right, &y));
  return on_device;
}

bool enqueue_columns(PC pc, Sweep& sweep, const DeviceQueue& queue, const Block& right, const Block& solution) {
  const PetscScalar* y;
  PetscScalar* x;
  PetscMemType y_type, x_type;
  PetscInt y_stride, x_stride;
  must(MatDenseGetLDA(right.matrix, &y_stride));
  must(MatDenseGetLDA(solution.matrix, &x_stride));
  must(OclspktDenseRead(right.matrix, &y, &y_type));
  must(OclspktDenseWrite(solution.matrix, &x, &x_type));
  const bool on_device = PetscMemTypeCUDA(y_type) && PetscMemTypeCUDA(x_type);
  if (on_device) {
    const PetscScalar* const from = y + static_cast<Index>(right.first) * y_stride;
    PetscScalar* const to = x + static_cast<Index>(solution.first) * x_stride;
    enqueue(pc, sweep, queue, {from, to, y_stride, x_stride, solution.count}, false);
  }
  must(OclspktDenseRestoreWrite(solution.matrix, &x));
  must(OclspktDenseRestoreRead(right.matrix, &y));
  return on_device;
}

void enqueue_vienna_cl(PC pc, Sweep& sweep, const DeviceQueue& queue, Vec right, Vec solution, bool transpose) {
  void *y = nullptr, *x = nullptr;
  must(OclspktViennaCLRead(right, &y));
  must(OclspktViennaCLWrite(solution, &x));
  enqueue(pc, sweep, queue, {y, x}, transpose);
  must(OclspktViennaCLRestoreWrite(solution));
}

void enqueue_dressed(PC pc, Sweep& sweep, const DeviceQueue& queue, Vec right, Vec solution, bool transpose) {
  DeviceSpace& space = *space_for(right->map->n);
  const DeviceArray& y = bring_to_device(space, right, false);
  DeviceArray& x = bring_to_device(space, solution, true);
  enqueue(pc, sweep, queue, {y.memory(), x.memory()}, transpose);
  if (types().sync) space.finish();
  wrote_on_device(solution);
  must(PetscObjectStateIncrease((PetscObject)solution));
}

/// The queue of two dense matrices; none unless both lie on a device of CUDA.
DeviceQueue queue_of_columns(Mat right, Mat solution) {
  DeviceQueue queue;
  PetscBool of_cuda;
  for (Mat matrix : {right, solution}) {
    must(PetscObjectTypeCompareAny((PetscObject)matrix, &of_cuda, MATSEQDENSECUDA, MATMPIDENSECUDA, ""));
    if (!of_cuda) return queue;
  }
  must(OclspktCudaQueue(&queue));
  return queue;
}

}  // namespace

DeviceQueue queue_of(const Block& right, const Block& solution) {
  if (right.matrix) return queue_of_columns(right.matrix, solution.matrix);
  const DeviceQueue::Kind kind = kind_of(right.vector);
  if (is_dressed(right.vector) != is_dressed(solution.vector) || kind != kind_of(solution.vector)) return {};
  const DeviceQueue queue = queue_of_vector(right.vector);
  /* To ask ViennaCL for the queue of the solution would bring its values to the device. */
  if (kind == DeviceQueue::Kind::opencl) return queue;
  /* One of Kokkos may differ if the current device context is another than Kokkos began in. */
  return queue != queue_of_vector(solution.vector) ? DeviceQueue{} : queue;
}

void note_vectors(PC pc, Vec vector) {
  PetscBool bound;
  data(pc)->from_host = nullptr;
  if (!PetscDefined(HAVE_KOKKOS) || !is_of_kokkos(vector)) return;
  if (PetscMemTypeHost(PETSC_MEMTYPE_KOKKOS)) {
    data(pc)->from_host = "in host memory: the Kokkos of this PETSc has no GPU";
    return;
  }
  must(VecBoundToCPU(vector, &bound));
  if (!bound && !queue_of_vector(vector)) {
    data(pc)->from_host = "copied: Kokkos keeps them on a device by a run-time that is not CUDA";
  }
}

void find_queue(PC pc) {
  PC_OCLSPKT* o = data(pc);
  VecType type;
  Vec vector;
  must(MatGetVecType(pc->pmat, &type));
  if (is_of_host(type) && !types().on) return;
  /* To make a vector is collective, and the queue is this rank's: another one may have rows too few for its device. */
  if (o->queue_sought == type) return;
  o->queue_sought = type;
  must(MatCreateVecs(pc->pmat, &vector, nullptr));
  o->queue = queue_of_vector(vector);
  note_vectors(pc, vector);
  must(VecDestroy(&vector));
}

void set_up_for_vectors(PC pc, Vec right, Vec solution) {
  VecType type;
  must(VecGetType(right, &type)); /* the same on all ranks */
  if (is_of_host(type) && !types().on) return;
  const DeviceQueue queue = queue_of({.vector = right}, {.vector = solution});
  int least[] = {static_cast<bool>(queue), data(pc)->queue.kind == queue.kind}; /* on a device; known of all ranks */
  OclspktReduce(MPI_IN_PLACE, least, 2, MPI_INT, MPI_MIN, comm_of(pc));
  if (!least[0] || least[1]) return;
  data(pc)->queue = queue;
  set_up_sweeps(pc);
}

bool solve_on_device(PC pc, Sweep& sweep, const Block& right, const Block& solution, bool transpose) {
  const DeviceQueue queue = queue_of(right, solution);
  if (right.matrix && !queue && types().ready) types().columns += right.count;
  if ((right.matrix && transpose) || !takes_queue(pc, sweep, queue, transpose)) return false;
  if (right.matrix) return enqueue_columns(pc, sweep, queue, right, solution);
  if (is_dressed(right.vector)) {
    enqueue_dressed(pc, sweep, queue, right.vector, solution.vector, transpose);
  } else if (queue.kind == DeviceQueue::Kind::cuda) {
    return enqueue_cuda(pc, sweep, queue, right.vector, solution.vector, transpose);
  } else {
    enqueue_vienna_cl(pc, sweep, queue, right.vector, solution.vector, transpose);
  }
  return true;
}

}  // namespace oclspkt::petsc
