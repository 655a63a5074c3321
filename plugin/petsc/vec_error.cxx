// SPDX-License-Identifier: BSD-2-Clause
/* The error of a step as integrators weigh it, VecErrorWeightedNorms() of PETSc 3.20 and later: err / tol over all
   places with tol > 0, for the absolute tolerance, for the relative one and for both. */
#include <array>
#include <cmath>

#include "boundary.hxx"
#include "types.hxx"

namespace oclspkt::petsc {

#if OCLSPKT_HAS_ERROR_NORMS
namespace {

/// What to compare: |e|, or |y - u| without e, with tolerances for all places or for each.
struct ErrorOfStep {
  Vec u, y, e;
  NormType type;
  PetscReal atol, rtol;
  Vec each_atol, each_rtol;
  PetscReal ignore_max;
};

/// Of a rank, in PETSc's order: by both tolerances, by the absolute one and by the relative one. Norms are squares but
/// for NORM_INFINITY.
struct ErrorNorms {
  std::array<PetscReal, 3> norm{}, places{};
};

/// The norms by the host. A place whose tolerance is NaN is left out, as PETSc does, since NaN never exceeds 0.
PetscErrorCode NormsOnHost(const ErrorOfStep& step, ErrorNorms* norms) {
  const std::array<Vec, 5> vectors{step.u, step.y, step.e, step.each_atol, step.each_rtol};
  std::array<const PetscScalar*, 5> values{};

  PetscFunctionBegin;
  *norms = {};
  for (std::size_t k = 0; k < vectors.size(); ++k) {
    if (vectors[k]) PetscCall(VecGetArrayRead(vectors[k], &values[k]));
  }
  const auto [u, y, e, each_atol, each_rtol] = values;
  for (PetscInt i = 0; i < step.u->map->n; ++i) {
    const PetscReal of_u = PetscAbsScalar(u[i]), of_y = PetscAbsScalar(y[i]);
    if (of_u < step.ignore_max || of_y < step.ignore_max) continue;
    const PetscReal error = PetscAbsScalar(e ? e[i] : y[i] - u[i]);
    const PetscReal absolute = each_atol ? PetscRealPart(each_atol[i]) : step.atol;
    const PetscReal relative = (each_rtol ? PetscRealPart(each_rtol[i]) : step.rtol) * PetscMax(of_u, of_y);
    const std::array<PetscReal, 3> tolerances{absolute + relative, absolute, relative};
    for (std::size_t k = 0; k < tolerances.size(); ++k) {
      if (!(tolerances[k] > 0)) continue;
      const PetscReal ratio = error / tolerances[k];
      norms->norm[k] = step.type == NORM_INFINITY ? PetscMax(norms->norm[k], ratio) : norms->norm[k] + ratio * ratio;
      norms->places[k] += 1;
    }
  }
  for (std::size_t k = 0; k < vectors.size(); ++k) {
    if (vectors[k]) PetscCall(VecRestoreArrayRead(vectors[k], &values[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The norms by the device, where tolerances are not negative and the same for all places. @throws DeviceError
void norms_on_device(DeviceSpace& space, const ErrorOfStep& step, const Arrays& read, ErrorNorms& norms) {
  const Index rows = read[0]->size();
  DeviceArray &tolerance = scratch(space, rows, 0), &ratio = scratch(space, rows, 1),
              &difference = scratch(space, rows, 2);
  const DeviceArray* error = step.e ? read[2] : &difference;
  const auto sum = [&](SumKind kind, const DeviceArray& x) {
    SumValue<PetscScalar> value;
    space.sums(std::array{SumOf<PetscScalar>{kind, &x}}, {&value, 1});
    return PetscRealPart(value.value);
  };
  const auto norm = [&](const DeviceArray& x) {
    const PetscReal value = sum(step.type == NORM_INFINITY ? SumKind::largest_magnitude : SumKind::norm2, x);
    return step.type == NORM_INFINITY ? value : value * value;
  };
  if (!step.e) space.combine(difference, 0, std::array{Term<PetscScalar>{1, read[1]}, Term<PetscScalar>{-1, read[0]}});
  space.pointwise(Pointwise::greater_magnitude, tolerance, *read[0], read[1], 0);
  space.combine(tolerance, step.rtol, {});
  space.pointwise(Pointwise::divide, ratio, tolerance, &tolerance, 0); /* 1, or 0 where there is none */
  norms.places[2] = sum(SumKind::sum, ratio);
  space.pointwise(Pointwise::divide, ratio, *error, &tolerance, 0);
  norms.norm[2] = norm(ratio);
  norms.norm[0] = norms.norm[2];
  norms.places[0] = norms.places[2];
  if (!(step.atol > 0)) return;
  space.pointwise(Pointwise::shift, tolerance, tolerance, nullptr, step.atol);
  space.pointwise(Pointwise::divide, ratio, *error, &tolerance, 0);
  norms.norm[0] = norm(ratio);
  space.combine(ratio, 0, std::array{Term<PetscScalar>{1 / step.atol, error}});
  norms.norm[1] = norm(ratio);
  norms.places[0] = norms.places[1] = static_cast<PetscReal>(rows);
}

PetscErrorCode LocalNorms(const ErrorOfStep& step, ErrorNorms* norms) {
  PetscBool done = PETSC_FALSE;
  Operation work{"VecErrorWeightedNorms", {step.u, step.y}};

  PetscFunctionBegin;
  if (step.e) work.read.push_back(step.e);
  const bool is_plain = !step.each_atol && !step.each_rtol && step.atol >= 0 && step.rtol >= 0 && step.ignore_max <= 0;
  if (is_plain) {
    PetscCall(RunOnDevice(work, &done, [&](DeviceSpace& space, const Arrays& read, DeviceArray*) {
      norms_on_device(space, step, read, *norms);
    }));
  } else {
    NoteFallBack(work);
  }
  for (const PetscReal norm : norms->norm) done = done && std::isfinite(norm) ? PETSC_TRUE : PETSC_FALSE;
  if (!done) PetscCall(NormsOnHost(step, norms));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ErrorNormsOf(Vec u, Vec y, Vec e, NormType type, PetscReal atol, Vec each_atol, PetscReal rtol,
                            Vec each_rtol, PetscReal ignore_max, PetscReal* norm, PetscInt* places, PetscReal* norm_a,
                            PetscInt* places_a, PetscReal* norm_r, PetscInt* places_r) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)u);
  ErrorNorms norms;

  PetscFunctionBegin;
  PetscCall(LocalNorms({u, y, e, type, atol, rtol, each_atol, each_rtol, ignore_max}, &norms));
  OclspktAllreduce(MPI_IN_PLACE, norms.norm.data(), 3, MPIU_REAL, type == NORM_INFINITY ? MPIU_MAX : MPIU_SUM, comm);
  OclspktAllreduce(MPI_IN_PLACE, norms.places.data(), 3, MPIU_REAL, MPIU_SUM, comm);
  const std::array<PetscReal*, 3> to{norm, norm_a, norm_r};
  const std::array<PetscInt*, 3> places_to{places, places_a, places_r};
  for (std::size_t k = 0; k < to.size(); ++k) {
    *to[k] = type == NORM_INFINITY ? norms.norm[k] : PetscSqrtReal(norms.norm[k]);
    *places_to[k] = static_cast<PetscInt>(norms.places[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

void put_error_norms(struct _VecOps* ops) { ops->errorwnorm = ErrorNormsOf; }
#else
void put_error_norms(struct _VecOps*) {}
#endif

}  // namespace oclspkt::petsc
