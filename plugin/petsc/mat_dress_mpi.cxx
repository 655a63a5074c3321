// SPDX-License-Identifier: BSD-2-Clause
/* Dressed matrices of several processes. PETSc's product copies the whole vector of a rank to the host for its
   messages. Here the device gathers the unknowns that other ranks need, so that no data that grows with the rows
   crosses the bus. All ranks of a matrix do so as soon as one of them works on a device: the messages do not depend on
   where a rank works, nor on whether its device fails during a product. */
#include <petscsf.h>

#include <algorithm>

#include "boundary.hxx"
#include "mat_dress.hxx"

namespace oclspkt::petsc {
namespace {

/// The numbers that messages send and receive, on the device of this rank.
struct BordersThere {
  DeviceSpace* of = nullptr;
  std::unique_ptr<SpaceIndices> needed;
  std::unique_ptr<DeviceArray> sent, ghosts;
  std::unique_ptr<SpaceMessage<PetscScalar>> sent_on_host, ghosts_on_host;
};

/// Memory of a product's messages: of MatrixBorders, or the memory that the device copies to and from.
struct Messages {
  PetscScalar *sent, *ghosts;
};

/// The borders of a matrix: unknowns of this rank that others multiply, and those of others that this one multiplies.
struct MatrixBorders {
  PetscObjectId of = 0;           ///< the matrix: another one may take its place in memory
  bool settled = false;           ///< until the matrix is assembled again
  PetscObjectState pattern = -1;  ///< all ranks have the same one
  bool used = false;              ///< agreed: one of the ranks works on a device
  std::vector<PetscInt> columns;  ///< of the ghosts, in the numbering of all ranks
  PetscInt first = 0, end = 0;    ///< columns of this rank
  PetscSF messages = nullptr;     ///< from `sent` to `ghosts`, or back
  std::vector<PetscInt> needed;   ///< places of `sent` in a vector, rising
  std::vector<PetscScalar> sent, ghosts;
  Vec ghost_vector = nullptr;  ///< of the host, over `ghosts`
  BordersThere there;
  Twin plain, transposed;  ///< of the block that multiplies ghosts
};

struct ParallelMatrices {
  PetscErrorCode (*create)(Mat) = nullptr;
  struct _MatOps host = {};  ///< PETSc's operations
  std::unordered_map<Mat, MatrixBorders> borders;
};
ParallelMatrices& parallel_matrices() {
  static auto* const all = new ParallelMatrices;
  return *all;
}

PetscErrorCode ReleaseBorders(MatrixBorders& borders) {
  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&borders.messages));
  PetscCall(VecDestroy(&borders.ghost_vector));
  borders = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BordersOf(Mat matrix, MatrixBorders** borders) {
  const PetscObjectId id = ((PetscObject)matrix)->id;

  PetscFunctionBegin;
  *borders = &parallel_matrices().borders[matrix];
  if ((*borders)->of != id) PetscCall(ReleaseBorders(**borders));
  (*borders)->of = id;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Make messages of the columns that ranks need. The owner of a column has it once in `sent`.
PetscErrorCode MakeMessages(MPI_Comm comm, PetscLayout layout, MatrixBorders& b) {
  PetscSF all;
  const PetscInt* count;
  const PetscSFNode* owners;
  const auto ghosts = static_cast<PetscInt>(b.columns.size());

  PetscFunctionBegin;
  PetscCall(PetscSFCreate(comm, &all));
  PetscCall(PetscSFSetGraphLayout(all, layout, ghosts, nullptr, PETSC_COPY_VALUES, b.columns.data()));
  PetscCall(PetscSFComputeDegreeBegin(all, &count));
  PetscCall(PetscSFComputeDegreeEnd(all, &count));
  std::vector<PetscInt> place(static_cast<std::size_t>(b.end - b.first)), place_of_ghost(b.columns.size());
  for (PetscInt row = 0; row < b.end - b.first; ++row) {
    if (count[row] == 0) continue;
    place[static_cast<std::size_t>(row)] = static_cast<PetscInt>(b.needed.size());
    b.needed.push_back(row);
  }
  PetscCall(PetscSFBcastBegin(all, MPIU_INT, place.data(), place_of_ghost.data(), MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(all, MPIU_INT, place.data(), place_of_ghost.data(), MPI_REPLACE));
  PetscCall(PetscSFGetGraph(all, nullptr, nullptr, nullptr, &owners));
  std::vector<PetscSFNode> places(owners, owners + ghosts);
  for (std::size_t k = 0; k < places.size(); ++k) places[k].index = place_of_ghost[k];
  PetscCall(PetscSFCreate(comm, &b.messages));
  PetscCall(PetscSFSetGraph(b.messages, static_cast<PetscInt>(b.needed.size()), ghosts, nullptr, PETSC_COPY_VALUES,
                            places.data(), PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(b.messages));
  PetscCall(PetscSFDestroy(&all));
  b.sent.resize(b.needed.size());
  b.ghosts.resize(b.columns.size());
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, ghosts, b.ghosts.data(), &b.ghost_vector));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Agree with all ranks on messages, by one reduction, and make them anew if the ghosts of one have changed.
/// Collective.
PetscErrorCode Agree(Mat matrix, MatrixBorders& b) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)matrix);
  const PetscInt first = matrix->cmap->rstart, end = matrix->cmap->rend;
  Mat own, other;
  const PetscInt* columns;
  DeviceSpace* space;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(matrix, &own, &other, &columns));
  PetscCall(SpaceFor(std::min(matrix->rmap->n, matrix->cmap->n), &space));
  const std::vector<PetscInt> today(columns, columns + other->cmap->n);
  const bool stays = b.messages != nullptr && b.columns == today && b.first == first && b.end == end;
  int any[] = {!stays, space != nullptr && is_dressed(own) && is_dressed(other)};
  OclspktAllreduce(MPI_IN_PLACE, any, 2, MPI_INT, MPI_MAX, comm);
  if (any[0] != 0) {
    PetscCall(ReleaseBorders(b));
    b.of = ((PetscObject)matrix)->id;
  }
  b.used = any[1] != 0;
  if (b.used && any[0] != 0) {
    b.columns = today;
    b.first = first;
    b.end = end;
    PetscCall(MakeMessages(comm, matrix->cmap, b));
  }
  b.pattern = matrix->nonzerostate;
  b.settled = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Find the borders of a matrix. Collective at the first product after an assembly: then a rank may have other columns,
/// or its device for the first time. All ranks test the same states.
/// @param[out] borders  null if all ranks are to use PETSc's own products
PetscErrorCode Settle(Mat matrix, MatrixBorders** borders) {
  PetscMPIInt ranks;
  MatrixBorders* b;

  PetscFunctionBegin;
  *borders = nullptr;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)matrix), &ranks));
  if (ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BordersOf(matrix, &b));
  if (!b->settled || b->pattern != matrix->nonzerostate) PetscCall(Agree(matrix, *b));
  if (b->used) *borders = b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A product by the blocks of a matrix.
struct ParallelProduct : Product {
  explicit ParallelProduct(const Product& product) : Product(product) {}
  Mat own = nullptr, other = nullptr;  ///< of this rank's unknowns, and of ghosts
};

/// Multiply the block of this rank's unknowns by PETSc's operation, which may use a device.
PetscErrorCode OwnByPetsc(const ParallelProduct& p) {
  const struct _MatOps& ops = *p.own->ops;

  PetscFunctionBegin;
  if (p.y == nullptr) {
    PetscCall((*(p.transposed ? ops.multtranspose : ops.mult))(p.own, p.x, p.z));
  } else {
    PetscCall((*(p.transposed ? ops.multtransposeadd : ops.multadd))(p.own, p.x, p.y, p.z));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Write messages on the host.
PetscErrorCode BeginOnHost(const ParallelProduct& p, MatrixBorders& b) {
  const PetscScalar* x;

  PetscFunctionBegin;
  if (p.transposed) {
    PetscCall((*p.other->ops->multtranspose)(p.other, p.x, b.ghost_vector));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayRead(p.x, &x));
  for (std::size_t k = 0; k < b.needed.size(); ++k) b.sent[k] = x[b.needed[k]];
  PetscCall(VecRestoreArrayRead(p.x, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Add the received numbers on the host.
PetscErrorCode EndOnHost(const ParallelProduct& p, const MatrixBorders& b) {
  PetscScalar* z;

  PetscFunctionBegin;
  if (!p.transposed) {
    PetscCall((*p.other->ops->multadd)(p.other, b.ghost_vector, p.z, p.z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArray(p.z, &z));
  for (std::size_t k = 0; k < b.needed.size(); ++k) z[b.needed[k]] += b.sent[k];
  PetscCall(VecRestoreArray(p.z, &z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Make arrays for messages on the device. @throws DeviceError
void make_arrays(DeviceSpace& space, MatrixBorders& b) {
  if (b.there.of == &space) return;
  const std::vector<Index> needed(b.needed.begin(), b.needed.end());
  b.there.of = nullptr;
  b.there.needed = space.make_indices(needed);
  b.there.sent = space.make(static_cast<Index>(b.sent.size()));
  b.there.ghosts = space.make(static_cast<Index>(b.ghosts.size()));
  b.there.sent_on_host = space.make_message(b.there.sent->size());
  b.there.ghosts_on_host = space.make_message(b.there.ghosts->size());
  b.there.of = &space;
}

/* Copies of messages, which -log_view shows with those of vectors. */
void take_message(DeviceSpace& space, const DeviceArray& from, SpaceMessage<PetscScalar>& to,
                  const std::function<void()>& meanwhile) {
  const LoggedCopy logged(space, LoggedCopy::Way::down);
  space.take(from, to, meanwhile);
}

void bring_message(DeviceSpace& space, const SpaceMessage<PetscScalar>& from, DeviceArray& to) {
  const LoggedCopy logged(space, LoggedCopy::Way::up);
  space.bring(from, to);
}

/// Write messages on the device, and enqueue the product of this rank's unknowns.
PetscErrorCode BeginOnDevice(DeviceSpace& space, const ParallelProduct& p, MatrixBorders& b, PetscBool* done) {
  Twin &own = twin_of(p.own, p.transposed), &other = p.transposed ? b.transposed : b.plain;
  PetscObjectState outer;
  std::string failure;

  PetscFunctionBegin;
  other.packed = true;
  PetscCall(PetscObjectStateGet((PetscObject)p.matrix, &outer));
  PetscCall(Follow(space, p.own, outer, p.transposed, own, &failure));
  if (failure.empty()) PetscCall(Follow(space, p.other, outer, p.transposed, other, &failure));
  PetscCall(RunIn(space, p.work(), done, [&](DeviceSpace& in, const Arrays& read, DeviceArray* written) {
    if (!failure.empty()) throw DeviceError(failure);
    make_arrays(in, b);
    const auto multiply_own = [&] { in.product(*own.form, *read[0], p.y != nullptr ? read[1] : nullptr, *written); };
    if (p.transposed) {
      in.gather(*read[0], *other.rows, *other.part);
      in.product(*other.form, *other.part, nullptr, *b.there.ghosts);
      take_message(in, *b.there.ghosts, *b.there.ghosts_on_host, multiply_own);
    } else {
      in.gather(*read[0], *b.there.needed, *b.there.sent);
      take_message(in, *b.there.sent, *b.there.sent_on_host, multiply_own);
    }
  }));
  if (*done) PetscCall(OclspktLogGpuFlops(2 * (own.entries + other.entries)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Add the received numbers on the device. If the device fails now, the host begins anew unless z is y.
PetscErrorCode EndOnDevice(DeviceSpace& space, const ParallelProduct& p, MatrixBorders& b, const Messages& m,
                           PetscBool* done) {
  const Operation work = p.y == p.z ? Operation{p.name(), {}, p.z, false} : p.work();

  PetscFunctionBegin;
  PetscCall(RunIn(space, work, done, [&](DeviceSpace& in, const Arrays&, DeviceArray* written) {
    if (p.transposed) {
      bring_message(in, *b.there.sent_on_host, *b.there.sent);
      in.scatter_add(*b.there.sent, *b.there.needed, *written);
    } else {
      bring_message(in, *b.there.ghosts_on_host, *b.there.ghosts);
      in.product(*b.plain.form, *b.there.ghosts, nullptr, *b.plain.part);
      in.scatter_add(*b.plain.part, *b.plain.rows, *written);
    }
  }));
  if (*done) PetscFunctionReturn(PETSC_SUCCESS);
  std::copy_n(m.sent, b.sent.size(), b.sent.begin());
  std::copy_n(m.ghosts, b.ghosts.size(), b.ghosts.begin());
  if (p.y != p.z) PetscCall(OwnByPetsc(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

Messages messages_of(MatrixBorders& b, bool on_device) {
  if (on_device) return {b.there.sent_on_host->data(), b.there.ghosts_on_host->data()};
  return {b.sent.data(), b.ghosts.data()};
}

PetscErrorCode BeginMessages(bool back, const MatrixBorders& b, const Messages& m) {
  PetscFunctionBegin;
  if (back) {
    std::fill_n(m.sent, b.sent.size(), PetscScalar(0));
    PetscCall(PetscSFReduceBegin(b.messages, MPIU_SCALAR, m.ghosts, m.sent, MPI_SUM));
  } else {
    PetscCall(PetscSFBcastBegin(b.messages, MPIU_SCALAR, m.sent, m.ghosts, MPI_REPLACE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EndMessages(bool back, const MatrixBorders& b, const Messages& m) {
  PetscFunctionBegin;
  if (back) {
    PetscCall(PetscSFReduceEnd(b.messages, MPIU_SCALAR, m.ghosts, m.sent, MPI_SUM));
  } else {
    PetscCall(PetscSFBcastEnd(b.messages, MPIU_SCALAR, m.sent, m.ghosts, MPI_REPLACE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Check the rows of this rank. PETSc compares those of all ranks, and leaves some of each rank to its own products.
PetscErrorCode CheckRows(const ParallelProduct& p) {
  const PetscInt rows = p.matrix->rmap->n, columns = p.matrix->cmap->n;
  const PetscInt from = p.transposed ? rows : columns, to = p.transposed ? columns : rows;

  PetscFunctionBegin;
  for (const auto& [vector, wanted] : {std::pair{p.x, from}, {p.y, to}, {p.z, to}}) {
    PetscCheck(!vector || vector->map->n == wanted, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
               "%s: a vector has %" PetscInt_FMT " rows on this rank, the matrix %" PetscInt_FMT
               ": make the vector by MatCreateVecs()",
               p.name(), vector->map->n, wanted);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Multiply; collective. @param[out] done  false: all ranks leave the product to PETSc
PetscErrorCode MultiplyByBorders(const Product& product, PetscBool* done) {
  ParallelProduct p(product);
  DeviceSpace* space = nullptr;
  PetscBool there = PETSC_FALSE;
  MatrixBorders* b;

  PetscFunctionBegin;
  PetscCall(Settle(p.matrix, &b));
  *done = b != nullptr ? PETSC_TRUE : PETSC_FALSE;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckRows(p));
  PetscCall(MatMPIAIJGetSeqAIJ(p.matrix, &p.own, &p.other, nullptr));
  if (is_dressed(p.own) && is_dressed(p.other)) PetscCall(SpaceOfProduct(p.work(), &space));
  if (space) PetscCall(BeginOnDevice(*space, p, *b, &there));
  if (!there) PetscCall(BeginOnHost(p, *b));
  const Messages m = messages_of(*b, there);
  PetscCall(BeginMessages(p.transposed, *b, m));
  if (!there) PetscCall(OwnByPetsc(p));
  PetscCall(EndMessages(p.transposed, *b, m));
  if (there) PetscCall(EndOnDevice(*space, p, *b, m, &there));
  if (!there) PetscCall(EndOnHost(p, *b));
  PetscCall(PetscObjectStateIncrease((PetscObject)p.z)); /* callers leave that to VecRestoreArray() */
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <auto slot, bool transposed, typename... Vectors>
PetscErrorCode MultiplyMPI(Mat matrix, Vectors... vectors) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MultiplyByBorders({matrix, transposed, vectors...}, &done));
  if (!done) PetscCall((*(parallel_matrices().host.*slot))(matrix, vectors...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AssemblyEndMPI(Mat matrix, MatAssemblyType type) {
  PetscFunctionBegin;
  PetscCall((*parallel_matrices().host.assemblyend)(matrix, type));
  if (const auto found = parallel_matrices().borders.find(matrix); found != parallel_matrices().borders.end()) {
    found->second.settled = false;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DestroyMPI(Mat matrix) {
  auto& borders = parallel_matrices().borders;

  PetscFunctionBegin;
  if (const auto found = borders.find(matrix); found != borders.end()) {
    PetscCall(ReleaseBorders(found->second));
    borders.erase(found);
  }
  PetscCall((*parallel_matrices().host.destroy)(matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode CreateParallel(Mat matrix) {
  PetscFunctionBegin;
  PetscCall((*parallel_matrices().create)(matrix));
  DressParallel(matrix);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void DressParallel(Mat matrix) {
  ParallelMatrices& m = parallel_matrices();
  if (m.host.destroy == nullptr) m.host = *matrix->ops;
  OCLSPKT_PUT_PRODUCTS(matrix->ops, MultiplyMPI);
  matrix->ops->assemblyend = AssemblyEndMPI;
  matrix->ops->destroy = DestroyMPI;
}

PetscErrorCode RegisterParallelMatrices() {
  return ReplaceCreator(MatList, "matrices", MATMPIAIJ, types().on, CreateParallel, &parallel_matrices().create,
                        MatRegister);
}

PetscErrorCode ForgetParallelMatrices() {
  PetscFunctionBegin;
  for (auto& [matrix, borders] : parallel_matrices().borders) PetscCall(ReleaseBorders(borders));
  parallel_matrices().borders.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
