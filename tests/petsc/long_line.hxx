// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "support.hxx"

namespace oclspkt::test {

struct Row {
  PetscScalar lower, diag, upper;
};

/// A tridiagonal matrix over all ranks, a vector, and the preconditioner for it.
class LongLine {
 public:
  /// @param own rows of this rank
  template <typename F>
  LongLine(PetscInt own, const F& row) {
    MatCreateAIJ(PETSC_COMM_WORLD, own, own, PETSC_DETERMINE, PETSC_DETERMINE, 3, nullptr, 2, nullptr, &matrix_);
    MatGetSize(matrix_, &rows_, nullptr);
    PetscInt first, end;
    MatGetOwnershipRange(matrix_, &first, &end);
    for (PetscInt i = first; i < end; ++i) {
      const Row r = row(i, rows_);
      if (i > 0) MatSetValue(matrix_, i, i - 1, r.lower, INSERT_VALUES);
      MatSetValue(matrix_, i, i, r.diag, INSERT_VALUES);
      if (i + 1 < rows_) MatSetValue(matrix_, i, i + 1, r.upper, INSERT_VALUES);
    }
    assemble(matrix_);
    MatCreateVecs(matrix_, &x_, &b_);
    for (PetscInt i = first; i < end; ++i) VecSetValue(b_, i, 1 + std::sin(1.7 * i), INSERT_VALUES);
    assemble(b_);
    PCCreate(PETSC_COMM_WORLD, &pc_);
    PCSetType(pc_, PCOCLSPKT);
    PCOCLSPKTSetDevices(pc_, "host");
    PCSetOperators(pc_, matrix_, matrix_);
  }

  PC pc() const { return pc_; }
  Mat matrix() const { return matrix_; }
  Vec b() const { return b_; }
  Vec x() const { return x_; }
  PetscInt rows() const { return rows_; }

  PCFailedReason failed() const {
    EXPECT_EQ(PCSetUp(pc_), 0);
    return failed_reason(pc_);
  }
  /// max |b - A x| / (norm_inf(A) max |x| + max |b|) in eps
  PetscReal backward_error() const {
    HeldVec r = duplicate(b_);
    PetscReal norm = NAN;
    EXPECT_EQ(PCApply(pc_, b_, x_), 0);
    MatMult(matrix_, x_, r);
    VecAYPX(r, -1, b_);
    MatNorm(matrix_, NORM_INFINITY, &norm);
    return norm_of(r, NORM_INFINITY) / (norm * norm_of(x_, NORM_INFINITY) + norm_of(b_, NORM_INFINITY)) /
           PETSC_MACHINE_EPSILON;
  }

 private:
  HeldMat matrix_;
  HeldVec x_, b_;
  HeldPC pc_;
  PetscInt rows_ = 0;
};

}  // namespace oclspkt::test
