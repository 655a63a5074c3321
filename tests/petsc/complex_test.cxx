// SPDX-License-Identifier: BSD-2-Clause
// What only builds of PETSc with complex scalars can show.
#include "support.hxx"

#if defined(PETSC_USE_COMPLEX)
namespace oclspkt::test {
namespace {

/// Rows of dominance above 1 whose numbers have all directions of the complex plane.
Rows turned(PetscInt n) {
  Rows rows = tridiagonal(n, 1., 2.5, 1.);
  PetscReal angle = 0;
  for (auto& row : rows) {
    for (auto& entry : row) entry.second *= PetscExpScalar(PETSC_i * (angle += 1.3));
  }
  return rows;
}

Vec imaginary(PetscInt n) {
  const Vector real(n);
  Vec b = duplicate(real);
  VecCopy(real, b);
  VecScale(b, PETSC_i);
  VecSetValue(b, n / 2, 3. - 2. * PETSC_i, INSERT_VALUES);
  assemble(b);
  return b;
}

TEST(ComplexScalars, AreSolvedAsTheyAreTransposedAndConjugated) {
  const PetscInt n = 500;
  const Matrix A(turned(n));
  const Preconditioner pc(A);
  HeldVec b = imaginary(n), x = duplicate(b), r = duplicate(b);
  OK(PCApply(pc, b, x));
  EXPECT_LE(residual(A, b, x), 1e-15);
  OK(PCApplyTranspose(pc, b, x));
  OK(MatMultTranspose(A, x, r));
  EXPECT_LE(distance(r, b), 1e-14);
  // conj(A)^T x = b, by the transposed of conjugated vectors
  HeldVec conjugated = duplicate(b);
  OK(VecCopy(b, conjugated));
  OK(VecConjugate(conjugated));
  OK(PCApplyTranspose(pc, conjugated, x));
  OK(VecConjugate(x));
  OK(MatMultHermitianTranspose(A, x, r));
  EXPECT_LE(distance(r, b), 1e-14);
}

TEST(ComplexScalars, OfAnUpperTriangleStandForTheirConjugatesIfTheMatrixIsHermitian) {
  const PetscInt n = 60;
  for (const bool hermitian : {false, true}) {
    HeldMat A;
    OK(MatCreateSBAIJ(PETSC_COMM_SELF, 1, n, n, n, n, 2, nullptr, 0, nullptr, &A));
    OK(MatSetOption(A, hermitian ? MAT_HERMITIAN : MAT_SYMMETRIC, PETSC_TRUE));
    const PetscScalar coupling = -1. + 0.5 * PETSC_i;
    Rows whole = tridiagonal(n, hermitian ? PetscConj(coupling) : coupling, 4., coupling);
    for (PetscInt i = 0; i < n; ++i) {
      OK(MatSetValue(A, i, i, 4., INSERT_VALUES));
      if (i + 1 == n) break;
      OK(MatSetValue(A, i, i + 1, coupling, INSERT_VALUES));
    }
    OK(assemble(A));
    const Preconditioner pc(A);
    HeldVec b = imaginary(n), x = duplicate(b);
    OK(PCApply(pc, b, x));
    EXPECT_LE(residual(Matrix(whole), b, x), 1e-15) << (hermitian ? "Hermitian" : "symmetric");
  }
}

TEST(ComplexScalars, PreconditionKrylovMethodsThatMultiplyByTheAdjointToo) {
  const PetscInt n = 300;
  const Matrix A(turned(n));
  HeldVec b = imaginary(n), x = duplicate(b);
  for (const char* method : {KSPGMRES, KSPBCGS, KSPBICG, KSPPREONLY, KSPCGNE}) {
    HeldKSP ksp = make_ksp(A, PCOCLSPKT);
    OK(KSPSetType(ksp, method));
    OK(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 400));
    OK(KSPSolve(ksp, b, x));
    EXPECT_GT(converged_reason(ksp), 0) << method;
    EXPECT_LE(residual(A, b, x), 1e-9) << method;
  }
}

TEST(ComplexScalars, FactorAsLuDoes) {
  const PetscInt n = 200;
  const Matrix A(turned(n));
  HeldKSP ksp = make_ksp(A, PCLU);
  OK(PCFactorSetMatSolverType(pc_of(ksp), "oclspkt"));
  OK(KSPSetType(ksp, KSPPREONLY));
  HeldVec b = imaginary(n), x = duplicate(b);
  OK(KSPSolve(ksp, b, x));
  EXPECT_LE(residual(A, b, x), 1e-14);
}

TEST(ComplexScalars, LieOnNoDeviceYetAndTheErrorSaysWhatToName) {
  const Matrix A(turned(50));
  const Preconditioner pc(A, "cpu");
  EXPECT_ERROR(PCSetUp(pc), PETSC_ERR_ARG_WRONG, "name `host` or `auto`");
}

}  // namespace
}  // namespace oclspkt::test
#endif
