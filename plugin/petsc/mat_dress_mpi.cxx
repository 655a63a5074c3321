// SPDX-License-Identifier: BSD-2-Clause
/* Dressed parallel matrices. For its messages, PETSc's product copies the whole vector of a rank to the host. Here the
   device gathers the unknowns that other ranks need, and only these unknowns cross the bus. If one rank works on a
   device, all ranks of the matrix use these products. A rank sends the same messages from the host as from a device,
   even if its device fails during a product. */
#include <petscsf.h>

#include <algorithm>

#include "mat_dress.hxx"

namespace oclspkt::petsc {
namespace {

/// The arrays of messages on the device of this rank.
struct DeviceBorders {
  DeviceSpace* of = nullptr;
  std::unique_ptr<SpaceIndices> needed;
  std::unique_ptr<DeviceArray> sent, ghosts;
  std::unique_ptr<SpaceMessage<PetscScalar>> sent_on_host, ghosts_on_host;
};

/// Host memory of a product's messages: arrays of MatrixBorders, or memory for transfers to and from the device.
struct Messages {
  PetscScalar *sent, *ghosts;
};

/// The borders of a matrix: unknowns of this rank that other ranks multiply (sent), and unknowns of other ranks that
/// this rank multiplies (ghosts).
struct MatrixBorders {
  PetscObjectId of = 0;           ///< id of the matrix, because a later matrix may have the same address
  bool settled = false;           ///< the borders are known, until the next assembly of the matrix
  PetscObjectState pattern = -1;  ///< state of the matrix's pattern, equal on all ranks
  bool used = false;              ///< at least one rank works on a device; equal on all ranks
  std::vector<PetscInt> columns;  ///< global columns of the ghosts
  PetscInt first = 0, end = 0;    ///< global columns of this rank
  PetscSF messages = nullptr;     ///< send from `sent` to `ghosts`, or back
  std::vector<PetscInt> needed;   ///< local rows whose unknowns are in `sent`, increasing
  std::vector<PetscScalar> sent, ghosts;
  Vec ghost_vector = nullptr;  ///< a host vector with `ghosts` as its memory
  DeviceBorders on_device;
  Twin plain, transposed;  ///< copies of the block that multiplies ghosts
};

struct ParallelMatrices {
  PetscErrorCode (*create)(Mat) = nullptr;
  struct _MatOps host = {};  ///< PETSc's operations of MATMPIAIJ
  std::unordered_map<Mat, MatrixBorders> borders;
};
ParallelMatrices& parallel_matrices() {
  static auto* const all = new ParallelMatrices;
  return *all;
}

void release_borders(MatrixBorders& borders) {
  must(PetscSFDestroy(&borders.messages));
  must(VecDestroy(&borders.ghost_vector));
  borders = {};
}

MatrixBorders& borders_of(Mat matrix) {
  const PetscObjectId id = ((PetscObject)matrix)->id;
  MatrixBorders& borders = parallel_matrices().borders[matrix];
  if (borders.of != id) release_borders(borders);
  borders.of = id;
  return borders;
}

/// Set up messages for the ghosts. The owner of a column stores it once in `sent`, for all receivers.
void make_messages(MPI_Comm comm, PetscLayout layout, MatrixBorders& b) {
  PetscSF all;
  const PetscInt* count;
  const PetscSFNode* owners;
  const auto ghosts = static_cast<PetscInt>(b.columns.size());
  must(PetscSFCreate(comm, &all));
  must(PetscSFSetGraphLayout(all, layout, ghosts, nullptr, PETSC_COPY_VALUES, b.columns.data()));
  must(PetscSFComputeDegreeBegin(all, &count));
  must(PetscSFComputeDegreeEnd(all, &count));
  std::vector<PetscInt> place(static_cast<std::size_t>(b.end - b.first)), place_of_ghost(b.columns.size());
  for (PetscInt row = 0; row < b.end - b.first; ++row) {
    if (count[row] == 0) continue;
    place[static_cast<std::size_t>(row)] = static_cast<PetscInt>(b.needed.size());
    b.needed.push_back(row);
  }
  must(PetscSFBcastBegin(all, MPIU_INT, place.data(), place_of_ghost.data(), MPI_REPLACE));
  must(PetscSFBcastEnd(all, MPIU_INT, place.data(), place_of_ghost.data(), MPI_REPLACE));
  must(PetscSFGetGraph(all, nullptr, nullptr, nullptr, &owners));
  std::vector<PetscSFNode> places(owners, owners + ghosts);
  for (std::size_t k = 0; k < places.size(); ++k) places[k].index = place_of_ghost[k];
  must(PetscSFCreate(comm, &b.messages));
  must(PetscSFSetGraph(b.messages, static_cast<PetscInt>(b.needed.size()), ghosts, nullptr, PETSC_COPY_VALUES,
                       places.data(), PETSC_COPY_VALUES));
  must(PetscSFSetUp(b.messages));
  must(PetscSFDestroy(&all));
  b.sent.resize(b.needed.size());
  b.ghosts.resize(b.columns.size());
  must(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, ghosts, b.ghosts.data(), &b.ghost_vector));
}

/// Test by one reduction whether the ghosts of a rank have changed. If so, set up new messages. Collective.
void agree(Mat matrix, MatrixBorders& b) {
  const MPI_Comm comm = comm_of(matrix);
  const PetscInt first = matrix->cmap->rstart, end = matrix->cmap->rend;
  Mat own, other;
  const PetscInt* columns;
  must(MatMPIAIJGetSeqAIJ(matrix, &own, &other, &columns));
  const DeviceSpace* const space = space_for(std::min(matrix->rmap->n, matrix->cmap->n));
  const std::vector<PetscInt> today(columns, columns + other->cmap->n);
  const bool stays = b.messages != nullptr && b.columns == today && b.first == first && b.end == end;
  int any[] = {!stays, space != nullptr && is_dressed(own) && is_dressed(other)};
  OclspktReduce(MPI_IN_PLACE, any, 2, MPI_INT, MPI_MAX, comm);
  if (any[0] != 0) {
    release_borders(b);
    b.of = ((PetscObject)matrix)->id;
  }
  b.used = any[1] != 0;
  if (b.used && any[0] != 0) {
    b.columns = today;
    b.first = first;
    b.end = end;
    make_messages(comm, matrix->cmap, b);
  }
  b.pattern = matrix->nonzerostate;
  b.settled = true;
}

/// Find the borders of a matrix; null if all ranks must use PETSc's own products. The first product after an assembly
/// is collective, because the columns or the device of any rank may have changed.
MatrixBorders* settle(Mat matrix) {
  if (ranks_of(comm_of(matrix)) == 1) return nullptr;
  MatrixBorders& b = borders_of(matrix);
  if (!b.settled || b.pattern != matrix->nonzerostate) agree(matrix, b);
  return b.used ? &b : nullptr;
}

struct ParallelProduct : Product {
  using Product::Product;
  Mat own = nullptr, other = nullptr;  ///< blocks for this rank's unknowns, and for ghosts
};

/// Multiply this rank's unknowns by the block of their columns. The block's own product may use a device.
void own_by_petsc(const ParallelProduct& p) {
  const struct _MatOps& ops = *p.own->ops;
  if (p.y == nullptr) {
    must((*(p.transposed ? ops.multtranspose : ops.mult))(p.own, p.x, p.z));
  } else {
    must((*(p.transposed ? ops.multtransposeadd : ops.multadd))(p.own, p.x, p.y, p.z));
  }
}

/// Compute on the host the values that this rank sends.
void begin_on_host(const ParallelProduct& p, MatrixBorders& b) {
  const PetscScalar* x;
  if (p.transposed) {
    must((*p.other->ops->multtranspose)(p.other, p.x, b.ghost_vector));
    return;
  }
  must(VecGetArrayRead(p.x, &x));
  for (std::size_t k = 0; k < b.needed.size(); ++k) b.sent[k] = x[b.needed[k]];
  must(VecRestoreArrayRead(p.x, &x));
}

/// Add the received values on the host.
void end_on_host(const ParallelProduct& p, const MatrixBorders& b) {
  PetscScalar* z;
  if (!p.transposed) {
    must((*p.other->ops->multadd)(p.other, b.ghost_vector, p.z, p.z));
    return;
  }
  must(VecGetArray(p.z, &z));
  for (std::size_t k = 0; k < b.needed.size(); ++k) z[b.needed[k]] += b.sent[k];
  must(VecRestoreArray(p.z, &z));
}

/// Make arrays for messages on the device. @throws DeviceError
void make_arrays(DeviceSpace& space, MatrixBorders& b) {
  if (b.on_device.of == &space) return;
  const std::vector<Index> needed(b.needed.begin(), b.needed.end());
  b.on_device.of = nullptr;
  b.on_device.needed = space.make_indices(needed);
  b.on_device.sent = space.make(static_cast<Index>(b.sent.size()));
  b.on_device.ghosts = space.make(static_cast<Index>(b.ghosts.size()));
  b.on_device.sent_on_host = space.make_message(b.on_device.sent->size());
  b.on_device.ghosts_on_host = space.make_message(b.on_device.ghosts->size());
  b.on_device.of = &space;
}

/// Compute on the device the values that this rank sends, and enqueue the product with this rank's unknowns.
/// @return false if the host must do both
bool begin_on_device(DeviceSpace& space, const ParallelProduct& p, MatrixBorders& b) {
  Twin &own = twin_of(p.own, p.transposed), &other = p.transposed ? b.transposed : b.plain;
  PetscObjectState outer;
  other.packed = true;
  must(PetscObjectStateGet((PetscObject)p.matrix, &outer));
  std::string failure = follow(space, p.own, outer, p.transposed, own);
  if (failure.empty()) failure = follow(space, p.other, outer, p.transposed, other);
  const bool done = run_in(space, p.work(), [&](DeviceSpace& in, const Arrays& read, DeviceArray* written) {
    if (!failure.empty()) throw DeviceError(failure);
    make_arrays(in, b);
    const auto multiply_own = [&] { in.product(*own.form, *read[0], p.y != nullptr ? read[1] : nullptr, *written); };
    if (p.transposed) {
      in.gather(*read[0], *other.rows, *other.part);
      in.product(*other.form, *other.part, nullptr, *b.on_device.ghosts);
    } else {
      in.gather(*read[0], *b.on_device.needed, *b.on_device.sent);
    }
    const LoggedCopy logged(in, LoggedCopy::Way::down);
    in.take(p.transposed ? *b.on_device.ghosts : *b.on_device.sent,
            p.transposed ? *b.on_device.ghosts_on_host : *b.on_device.sent_on_host, multiply_own);
  });
  if (done) must(OclspktLogGpuFlops(2 * (own.entries + other.entries)));
  return done;
}

/// Add the received values on the device. If the device fails, the host repeats the product with this rank's unknowns,
/// except for z = z + A x, where z has this product already.
/// @return false if the host must add the received values
bool end_on_device(DeviceSpace& space, const ParallelProduct& p, MatrixBorders& b, const Messages& m) {
  const Operation work = p.y == p.z ? Operation{p.name(), 0, {}, p.z, false} : p.work();
  const bool done = run_in(space, work, [&](DeviceSpace& in, const Arrays&, DeviceArray* written) {
    DeviceArray& received = p.transposed ? *b.on_device.sent : *b.on_device.ghosts;
    {
      const LoggedCopy logged(in, LoggedCopy::Way::up);
      in.bring(p.transposed ? *b.on_device.sent_on_host : *b.on_device.ghosts_on_host, received);
    }
    if (p.transposed) {
      in.scatter_add(received, *b.on_device.needed, *written);
    } else {
      in.product(*b.plain.form, received, nullptr, *b.plain.part);
      in.scatter_add(*b.plain.part, *b.plain.rows, *written);
    }
  });
  if (done) return true;
  std::copy_n(m.sent, b.sent.size(), b.sent.begin());
  std::copy_n(m.ghosts, b.ghosts.size(), b.ghosts.begin());
  if (p.y != p.z) own_by_petsc(p);
  return false;
}

/// Send `sent` to the ghosts of other ranks. If `back`, send ghosts to their owners, which add them up in `sent`.
/// @param meanwhile  work to do while messages are under way
template <typename Work>
void exchange(bool back, const MatrixBorders& b, const Messages& m, const Work& meanwhile) {
  if (back) {
    std::fill_n(m.sent, b.sent.size(), PetscScalar(0));
    must(PetscSFReduceBegin(b.messages, MPIU_SCALAR, m.ghosts, m.sent, MPI_SUM));
    meanwhile();
    must(PetscSFReduceEnd(b.messages, MPIU_SCALAR, m.ghosts, m.sent, MPI_SUM));
  } else {
    must(PetscSFBcastBegin(b.messages, MPIU_SCALAR, m.sent, m.ghosts, MPI_REPLACE));
    meanwhile();
    must(PetscSFBcastEnd(b.messages, MPIU_SCALAR, m.sent, m.ghosts, MPI_REPLACE));
  }
}

/// Check the local sizes of the vectors, because PETSc compares only global sizes before some products.
void check_rows(const ParallelProduct& p) {
  const PetscInt rows = p.matrix->rmap->n, columns = p.matrix->cmap->n;
  const PetscInt from = p.transposed ? rows : columns, to = p.transposed ? columns : rows;
  for (const auto& [vector, wanted] : {std::pair{p.x, from}, {p.y, to}, {p.z, to}}) {
    OclspktCheck(!vector || vector->map->n == wanted, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
                 "%s: a vector has %" PetscInt_FMT " rows on this rank, the matrix %" PetscInt_FMT
                 ": make the vector by MatCreateVecs()",
                 p.name(), vector->map->n, wanted);
  }
}

/// Multiply by means of the borders. Collective. @return false if all ranks must use PETSc's product
bool multiply_by_borders(ParallelProduct p) {
  MatrixBorders* const b = settle(p.matrix);
  if (!b) return false;
  check_rows(p);
  must(MatMPIAIJGetSeqAIJ(p.matrix, &p.own, &p.other, nullptr));
  DeviceSpace* const space = is_dressed(p.own) && is_dressed(p.other) ? space_of_product(p.work()) : nullptr;
  bool by_device = space && begin_on_device(*space, p, *b);
  if (!by_device) begin_on_host(p, *b);
  const Messages m = by_device ? Messages{b->on_device.sent_on_host->data(), b->on_device.ghosts_on_host->data()}
                               : Messages{b->sent.data(), b->ghosts.data()};
  exchange(p.transposed, *b, m, [&] {
    if (!by_device) own_by_petsc(p);
  });
  if (by_device) by_device = end_on_device(*space, p, *b, m);
  if (!by_device) end_on_host(p, *b);
  must(PetscObjectStateIncrease((PetscObject)p.z)); /* PETSc's product does this in VecRestoreArray() */
  return true;
}

template <auto slot, bool transposed, typename... Vectors>
void multiply_mpi(Mat matrix, Vectors... vectors) {
  if (!multiply_by_borders(ParallelProduct(matrix, transposed, vectors...)))
    must((*(parallel_matrices().host.*slot))(matrix, vectors...));
}

void assembly_end_mpi(Mat matrix, MatAssemblyType type) {
  must((*parallel_matrices().host.assemblyend)(matrix, type));
  if (const auto found = parallel_matrices().borders.find(matrix); found != parallel_matrices().borders.end()) {
    found->second.settled = false;
  }
}

void destroy_mpi(Mat matrix) {
  auto& borders = parallel_matrices().borders;
  if (const auto found = borders.find(matrix); found != borders.end()) {
    release_borders(found->second);
    borders.erase(found);
  }
  must((*parallel_matrices().host.destroy)(matrix));
}

}  // namespace

void create_parallel(Mat matrix) {
  must((*parallel_matrices().create)(matrix));
  dress_parallel(matrix);
}

void dress_parallel(Mat matrix) {
  ParallelMatrices& m = parallel_matrices();
  if (m.host.destroy == nullptr) m.host = *matrix->ops;
  OCLSPKT_PUT_PRODUCTS(matrix->ops, multiply_mpi);
  matrix->ops->assemblyend = Called<assembly_end_mpi>;
  matrix->ops->destroy = Called<destroy_mpi>;
}

void register_parallel_matrices() {
  replace_creator(MatList, "matrices", MATMPIAIJ, types().options.on, Called<create_parallel, Mat>,
                  &parallel_matrices().create, MatRegister);
}

void forget_parallel_matrices() {
  for (auto& [matrix, borders] : parallel_matrices().borders) release_borders(borders);
  parallel_matrices().borders.clear();
}

}  // namespace oclspkt::petsc
