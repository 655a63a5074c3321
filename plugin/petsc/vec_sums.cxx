// SPDX-License-Identifier: BSD-2-Clause
/* Sums, norms and extremes of dressed vectors. The device finds those of a rank, or the host if the device has no
   values or too few rows. Then one reduction follows, which does not depend on the choice of a rank. */
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "boundary.hxx"
#include "types.hxx"

namespace oclspkt::petsc {
namespace {

using Sum = SumOf<PetscScalar>;
using Value = SumValue<PetscScalar>;
/// Kinds of sums, and places of the vectors that they are of.
using Wanted = std::vector<std::pair<SumKind, std::array<std::size_t, 2>>>;

/// Local sums of vectors.
/// @param[out] values  shape [wanted]
/// @return false: the host has to find them
bool local_sums(const char* name, const std::vector<Vec>& vectors, const Wanted& wanted, Value* values) {
  return run_on_device({name, vectors}, [&](DeviceSpace& space, const Arrays& read, DeviceArray*) {
    std::vector<Sum> sums;
    sums.reserve(wanted.size());
    for (const auto& [kind, of] : wanted) {
      sums.push_back({kind, read[of[0]], kind == SumKind::dot ? read[of[1]] : nullptr});
    }
    space.sums(sums, {values, sums.size()});
  });
}

void add_up(Vec x, PetscScalar* numbers, PetscInt count) {
  OclspktReduce(MPI_IN_PLACE, numbers, static_cast<PetscMPIInt>(count), MPIU_SCALAR, MPIU_SUM, comm_of(x));
}

void vec_mdot_local(Vec x, PetscInt count, const Vec y[], PetscScalar* products) {
  std::vector<Vec> vectors{x};
  Wanted wanted;
  for (PetscInt k = 0; k < count; ++k) {
    vectors.push_back(y[k]);
    wanted.push_back({SumKind::dot, {vectors.size() - 1, 0}});
  }
  std::vector<Value> values(wanted.size());
  const bool done = local_sums("VecMDot", vectors, wanted, values.data());
  for (PetscInt k = 0; k < count && done; ++k) products[k] = values[static_cast<std::size_t>(k)].value;
  if (!done) must((*of_host(x).mdot_local)(x, count, y, products));
}

void vec_mdot(Vec x, PetscInt count, const Vec y[], PetscScalar* products) {
  vec_mdot_local(x, count, y, products);
  add_up(x, products, count);
}

void vec_dot_local(Vec x, Vec y, PetscScalar* product) {
  Value value;
  const bool done = local_sums("VecDot", {x, y}, {{SumKind::dot, {0, 1}}}, &value);
  if (done) {
    *product = value.value;
  } else {
    must((*of_host(x).dot_local)(x, y, product));
  }
}

void vec_dot(Vec x, Vec y, PetscScalar* product) {
  vec_dot_local(x, y, product);
  add_up(x, product, 1);
}

void vec_norm_local(Vec x, NormType type, PetscReal* norm) {
  Value values[2];
  const SumKind kind = type == NORM_1 || type == NORM_1_AND_2 ? SumKind::norm1
                       : type == NORM_INFINITY                ? SumKind::largest_magnitude
                                                              : SumKind::norm2;
  Wanted wanted{{kind, {0, 0}}};
  if (type == NORM_1_AND_2) wanted.push_back({SumKind::norm2, {0, 0}});
  const bool done = local_sums("VecNorm", {x}, wanted, values);
  if (done) {
    norm[0] = PetscRealPart(values[0].value);
    if (type == NORM_1_AND_2) norm[1] = PetscRealPart(values[1].value);
  } else {
    must((*of_host(x).norm_local)(x, type, norm));
  }
}

/// The norm of all ranks from those of each, by one reduction unless squares over- or underflow.
/// @param[in,out] sum  of ranks as well; may be null
void add_norms(MPI_Comm comm, PetscReal* norm, PetscReal* sum) {
  constexpr PetscReal kLeast = 1e3 * std::numeric_limits<PetscReal>::min();
  PetscReal sums[] = {*norm * *norm, sum != nullptr ? *sum : 0}, most = *norm;
  OclspktReduce(MPI_IN_PLACE, sums, sum != nullptr ? 2 : 1, MPIU_REAL, MPIU_SUM, comm);
  PetscReal square = sums[0];
  if (sum != nullptr) *sum = sums[1];
  if (square > kLeast && square <= std::numeric_limits<PetscReal>::max()) {
    *norm = PetscSqrtReal(square);
    return;
  }
  PetscReal is_nan = PetscIsNanReal(most) ? 1 : 0;
  PetscReal both[] = {is_nan > 0 ? 0 : most, is_nan};
  OclspktReduce(MPI_IN_PLACE, both, 2, MPIU_REAL, MPIU_MAX, comm);
  most = both[0];
  if (both[1] > 0) {
    *norm = std::numeric_limits<PetscReal>::quiet_NaN();
  } else if (most == 0 || PetscIsInfReal(most)) {
    *norm = most;
  } else {
    square = (*norm / most) * (*norm / most);
    OclspktReduce(MPI_IN_PLACE, &square, 1, MPIU_REAL, MPIU_SUM, comm);
    *norm = most * PetscSqrtReal(square);
  }
}

void vec_norm(Vec x, NormType type, PetscReal* norm) {
  const MPI_Comm comm = comm_of(x);
  vec_norm_local(x, type, norm);
  if (ranks_of(comm) == 1) return;
  if (type == NORM_1) OclspktReduce(MPI_IN_PLACE, norm, 1, MPIU_REAL, MPIU_SUM, comm);
  if (type == NORM_INFINITY) OclspktReduce(MPI_IN_PLACE, norm, 1, MPIU_REAL, MPIU_MAX, comm);
  if (type == NORM_2 || type == NORM_FROBENIUS) add_norms(comm, norm, nullptr);
  if (type == NORM_1_AND_2) add_norms(comm, norm + 1, norm);
}

void vec_dot_norm2(Vec s, Vec t, PetscScalar* product, PetscScalar* square) {
  Value values[2];
  const bool done = local_sums("VecDotNorm2", {s, t}, {{SumKind::dot, {0, 1}}, {SumKind::dot, {1, 1}}}, values);
  PetscScalar numbers[2] = {values[0].value, values[1].value};
  if (!done) {
    must((*of_host(s).dot_local)(s, t, numbers));
    must((*of_host(t).dot_local)(t, t, numbers + 1));
  }
  add_up(s, numbers, 2);
  *product = numbers[0];
  *square = numbers[1];
}

/// Call f with the values of a vector on the host.
template <typename F>
void on_host(Vec x, const F& f) {
  const PetscScalar* values;
  must(VecGetArrayRead(x, &values));
  f(std::span(values, static_cast<std::size_t>(x->map->n)));
  must(VecRestoreArrayRead(x, &values));
}

/* The sum of this rank; PETSc adds up the ranks. */
void vec_sum_local(Vec x, PetscScalar* sum) {
  Value value;
  const bool done = local_sums("VecSum", {x}, {{SumKind::sum, {0, 0}}}, &value);
  *sum = value.value;
  if (!done) {
    on_host(x, [&](auto all) { *sum = std::accumulate(all.begin(), all.end(), PetscScalar(0)); });
  }
}

/// The first of the least or greatest values of a rank. NaN is passed over, unless it is the first value.
Value local_extreme(const char* name, SumKind kind, Vec x) {
  const bool least = kind == SumKind::least;
  Value best;
  if (local_sums(name, {x}, {{kind, {0, 0}}}, &best)) return best;
  best = {least ? PETSC_MAX_REAL : PETSC_MIN_REAL, -1};
  on_host(x, [&](auto all) {
    for (const PetscScalar& number : all) {
      if (best.place >= 0 && !(least ? number < best.value : number > best.value)) continue;
      best = {number, &number - all.data()};
    }
  });
  return best;
}

void extreme(const char* name, SumKind kind, Vec x, PetscInt* place, PetscReal* value) {
  const MPI_Comm comm = comm_of(x);
  const Value best = local_extreme(name, kind, x);
  struct {
    PetscReal value;
    PetscInt place;
  } of_rank, of_all;
  of_rank = {best.value, static_cast<PetscInt>(best.place) + x->map->rstart};
  if (place != nullptr) {
    OclspktReduce(&of_rank, &of_all, 1, MPIU_REAL_INT, kind == SumKind::least ? MPIU_MINLOC : MPIU_MAXLOC, comm);
    *place = of_all.place;
  } else {
    OclspktReduce(&of_rank.value, &of_all.value, 1, MPIU_REAL, kind == SumKind::least ? MPIU_MIN : MPIU_MAX, comm);
  }
  *value = of_all.value;
}

void vec_min(Vec x, PetscInt* place, PetscReal* value) { extreme("VecMin", SumKind::least, x, place, value); }

void vec_max(Vec x, PetscInt* place, PetscReal* value) { extreme("VecMax", SumKind::greatest, x, place, value); }

/// The greatest |x / y|, or |x| where y is 0, which line searches need.
PetscReal local_max_ratio(Vec x, Vec y) {
  const PetscScalar* divisors;
  PetscReal greatest = 0;
  Value value;
  const auto find = [&](DeviceSpace& space, const Arrays& read, DeviceArray*) {
    DeviceArray& ratios = scratch(space, read[0]->size());
    space.pointwise(Pointwise::ratio, ratios, *read[0], read[1], 0);
    space.sums(std::array{Sum{SumKind::largest_magnitude, &ratios}}, {&value, 1});
  };
  if (run_on_device({"VecMaxPointwiseDivide", {x, y}}, find)) return PetscRealPart(value.value);
  must(VecGetArrayRead(y, &divisors));
  on_host(x, [&](auto all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const PetscScalar a = all[i], b = divisors[i];
      greatest = PetscMax(PetscAbsScalar(b != PetscScalar(0) ? a / b : a), greatest);
    }
  });
  must(VecRestoreArrayRead(y, &divisors));
  return greatest;
}

void max_pointwise_divide(Vec x, Vec y, PetscReal* greatest) {
  *greatest = local_max_ratio(x, y);
  OclspktReduce(MPI_IN_PLACE, greatest, 1, MPIU_REAL, MPIU_MAX, comm_of(x));
}

}  // namespace

void put_sums(struct _VecOps* ops) {
  ops->dot = ops->tdot = Called<vec_dot>;
  ops->dot_local = ops->tdot_local = Called<vec_dot_local>;
  ops->mdot = ops->mtdot = Called<vec_mdot>;
  ops->mdot_local = ops->mtdot_local = Called<vec_mdot_local>;
  ops->norm = Called<vec_norm>;
  ops->norm_local = Called<vec_norm_local>;
  ops->dotnorm2 = Called<vec_dot_norm2>;
  ops->sum = Called<vec_sum_local>;
  ops->min = Called<vec_min>;
  ops->max = Called<vec_max>;
  ops->maxpointwisedivide = Called<max_pointwise_divide>;
}

/* The error of a step as integrators weigh it, VecErrorWeightedNorms() of PETSc 3.20 and later: err / tol over all
   places with tol > 0, for the absolute tolerance, for the relative one and for both. */
#if OCLSPKT_HAS_ERROR_NORMS
namespace {

/// The error, |e|, or |y - u| without e, and its tolerances for all places or for each.
struct ErrorOfStep {
  Vec u, y, e;
  NormType type;
  PetscReal atol, rtol;
  Vec each_atol, each_rtol;
  PetscReal ignore_max;
};

/// Norms of a rank, in PETSc's order: by both tolerances, by the absolute one and by the relative one. They are
/// squares, except for NORM_INFINITY.
struct ErrorNorms {
  std::array<PetscReal, 3> norm{}, places{};
};

/// Compute the norms on the host. A tolerance of NaN does not exceed 0, so its place is left out, as PETSc does.
ErrorNorms norms_on_host(const ErrorOfStep& step) {
  ErrorNorms norms;
  const std::array<Vec, 5> vectors{step.u, step.y, step.e, step.each_atol, step.each_rtol};
  std::array<const PetscScalar*, 5> values{};
  for (std::size_t k = 0; k < vectors.size(); ++k) {
    if (vectors[k]) must(VecGetArrayRead(vectors[k], &values[k]));
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
      norms.norm[k] = step.type == NORM_INFINITY ? PetscMax(norms.norm[k], ratio) : norms.norm[k] + ratio * ratio;
      norms.places[k] += 1;
    }
  }
  for (std::size_t k = 0; k < vectors.size(); ++k) {
    if (vectors[k]) must(VecRestoreArrayRead(vectors[k], &values[k]));
  }
  return norms;
}

/// Compute the norms on the device. @pre tolerances are not negative, and the same for all places. @throws DeviceError
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
  space.pointwise(Pointwise::divide, ratio, tolerance, &tolerance, 0); /* 1, or 0 where the tolerance is 0 */
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

ErrorNorms local_norms(const ErrorOfStep& step) {
  ErrorNorms norms;
  Operation work{"VecErrorWeightedNorms", {step.u, step.y}};
  if (step.e) work.read.push_back(step.e);
  const bool is_plain = !step.each_atol && !step.each_rtol && step.atol >= 0 && step.rtol >= 0 && step.ignore_max <= 0;
  if (!is_plain) note_fall_back(work);
  const auto find = [&](DeviceSpace& space, const Arrays& read, DeviceArray*) {
    norms_on_device(space, step, read, norms);
  };
  const bool done = is_plain && run_on_device(work, find) &&
                    std::all_of(norms.norm.begin(), norms.norm.end(), [](PetscReal n) { return std::isfinite(n); });
  return done ? norms : norms_on_host(step);
}

void error_norms_of(Vec u, Vec y, Vec e, NormType type, PetscReal atol, Vec each_atol, PetscReal rtol, Vec each_rtol,
                    PetscReal ignore_max, PetscReal* norm, PetscInt* places, PetscReal* norm_a, PetscInt* places_a,
                    PetscReal* norm_r, PetscInt* places_r) {
  const MPI_Comm comm = comm_of(u);
  ErrorNorms norms = local_norms({u, y, e, type, atol, rtol, each_atol, each_rtol, ignore_max});
  OclspktReduce(MPI_IN_PLACE, norms.norm.data(), 3, MPIU_REAL, type == NORM_INFINITY ? MPIU_MAX : MPIU_SUM, comm);
  OclspktReduce(MPI_IN_PLACE, norms.places.data(), 3, MPIU_REAL, MPIU_SUM, comm);
  const std::array<PetscReal*, 3> to{norm, norm_a, norm_r};
  const std::array<PetscInt*, 3> places_to{places, places_a, places_r};
  for (std::size_t k = 0; k < to.size(); ++k) {
    *to[k] = type == NORM_INFINITY ? norms.norm[k] : PetscSqrtReal(norms.norm[k]);
    *places_to[k] = static_cast<PetscInt>(norms.places[k]);
  }
}

}  // namespace

void put_error_norms(struct _VecOps* ops) { ops->errorwnorm = Called<error_norms_of>; }
#else
void put_error_norms(struct _VecOps*) {}
#endif

}  // namespace oclspkt::petsc
