// SPDX-License-Identifier: BSD-2-Clause
/* A part of a dressed vector (the whole) is a vector of contiguous rows (VecGetSubVector()), or of all rows of a rank
   (VecGetLocalVector()). Rows at equal distances are copied instead (VecStrideGather()).

   A part shares the host memory of its whole, as in PETSc, and has its own array on the device. Until the program
   restores the part, a change of the whole updates the part. A use of the whole first takes the values of parts whose
   state has changed. */
#include <algorithm>
#include <optional>
#include <type_traits>

#include "types.hxx"

namespace oclspkt::petsc {
namespace {

PetscObjectState state_of(Vec vector) {
  PetscObjectState state = 0;
  (void)PetscObjectStateGet((PetscObject)vector, &state);
  return state;
}

void note_equal(Vec part) { side_of(part).known = state_of(part); }

/// Copy values from a part to its whole (to_whole) or back, on the device.
/// @pre the device has the values of the whole and, if to_whole, the values of the part
void copy_on_device(Vec part, bool to_whole) {
  Side &of_part = side_of(part), &of_whole = side_of(of_part.whole);
  DeviceSpace& space = *types().space;
  const PetscInt n = part->map->n;
  const Stride places{of_part.first, 1};
  if (!of_part.array) of_part.array = space.make(n);
  if (to_whole) {
    space.put(Merge::insert, *of_part.array, {}, *of_whole.array, places, n);
  } else {
    space.put(Merge::insert, *of_whole.array, places, *of_part.array, {}, n);
  }
}

/// True if operations should use the device's copy of a vector.
bool is_on_device(const Side& side) { return side.device && arrays_out(side) == 0 && !(side.host && types().failed); }

void take_from(Vec part) {
  Side& of_part = side_of(part);
  Vec whole = of_part.whole;
  Side& of_whole = side_of(whole);
  if (state_of(part) == of_part.known && of_part.out == 0) return;
  if (is_on_device(of_whole)) {
    bring_to_device(*types().space, part, false);
    copy_on_device(part, true);
    of_whole.host = of_whole.host && of_part.host;
  } else if (!of_part.host) {
    bring_down(part);
  }
  note_equal(part);
  (void)PetscObjectStateIncrease((PetscObject)whole);
}

void give_to(Vec part) {
  Side& of_part = side_of(part);
  const Side& of_whole = side_of(of_part.whole);
  of_part.device = is_on_device(of_whole) && part->map->n > 0;
  of_part.host = !of_part.device || of_whole.host;
  if (of_part.device) copy_on_device(part, false);
  if (of_part.out > 0 && !of_part.host) bring_down(part);
  note_equal(part);
}

/// Make `part` a part of `whole`. The part already uses host memory of `whole`.
/// @param for_reading  the values of both vectors do not change until detach(), though the part's state may
void attach(Vec part, Vec whole, PetscInt first, bool for_reading) {
  Side& side = side_of(part);
  side.whole = whole;
  side.first = first;
  give_to(part);
  if (!for_reading) side_of(whole).parts.push_back(part);
}

/// End a part. If its values have changed, the whole takes them.
void detach(Vec part) {
  if (state_of(part) != side_of(part).known) must(VecSetErrorIfLocked(side_of(part).whole, 1));
  take_from(part);
  forget_parts(part);
}

/// A contiguous range of rows on each rank: this rank's first row, and PETSc's block size for the rows.
struct Range {
  PetscInt first, block;
};

/// The range of an index set; nothing if its rows are not contiguous on some rank. Collective.
std::optional<Range> find_range(Vec whole, IS places) {
  PetscInt begin, end, count, of_places;
  Range range;
  PetscBool both[2];
  must(VecGetOwnershipRange(whole, &begin, &end));
  must(ISGetLocalSize(places, &count));
  must(ISContiguousLocal(places, begin, end, &range.first, &both[0]));
  must(ISGetBlockSize(places, &of_places));
  must(VecGetBlockSize(whole, &range.block));
  both[1] = static_cast<PetscBool>(of_places <= 1 && range.first % range.block == 0 && count % range.block == 0);
  OclspktReduce(MPI_IN_PLACE, both, 2, OCLSPKT_MPI_BOOL, MPI_LAND, comm_of(whole));
  if (!both[1]) range.block = of_places;
  return both[0] ? std::optional(range) : std::nullopt;
}

/* If the rows form no range, PETSc's function makes a vector with its own memory, by a scatter. */
void get_sub_vector(Vec whole, IS places, Vec* part) {
  const MPI_Comm comm = comm_of(whole);
  const std::optional<Range> range = find_range(whole, places);
  PetscInt count, all, locked = 0;
  if (!range) {
    return as_petsc_does(whole, &_VecOps::getsubvector, [&] { return VecGetSubVector(whole, places, part); });
  }
  must(ISGetLocalSize(places, &count));
  must(ISGetSize(places, &all));
  const PetscScalar* const array = count > 0 ? host_array(whole) + range->first : nullptr;
  must(ranks_of(comm) == 1 ? VecCreateSeqWithArray(comm, range->block, count, array, part)
                           : VecCreateMPIWithArray(comm, range->block, count, all, array, part));
  dress(*part);
  (*part)->ops->placearray = nullptr;
  (*part)->ops->replacearray = nullptr;
  attach(*part, whole, range->first, false);
  must(VecLockGet(whole, &locked));
  if (locked != 0) must(VecLockReadPush(*part));
}

void restore_sub_vector(Vec whole, IS places, Vec* part) {
  if (is_dressed(*part) && side_of(*part).whole == whole) {
    detach(*part);
    must(VecDestroy(part));
  } else {
    as_petsc_does(whole, &_VecOps::restoresubvector, [&] { return VecRestoreSubVector(whole, places, part); });
  }
}

/// Make `local` represent this rank's part of `whole`. PETSc's block preconditioners pass a vector without memory,
/// which this function dresses. An undressed vector with memory gets the host's array.
template <bool for_reading>
void get_local_vector(Vec whole, Vec local) {
  std::conditional_t<for_reading, const PetscScalar, PetscScalar>* array;
  PetscBool is_seq;
  must(PetscObjectTypeCompare((PetscObject)local, VECSEQ, &is_seq));
  if (is_seq && !is_dressed(local) && host_array(local) == nullptr) dress(local);
  if (is_dressed(local)) {
    must(VecPlaceArray(local, host_array(whole)));
    attach(local, whole, 0, for_reading);
    return;
  }
  if constexpr (for_reading) must(VecGetArrayRead(whole, &array));
  if constexpr (!for_reading) must(VecGetArray(whole, &array));
  must(VecPlaceArray(local, array));
}

template <bool for_reading>
void restore_local_vector(Vec whole, Vec local) {
  std::conditional_t<for_reading, const PetscScalar, PetscScalar>* array = nullptr;
  const bool is_part = is_dressed(local) && side_of(local).whole == whole;
  if constexpr (for_reading) {
    if (is_part) forget_parts(local);
    if (!is_part) must(VecRestoreArrayRead(whole, &array));
  } else {
    if (is_part) detach(local);
    if (!is_part) must(VecRestoreArray(whole, &array));
  }
  if (is_part) side_of(local).host = true; /* prevents a copy: the placed array belongs to the whole */
  must(VecResetArray(local));
}

/// Insert rows of x into rows of z by `mode`, on the device: all rows of the shorter vector, every step-th row of the
/// longer vector. @return false if the host must do it
bool put_places(const char* name, InsertMode mode, Vec x, Stride from, Vec z, Stride to) {
  const PetscInt count = std::min(x->map->n, z->map->n);
  const Operation work{name, 0, {x}, z, mode == INSERT_VALUES && to.step == 1};
  const bool is_known = mode == INSERT_VALUES || mode == ADD_VALUES || mode == MAX_VALUES;
  const bool fits = std::max(x->map->n, z->map->n) == count * std::max(from.step, to.step);
  const bool can_be = is_known && fits && x != z && is_dressed(x) && is_dressed(z);
  DeviceSpace* const space = can_be ? space_for_vectors(count) : nullptr;
  if (!space) note_fall_back(work);
  const Merge how = mode == INSERT_VALUES ? Merge::insert : mode == ADD_VALUES ? Merge::add : Merge::greater;
  const bool done = space && run_in(*space, work, [&](DeviceSpace& in, const Arrays& read, DeviceArray* written) {
                      in.put(how, *read[0], from, *written, to, count);
                    });
  if (done) must(PetscObjectStateIncrease((PetscObject)z)); /* PETSc's operation does this in VecRestoreArray() */
  return done;
}

void vec_stride_gather(Vec x, PetscInt first, Vec part, InsertMode mode) {
  const bool done = put_places("VecStrideGather", mode, x, {first, x->map->bs}, part, {});
  if (!done) must((*of_host(x).stridegather)(x, first, part, mode));
}

void vec_stride_scatter(Vec part, PetscInt first, Vec z, InsertMode mode) {
  const bool done = put_places("VecStrideScatter", mode, part, {}, z, {first, z->map->bs});
  if (!done) must((*of_host(z).stridescatter)(part, first, z, mode));
}

}  // namespace

void take_from_parts(Vec whole) {
  if (side_of(whole).parts.empty()) return;
  const std::vector<Vec> parts = side_of(whole).parts;
  for (const Vec part : parts) take_from(part);
}

void give_to_parts(Vec whole) {
  for (const Vec part : side_of(whole).parts) {
    give_to(part);
    (void)PetscObjectStateIncrease((PetscObject)part);
    note_equal(part);
  }
}

void forget_parts(Vec vector) {
  Side& side = side_of(vector);
  for (const Vec part : side.parts) side_of(part).whole = nullptr;
  side.parts.clear();
  if (side.whole == nullptr) return;
  std::vector<Vec>& others = side_of(side.whole).parts;
  others.erase(std::remove(others.begin(), others.end(), vector), others.end());
  side.whole = nullptr;
}

void put_parts(struct _VecOps* ops) {
  ops->getsubvector = Called<get_sub_vector>;
  ops->restoresubvector = Called<restore_sub_vector>;
  ops->getlocalvector = Called<get_local_vector<false>>;
  ops->restorelocalvector = Called<restore_local_vector<false>>;
  ops->getlocalvectorread = Called<get_local_vector<true>>;
  ops->restorelocalvectorread = Called<restore_local_vector<true>>;
  ops->stridegather = Called<vec_stride_gather>;
  ops->stridescatter = Called<vec_stride_scatter>;
}

}  // namespace oclspkt::petsc
