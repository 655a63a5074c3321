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

/// z = keep z + terms.
PetscErrorCode AddTerms(const char* name, Vec z, PetscScalar keep,
                        std::initializer_list<std::pair<PetscScalar, Vec>> terms, PetscBool* done) {
  Operation work{name, {}, z, keep == PetscScalar(0)};

  PetscFunctionBegin;
  for (const auto& [factor, x] : terms) work.read.push_back(x);
  PetscCall(RunOnDevice(work, done, [&](DeviceSpace& space, const Arrays& read, DeviceArray* written) {
    Terms of_device;
    for (const auto& [factor, x] : terms) of_device.push_back({factor, read[of_device.size()]});
    space.combine(*written, keep, of_device);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Set(Vec x, PetscScalar number) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(RunOnDevice({"VecSet", {}, x, true}, &done, [&](DeviceSpace& space, const Arrays&, DeviceArray* written) {
    space.fill(*written, number);
  }));
  if (!done) PetscCall((*of_host(x).set)(x, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Scale(Vec x, PetscScalar factor) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(AddTerms("VecScale", x, factor, {}, &done));
  if (!done) PetscCall((*of_host(x).scale)(x, factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Copy(Vec x, Vec y) {
  PetscBool done = PETSC_TRUE;

  PetscFunctionBegin;
  if (x == y) PetscFunctionReturn(PETSC_SUCCESS);
  if (is_dressed(y)) {
    PetscCall(RunOnDevice(
        {"VecCopy", {x}, y, true}, &done,
        [&](DeviceSpace& space, const Arrays& read, DeviceArray* written) { space.copy(*read[0], *written); }));
  } else {
    done = PETSC_FALSE;
    if (!side_of(x).host) ++types().fell_back["VecCopy"];
  }
  if (!done) PetscCall((*of_host(x).copy)(x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Axpy(Vec y, PetscScalar alpha, Vec x) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(AddTerms("VecAXPY", y, 1, {{alpha, x}}, &done));
  if (!done) PetscCall((*of_host(y).axpy)(y, alpha, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Aypx(Vec y, PetscScalar beta, Vec x) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(AddTerms("VecAYPX", y, beta, {{1, x}}, &done));
  if (!done) PetscCall((*of_host(y).aypx)(y, beta, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector with the factor 0 is not read, as in PETSc. */
PetscErrorCode Axpby(Vec y, PetscScalar alpha, PetscScalar beta, Vec x) {
  PetscBool done;

  PetscFunctionBegin;
  if (alpha == PetscScalar(0)) {
    PetscCall(Scale(y, beta));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(AddTerms("VecAXPBY", y, beta, {{alpha, x}}, &done));
  if (!done) PetscCall((*of_host(y).axpby)(y, alpha, beta, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Waxpy(Vec w, PetscScalar alpha, Vec x, Vec y) {
  PetscBool done;

  PetscFunctionBegin;
  if (alpha == PetscScalar(0)) {
    PetscCall(AddTerms("VecWAXPY", w, 0, {{1, y}}, &done));
  } else {
    PetscCall(AddTerms("VecWAXPY", w, 0, {{alpha, x}, {1, y}}, &done));
  }
  if (!done) PetscCall((*of_host(w).waxpy)(w, alpha, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Axpbypcz(Vec z, PetscScalar alpha, PetscScalar beta, PetscScalar gamma, Vec x, Vec y) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(AddTerms("VecAXPBYPCZ", z, gamma, {{alpha, x}, {beta, y}}, &done));
  if (!done) PetscCall((*of_host(z).axpbypcz)(z, alpha, beta, gamma, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Maxpy(Vec y, PetscInt count, const PetscScalar* alpha, Vec* x) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(RunOnDevice({"VecMAXPY", {x, x + count}, y}, &done,
                        [&](DeviceSpace& space, const Arrays& read, DeviceArray* written) {
                          Terms terms;
                          for (PetscInt k = 0; k < count; ++k) {
                            terms.push_back({alpha[k], read[static_cast<std::size_t>(k)]});
                          }
                          space.combine(*written, 1, terms);
                        }));
  if (!done) PetscCall((*of_host(y).maxpy)(y, count, alpha, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What this PETSc makes of 0 / 0: 0, or 1 in newer ones.
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

PetscErrorCode Pointwise2(const char* name, Pointwise what, Vec w, Vec x, Vec y, PetscBool* done) {
  PetscScalar number = 0;

  PetscFunctionBegin;
  if (what == Pointwise::divide) PetscCall(FindZeroByZero(&number));
  PetscCall(
      RunOnDevice({name, {x, y}, w, true}, done, [&](DeviceSpace& space, const Arrays& read, DeviceArray* written) {
        space.pointwise(what, *written, *read[0], read[1], number);
      }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define OCLSPKT_POINTWISE_OF_TWO(Function, name, what, slot) \
  PetscErrorCode Function(Vec w, Vec x, Vec y) {             \
    PetscBool done;                                          \
                                                             \
    PetscFunctionBegin;                                      \
    PetscCall(Pointwise2(name, what, w, x, y, &done));       \
    if (!done) PetscCall((*of_host(w).slot)(w, x, y));       \
    PetscFunctionReturn(PETSC_SUCCESS);                      \
  }
OCLSPKT_POINTWISE_OF_TWO(PointwiseMult, "VecPointwiseMult", Pointwise::multiply, pointwisemult)
OCLSPKT_POINTWISE_OF_TWO(PointwiseDivide, "VecPointwiseDivide", Pointwise::divide, pointwisedivide)
OCLSPKT_POINTWISE_OF_TWO(PointwiseMax, "VecPointwiseMax", Pointwise::greater, pointwisemax)
OCLSPKT_POINTWISE_OF_TWO(PointwiseMin, "VecPointwiseMin", Pointwise::less, pointwisemin)
OCLSPKT_POINTWISE_OF_TWO(PointwiseMaxAbs, "VecPointwiseMaxAbs", Pointwise::greater_magnitude, pointwisemaxabs)

/// x = what(x, number). The state is increased here: callers leave that to VecRestoreArray(), as PETSc's types have no
/// such operation.
PetscErrorCode InPlace(const char* name, Pointwise what, Vec x, PetscScalar number, PetscBool* done) {
  PetscFunctionBegin;
  PetscCall(RunOnDevice({name, {}, x}, done, [&](DeviceSpace& space, const Arrays&, DeviceArray* written) {
    space.pointwise(what, *written, *written, nullptr, number);
  }));
  if (*done) PetscCall(PetscObjectStateIncrease((PetscObject)x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Reciprocal(Vec x) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(InPlace("VecReciprocal", Pointwise::reciprocal, x, 0, &done));
  if (!done) PetscCall((*of_host(x).reciprocal)(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Shift(Vec x, PetscScalar number) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(InPlace("VecShift", Pointwise::shift, x, number, &done));
  if (!done) PetscCall(AsPetscDoes(x, &_VecOps::shift, [&] { return VecShift(x, number); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Abs(Vec x) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(InPlace("VecAbs", Pointwise::magnitude, x, 0, &done));
  if (!done) PetscCall(AsPetscDoes(x, &_VecOps::abs, [&] { return VecAbs(x); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SqrtAbs(Vec x) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(InPlace("VecSqrtAbs", Pointwise::root, x, 0, &done));
  if (!done) PetscCall(AsPetscDoes(x, &_VecOps::sqrt, [&] { return VecSqrtAbs(x); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Swap by way of a third array: programs may know the device memory of a vector, so it stays with that vector. */
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
