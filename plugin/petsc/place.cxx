// SPDX-License-Identifier: BSD-2-Clause
/* Access to vectors and columns of dense matrices, whether they lie on the host or on a device. */
#include <algorithm>
#include <string_view>

#include "logged.hxx"
#include "pc_oclspkt.hxx"
#include "types.hxx"

namespace oclspkt::petsc {
namespace {

/// True if two objects have the same type, and both or neither are bound to the host.
template <typename Object>
bool are_alike(Object a, Object b, PetscErrorCode (*bound_to_cpu)(Object, PetscBool*)) {
  const char* type;
  PetscBool same, a_bound = PETSC_FALSE, b_bound = PETSC_FALSE;
  must(PetscObjectGetType((PetscObject)b, &type));
  must(PetscObjectTypeCompare((PetscObject)a, type, &same));
  must((*bound_to_cpu)(a, &a_bound));
  must((*bound_to_cpu)(b, &b_bound));
  return same && a_bound == b_bound;
}

/// True if `block` has the type of `like`, the same binding to the host, and at least as many columns.
bool fits(const Block& block, const Block& like) {
  if (like.matrix) {
    return block.matrix && block.count >= like.count && are_alike(block.matrix, like.matrix, MatBoundToCPU);
  }
  return block.vector && are_alike(block.vector, like.vector, VecBoundToCPU);
}

Mat make_columns(const Block& like) {
  Mat made;
  PetscInt rows, all_rows;
  MatType type;
  PetscBool bound;
  must(MatGetLocalSize(like.matrix, &rows, nullptr));
  must(MatGetSize(like.matrix, &all_rows, nullptr));
  must(MatGetType(like.matrix, &type));
  must(MatBoundToCPU(like.matrix, &bound));
  must(MatCreate(comm_of(like.matrix), &made));
  must(MatSetSizes(made, rows, PETSC_DECIDE, all_rows, like.count));
  must(MatSetType(made, type));
  must(MatSetUp(made));
  must(MatBindToCPU(made, bound));
  must(MatAssemblyBegin(made, MAT_FINAL_ASSEMBLY));
  must(MatAssemblyEnd(made, MAT_FINAL_ASSEMBLY));
  return made;
}

/// Copy between vectors of any two types through host memory. ViennaCL's VecCopy() does not write to vectors of the
/// host (PETSc 3.24).
void copy_on_host(Vec from, Vec to) {
  const PetscScalar* values;
  PetscScalar* copies;
  PetscInt rows;
  must(VecGetLocalSize(from, &rows));
  must(VecGetArrayRead(from, &values));
  must(VecGetArrayWrite(to, &copies));
  must(PetscArraycpy(copies, values, rows));
  must(VecRestoreArrayWrite(to, &copies));
  must(VecRestoreArrayRead(from, &values));
}

bool is_of_kokkos(Vec vector) {
  PetscBool is;
  must(PetscObjectTypeCompareAny((PetscObject)vector, &is, VECSEQKOKKOS, VECMPIKOKKOS, ""));
  return is;
}

/// The run-time that keeps the vector on a device; none if the vector lies on the host.
DeviceQueue::Kind kind_of(Vec vector) {
  PetscBool of_cuda, of_opencl, bound = PETSC_FALSE;
  must(VecBoundToCPU(vector, &bound));
  if (bound) return DeviceQueue::Kind::none;
  must(PetscObjectTypeCompareAny((PetscObject)vector, &of_cuda, VECSEQCUDA, VECMPICUDA, ""));
  if (of_cuda || is_of_kokkos(vector)) return DeviceQueue::Kind::cuda;
  must(PetscObjectTypeCompareAny((PetscObject)vector, &of_opencl, VECSEQVIENNACL, VECMPIVIENNACL, ""));
  return of_opencl ? DeviceQueue::Kind::opencl : DeviceQueue::Kind::none;
}

/// PETSc's queue for work on a vector; none if the vector lies on the host, or is too short for a device.
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

/// The queue for a solve on the device where two blocks lie; none if the direction's solver does not accept them there.
/// If the last set-up was not made for this device, vectors go through the host until the next set-up, and the view
/// reports it.
DeviceQueue queue_for(PC pc, Sweep& sweep, const Block& right, const Block& solution, bool transpose) {
  const DeviceQueue queue = queue_of(right, solution);
  if (right.matrix && !queue && types().ready) types().columns += right.count;
  if (!queue || (right.matrix && transpose) || !sweep.layout.rows.empty()) return {};
  if (data(pc)->vectors.queue.kind != queue.kind) {
    data(pc)->vectors.from_host =
        "copied: the set-up did not know that they lie on a device; use KSPSolve(), or give the matrix their type";
    return {};
  }
  return (transpose ? sweep.solver.takes_transpose(queue) : sweep.solver.takes(queue)) ? queue : DeviceQueue{};
}

/// Give back the arrays of lend_cuda(). @param y, x  arrays of all columns
void restore_cuda(const Block& right, const Block& solution, const PetscScalar* y, PetscScalar* x) {
  must(right.matrix ? OclspktDenseRestoreWrite(solution.matrix, &x)
                    : VecRestoreArrayWriteAndMemType(solution.vector, &x));
  must(right.matrix ? OclspktDenseRestoreRead(right.matrix, &y) : VecRestoreArrayReadAndMemType(right.vector, &y));
}

/// Borrow the arrays of both blocks in CUDA memory.
/// @return false, with nothing borrowed, if an array lies elsewhere
bool lend_cuda(const Block& right, const Block& solution, Lent& lent) {
  const PetscScalar* y;
  PetscScalar* x;
  PetscMemType y_type, x_type;
  PetscInt y_stride = 0, x_stride = 0;
  if (right.matrix) {
    must(MatDenseGetLDA(right.matrix, &y_stride));
    must(MatDenseGetLDA(solution.matrix, &x_stride));
    must(OclspktDenseRead(right.matrix, &y, &y_type));
    must(OclspktDenseWrite(solution.matrix, &x, &x_type));
  } else {
    must(VecGetArrayReadAndMemType(right.vector, &y, &y_type));
    must(VecGetArrayWriteAndMemType(solution.vector, &x, &x_type));
  }
  lent.y = Columns<const PetscScalar>{y, y_stride} + right.first;
  lent.x = Columns<PetscScalar>{x, x_stride} + solution.first;
  const bool on_device = PetscMemTypeCUDA(y_type) && PetscMemTypeCUDA(x_type);
  if (!on_device) restore_cuda(right, solution, y, x);
  return on_device;
}

/// Borrow the device memory of two dressed vectors or of two ViennaCL vectors.
void lend_memory(Vec right, Vec solution, Lent& lent) {
  void *y = nullptr, *x = nullptr;
  if (is_dressed(right)) {
    DeviceSpace& space = *space_for(right->map->n);
    y = bring_to_device(space, right, false).memory();
    x = bring_to_device(space, solution, true).memory();
  } else {
    must(OclspktViennaCLRead(right, &y));
    must(OclspktViennaCLWrite(solution, &x));
  }
  lent.y = {static_cast<const PetscScalar*>(y)};
  lent.x = {static_cast<PetscScalar*>(x)};
}

/// The queue of two dense matrices on a CUDA device; none for other matrices.
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

Columns<const PetscScalar> get_read(const Block& block) {
  const PetscScalar* array;
  PetscInt stride = 0;
  if (block.matrix) {
    must(MatDenseGetLDA(block.matrix, &stride));
    must(MatDenseGetArrayRead(block.matrix, &array));
  } else {
    must(VecGetArrayRead(block.vector, &array));
  }
  return Columns<const PetscScalar>{array, stride} + block.first;
}

void restore_read(const Block& block, const Columns<const PetscScalar>& columns) {
  const PetscScalar* array = (columns + -block.first).first;
  must(block.matrix ? MatDenseRestoreArrayRead(block.matrix, &array) : VecRestoreArrayRead(block.vector, &array));
}

Columns<PetscScalar> get_write(const Block& block) {
  PetscScalar* array;
  PetscInt stride = 0;
  if (block.matrix) {
    must(MatDenseGetLDA(block.matrix, &stride));
    must(block.first > 0 ? MatDenseGetArray(block.matrix, &array) : MatDenseGetArrayWrite(block.matrix, &array));
  } else {
    must(VecGetArrayWrite(block.vector, &array));
  }
  return Columns<PetscScalar>{array, stride} + block.first;
}

void restore_write(const Block& block, const Columns<PetscScalar>& columns) {
  PetscScalar* array = (columns + -block.first).first;
  if (!block.matrix) {
    must(VecRestoreArrayWrite(block.vector, &array));
  } else if (block.first > 0) {
    must(MatDenseRestoreArray(block.matrix, &array));
  } else {
    must(MatDenseRestoreArrayWrite(block.matrix, &array));
  }
}

bool is_of_host(VecType type) {
  const std::string_view own = type ? type : VECSTANDARD;
  return own == VECSTANDARD || own == VECSEQ || own == VECMPI;
}

void multiply(Mat matrix, Vec x, Vec product, bool transpose, std::array<Block, 2>& own) {
  VecType type, of_x;
  Vec &own_x = own[0].vector, &own_product = own[1].vector;
  const auto product_of = transpose ? MatMultTranspose : MatMult;
  must(MatGetVecType(matrix, &type));
  must(VecGetType(x, &of_x));
  /* MatGetVecType() returns "kokkos" where VecGetType() returns "seqkokkos" or "mpikokkos". */
  if (is_of_host(type) || std::string_view(of_x).ends_with(type)) {
    must(product_of(matrix, x, product));
    return;
  }
  if (!own_x) must(MatCreateVecs(matrix, &own_x, &own_product));
  copy_on_host(x, own_x);
  must(product_of(matrix, own_x, own_product));
  copy_on_host(own_product, product);
}

bool match_block(const Block& like, Block& block) {
  if (fits(block, like)) return false;
  destroy_block(block);
  if (like.matrix) {
    block.matrix = make_columns(like);
  } else {
    must(VecDuplicate(like.vector, &block.vector));
  }
  block.count = like.count;
  return true;
}

void destroy_block(Block& block) {
  must(VecDestroy(&block.vector));
  must(MatDestroy(&block.matrix));
  block = {};
}

DeviceQueue queue_of(const Block& right, const Block& solution) {
  if (right.matrix) return queue_of_columns(right.matrix, solution.matrix);
  const DeviceQueue::Kind kind = kind_of(right.vector);
  if (is_dressed(right.vector) != is_dressed(solution.vector) || kind != kind_of(solution.vector)) return {};
  const DeviceQueue queue = queue_of_vector(right.vector);
  /* Asking ViennaCL for the queue of the solution would copy the solution's values to the device. */
  if (kind == DeviceQueue::Kind::opencl) return queue;
  /* A Kokkos vector has another queue if Kokkos began in another device context than the current context. */
  return queue != queue_of_vector(solution.vector) ? DeviceQueue{} : queue;
}

void note_vectors(PC pc, Vec vector) {
  PetscBool bound;
  data(pc)->vectors.from_host = "";
  if (!PetscDefined(HAVE_KOKKOS) || !is_of_kokkos(vector)) return;
  if (PetscMemTypeHost(PETSC_MEMTYPE_KOKKOS)) {
    data(pc)->vectors.from_host = "in host memory: the Kokkos of this PETSc has no GPU";
    return;
  }
  must(VecBoundToCPU(vector, &bound));
  if (!bound && !queue_of_vector(vector)) {
    data(pc)->vectors.from_host = "copied: Kokkos keeps them on a device by a run-time that is not CUDA";
  }
}

void find_queue(PC pc) {
  PC_OCLSPKT* o = data(pc);
  VecType type;
  Vec vector;
  must(MatGetVecType(pc->pmat, &type));
  if (is_of_host(type) && !types().options.on) return;
  /* MatCreateVecs() is collective, so the test must not depend on this rank's queue, which other ranks may lack. */
  if (o->vectors.sought == type) return;
  o->vectors.sought = type;
  must(MatCreateVecs(pc->pmat, &vector, nullptr));
  o->vectors.queue = queue_of_vector(vector);
  note_vectors(pc, vector);
  must(VecDestroy(&vector));
}

void set_up_for_vectors(PC pc, Vec right, Vec solution) {
  VecType type;
  must(VecGetType(right, &type)); /* the same on all ranks */
  if (is_of_host(type) && !types().options.on) return;
  const DeviceQueue queue = queue_of({.vector = right}, {.vector = solution});
  int least[] = {static_cast<bool>(queue),
                 data(pc)->vectors.queue.kind == queue.kind}; /* [0]: on a device; [1]: the last set-up is for it */
  OclspktReduce(MPI_IN_PLACE, least, 2, MPI_INT, MPI_MIN, comm_of(pc));
  if (!least[0] || least[1]) return;
  data(pc)->vectors.queue = queue;
  set_up_sweeps(pc);
}

bool stays_on_device(PC pc, Vec right, Vec solution) {
  const auto on_device = [&](const std::unique_ptr<Sweep>& sweep) {
    return static_cast<bool>(queue_for(pc, *sweep, {.vector = right}, {.vector = solution}, false));
  };
  return std::all_of(data(pc)->sweeps.begin(), data(pc)->sweeps.end(), on_device);
}

Lent lend(PC pc, Sweep& sweep, const Block& right, const Block& solution, bool transpose) {
  const DeviceQueue queue = queue_for(pc, sweep, right, solution, transpose);
  Lent lent{.place{Place::Kind::queue, queue}};
  lent.of_cuda = queue.kind == DeviceQueue::Kind::cuda && (right.matrix || !is_dressed(right.vector));
  if (!queue || (lent.of_cuda && !lend_cuda(right, solution, lent))) {
    return {.y = get_read(right), .x = get_write(solution)};
  }
  if (!lent.of_cuda) lend_memory(right.vector, solution.vector, lent);
  must(PetscLogGpuTimeBegin());
  return lent;
}

void give_back(const Block& right, const Block& solution, const Lent& lent) {
  if (!lent.place.queue) {
    restore_write(solution, lent.x);
    restore_read(right, lent.y);
    return;
  }
  must(PetscLogGpuTimeEnd());
  if (lent.of_cuda) {
    restore_cuda(right, solution, (lent.y + -right.first).first, (lent.x + -solution.first).first);
  } else if (is_dressed(right.vector)) {
    if (types().options.sync) space_for(right.vector->map->n)->finish();
    wrote_on_device(solution.vector);
    must(PetscObjectStateIncrease((PetscObject)solution.vector));
  } else {
    must(OclspktViennaCLRestoreWrite(solution.vector));
  }
}

}  // namespace oclspkt::petsc
