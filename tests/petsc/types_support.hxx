// SPDX-License-Identifier: BSD-2-Clause
// What tests of vectors and matrices on devices share.
#pragma once

#include <petsc/private/vecimpl.h>

#include <limits>

#include "support.hxx"

namespace oclspkt::test {

/// Give a square matrix of all ranks the rows (side, diag, side), in planes of `plane` unknowns.
inline void fill_differences(Mat A, PetscScalar side, PetscScalar diag, PetscInt plane) {
  PetscInt first, end, rows;
  MatGetOwnershipRange(A, &first, &end);
  MatGetSize(A, &rows, nullptr);
  for (PetscInt i = first; i < end; ++i) {
    for (const PetscInt j : {i - plane, i, i + plane}) {
      if (j >= 0 && j < rows) MatSetValue(A, i, j, i == j ? diag : side, INSERT_VALUES);
    }
  }
  assemble(A);
}

/// The square matrix of all ranks with rows (-1, 2, -1) times a factor, in planes of `plane` unknowns.
inline Mat second_differences(PetscInt local, PetscScalar factor = 1, PetscInt plane = 1) {
  Mat A;
  MatCreateAIJ(PETSC_COMM_WORLD, local, local, PETSC_DETERMINE, PETSC_DETERMINE, 3, nullptr, 2, nullptr, &A);
  fill_differences(A, -factor, 2 * factor, plane);
  return A;
}

/// What is written through parts of a vector of 20 rows a rank reaches it.
inline void expect_parts_written(Vec x) {
  PetscInt first, end;
  OK(VecGetOwnershipRange(x, &first, &end));
  for (const PetscInt step : {1, 2}) {
    SCOPED_TRACE(step);
    HeldIS places;
    Vec part;
    OK(VecSet(x, 1));
    OK(ISCreateStride(PETSC_COMM_WORLD, 5, first + 3, step, &places));
    OK(VecGetSubVector(x, places, &part));
    OK(VecScale(part, 4));
    OK(VecRestoreSubVector(x, places, &part));
    EXPECT_EQ(norm_of(x, NORM_1), 35 * PetscGlobalSize);
    OK(VecScale(x, 2));
    EXPECT_EQ(norm_of(x, NORM_1), 70 * PetscGlobalSize);
  }
}

/// It keeps vectors over arrays of others.
inline void expect_gasm_refused() {
  HeldPC pc;
  OK(PCCreate(PETSC_COMM_WORLD, &pc));
  EXPECT_ERROR(PCSetType(pc, PCGASM), PETSC_ERR_SUP, "use -pc_type asm");
}

inline Vec make_vec(PetscInt local, const char* type) {
  Vec v;
  VecCreate(PETSC_COMM_WORLD, &v);
  VecSetSizes(v, local, PETSC_DETERMINE);
  VecSetType(v, type);
  return v;
}

inline constexpr PetscReal kNan = std::numeric_limits<PetscReal>::quiet_NaN();
inline constexpr PetscReal kInf = std::numeric_limits<PetscReal>::infinity();

/// A vector of all ranks that is destroyed with its scope, dressed, or of the host over its own memory.
class Owned {
 public:
  explicit Owned(PetscInt local, bool dressed = true) : memory_(static_cast<std::size_t>(local) + 1) {
    if (dressed) {
      VecCreate(PETSC_COMM_WORLD, &vec_);
      VecSetSizes(vec_, local, PETSC_DETERMINE);
      VecSetType(vec_, VECSTANDARD);
    } else if (PetscGlobalSize == 1) {
      VecCreateSeqWithArray(PETSC_COMM_WORLD, 1, local, memory_.data(), &vec_);
    } else {
      VecCreateMPIWithArray(PETSC_COMM_WORLD, 1, local, PETSC_DETERMINE, memory_.data(), &vec_);
    }
  }
  Owned(const std::vector<PetscScalar>& values, bool dressed) : Owned(static_cast<PetscInt>(values.size()), dressed) {
    write_values(vec_, values);
  }
  operator Vec() const { return vec_; }

 private:
  std::vector<PetscScalar> memory_;
  HeldVec vec_;
};

/// Have the device alone have the values, which stay. A factor of 1 would do nothing.
inline void send_away(Vec v) {
  VecScale(v, -1);
  VecScale(v, -1);
}

/// Whether the host's memory of a vector has been poisoned because the device has its values.
inline bool is_away(Vec v) { return std::isnan((*static_cast<PetscScalar**>(v->data))[0]); }

/// What an operation of vectors is given: w is written, x and y are read.
struct Operands {
  Vec w, x, y;
  PetscScalar a, b, c;
};
/// What a test of exact numbers has to know of an operation.
///   point      works place by place: w may be x
///   quotient   the same, dividing by y
///   reciprocal divides by w
///   root       takes roots of w
enum class Kind { other, point, quotient, reciprocal, root };
struct Operation {
  const char* name;
  PetscErrorCode (*run)(const Operands&);
  Kind kind = Kind::other;
};
inline const Operation kOperations[] = {
    {"VecSet", [](const Operands& o) { return VecSet(o.w, o.a); }},
    {"VecScale", [](const Operands& o) { return VecScale(o.w, o.a); }},
    {"VecCopy", [](const Operands& o) { return VecCopy(o.x, o.w); }},
    {"VecSwap", [](const Operands& o) { return VecSwap(o.x, o.w); }},
    {"VecAXPY", [](const Operands& o) { return VecAXPY(o.w, o.a, o.x); }},
    {"VecAYPX", [](const Operands& o) { return VecAYPX(o.w, o.a, o.x); }},
    {"VecAXPBY", [](const Operands& o) { return VecAXPBY(o.w, o.a, o.b, o.x); }},
    {"VecWAXPY", [](const Operands& o) { return VecWAXPY(o.w, o.a, o.x, o.y); }},
    {"VecAXPBYPCZ", [](const Operands& o) { return VecAXPBYPCZ(o.w, o.a, o.b, o.c, o.x, o.y); }},
    {"VecMAXPY",
     [](const Operands& o) {
       Vec of[] = {o.x, o.y};
       const PetscScalar by[] = {o.a, o.b};
       return VecMAXPY(o.w, 2, by, of);
     }},
    {"VecPointwiseMult", [](const Operands& o) { return VecPointwiseMult(o.w, o.x, o.y); }, Kind::point},
    {"VecPointwiseDivide", [](const Operands& o) { return VecPointwiseDivide(o.w, o.x, o.y); }, Kind::quotient},
    {"VecPointwiseMax", [](const Operands& o) { return VecPointwiseMax(o.w, o.x, o.y); }, Kind::point},
    {"VecPointwiseMin", [](const Operands& o) { return VecPointwiseMin(o.w, o.x, o.y); }, Kind::point},
    {"VecPointwiseMaxAbs", [](const Operands& o) { return VecPointwiseMaxAbs(o.w, o.x, o.y); }, Kind::point},
    {"VecReciprocal", [](const Operands& o) { return VecReciprocal(o.w); }, Kind::reciprocal},
    {"VecShift", [](const Operands& o) { return VecShift(o.w, o.a); }},
    {"VecAbs", [](const Operands& o) { return VecAbs(o.w); }},
    {"VecSqrtAbs", [](const Operands& o) { return VecSqrtAbs(o.w); }, Kind::root},
};

inline bool same_number(PetscScalar a, PetscScalar b) {
  return (std::isnan(a) && std::isnan(b)) || a == b || std::abs(a - b) <= 1e-14 * std::abs(b);
}
inline bool same_numbers(const std::vector<PetscScalar>& a, const std::vector<PetscScalar>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_number);
}

}  // namespace oclspkt::test
