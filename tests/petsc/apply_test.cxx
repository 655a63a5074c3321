// SPDX-License-Identifier: BSD-2-Clause
#include "support.hxx"

namespace oclspkt::test {
namespace {

/// How often an event was counted in this process.
int count_of(const char* event) {
  PetscLogEvent id = -1;
  PetscEventPerfInfo info;
  PetscLogEventGetId(event, &id);
  EXPECT_GE(id, 0) << event;
  PetscLogEventGetPerfInfo(PETSC_DETERMINE, id, &info);
  return info.count;
}

class Ksp {
 public:
  explicit Ksp(Mat A) : ksp_(make_ksp(A, PCOCLSPKT)) { PCOCLSPKTSetDevices(pc_of(ksp_), "host"); }
  operator KSP() const { return ksp_; }
  KSPConvergedReason reason() const { return converged_reason(ksp_); }
  PCFailedReason failed() const { return failed_reason(pc_of(ksp_)); }

 private:
  HeldKSP ksp_;
};

TEST(Apply, MakesGmresConvergeInOneIteration) {
  for (const PetscInt n : {1, 2, 3, 500}) {
    const Matrix A(tridiagonal(n, -1, 2, -1));
    const Ksp ksp(A);
    const Vector b(n), x(n);
    OK(KSPSolve(ksp, b, x));
    EXPECT_GT(ksp.reason(), 0);
    EXPECT_EQ(iterations_of(ksp), 1);
  }
}

/* Rows -0.1, 0.4 to 0.5, -0.1 below the diagonal and `upper` above it. */
class Uneven : public Matrix {
 public:
  Uneven(PetscInt n, PetscScalar upper) : Matrix(tridiagonal(n, -0.1, 0.4, upper)) {
    for (PetscInt i = 0; i < n; ++i) MatSetValue(*this, i, i, 0.4 + 0.1 * (i % 7) / 7., INSERT_VALUES);
    assemble(*this);
  }
};

TEST(Apply, NarrowBandsPreconditionToTheAccuracyOfDoubles) {
  if (PetscDefined(USE_COMPLEX)) GTEST_SKIP() << "complex numbers are not rounded";
  const PetscInt n = 50'003;
  const struct {
    KSPType krylov;
    PetscScalar upper;
    const char* form;
  } cases[] = {{KSPGMRES, -0.2, "narrow, 3.5 words a row, 1.5 less than the general form"},
               {KSPCG, -0.1, "symmetric, 3 words a row, 2 less than the general form"}};
  for (const auto& c : cases) {
    const Uneven A(n, c.upper);
    const Vector b(n), x(n);
    for (const char* devices : {"host", kDevice}) {
      const Ksp ksp(A);
      const PC pc = pc_of(ksp);
      OK(PCOCLSPKTSetDevices(pc, devices));
      OK(PCOCLSPKTSetPrecision(pc, PC_OCLSPKT_PRECISION_NARROW));
      OK(KSPSetType(ksp, c.krylov));
      OK(KSPSetTolerances(ksp, 1e-14, PETSC_DEFAULT, PETSC_DEFAULT, 20));
      OK(KSPSolve(ksp, b, x));
      EXPECT_GT(ksp.reason(), 0) << c.krylov << " on " << devices;
      EXPECT_GT(iterations_of(ksp), 1) << "nothing was rounded";
      EXPECT_LE(iterations_of(ksp), 4);
      EXPECT_LE(residual(A, b, x), 1e-14);
      expect_in(view_text(reinterpret_cast<PetscObject>(pc)),
                {std::string("precision: narrow, storage form: ") +
                     (std::string(devices) == "host" ? "general, 7 words a row\n" : c.form),
                 "narrow: bands rounded to float, which changes the excess of a row by "});
      // The bands are read again where they are not to be rounded any more.
      OK(PCOCLSPKTSetPrecision(pc, PC_OCLSPKT_PRECISION_SAME));
      OK(PCApply(pc, b, x));
      EXPECT_LE(residual(A, b, x), 1e-15);
    }
  }
}

TEST(Apply, TakesVectorsThatBeginAnywhere) {
  const PetscInt n = 5003, room = 16;
  const Matrix A(tridiagonal(n, -1, 4, -2));
  for (const char* devices : {"host", "auto", kDevice}) {
    const Preconditioner pc(A, devices);
    const Vector b(n), expected(n), x(n), whole_b(n + room), whole_x(n + room);
    OK(PCApply(pc, b, expected));
    for (PetscInt offset = 1; offset < room; ++offset) {
      HeldIS from, to;
      Vec part_b, part_x;
      OK(ISCreateStride(PETSC_COMM_SELF, n, offset, 1, &from));
      OK(ISCreateStride(PETSC_COMM_SELF, n, room - offset, 1, &to));
      OK(VecGetSubVector(whole_b, from, &part_b));
      OK(VecGetSubVector(whole_x, to, &part_x));
      OK(VecCopy(b, part_b));
      OK(PCApply(pc, part_b, part_x));
      EXPECT_EQ(distance(part_x, expected), 0) << devices << " " << offset;
      // The program's own memory in place of a vector's.
      PetscScalar *places, *right;
      OK(VecGetArray(whole_x, &places));
      OK(VecGetArray(part_b, &right));
      OK(VecPlaceArray(b, right));
      OK(VecPlaceArray(x, places + offset));
      OK(PCApply(pc, b, x));
      EXPECT_EQ(distance(x, expected), 0) << devices << " " << offset;
      OK(VecResetArray(x));
      OK(VecResetArray(b));
      OK(VecRestoreArray(part_b, &right));
      OK(VecRestoreArray(whole_x, &places));
      OK(VecRestoreSubVector(whole_x, to, &part_x));
      OK(VecRestoreSubVector(whole_b, from, &part_b));
    }
  }
}

TEST(Apply, SolvesTheEmptySystem) {
  const Matrix A{Rows()};
  const Ksp ksp(A);
  const Vector b(0), x(0);
  OK(KSPSolve(ksp, b, x));
  EXPECT_GT(ksp.reason(), 0);
  EXPECT_EQ(ksp.failed(), PC_NOERROR);
}

TEST(Apply, SetsUpOnlyWhenTheMatrixChanged) {
  const Rows rows = tridiagonal(80, -1, 4, -2);
  auto&& [A, pc, b, x] = System(rows);
  const int set_ups = count_of("OCLSPKTSetUp"), solves = count_of("OCLSPKTSolve");
  for (int i = 0; i < 3; ++i) {
    OK(PCSetUp(pc));
    OK(PCApply(pc, b, x));
  }
  EXPECT_EQ(count_of("OCLSPKTSetUp"), set_ups + 1);
  EXPECT_EQ(count_of("OCLSPKTSolve"), solves + 3);
  A.set_values(rows);
  OK(PCSetUp(pc));
  EXPECT_EQ(count_of("OCLSPKTSetUp"), set_ups + 2);
}

TEST(Apply, CountsTheFlopsOfTheMethodInUse) {
  constexpr double kOfScalar = PetscDefined(USE_COMPLEX) ? 4 : 1;  // PETSc counts so many for complex numbers
  const Matrix A(tridiagonal(1000, -1, 4, -2));
  const Vector b(1000), x(1000);
  const struct {
    PCOCLSPKTMethod method;
    PetscLogDouble apply, set_up;
  } cases[] = {{PC_OCLSPKT_METHOD_EXACT_FACTORED, 5000, 5000},
               {PC_OCLSPKT_METHOD_TRUNCATED_STREAMED, 5000, 5000},
               {PC_OCLSPKT_METHOD_PIVOT, 7000, 5000},
               {PC_OCLSPKT_METHOD_EXACT_TWOPASS, 5000, 5000}};
  for (const auto& c : cases) {
    const Preconditioner pc(A);
    OK(PCOCLSPKTSetMethod(pc, c.method));
    PetscLogDouble before, chosen, after;
    OK(PetscGetFlops(&before));
    OK(PCSetUp(pc));
    OK(PetscGetFlops(&chosen));
    OK(PCApply(pc, b, x));
    OK(PetscGetFlops(&after));
    EXPECT_EQ(chosen - before, kOfScalar * c.set_up) << PCOCLSPKTMethods[c.method];
    EXPECT_EQ(after - chosen, kOfScalar * c.apply) << PCOCLSPKTMethods[c.method];
  }
}

TEST(Apply, TransposedSolvesWithTheTransposedMatrix) {
  const PetscInt n = 300;
  const Matrix A(tridiagonal(n, -1, 4, -2)), At(tridiagonal(n, -2, 4, -1));
  const Preconditioner pc(A), transposed(At);
  const Vector b(n), x(n), y(n);
  OK(PCApplyTranspose(pc, b, x));
  OK(PCApply(transposed, b, y));
  EXPECT_LE(distance(x, y), 1e-14);

  const Ksp ksp(A);
  OK(KSPSolveTranspose(ksp, b, x));
  EXPECT_GT(ksp.reason(), 0);
  EXPECT_LE(distance(x, y), 1e-13);
}

TEST(Apply, TransposedFollowsNewValues) {
  auto&& [A, pc, b, x] = System(tridiagonal(60, -1, 4, -2));
  OK(PCApplyTranspose(pc, b, x));
  A.set_values(tridiagonal(60, -1, 8, -3));
  OK(PCApplyTranspose(pc, b, x));
  EXPECT_LE(std::abs(-3. * x[9] + 8. * x[10] - x[11] - b[10]), 1e-14);
}

TEST(Apply, SolvesManyRightHandSidesWhateverTheirLeadingDimension) {
  const PetscInt n = 120, columns = 5;
  const Matrix A(tridiagonal(n, -1, 4, -2));
  const Ksp ksp(A);
  for (const PetscInt stride : {n, n + 7}) {
    std::vector<PetscScalar> right(static_cast<std::size_t>(stride * columns), 99);
    for (PetscInt c = 0; c < columns; ++c) {
      for (PetscInt i = 0; i < n; ++i) right[static_cast<std::size_t>(c * stride + i)] = std::cos(1.0 * i + c);
    }
    HeldMat B, X;
    OK(MatCreateSeqDense(PETSC_COMM_SELF, n, columns, right.data(), &B));
    OK(MatDenseSetLDA(B, stride));
    OK(MatCreateSeqDense(PETSC_COMM_SELF, n, columns, nullptr, &X));
    OK(KSPSetType(ksp, KSPPREONLY));
    OK(KSPMatSolve(ksp, B, X));
    Vector b(n), x(n);
    for (PetscInt c = 0; c < columns; ++c) {
      Vec column;
      OK(MatGetColumnVector(B, b, c));
      OK(KSPSolve(ksp, b, x));
      OK(MatDenseGetColumnVecRead(X, c, &column));
      EXPECT_EQ(distance(column, x), 0) << "column " << c << ", stride " << stride;
      OK(MatDenseRestoreColumnVecRead(X, c, &column));
    }
  }
}

TEST(Apply, ChangesItsTypeAndBack) {
  const auto& [A, pc, b, x] = System(tridiagonal(50, -1, 4, -2));
  OK(PCApply(pc, b, x));
  OK(PCSetType(pc, PCJACOBI));
  OK(PCApply(pc, b, x));
  EXPECT_LE(std::abs(x[7] - 0.25 * b[7]), 1e-15);
  OK(PCSetType(pc, PCOCLSPKT));
  OK(PCApply(pc, b, x));
  EXPECT_LE(std::abs(-x[9] + 4. * x[10] - 2. * x[11] - b[10]), 1e-14);
}

TEST(Failure, MakesTheApplyReturnInfinities) {
  const auto& [A, pc, b, x] = System(tridiagonal(10, 0, 0, 0));
  OK(PCSetUp(pc));
  OK(PCApply(pc, b, x));
  EXPECT_TRUE(std::isinf(std::abs(x[0])) && std::isinf(std::abs(x[9])));
  expect_in(pc.view(), {"set-up failed: "});
  HeldMat B, X;
  OK(MatCreateSeqDense(PETSC_COMM_SELF, 10, 2, nullptr, &B));
  OK(MatCreateSeqDense(PETSC_COMM_SELF, 10, 2, nullptr, &X));
  OK(assemble(B));
  OK(PCMatApply(pc, B, X));
  const PetscScalar* values;
  OK(MatDenseGetArrayRead(X, &values));
  EXPECT_TRUE(std::isinf(std::abs(values[0])) && std::isinf(std::abs(values[19])));
  OK(MatDenseRestoreArrayRead(X, &values));
}

TEST(Failure, IsAnErrorWhereTheUserAskedForErrors) {
  const Matrix A(tridiagonal(10, 0, 0, 0));
  const Ksp ksp(A);
  const Vector b(10), x(10);
  OK(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  const ErrorTexts errors;
  EXPECT_EQ(KSPSolve(ksp, b, x), PETSC_ERR_MAT_LU_ZRPVT);
  EXPECT_FALSE(errors.text().empty());
  const Matrix N(tridiagonal(10, -1, NAN, -1));
  OK(KSPSetOperators(ksp, N, N));
  EXPECT_EQ(KSPSolve(ksp, b, x), PETSC_ERR_FP);
}

TEST(Failure, OfASetUpWithAnErrorIsNotForgotten) {
  auto&& [A, pc, b, x] = System(tridiagonal(10, -1, 4, -2));
  OK(PCApply(pc, b, x));
  OK(PCOCLSPKTSetDevices(pc, "no-such-device"));
  for (int i = 0; i < 2; ++i) {
    const ErrorTexts errors;
    EXPECT_EQ(PCApply(pc, b, x), PETSC_ERR_ARG_WRONG) << "nothing was mended";
  }
  OK(PCOCLSPKTSetDevices(pc, "host"));
  OK(PCApply(pc, b, x));
}

TEST(Failure, NanInTheRightHandSideGivesNanOut) {
  const auto& [A, pc, b, x] = System(tridiagonal(100, -1, 4, -2));
  OK(VecSetValue(b, 50, NAN, INSERT_VALUES));
  OK(assemble(b));
  OK(PCApply(pc, b, x));
  EXPECT_TRUE(std::isnan(std::abs(x[50])));
  EXPECT_EQ(failed_reason(pc), PC_NOERROR) << "the matrix is good";
}

}  // namespace
}  // namespace oclspkt::test
