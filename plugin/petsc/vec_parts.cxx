// SPDX-License-Identifier: BSD-2-Clause
/* Parts of dressed vectors as vectors: neighbouring places (VecGetSubVector()), all that a rank has
   (VecGetLocalVector()), and places at equal distances, which are copied.

   A part shares the host's memory with its vector, as in PETSc. On the device it has an array of its own. While the
   part is out, a change of one of the two reaches the other before that is used: values go to the parts when the vector
   changes, and come back from parts whose state has changed when the vector is used. */
#include <algorithm>
#include <type_traits>

#include "boundary.hxx"
#include "types.hxx"

namespace oclspkt::petsc {
namespace {

PetscObjectState state_of(Vec vector) {
  PetscObjectState state = 0;
  (void)PetscObjectStateGet((PetscObject)vector, &state);
  return state;
}

/// Record that the part and the whole have the same values.
void note_equal(Vec part) { side_of(part).known = state_of(part); }

/// Copy the part's values from the whole or to it, on the device.
/// @pre the whole has its values there; so has the part if they go to the whole
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

/// True if the device's copy of a vector is the one to use.
bool is_on_device(const Side& side) { return side.device && arrays_out(side) == 0 && !(side.host && types().failed); }

void take_from(Vec part) {
  Side& of_part = side_of(part);
  Vec whole = of_part.whole;
  Side& of_whole = side_of(whole);
  if (state_of(part) == of_part.known && of_part.out == 0) return;
  if (is_on_device(of_whole)) {
    DeviceArray* array;
    BringToDevice(*types().space, part, false, &array);
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

/// Make a vector a part of another one, whose host memory it has.
/// @param for_reading  neither of the two changes meanwhile. (PETSc increases the part's state even then.)
PetscErrorCode Attach(Vec part, Vec whole, PetscInt first, bool for_reading) {
  Side& side = side_of(part);

  PetscFunctionBegin;
  side.whole = whole;
  side.first = first;
  OclspktCall(nullptr, give_to(part));
  if (!for_reading) side_of(whole).parts.push_back(part);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Take a part back, and its values if they have changed.
PetscErrorCode Detach(Vec part) {
  PetscFunctionBegin;
  if (state_of(part) != side_of(part).known) PetscCall(VecSetErrorIfLocked(side_of(part).whole, 1));
  OclspktCall(nullptr, take_from(part));
  forget_parts(part);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Find whether the places of every rank are neighbours on it, where they begin on this rank, and the block size that
/// PETSc gives the part.
PetscErrorCode FindRange(Vec whole, IS places, PetscBool* is_range, PetscInt* first, PetscInt* block) {
  PetscInt begin, end, count, of_places;
  PetscBool both[2];

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(whole, &begin, &end));
  PetscCall(ISGetLocalSize(places, &count));
  PetscCall(ISContiguousLocal(places, begin, end, first, &both[0]));
  PetscCall(ISGetBlockSize(places, &of_places));
  PetscCall(VecGetBlockSize(whole, block));
  both[1] = of_places > 1 || *first % *block != 0 || count % *block != 0 ? PETSC_FALSE : PETSC_TRUE;
  OclspktAllreduce(MPI_IN_PLACE, both, 2, OCLSPKT_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)whole));
  if (!both[1]) *block = of_places;
  *is_range = both[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If the places are no range, PETSc's function makes a vector with memory of its own, by a scatter. */
PetscErrorCode GetSubVector(Vec whole, IS places, Vec* part) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)whole);
  PetscBool is_range = PETSC_FALSE;
  PetscInt first, block, count, all, locked = 0;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCall(FindRange(whole, places, &is_range, &first, &block));
  if (!is_range) {
    PetscCall(AsPetscDoes(whole, &_VecOps::getsubvector, [&] { return VecGetSubVector(whole, places, part); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ISGetLocalSize(places, &count));
  PetscCall(ISGetSize(places, &all));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  const PetscScalar* const array = count > 0 ? host_array(whole) + first : nullptr;
  if (ranks == 1) {
    PetscCall(VecCreateSeqWithArray(comm, block, count, array, part));
  } else {
    PetscCall(VecCreateMPIWithArray(comm, block, count, all, array, part));
  }
  dress(*part);
  (*part)->ops->placearray = nullptr;
  (*part)->ops->replacearray = nullptr;
  PetscCall(Attach(*part, whole, first, false));
  PetscCall(VecLockGet(whole, &locked));
  if (locked != 0) PetscCall(VecLockReadPush(*part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RestoreSubVector(Vec whole, IS places, Vec* part) {
  PetscFunctionBegin;
  if (is_dressed(*part) && side_of(*part).whole == whole) {
    PetscCall(Detach(*part));
    PetscCall(VecDestroy(part));
  } else {
    PetscCall(AsPetscDoes(whole, &_VecOps::restoresubvector, [&] { return VecRestoreSubVector(whole, places, part); }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Let `local` stand for this rank's part of `whole`. Vectors without memory, which PETSc's block preconditioners make
/// for this, are dressed; others get the array of the host.
template <bool for_reading>
PetscErrorCode GetLocalVector(Vec whole, Vec local) {
  std::conditional_t<for_reading, const PetscScalar, PetscScalar>* array;
  PetscBool is_seq;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)local, VECSEQ, &is_seq));
  if (is_seq && !is_dressed(local) && host_array(local) == nullptr) dress(local);
  if (is_dressed(local)) {
    PetscCall(VecPlaceArray(local, host_array(whole)));
    PetscCall(Attach(local, whole, 0, for_reading));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if constexpr (for_reading) {
    PetscCall(VecGetArrayRead(whole, &array));
  } else {
    PetscCall(VecGetArray(whole, &array));
  }
  PetscCall(VecPlaceArray(local, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <bool for_reading>
PetscErrorCode RestoreLocalVector(Vec whole, Vec local) {
  std::conditional_t<for_reading, const PetscScalar, PetscScalar>* array = nullptr;
  const bool is_part = is_dressed(local) && side_of(local).whole == whole;

  PetscFunctionBegin;
  if constexpr (for_reading) {
    if (is_part) forget_parts(local);
    if (!is_part) PetscCall(VecRestoreArrayRead(whole, &array));
  } else {
    PetscCall(is_part ? Detach(local) : VecRestoreArray(whole, &array));
  }
  if (is_part) side_of(local).host = true; /* the memory that it loses is the whole's */
  PetscCall(VecResetArray(local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Put places of x into places of z, all places of one of them; or else have PETSc's function for the host do so.
/// @param of  the vector whose operation it is
template <typename Slot, typename... Arguments>
PetscErrorCode PutPlaces(const char* name, InsertMode mode, Vec x, Stride from, Vec z, Stride to, Vec of, Slot slot,
                         Arguments... arguments) {
  const PetscInt count = std::min(x->map->n, z->map->n);
  DeviceSpace* space = nullptr;
  PetscBool done = PETSC_FALSE;

  PetscFunctionBegin;
  const Operation work{name, {x}, z, mode == INSERT_VALUES && to.step == 1};
  const bool is_known = mode == INSERT_VALUES || mode == ADD_VALUES || mode == MAX_VALUES;
  const bool fits = std::max(x->map->n, z->map->n) == count * std::max(from.step, to.step);
  if (is_known && fits && x != z && is_dressed(x) && is_dressed(z)) PetscCall(SpaceForVectors(count, &space));
  if (space) {
    const Merge how = mode == INSERT_VALUES ? Merge::insert : mode == ADD_VALUES ? Merge::add : Merge::greater;
    PetscCall(RunIn(*space, work, &done, [&](DeviceSpace& in, const Arrays& read, DeviceArray* written) {
      in.put(how, *read[0], from, *written, to, count);
    }));
  } else {
    NoteFallBack(work);
  }
  /* Callers leave the state to VecRestoreArray(). */
  PetscCall(done ? PetscObjectStateIncrease((PetscObject)z) : (*(of_host(of).*slot))(arguments...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrideGather(Vec x, PetscInt first, Vec part, InsertMode mode) {
  return PutPlaces("VecStrideGather", mode, x, {first, x->map->bs}, part, {}, x, &_VecOps::stridegather, x, first, part,
                   mode);
}

PetscErrorCode StrideScatter(Vec part, PetscInt first, Vec z, InsertMode mode) {
  return PutPlaces("VecStrideScatter", mode, part, {}, z, {first, z->map->bs}, z, &_VecOps::stridescatter, part, first,
                   z, mode);
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
  ops->getsubvector = GetSubVector;
  ops->restoresubvector = RestoreSubVector;
  ops->getlocalvector = GetLocalVector<false>;
  ops->restorelocalvector = RestoreLocalVector<false>;
  ops->getlocalvectorread = GetLocalVector<true>;
  ops->restorelocalvectorread = RestoreLocalVector<true>;
  ops->stridegather = StrideGather;
  ops->stridescatter = StrideScatter;
}

}  // namespace oclspkt::petsc
