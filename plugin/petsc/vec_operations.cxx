// SPDX-License-Identifier: BSD-2-Clause
/* Operations of dressed vectors. They run on the device if all operands can be there, and otherwise by PETSc's
   functions, which get arrays by VecGetArray(). For sums, norms and extremes, each rank computes its own value, on the
   device or on the host. One reduction over ranks follows in both cases. */
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <span>

#include "types.hxx"

namespace oclspkt::petsc {
namespace {

/// A string literal as the argument of a template.
template <std::size_t n>
struct Text {
  char text[n];
  constexpr Text(const char (&from)[n]) { std::copy_n(from, n, text); }
};

using Terms = std::vector<Term<PetscScalar>>;

/// Compute z = keep * z + the sum of factor * x over the pairs (factor, x) of `terms`.
/// @param slot, arguments  PETSc's operation for the host, and its arguments
template <typename Slot, typename... Arguments>
void add_terms(const char* name, PetscLogDouble flops, Vec z, PetscScalar keep,
               std::initializer_list<std::pair<PetscScalar, Vec>> terms, Slot slot, Arguments... arguments) {
  Operation work{name, flops, {}, z, keep == PetscScalar(0)};
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
  on_device_or_host({"VecSet", 0, {}, x, true}, fill, x, &_VecOps::set, x, number);
}

void vec_scale(Vec x, PetscScalar factor) { add_terms("VecScale", 1, x, factor, {}, &_VecOps::scale, x, factor); }

void vec_copy(Vec x, Vec y) {
  const auto copy = [](DeviceSpace& space, const Arrays& read, DeviceArray* written) {
    space.copy(*read[0], *written);
  };
  if (x == y) return;
  if (is_dressed(y)) {
    on_device_or_host({"VecCopy", 0, {x}, y, true}, copy, x, &_VecOps::copy, x, y);
  } else {
    if (!side_of(x).host) ++types().fell_back["VecCopy"];
    must((*of_host(x).copy)(x, y));
  }
}

void vec_axpy(Vec y, PetscScalar alpha, Vec x) {
  add_terms("VecAXPY", 2, y, 1, {{alpha, x}}, &_VecOps::axpy, y, alpha, x);
}

void vec_aypx(Vec y, PetscScalar beta, Vec x) {
  add_terms("VecAYPX", 2, y, beta, {{1, x}}, &_VecOps::aypx, y, beta, x);
}

/* As in PETSc's operations, a vector with the factor 0 is not read. */
void vec_axpby(Vec y, PetscScalar alpha, PetscScalar beta, Vec x) {
  if (alpha == PetscScalar(0)) return vec_scale(y, beta);
  add_terms("VecAXPBY", 3, y, beta, {{alpha, x}}, &_VecOps::axpby, y, alpha, beta, x);
}

void vec_waxpy(Vec w, PetscScalar alpha, Vec x, Vec y) {
  if (alpha == PetscScalar(0)) return add_terms("VecWAXPY", 2, w, 0, {{1, y}}, &_VecOps::waxpy, w, alpha, x, y);
  add_terms("VecWAXPY", 2, w, 0, {{alpha, x}, {1, y}}, &_VecOps::waxpy, w, alpha, x, y);
}

void vec_axpbypcz(Vec z, PetscScalar alpha, PetscScalar beta, PetscScalar gamma, Vec x, Vec y) {
  add_terms("VecAXPBYPCZ", 5, z, gamma, {{alpha, x}, {beta, y}}, &_VecOps::axpbypcz, z, alpha, beta, gamma, x, y);
}

void vec_maxpy(Vec y, PetscInt count, const PetscScalar* alpha, Vec* x) {
  const auto combine = [&](DeviceSpace& space, const Arrays& read, DeviceArray* written) {
    Terms terms;
    for (PetscInt k = 0; k < count; ++k) terms.push_back({alpha[k], read[static_cast<std::size_t>(k)]});
    space.combine(*written, 1, terms);
  };
  on_device_or_host({"VecMAXPY", 2. * count, {x, x + count}, y}, combine, y, &_VecOps::maxpy, y, count, alpha, x);
}

/// The result of 0 / 0 in VecPointwiseDivide() of this PETSc: 0, or 1 in newer releases.
PetscScalar find_zero_by_zero() {
  PetscScalar zero = 0;
  Vec host;
  if (types().zero_by_zero == types().zero_by_zero) return types().zero_by_zero;
  must(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, 1, &zero, &host));
  must((*host->ops->pointwisedivide)(host, host, host));
  must(VecDestroy(&host));
  return types().zero_by_zero = zero;
}

template <Text name, int flops, Pointwise what, auto slot>
void pointwise_of_two(Vec w, Vec x, Vec y) {
  const PetscScalar number = what == Pointwise::divide ? find_zero_by_zero() : 0;
  const auto compute = [&](DeviceSpace& space, const Arrays& read, DeviceArray* written) {
    space.pointwise(what, *written, *read[0], read[1], number);
  };
  on_device_or_host({name.text, PetscLogDouble{flops}, {x, y}, w, true}, compute, w, slot, w, x, y);
}

/// Compute x = what(x, number), and increase the state of x. PETSc's functions increase it in VecRestoreArray().
template <Text name, int flops, Pointwise what, auto slot, auto by_petsc, typename... Number>
void in_place(Vec x, Number... number) {
  const auto compute = [&](DeviceSpace& space, const Arrays&, DeviceArray* written) {
    space.pointwise(what, *written, *written, nullptr, (PetscScalar(0) + ... + number));
  };
  if (!run_on_device({name.text, PetscLogDouble{flops}, {}, x}, compute)) {
    return as_petsc_does(x, slot, [&] { return by_petsc(x, number...); });
  }
  must(PetscObjectStateIncrease((PetscObject)x));
}

/* Swap values by a third array. Device memory must stay with its vector, because the program may hold it. */
void vec_swap(Vec x, Vec y) {
  const auto swap = [](DeviceSpace& space, const Arrays& read, DeviceArray* of_x) {
    DeviceArray& between = scratch(space, of_x->size());
    space.copy(*of_x, between);
    space.copy(*read[0], *of_x);
    space.copy(between, *read[0]);
  };
  if (x == y) return;
  if (!run_on_device({"VecSwap", 0, {y, x}, x}, swap)) return must((*of_host(x).swap)(x, y));
  wrote_on_device(y);
}

using Sum = SumOf<PetscScalar>;
using Value = SumValue<PetscScalar>;
/// Kinds of sums to compute, and their operands as indices in a list of vectors.
using Wanted = std::vector<std::pair<SumKind, std::array<std::size_t, 2>>>;

/// Local sums of vectors.
/// @param[out] values  shape [wanted]
/// @return false if the host must compute them
bool local_sums(const char* name, PetscLogDouble flops, const std::vector<Vec>& vectors, const Wanted& wanted,
                Value* values) {
  return run_on_device({name, flops, vectors}, [&](DeviceSpace& space, const Arrays& read, DeviceArray*) {
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
  if (!local_sums("VecMDot", 2. * count, vectors, wanted, values.data())) {
    return must((*of_host(x).mdot_local)(x, count, y, products));
  }
  for (PetscInt k = 0; k < count; ++k) products[k] = values[static_cast<std::size_t>(k)].value;
}

void vec_mdot(Vec x, PetscInt count, const Vec y[], PetscScalar* products) {
  vec_mdot_local(x, count, y, products);
  add_up(x, products, count);
}

void vec_dot_local(Vec x, Vec y, PetscScalar* product) {
  Value value;
  if (!local_sums("VecDot", 2, {x, y}, {{SumKind::dot, {0, 1}}}, &value)) {
    return must((*of_host(x).dot_local)(x, y, product));
  }
  *product = value.value;
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
  if (!local_sums("VecNorm", 2, {x}, wanted, values)) return must((*of_host(x).norm_local)(x, type, norm));
  norm[0] = PetscRealPart(values[0].value);
  if (type == NORM_1_AND_2) norm[1] = PetscRealPart(values[1].value);
}

/// Compute the 2-norm over all ranks, by one reduction unless squares overflow or underflow. Collective.
/// @param[in,out] norm  this rank's norm, then the norm over all ranks
/// @param[in,out] sum   this rank's value, then the sum over all ranks by the same reduction; may be null
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
  const bool done = local_sums("VecDotNorm2", 4, {s, t}, {{SumKind::dot, {0, 1}}, {SumKind::dot, {1, 1}}}, values);
  PetscScalar numbers[2] = {values[0].value, values[1].value};
  if (!done) {
    must((*of_host(s).dot_local)(s, t, numbers));
    must((*of_host(t).dot_local)(t, t, numbers + 1));
  }
  add_up(s, numbers, 2);
  *product = numbers[0];
  *square = numbers[1];
}

template <typename F>
void on_host(Vec x, const F& f) {
  const PetscScalar* values;
  must(VecGetArrayRead(x, &values));
  f(std::span(values, static_cast<std::size_t>(x->map->n)));
  must(VecRestoreArrayRead(x, &values));
}

/* Sum the values of this rank. PETSc adds up the sums of ranks. */
void vec_sum_local(Vec x, PetscScalar* sum) {
  Value value;
  const bool done = local_sums("VecSum", 1, {x}, {{SumKind::sum, {0, 0}}}, &value);
  *sum = value.value;
  if (!done) on_host(x, [&](auto all) { *sum = std::accumulate(all.begin(), all.end(), PetscScalar(0)); });
}

/// The least or greatest value of a rank, and the first row that has it. NaN counts only in row 0.
Value local_extreme(const char* name, SumKind kind, Vec x) {
  const bool least = kind == SumKind::least;
  Value best;
  if (local_sums(name, 0, {x}, {{kind, {0, 0}}}, &best)) return best;
  best = {least ? PETSC_MAX_REAL : PETSC_MIN_REAL, -1};
  on_host(x, [&](auto all) {
    for (const PetscScalar& number : all) {
      const PetscReal here = PetscRealPart(number), record = PetscRealPart(best.value);
      if (best.place >= 0 && !(least ? here < record : here > record)) continue;
      best = {number, &number - all.data()};
    }
  });
  return best;
}

template <Text name, SumKind kind>
void extreme(Vec x, PetscInt* place, PetscReal* value) {
  const MPI_Comm comm = comm_of(x);
  const Value best = local_extreme(name.text, kind, x);
  struct {
    PetscReal value;
    PetscInt place;
  } of_rank, of_all;
  of_rank = {PetscRealPart(best.value), static_cast<PetscInt>(best.place) + x->map->rstart};
  if (place != nullptr) {
    OclspktReduce(&of_rank, &of_all, 1, MPIU_REAL_INT, kind == SumKind::least ? MPIU_MINLOC : MPIU_MAXLOC, comm);
    *place = of_all.place;
  } else {
    OclspktReduce(&of_rank.value, &of_all.value, 1, MPIU_REAL, kind == SumKind::least ? MPIU_MIN : MPIU_MAX, comm);
  }
  *value = of_all.value;
}

/// The greatest |x / y| over the rows of this rank, with |x| where y is 0. Line searches need it.
PetscReal local_max_ratio(Vec x, Vec y) {
  const PetscScalar* divisors;
  PetscReal greatest = 0;
  Value value;
  const auto find = [&](DeviceSpace& space, const Arrays& read, DeviceArray*) {
    DeviceArray& ratios = scratch(space, read[0]->size());
    space.pointwise(Pointwise::ratio, ratios, *read[0], read[1], 0);
    space.sums(std::array{Sum{SumKind::largest_magnitude, &ratios}}, {&value, 1});
  };
  if (run_on_device({"VecMaxPointwiseDivide", 0, {x, y}}, find)) return PetscRealPart(value.value);
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

/* VecErrorWeightedNorms() of PETSc 3.20 and later, for the error of a time step: three norms of error / tolerance, for
   the absolute tolerance, the relative tolerance, and their sum. Only rows with tolerance > 0 count. */
#if OCLSPKT_HAS_ERROR_NORMS
/// The error of a step and its tolerances. The error is |e|, or |y - u| if e is null. Tolerances are atol and rtol, or
/// the vectors each_atol and each_rtol.
struct ErrorOfStep {
  Vec u, y, e;
  NormType type;
  PetscReal atol, rtol;
  Vec each_atol, each_rtol;
  PetscReal ignore_max;
};

/// Norms of a rank, and numbers of rows that count, for three tolerances in PETSc's order: sum, absolute, relative.
/// Norms are squared, except for NORM_INFINITY.
struct ErrorNorms {
  std::array<PetscReal, 3> norm{}, places{};
};

/// Compute the norms on the host. As in PETSc, rows with a NaN tolerance do not count.
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

/// Compute the norms on the device. @pre tolerances are not negative, and equal in all rows. @throws DeviceError
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
  Operation work{"VecErrorWeightedNorms", 0, {step.u, step.y}};
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

#endif

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
  ops->pointwisemult = Called<pointwise_of_two<"VecPointwiseMult", 1, Pointwise::multiply, &_VecOps::pointwisemult>>;
  ops->pointwisedivide =
      Called<pointwise_of_two<"VecPointwiseDivide", 1, Pointwise::divide, &_VecOps::pointwisedivide>>;
  ops->pointwisemax = Called<pointwise_of_two<"VecPointwiseMax", 0, Pointwise::greater, &_VecOps::pointwisemax>>;
  ops->pointwisemin = Called<pointwise_of_two<"VecPointwiseMin", 0, Pointwise::less, &_VecOps::pointwisemin>>;
  ops->pointwisemaxabs =
      Called<pointwise_of_two<"VecPointwiseMaxAbs", 0, Pointwise::greater_magnitude, &_VecOps::pointwisemaxabs>>;
  ops->reciprocal = Called<in_place<"VecReciprocal", 0, Pointwise::reciprocal, &_VecOps::reciprocal, VecReciprocal>>;
  ops->swap = Called<vec_swap>;
  ops->shift = Called<in_place<"VecShift", 1, Pointwise::shift, &_VecOps::shift, VecShift, PetscScalar>>;
  ops->abs = Called<in_place<"VecAbs", 0, Pointwise::magnitude, &_VecOps::abs, VecAbs>>;
  ops->sqrt = Called<in_place<"VecSqrtAbs", 0, Pointwise::root, &_VecOps::sqrt, VecSqrtAbs>>;
  ops->dot = ops->tdot = Called<vec_dot>;
  ops->dot_local = ops->tdot_local = Called<vec_dot_local>;
  ops->mdot = ops->mtdot = Called<vec_mdot>;
  ops->mdot_local = ops->mtdot_local = Called<vec_mdot_local>;
  ops->norm = Called<vec_norm>;
  ops->norm_local = Called<vec_norm_local>;
  ops->dotnorm2 = Called<vec_dot_norm2>;
  ops->sum = Called<vec_sum_local>;
  ops->min = Called<extreme<"VecMin", SumKind::least>>;
  ops->max = Called<extreme<"VecMax", SumKind::greatest>>;
  ops->maxpointwisedivide = Called<max_pointwise_divide>;
#if OCLSPKT_HAS_ERROR_NORMS
  ops->errorwnorm = Called<error_norms_of>;
#endif
}

}  // namespace oclspkt::petsc
