// SPDX-License-Identifier: BSD-2-Clause
/* Sums, norms and extremes of dressed vectors. The device finds those of a rank, or the host if the device has no
   values or too few rows. Then one reduction follows, which does not depend on the choice of a rank. */
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

/// Local sums of vectors.
PetscErrorCode LocalSums(const char* name, const std::vector<Vec>& vectors,
                         const std::vector<std::pair<SumKind, std::array<std::size_t, 2>>>& wanted, Value* values,
                         PetscBool* done) {
  PetscFunctionBegin;
  PetscCall(RunOnDevice({name, vectors}, done, [&](DeviceSpace& space, const Arrays& read, DeviceArray*) {
    std::vector<Sum> sums;
    sums.reserve(wanted.size());
    for (const auto& [kind, of] : wanted) {
      sums.push_back({kind, read[of[0]], kind == SumKind::dot ? read[of[1]] : nullptr});
    }
    space.sums(sums, {values, sums.size()});
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Add(Vec x, PetscScalar* numbers, PetscInt count) {
  PetscFunctionBegin;
  OclspktAllreduce(MPI_IN_PLACE, numbers, static_cast<PetscMPIInt>(count), MPIU_SCALAR, MPIU_SUM,
                   PetscObjectComm((PetscObject)x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MDotLocal(Vec x, PetscInt count, const Vec y[], PetscScalar* products) {
  PetscBool done = PETSC_FALSE;
  std::vector<Vec> vectors{x};
  std::vector<std::pair<SumKind, std::array<std::size_t, 2>>> wanted;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < count; ++k) {
    vectors.push_back(y[k]);
    wanted.push_back({SumKind::dot, {vectors.size() - 1, 0}});
  }
  std::vector<Value> values(wanted.size());
  PetscCall(LocalSums("VecMDot", vectors, wanted, values.data(), &done));
  for (PetscInt k = 0; k < count && done; ++k) products[k] = values[static_cast<std::size_t>(k)].value;
  if (!done) PetscCall((*of_host(x).mdot_local)(x, count, y, products));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MDot(Vec x, PetscInt count, const Vec y[], PetscScalar* products) {
  PetscFunctionBegin;
  PetscCall(MDotLocal(x, count, y, products));
  PetscCall(Add(x, products, count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DotLocal(Vec x, Vec y, PetscScalar* product) {
  PetscBool done;
  Value value;

  PetscFunctionBegin;
  PetscCall(LocalSums("VecDot", {x, y}, {{SumKind::dot, {0, 1}}}, &value, &done));
  if (done) {
    *product = value.value;
  } else {
    PetscCall((*of_host(x).dot_local)(x, y, product));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Dot(Vec x, Vec y, PetscScalar* product) {
  PetscFunctionBegin;
  PetscCall(DotLocal(x, y, product));
  PetscCall(Add(x, product, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NormLocal(Vec x, NormType type, PetscReal* norm) {
  PetscBool done;
  Value values[2];

  PetscFunctionBegin;
  const SumKind kind = type == NORM_1 || type == NORM_1_AND_2 ? SumKind::norm1
                       : type == NORM_INFINITY                ? SumKind::largest_magnitude
                                                              : SumKind::norm2;
  if (type == NORM_1_AND_2) {
    PetscCall(LocalSums("VecNorm", {x}, {{kind, {0, 0}}, {SumKind::norm2, {0, 0}}}, values, &done));
  } else {
    PetscCall(LocalSums("VecNorm", {x}, {{kind, {0, 0}}}, values, &done));
  }
  if (done) {
    norm[0] = PetscRealPart(values[0].value);
    if (type == NORM_1_AND_2) norm[1] = PetscRealPart(values[1].value);
  } else {
    PetscCall((*of_host(x).norm_local)(x, type, norm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The norm of all ranks from those of each, by one reduction unless squares over- or underflow.
/// @param[in,out] sum  of ranks as well; may be null
PetscErrorCode AddNorms(MPI_Comm comm, PetscReal* norm, PetscReal* sum) {
  constexpr PetscReal kLeast = 1e3 * std::numeric_limits<PetscReal>::min();
  PetscReal sums[] = {*norm * *norm, sum != nullptr ? *sum : 0}, most = *norm;

  PetscFunctionBegin;
  OclspktAllreduce(MPI_IN_PLACE, sums, sum != nullptr ? 2 : 1, MPIU_REAL, MPIU_SUM, comm);
  PetscReal square = sums[0];
  if (sum != nullptr) *sum = sums[1];
  if (square > kLeast && square <= std::numeric_limits<PetscReal>::max()) {
    *norm = PetscSqrtReal(square);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscReal is_nan = PetscIsNanReal(most) ? 1 : 0;
  PetscReal both[] = {is_nan > 0 ? 0 : most, is_nan};
  OclspktAllreduce(MPI_IN_PLACE, both, 2, MPIU_REAL, MPIU_MAX, comm);
  most = both[0];
  if (both[1] > 0) {
    *norm = std::numeric_limits<PetscReal>::quiet_NaN();
  } else if (most == 0 || PetscIsInfReal(most)) {
    *norm = most;
  } else {
    square = (*norm / most) * (*norm / most);
    OclspktAllreduce(MPI_IN_PLACE, &square, 1, MPIU_REAL, MPIU_SUM, comm);
    *norm = most * PetscSqrtReal(square);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Norm(Vec x, NormType type, PetscReal* norm) {
  PetscMPIInt ranks;
  MPI_Comm comm = PetscObjectComm((PetscObject)x);

  PetscFunctionBegin;
  PetscCall(NormLocal(x, type, norm));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (type == NORM_1) OclspktAllreduce(MPI_IN_PLACE, norm, 1, MPIU_REAL, MPIU_SUM, comm);
  if (type == NORM_INFINITY) OclspktAllreduce(MPI_IN_PLACE, norm, 1, MPIU_REAL, MPIU_MAX, comm);
  if (type == NORM_2 || type == NORM_FROBENIUS) PetscCall(AddNorms(comm, norm, nullptr));
  if (type == NORM_1_AND_2) PetscCall(AddNorms(comm, norm + 1, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DotNorm2(Vec s, Vec t, PetscScalar* product, PetscScalar* square) {
  PetscBool done;
  Value values[2];

  PetscFunctionBegin;
  PetscCall(LocalSums("VecDotNorm2", {s, t}, {{SumKind::dot, {0, 1}}, {SumKind::dot, {1, 1}}}, values, &done));
  PetscScalar numbers[2] = {values[0].value, values[1].value};
  if (!done) {
    PetscCall((*of_host(s).dot_local)(s, t, numbers));
    PetscCall((*of_host(t).dot_local)(t, t, numbers + 1));
  }
  PetscCall(Add(s, numbers, 2));
  *product = numbers[0];
  *square = numbers[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The values of a vector on the host, from Get() to Restore().
class HostValues {
 public:
  explicit HostValues(Vec vector) : vector_(vector) {}
  PetscErrorCode Get() {
    PetscFunctionBegin;
    PetscCall(VecGetArrayRead(vector_, &values_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Restore() {
    PetscFunctionBegin;
    PetscCall(VecRestoreArrayRead(vector_, &values_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::span<const PetscScalar> all() const { return {values_, static_cast<std::size_t>(vector_->map->n)}; }

 private:
  Vec vector_;
  const PetscScalar* values_ = nullptr;
};

/* The sum of this rank; PETSc adds up the ranks. */
PetscErrorCode SumLocal(Vec x, PetscScalar* sum) {
  PetscBool done;
  Value value;
  HostValues host(x);

  PetscFunctionBegin;
  PetscCall(LocalSums("VecSum", {x}, {{SumKind::sum, {0, 0}}}, &value, &done));
  *sum = value.value;
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(host.Get());
  *sum = std::accumulate(host.all().begin(), host.all().end(), PetscScalar(0));
  PetscCall(host.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The first of the least or greatest values of a rank. NaN is passed over, unless it is the first value.
PetscErrorCode LocalExtreme(const char* name, SumKind kind, Vec x, Value* best) {
  PetscBool done;
  HostValues host(x);

  PetscFunctionBegin;
  PetscCall(LocalSums(name, {x}, {{kind, {0, 0}}}, best, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  const bool least = kind == SumKind::least;
  PetscCall(host.Get());
  *best = {least ? PETSC_MAX_REAL : PETSC_MIN_REAL, -1};
  for (const PetscScalar& number : host.all()) {
    if (best->place >= 0 && !(least ? number < best->value : number > best->value)) continue;
    *best = {number, &number - host.all().data()};
  }
  PetscCall(host.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Extreme(const char* name, SumKind kind, Vec x, PetscInt* place, PetscReal* value) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)x);
  Value best;
  struct {
    PetscReal value;
    PetscInt place;
  } of_rank, of_all;

  PetscFunctionBegin;
  PetscCall(LocalExtreme(name, kind, x, &best));
  of_rank = {best.value, static_cast<PetscInt>(best.place) + x->map->rstart};
  if (place != nullptr) {
    OclspktAllreduce(&of_rank, &of_all, 1, MPIU_REAL_INT, kind == SumKind::least ? MPIU_MINLOC : MPIU_MAXLOC, comm);
    *place = of_all.place;
  } else {
    OclspktAllreduce(&of_rank.value, &of_all.value, 1, MPIU_REAL, kind == SumKind::least ? MPIU_MIN : MPIU_MAX, comm);
  }
  *value = of_all.value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Min(Vec x, PetscInt* place, PetscReal* value) {
  PetscFunctionBegin;
  PetscCall(Extreme("VecMin", SumKind::least, x, place, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Max(Vec x, PetscInt* place, PetscReal* value) {
  PetscFunctionBegin;
  PetscCall(Extreme("VecMax", SumKind::greatest, x, place, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The greatest |x / y|, or |x| where y is 0, which line searches need. */
PetscErrorCode MaxPointwiseDivide(Vec x, Vec y, PetscReal* greatest) {
  PetscBool done;
  Value value;
  HostValues of_x(x), of_y(y);

  PetscFunctionBegin;
  PetscCall(
      RunOnDevice({"VecMaxPointwiseDivide", {x, y}}, &done, [&](DeviceSpace& space, const Arrays& read, DeviceArray*) {
        DeviceArray& ratios = scratch(space, read[0]->size());
        space.pointwise(Pointwise::ratio, ratios, *read[0], read[1], 0);
        space.sums(std::array{Sum{SumKind::largest_magnitude, &ratios}}, {&value, 1});
      }));
  *greatest = PetscRealPart(value.value);
  if (!done) {
    PetscCall(of_x.Get());
    PetscCall(of_y.Get());
    *greatest = 0;
    for (std::size_t i = 0; i < of_x.all().size(); ++i) {
      const PetscScalar a = of_x.all()[i], b = of_y.all()[i];
      *greatest = PetscMax(PetscAbsScalar(b != PetscScalar(0) ? a / b : a), *greatest);
    }
    PetscCall(of_y.Restore());
    PetscCall(of_x.Restore());
  }
  OclspktAllreduce(MPI_IN_PLACE, greatest, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

void put_sums(struct _VecOps* ops) {
  ops->dot = ops->tdot = Dot;
  ops->dot_local = ops->tdot_local = DotLocal;
  ops->mdot = ops->mtdot = MDot;
  ops->mdot_local = ops->mtdot_local = MDotLocal;
  ops->norm = Norm;
  ops->norm_local = NormLocal;
  ops->dotnorm2 = DotNorm2;
  ops->sum = SumLocal;
  ops->min = Min;
  ops->max = Max;
  ops->maxpointwisedivide = MaxPointwiseDivide;
}

}  // namespace oclspkt::petsc
