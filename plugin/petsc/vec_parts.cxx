// SPDX-License-Identifier: BSD-2-Clause
/* Parts of dressed vectors as vectors: neighbouring places (VecGetSubVector()), all that a rank has
   (VecGetLocalVector()), and places at equal distances, which are copied.

   A part shares the host's memory with the vector that it is of, as PETSc has it. On the device it has an array of its
   own. Whatever changes one of the two while the part is out reaches the other before that is used: values go to the
   parts when the vector changes, and come from them, by their states, when it is asked for. */
#include <algorithm>

#include "boundary.hxx"
#include "types.hxx"

namespace oclspkt::petsc {
namespace {

PetscObjectState state_of(Vec vector) {
  PetscObjectState state = 0;
  (void)PetscObjectStateGet((PetscObject)vector, &state);
  return state;
}

/// Values of the part are those of the whole.
void note_equal(Vec part) { side_of(part).known = state_of(part); }

/// Copy the part's values from the whole or to it, on the device.
/// @pre the whole has them there; the part too if they go to the whole
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

/// Whether the device's copy of a vector is what counts.
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

/// The vector becomes a part of another one, whose memory of the host it has.
/// @param for_reading  neither of both changes meanwhile. (PETSc increases the part's state even then.)
PetscErrorCode Attach(Vec part, Vec whole, PetscInt first, bool for_reading) {
  Side& side = side_of(part);

  PetscFunctionBegin;
  side.whole = whole;
  side.first = first;
  OclspktCall(nullptr, give_to(part));
  if (!for_reading) side_of(whole).parts.push_back(part);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A part has been given back.
PetscErrorCode Detach(Vec part) {
  PetscFunctionBegin;
  if (state_of(part) != side_of(part).known) PetscCall(VecSetErrorIfLocked(side_of(part).whole, 1));
  OclspktCall(nullptr, take_from(part));
  forget_parts(part);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the places of all ranks are neighbours in theirs, where they begin on this one, and the block size that
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

/* For places that are no range PETSc's function makes a separate vector, by a scatter. */
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

/// Have a vector stand for what this rank has of another one. Vectors without memory, as PETSc's preconditioners by
/// blocks make them for this, are dressed. @param[out] done  false: it is none of ours
PetscErrorCode GetLocal(Vec whole, Vec local, bool for_reading, PetscBool* done) {
  PetscBool is_seq;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)local, VECSEQ, &is_seq));
  if (is_seq && !is_dressed(local) && host_array(local) == nullptr) dress(local);
  *done = is_dressed(local) ? PETSC_TRUE : PETSC_FALSE;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecPlaceArray(local, host_array(whole)));
  PetscCall(Attach(local, whole, 0, for_reading));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RestoreLocal(Vec whole, Vec local, bool for_reading, PetscBool* done) {
  PetscFunctionBegin;
  *done = is_dressed(local) && side_of(local).whole == whole ? PETSC_TRUE : PETSC_FALSE;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  if (for_reading) {
    forget_parts(local);
  } else {
    PetscCall(Detach(local));
  }
  side_of(local).host = true; /* the memory that is taken from it is the whole's */
  PetscCall(VecResetArray(local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetLocalVector(Vec whole, Vec local) {
  PetscBool done = PETSC_FALSE;
  PetscScalar* array;

  PetscFunctionBegin;
  PetscCall(GetLocal(whole, local, false, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArray(whole, &array));
  PetscCall(VecPlaceArray(local, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RestoreLocalVector(Vec whole, Vec local) {
  PetscBool done = PETSC_FALSE;
  PetscScalar* array = nullptr;

  PetscFunctionBegin;
  PetscCall(RestoreLocal(whole, local, false, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecRestoreArray(whole, &array));
  PetscCall(VecResetArray(local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetLocalVectorRead(Vec whole, Vec local) {
  PetscBool done = PETSC_FALSE;
  const PetscScalar* array;

  PetscFunctionBegin;
  PetscCall(GetLocal(whole, local, true, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayRead(whole, &array));
  PetscCall(VecPlaceArray(local, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RestoreLocalVectorRead(Vec whole, Vec local) {
  PetscBool done = PETSC_FALSE;
  const PetscScalar* array = nullptr;

  PetscFunctionBegin;
  PetscCall(RestoreLocal(whole, local, true, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecRestoreArrayRead(whole, &array));
  PetscCall(VecResetArray(local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Put places of x into places of z. In one of the two vectors these are all places. @param[out] done  false: the host
/// has to do it
PetscErrorCode PutPlaces(const char* name, InsertMode mode, Vec x, Stride from, Vec z, Stride to, PetscBool* done) {
  const PetscInt count = std::min(x->map->n, z->map->n);
  DeviceSpace* space = nullptr;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  const Operation work{name, {x}, z, mode == INSERT_VALUES && to.step == 1};
  const bool is_known = mode == INSERT_VALUES || mode == ADD_VALUES || mode == MAX_VALUES;
  const bool fits = std::max(x->map->n, z->map->n) == count * std::max(from.step, to.step);
  if (is_known && fits && x != z && is_dressed(x) && is_dressed(z)) PetscCall(SpaceForVectors(count, &space));
  if (!space) {
    NoteFallBack(work);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const Merge how = mode == INSERT_VALUES ? Merge::insert : mode == ADD_VALUES ? Merge::add : Merge::greater;
  PetscCall(RunIn(*space, work, done, [&](DeviceSpace& in, const Arrays& read, DeviceArray* written) {
    in.put(how, *read[0], from, *written, to, count);
  }));
  if (*done) PetscCall(PetscObjectStateIncrease((PetscObject)z)); /* callers leave that to VecRestoreArray() */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrideGather(Vec x, PetscInt first, Vec part, InsertMode mode) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(PutPlaces("VecStrideGather", mode, x, {first, x->map->bs}, part, {}, &done));
  if (!done) PetscCall((*of_host(x).stridegather)(x, first, part, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrideScatter(Vec part, PetscInt first, Vec z, InsertMode mode) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(PutPlaces("VecStrideScatter", mode, part, {}, z, {first, z->map->bs}, &done));
  if (!done) PetscCall((*of_host(z).stridescatter)(part, first, z, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
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
  ops->getlocalvector = GetLocalVector;
  ops->restorelocalvector = RestoreLocalVector;
  ops->getlocalvectorread = GetLocalVectorRead;
  ops->restorelocalvectorread = RestoreLocalVectorRead;
  ops->stridegather = StrideGather;
  ops->stridescatter = StrideScatter;
}

}  // namespace oclspkt::petsc
