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
using Sum = SumOf<PetscScalar>;
using Value = SumValue<PetscScalar>;

const struct _VecOps& of_host(Vec vector) { return *side_of(vector).host_operations; }

PetscErrorCode FindSpace(const Operation& work, DeviceSpace** space) {
  const Vec any = work.written != nullptr ? work.written : work.read.front();

  PetscFunctionBegin;
  const bool dressed =
      std::all_of(work.read.begin(), work.read.end(), [&](Vec v) { return is_dressed(v) && v->map->n == any->map->n; });
  *space = nullptr;
  if (dressed) PetscCall(SpaceFor(any->map->n, space));
  if (!*space) NoteFallBack(work);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Do it on the device, if it can be done there.
PetscErrorCode RunOnDevice(const Operation& work, PetscBool* done, const RunOnArrays& run) {
  DeviceSpace* space;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(FindSpace(work, &space));
  if (space) PetscCall(RunIn(*space, work, done, run));
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

/* A factor of 0 takes its vector out, as PETSc's do. */
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

PetscErrorCode Reciprocal(Vec x) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(RunOnDevice({"VecReciprocal", {}, x}, &done, [](DeviceSpace& space, const Arrays&, DeviceArray* written) {
    space.pointwise(Pointwise::reciprocal, *written, *written, nullptr, 0);
  }));
  if (!done) PetscCall((*of_host(x).reciprocal)(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

}  // namespace

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
  ops->dot = ops->tdot = Dot;
  ops->dot_local = ops->tdot_local = DotLocal;
  ops->mdot = ops->mtdot = MDot;
  ops->mdot_local = ops->mtdot_local = MDotLocal;
  ops->norm = Norm;
  ops->norm_local = NormLocal;
  ops->dotnorm2 = DotNorm2;
}

}  // namespace oclspkt::petsc
