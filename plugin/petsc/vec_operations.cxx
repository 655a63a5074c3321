// SPDX-License-Identifier: BSD-2-Clause
/* Operations of dressed vectors: on the device where all operands can be there, else those of PETSc, which get their
   arrays by VecGetArray(). */
#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <vector>

#include "boundary.hxx"
#include "types.hxx"

namespace oclspkt::petsc {
namespace {

using Terms = std::vector<Term<PetscScalar>>;

PetscErrorCode FindSpace(const Operation& work, DeviceSpace** space) {
  const Vec any = work.written != nullptr ? work.written : work.read.front();

  PetscFunctionBegin;
  const bool dressed =
      std::all_of(work.read.begin(), work.read.end(), [&](Vec v) { return is_dressed(v) && v->map->n == any->map->n; });
  *space = nullptr;
  if (dressed) PetscCall(SpaceForVectors(any->map->n, space));
  if (!*space) NoteFallBack(work);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// z = keep z + terms; `slot` and the arguments are PETSc's.
template <typename Slot, typename... Arguments>
PetscErrorCode AddTerms(const char* name, Vec z, PetscScalar keep,
                        std::initializer_list<std::pair<PetscScalar, Vec>> terms, Slot slot, Arguments... arguments) {
  Operation work{name, {}, z, keep == PetscScalar(0)};
  for (const auto& [factor, x] : terms) work.read.push_back(x);
  const auto combine = [&](DeviceSpace& space, const Arrays& read, DeviceArray* written) {
    Terms of_device;
    for (const auto& [factor, x] : terms) of_device.push_back({factor, read[of_device.size()]});
    space.combine(*written, keep, of_device);
  };
  return OnDeviceOrHost(work, combine, z, slot, arguments...);
}

PetscErrorCode Set(Vec x, PetscScalar number) {
  const auto fill = [&](DeviceSpace& space, const Arrays&, DeviceArray* written) { space.fill(*written, number); };
  return OnDeviceOrHost({"VecSet", {}, x, true}, fill, x, &_VecOps::set, x, number);
}

PetscErrorCode Scale(Vec x, PetscScalar factor) {
  return AddTerms("VecScale", x, factor, {}, &_VecOps::scale, x, factor);
}

PetscErrorCode Copy(Vec x, Vec y) {
  const auto copy = [](DeviceSpace& space, const Arrays& read, DeviceArray* written) {
    space.copy(*read[0], *written);
  };

  PetscFunctionBegin;
  if (x == y) PetscFunctionReturn(PETSC_SUCCESS);
  if (is_dressed(y)) {
    PetscCall(OnDeviceOrHost({"VecCopy", {x}, y, true}, copy, x, &_VecOps::copy, x, y));
  } else {
    if (!side_of(x).host) ++types().fell_back["VecCopy"];
    PetscCall((*of_host(x).copy)(x, y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Axpy(Vec y, PetscScalar alpha, Vec x) {
  return AddTerms("VecAXPY", y, 1, {{alpha, x}}, &_VecOps::axpy, y, alpha, x);
}

PetscErrorCode Aypx(Vec y, PetscScalar beta, Vec x) {
  return AddTerms("VecAYPX", y, beta, {{1, x}}, &_VecOps::aypx, y, beta, x);
}

/* A factor of 0 leaves its vector out, as in PETSc's operations. */
PetscErrorCode Axpby(Vec y, PetscScalar alpha, PetscScalar beta, Vec x) {
  if (alpha == PetscScalar(0)) return Scale(y, beta);
  return AddTerms("VecAXPBY", y, beta, {{alpha, x}}, &_VecOps::axpby, y, alpha, beta, x);
}

PetscErrorCode Waxpy(Vec w, PetscScalar alpha, Vec x, Vec y) {
  if (alpha == PetscScalar(0)) return AddTerms("VecWAXPY", w, 0, {{1, y}}, &_VecOps::waxpy, w, alpha, x, y);
  return AddTerms("VecWAXPY", w, 0, {{alpha, x}, {1, y}}, &_VecOps::waxpy, w, alpha, x, y);
}

PetscErrorCode Axpbypcz(Vec z, PetscScalar alpha, PetscScalar beta, PetscScalar gamma, Vec x, Vec y) {
  return AddTerms("VecAXPBYPCZ", z, gamma, {{alpha, x}, {beta, y}}, &_VecOps::axpbypcz, z, alpha, beta, gamma, x, y);
}

PetscErrorCode Maxpy(Vec y, PetscInt count, const PetscScalar* alpha, Vec* x) {
  const auto combine = [&](DeviceSpace& space, const Arrays& read, DeviceArray* written) {
    Terms terms;
    for (PetscInt k = 0; k < count; ++k) terms.push_back({alpha[k], read[static_cast<std::size_t>(k)]});
    space.combine(*written, 1, terms);
  };
  return OnDeviceOrHost({"VecMAXPY", {x, x + count}, y}, combine, y, &_VecOps::maxpy, y, count, alpha, x);
}

/// The value of 0 / 0 in this PETSc: 0, or 1 in newer ones.
PetscErrorCode FindZeroByZero(PetscScalar* number) {
  PetscScalar zero = 0;
  Vec host;

  PetscFunctionBegin;
  *number = types().zero_by_zero;
  if (*number == *number) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, 1, &zero, &host));
  PetscCall((*host->ops->pointwisedivide)(host, host, host));
  PetscCall(VecDestroy(&host));
  types().zero_by_zero = *number = zero;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <typename Slot>
PetscErrorCode PointwiseOfTwo(const char* name, Pointwise what, Vec w, Vec x, Vec y, Slot slot) {
  PetscScalar number = 0;

  PetscFunctionBegin;
  if (what == Pointwise::divide) PetscCall(FindZeroByZero(&number));
  const auto compute = [&](DeviceSpace& space, const Arrays& read, DeviceArray* written) {
    space.pointwise(what, *written, *read[0], read[1], number);
  };
  PetscCall(OnDeviceOrHost({name, {x, y}, w, true}, compute, w, slot, w, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointwiseMult(Vec w, Vec x, Vec y) {
  return PointwiseOfTwo("VecPointwiseMult", Pointwise::multiply, w, x, y, &_VecOps::pointwisemult);
}

PetscErrorCode PointwiseDivide(Vec w, Vec x, Vec y) {
  return PointwiseOfTwo("VecPointwiseDivide", Pointwise::divide, w, x, y, &_VecOps::pointwisedivide);
}

PetscErrorCode PointwiseMax(Vec w, Vec x, Vec y) {
  return PointwiseOfTwo("VecPointwiseMax", Pointwise::greater, w, x, y, &_VecOps::pointwisemax);
}

PetscErrorCode PointwiseMin(Vec w, Vec x, Vec y) {
  return PointwiseOfTwo("VecPointwiseMin", Pointwise::less, w, x, y, &_VecOps::pointwisemin);
}

PetscErrorCode PointwiseMaxAbs(Vec w, Vec x, Vec y) {
  return PointwiseOfTwo("VecPointwiseMaxAbs", Pointwise::greater_magnitude, w, x, y, &_VecOps::pointwisemaxabs);
}

/// x = what(x, number). Callers leave the state to VecRestoreArray() where PETSc's types have no such operation.
/// @param host  calls PETSc's function
template <typename Slot, typename Host>
PetscErrorCode InPlace(const char* name, Pointwise what, Vec x, PetscScalar number, Slot slot, const Host& host) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(RunOnDevice({name, {}, x}, &done, [&](DeviceSpace& space, const Arrays&, DeviceArray* written) {
    space.pointwise(what, *written, *written, nullptr, number);
  }));
  PetscCall(done ? PetscObjectStateIncrease((PetscObject)x) : AsPetscDoes(x, slot, host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Reciprocal(Vec x) {
  const auto host = [&] { return (*x->ops->reciprocal)(x); };
  return InPlace("VecReciprocal", Pointwise::reciprocal, x, 0, &_VecOps::reciprocal, host);
}

PetscErrorCode Shift(Vec x, PetscScalar number) {
  return InPlace("VecShift", Pointwise::shift, x, number, &_VecOps::shift, [&] { return VecShift(x, number); });
}

PetscErrorCode Abs(Vec x) {
  return InPlace("VecAbs", Pointwise::magnitude, x, 0, &_VecOps::abs, [&] { return VecAbs(x); });
}

PetscErrorCode SqrtAbs(Vec x) {
  return InPlace("VecSqrtAbs", Pointwise::root, x, 0, &_VecOps::sqrt, [&] { return VecSqrtAbs(x); });
}

/* Swap by a third array, so that memory of the device that others know stays that of its vector. */
PetscErrorCode Swap(Vec x, Vec y) {
  PetscBool done = PETSC_FALSE;

  PetscFunctionBegin;
  if (x == y) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(RunOnDevice({"VecSwap", {y, x}, x}, &done, [](DeviceSpace& space, const Arrays& read, DeviceArray* of_x) {
    DeviceArray& between = scratch(space, of_x->size());
    space.copy(*of_x, between);
    space.copy(*read[0], *of_x);
    space.copy(between, *read[0]);
  }));
  if (done) {
    PetscCall(WroteOnDevice(y));
  } else {
    PetscCall((*of_host(x).swap)(x, y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode RunOnDevice(const Operation& work, PetscBool* done, const RunOnArrays& run) {
  DeviceSpace* space;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(FindSpace(work, &space));
  if (space) PetscCall(RunIn(*space, work, done, run));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void put_operations(struct _VecOps* ops) {
  ops->set = Set;
  ops->scale = Scale;
  ops->copy = Copy;
  ops->axpy = Axpy;
  ops->aypx = Aypx;
  ops->axpby = Axpby;
  ops->waxpy = Waxpy;
  ops->axpbypcz = Axpbypcz;
  ops->maxpy = Maxpy;
  ops->pointwisemult = PointwiseMult;
  ops->pointwisedivide = PointwiseDivide;
  ops->pointwisemax = PointwiseMax;
  ops->pointwisemin = PointwiseMin;
  ops->pointwisemaxabs = PointwiseMaxAbs;
  ops->reciprocal = Reciprocal;
  ops->swap = Swap;
  ops->shift = Shift;
  ops->abs = Abs;
  ops->sqrt = SqrtAbs;
}

}  // namespace oclspkt::petsc
