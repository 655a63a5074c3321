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

/// z = keep z + terms; `slot` and the arguments are PETSc's.
template <typename Slot, typename... Arguments>
void add_terms(const char* name, Vec z, PetscScalar keep, std::initializer_list<std::pair<PetscScalar, Vec>> terms,
               Slot slot, Arguments... arguments) {
  Operation work{name, {}, z, keep == PetscScalar(0)};
  for (const auto& [factor, x] : terms) work.read.push_back(x);
  const auto combine = [&](DeviceSpace& space, const Arrays& read, DeviceArray* written) {
    Terms of_device;
    for (const auto& [factor, x] : terms) of_device.push_back({factor, read[of_device.size()]});
    space.combine(*written, keep, of_device);
  };
  on_device_or_host(work, combine, z, slot, arguments...);
}

void vec_set(Vec x, PetscScalar number) {
  const auto fill = [&](DeviceSpace& space, const Arrays&, DeviceArray* written) { space.fill(*written, number); };
  on_device_or_host({"VecSet", {}, x, true}, fill, x, &_VecOps::set, x, number);
}

void vec_scale(Vec x, PetscScalar factor) { add_terms("VecScale", x, factor, {}, &_VecOps::scale, x, factor); }

void vec_copy(Vec x, Vec y) {
  const auto copy = [](DeviceSpace& space, const Arrays& read, DeviceArray* written) {
    space.copy(*read[0], *written);
  };
  if (x == y) return;
  if (is_dressed(y)) {
    on_device_or_host({"VecCopy", {x}, y, true}, copy, x, &_VecOps::copy, x, y);
  } else {
    if (!side_of(x).host) ++types().fell_back["VecCopy"];
    must((*of_host(x).copy)(x, y));
  }
}

void vec_axpy(Vec y, PetscScalar alpha, Vec x) {
  add_terms("VecAXPY", y, 1, {{alpha, x}}, &_VecOps::axpy, y, alpha, x);
}

void vec_aypx(Vec y, PetscScalar beta, Vec x) { add_terms("VecAYPX", y, beta, {{1, x}}, &_VecOps::aypx, y, beta, x); }

/* A factor of 0 leaves its vector out, as in PETSc's operations. */
void vec_axpby(Vec y, PetscScalar alpha, PetscScalar beta, Vec x) {
  if (alpha == PetscScalar(0)) return vec_scale(y, beta);
  add_terms("VecAXPBY", y, beta, {{alpha, x}}, &_VecOps::axpby, y, alpha, beta, x);
}

void vec_waxpy(Vec w, PetscScalar alpha, Vec x, Vec y) {
  if (alpha == PetscScalar(0)) return add_terms("VecWAXPY", w, 0, {{1, y}}, &_VecOps::waxpy, w, alpha, x, y);
  add_terms("VecWAXPY", w, 0, {{alpha, x}, {1, y}}, &_VecOps::waxpy, w, alpha, x, y);
}

void vec_axpbypcz(Vec z, PetscScalar alpha, PetscScalar beta, PetscScalar gamma, Vec x, Vec y) {
  add_terms("VecAXPBYPCZ", z, gamma, {{alpha, x}, {beta, y}}, &_VecOps::axpbypcz, z, alpha, beta, gamma, x, y);
}

void vec_maxpy(Vec y, PetscInt count, const PetscScalar* alpha, Vec* x) {
  const auto combine = [&](DeviceSpace& space, const Arrays& read, DeviceArray* written) {
    Terms terms;
    for (PetscInt k = 0; k < count; ++k) terms.push_back({alpha[k], read[static_cast<std::size_t>(k)]});
    space.combine(*written, 1, terms);
  };
  on_device_or_host({"VecMAXPY", {x, x + count}, y}, combine, y, &_VecOps::maxpy, y, count, alpha, x);
}

/// The value of 0 / 0 in this PETSc: 0, or 1 in newer ones.
PetscScalar find_zero_by_zero() {
  PetscScalar zero = 0;
  Vec host;
  if (types().zero_by_zero == types().zero_by_zero) return types().zero_by_zero;
  must(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, 1, &zero, &host));
  must((*host->ops->pointwisedivide)(host, host, host));
  must(VecDestroy(&host));
  return types().zero_by_zero = zero;
}

template <typename Slot>
void pointwise_of_two(const char* name, Pointwise what, Vec w, Vec x, Vec y, Slot slot) {
  PetscScalar number = 0;
  if (what == Pointwise::divide) number = find_zero_by_zero();
  const auto compute = [&](DeviceSpace& space, const Arrays& read, DeviceArray* written) {
    space.pointwise(what, *written, *read[0], read[1], number);
  };
  on_device_or_host({name, {x, y}, w, true}, compute, w, slot, w, x, y);
}

void vec_pointwise_mult(Vec w, Vec x, Vec y) {
  pointwise_of_two("VecPointwiseMult", Pointwise::multiply, w, x, y, &_VecOps::pointwisemult);
}

void vec_pointwise_divide(Vec w, Vec x, Vec y) {
  pointwise_of_two("VecPointwiseDivide", Pointwise::divide, w, x, y, &_VecOps::pointwisedivide);
}

void vec_pointwise_max(Vec w, Vec x, Vec y) {
  pointwise_of_two("VecPointwiseMax", Pointwise::greater, w, x, y, &_VecOps::pointwisemax);
}

void vec_pointwise_min(Vec w, Vec x, Vec y) {
  pointwise_of_two("VecPointwiseMin", Pointwise::less, w, x, y, &_VecOps::pointwisemin);
}

void vec_pointwise_max_abs(Vec w, Vec x, Vec y) {
  pointwise_of_two("VecPointwiseMaxAbs", Pointwise::greater_magnitude, w, x, y, &_VecOps::pointwisemaxabs);
}

/// x = what(x, number). Callers leave the state to VecRestoreArray() where PETSc's types have no such operation.
/// @param host  calls PETSc's function
template <typename Slot, typename Host>
void in_place(const char* name, Pointwise what, Vec x, PetscScalar number, Slot slot, const Host& host) {
  const auto compute = [&](DeviceSpace& space, const Arrays&, DeviceArray* written) {
    space.pointwise(what, *written, *written, nullptr, number);
  };
  const bool done = run_on_device({name, {}, x}, compute);
  if (!done) return as_petsc_does(x, slot, host);
  must(PetscObjectStateIncrease((PetscObject)x));
}

void vec_reciprocal(Vec x) {
  const auto host = [&] { return (*x->ops->reciprocal)(x); };
  in_place("VecReciprocal", Pointwise::reciprocal, x, 0, &_VecOps::reciprocal, host);
}

void vec_shift(Vec x, PetscScalar number) {
  in_place("VecShift", Pointwise::shift, x, number, &_VecOps::shift, [&] { return VecShift(x, number); });
}

void vec_abs(Vec x) {
  in_place("VecAbs", Pointwise::magnitude, x, 0, &_VecOps::abs, [&] { return VecAbs(x); });
}

void vec_sqrt_abs(Vec x) {
  in_place("VecSqrtAbs", Pointwise::root, x, 0, &_VecOps::sqrt, [&] { return VecSqrtAbs(x); });
}

/* Swap by a third array, so that memory of the device that others know stays that of its vector. */
void vec_swap(Vec x, Vec y) {
  const auto swap = [](DeviceSpace& space, const Arrays& read, DeviceArray* of_x) {
    DeviceArray& between = scratch(space, of_x->size());
    space.copy(*of_x, between);
    space.copy(*read[0], *of_x);
    space.copy(between, *read[0]);
  };
  if (x == y) return;
  const bool done = run_on_device({"VecSwap", {y, x}, x}, swap);
  if (done) {
    wrote_on_device(y);
  } else {
    must((*of_host(x).swap)(x, y));
  }
}

}  // namespace

bool run_on_device(const Operation& work, const RunOnArrays& run) {
  const Vec any = work.written != nullptr ? work.written : work.read.front();
  const bool dressed =
      std::all_of(work.read.begin(), work.read.end(), [&](Vec v) { return is_dressed(v) && v->map->n == any->map->n; });
  DeviceSpace* const space = dressed ? space_for_vectors(any->map->n) : nullptr;
  if (!space) note_fall_back(work);
  return space && run_in(*space, work, run);
}

void put_operations(struct _VecOps* ops) {
  ops->set = Called<vec_set>;
  ops->scale = Called<vec_scale>;
  ops->copy = Called<vec_copy>;
  ops->axpy = Called<vec_axpy>;
  ops->aypx = Called<vec_aypx>;
  ops->axpby = Called<vec_axpby>;
  ops->waxpy = Called<vec_waxpy>;
  ops->axpbypcz = Called<vec_axpbypcz>;
  ops->maxpy = Called<vec_maxpy>;
  ops->pointwisemult = Called<vec_pointwise_mult>;
  ops->pointwisedivide = Called<vec_pointwise_divide>;
  ops->pointwisemax = Called<vec_pointwise_max>;
  ops->pointwisemin = Called<vec_pointwise_min>;
  ops->pointwisemaxabs = Called<vec_pointwise_max_abs>;
  ops->reciprocal = Called<vec_reciprocal>;
  ops->swap = Called<vec_swap>;
  ops->shift = Called<vec_shift>;
  ops->abs = Called<vec_abs>;
  ops->sqrt = Called<vec_sqrt_abs>;
}

}  // namespace oclspkt::petsc
