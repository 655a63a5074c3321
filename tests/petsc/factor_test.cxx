// SPDX-License-Identifier: BSD-2-Clause
#include "grid_problem.hxx"

namespace oclspkt::test {
namespace {

/// A KSP that does nothing but solve with the factors of a solver type; null: the default of PETSc.
class Direct {
 public:
  Direct(Mat A, const char* type, const char* solver) : ksp_(make_ksp(A, type, "t_")) {
    KSPSetType(ksp_, KSPPREONLY);
    if (solver) PCFactorSetMatSolverType(pc_of(ksp_), solver);
  }
  operator KSP() const { return ksp_; }

  /// The solver type in use.
  std::string used() const {
    MatSolverType type = nullptr;
    PCFactorGetMatSolverType(pc_of(ksp_), &type);
    return type ? type : "none";
  }
  std::string view() const { return view_text(static_cast<PetscObject>(ksp_)); }

 private:
  HeldKSP ksp_;
};

TEST(Factor, SolvesLikeTheLuOfPetsc) {
  const Matrix A(tridiagonal(200, -1, 4, -2));
  const Direct ours(A, PCLU, PCOCLSPKT), theirs(A, PCLU, nullptr);
  const Vector b(200), x(200), y(200);
  OK(KSPSolve(ours, b, x));
  OK(KSPSolve(theirs, b, y));
  EXPECT_EQ(ours.used(), "oclspkt");
  EXPECT_EQ(theirs.used(), "petsc") << "the default stays";
  EXPECT_LE(distance(x, y), 1e-14);
  OK(KSPSolveTranspose(ours, b, x));
  OK(KSPSolveTranspose(theirs, b, y));
  EXPECT_LE(distance(x, y), 1e-14);
  expect_in(ours.view(), {"oclspkt"});
}

TEST(Factor, SolvesManyRightHandSidesByCholesky) {
  const Matrix A(tridiagonal(30, -1, 3, -1));
  const Direct ours(A, PCCHOLESKY, PCOCLSPKT);
  HeldMat B, X, AX;
  PetscReal norm;
  OK(MatCreateSeqDense(PETSC_COMM_SELF, 30, 3, nullptr, &B));
  OK(MatSetRandom(B, nullptr));
  OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  OK(KSPMatSolve(ours, B, X));
  OK(MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &AX));
  OK(MatAXPY(AX, -1, B, SAME_NONZERO_PATTERN));
  OK(MatNorm(AX, NORM_FROBENIUS, &norm));
  EXPECT_LE(norm, 1e-14);
  EXPECT_EQ(ours.used(), "oclspkt");
}

TEST(Factor, KeepsNaNInItsColumn) {
  const Matrix A(tridiagonal(30, -1, 4, -2));
  for (const char* type : {KSPPREONLY, KSPGMRES}) {
    const Direct ours(A, PCLU, PCOCLSPKT);
    HeldMat B, X;
    OK(KSPSetType(ours, type));
    OK(MatCreateSeqDense(PETSC_COMM_SELF, 30, 3, nullptr, &B));
    OK(MatSetRandom(B, nullptr));
    OK(MatSetValue(B, 7, 1, NAN, INSERT_VALUES));
    OK(assemble(B));
    OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
    OK(KSPMatSolve(ours, B, X));
    for (const PetscInt column : {0, 1, 2}) {
      Vec b;
      const Vector x(30);
      OK(MatGetColumnVector(X, x, column));
      OK(MatDenseGetColumnVecRead(B, column, &b));
      const PetscReal found = residual(A, b, x);
      OK(MatDenseRestoreColumnVecRead(B, column, &b));
      EXPECT_EQ(found <= 1e-14, column != 1) << type << ", column " << column << ": " << found;
    }
  }
}

TEST(Factor, ReadsTheOptionsOfThePreconditioner) {
  const Option method("-t_pc_oclspkt_method", "pivot"), devices("-t_pc_oclspkt_devices", "host");
  const Matrix A(tridiagonal(40, -1, 4, -2));
  const Direct ours(A, PCLU, PCOCLSPKT);
  const Vector b(40), x(40);
  OK(KSPSolve(ours, b, x));
  expect_in(ours.view(), {"method: pivot"});
}

/// The factors of a matrix by PETSc's functions, without a PC.
class Factors {
 public:
  Factors(Mat A, const char* solver) : matrix_(A) {
    MatGetFactor(A, solver, MAT_FACTOR_LU, &factors_);
    MatGetOrdering(A, MATORDERINGNATURAL, &rows_, &columns_);
    MatFactorInfoInitialize(&info_);
  }
  operator Mat() const { return factors_; }

  PetscErrorCode symbolic() const { return MatLUFactorSymbolic(factors_, matrix_, rows_, columns_, &info_); }
  PetscErrorCode numeric() const { return MatLUFactorNumeric(factors_, matrix_, &info_); }

 private:
  Mat matrix_;
  HeldMat factors_;
  HeldIS rows_, columns_;
  MatFactorInfo info_{};
};

/// Residual of the transposed system.
PetscReal transposed_residual(Mat A, Vec b, Vec x) {
  HeldMat T;
  MatTranspose(A, MAT_INITIAL_MATRIX, &T);
  return residual(T, b, x);
}

TEST(Factor, StaysThatOfTheValuesItWasMadeFrom) {
  Rows before = tridiagonal(50, -1, 3, -2), after = tridiagonal(50, -2, 5, -1);
  before[0].emplace_back(30, 0);
  after[0].emplace_back(30, 1);  // off the bands
  Matrix A(before);
  const Matrix kept(before);
  const Direct ours(A, PCLU, PCOCLSPKT);
  const Vector b(50), x(50), y(50);
  OK(KSPSolve(ours, b, x));
  OK(KSPSetReusePreconditioner(ours, PETSC_TRUE));
  A.set_values(after);
  OK(KSPSolve(ours, b, y));
  EXPECT_EQ(distance(x, y), 0);
  OK(KSPSolveTranspose(ours, b, y));
  EXPECT_LE(transposed_residual(kept, b, y), 1e-14);
  after[0].back().second = 0;
  A.set_values(after);
  OK(KSPSetReusePreconditioner(ours, PETSC_FALSE));
  OK(KSPSolve(ours, b, y));
  EXPECT_LE(residual(A, b, y), 1e-14);
  OK(KSPSolveTranspose(ours, b, y));
  EXPECT_LE(transposed_residual(A, b, y), 1e-14);
}

TEST(Factor, SolvesNothingBeforeItsNumericPhase) {
  Rows rows = tridiagonal(20, -1, 4, -1);
  rows[0].emplace_back(5, 0);
  Matrix A(rows);
  const Factors ours(A, PCOCLSPKT), theirs(A, MATSOLVERPETSC);
  const Vector b(20), x(20);
  HeldMat B, X;
  const auto refuses = [&](const Factors& factors) {
    EXPECT_EQ(MatSolve(factors, b, x), PETSC_ERR_SUP);
    EXPECT_EQ(MatSolveTranspose(factors, b, x), PETSC_ERR_SUP);
  };
  OK(MatCreateSeqDense(PETSC_COMM_SELF, 20, 2, nullptr, &B));
  OK(MatSetRandom(B, nullptr));
  OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  {
    const ErrorTexts errors;
    refuses(theirs);
    refuses(ours);
    EXPECT_EQ(MatMatSolve(ours, B, X), PETSC_ERR_SUP);
    EXPECT_TRUE(contains(errors.text(), "no factors to solve with: call MatLUFactorSymbolic() and")) << errors.text();
  }
  OK(ours.symbolic());
  {
    const ErrorTexts errors;
    refuses(ours);
  }
  OK(ours.numeric());
  OK(MatSolve(ours, b, x));
  EXPECT_LE(residual(A, b, x), 1e-14);
  rows[0].back().second = 1;
  A.set_values(rows);
  {
    const ErrorTexts errors;
    EXPECT_EQ(ours.numeric(), PETSC_ERR_ARG_WRONG);
    refuses(ours);
    EXPECT_EQ(MatMatSolve(ours, B, X), PETSC_ERR_SUP);
  }
  rows[0].back().second = 0;
  A.set_values(rows);
  OK(ours.numeric());
  OK(MatSolve(ours, b, x));
  EXPECT_LE(residual(A, b, x), 1e-14);
}

TEST(Factor, OfASingularMatrixFailsAndOfValuesThatBecomeGoodSolvesAgain) {
  const Rows good = tridiagonal(10, -1, 4, -1);
  for (const PetscScalar bad : {PetscScalar(NAN), PetscScalar(0)}) {
    Rows rows = good;
    for (auto& entry : rows[4]) entry.second = bad;
    Matrix A(rows);
    const Direct ours(A, PCLU, PCOCLSPKT);
    const Vector b(10), x(10);
    OK(KSPSolve(ours, b, x));
    EXPECT_EQ(converged_reason(ours), KSP_DIVERGED_PC_FAILED);
    A.set_values(good);
    OK(KSPSolve(ours, b, x));
    EXPECT_EQ(converged_reason(ours), KSP_CONVERGED_ITS);
    EXPECT_LE(residual(A, b, x), 1e-14);
  }
}

TEST(Factor, RefusesOptionsThatChangeWhatIsSolvedAndEntriesOffTheBands) {
  const GridProblem problem(PETSC_COMM_SELF, {2, {12, 10, 1}, 1});
  for (const auto& [option, value] : {std::pair{"lines", "x,y"},
                                      {"lines", "x,matrix"},
                                      {"diagonal", "split"},
                                      {"precision", "narrow"},
                                      {"rtol", "0.001"},
                                      {"singular", "pin"}}) {
    const std::string key = std::string("-pc_oclspkt_") + option, prefixed = "-t_" + key.substr(1);
    const Option given(prefixed.c_str(), value);
    const Direct ours(problem.matrix(), PCLU, PCOCLSPKT);
    EXPECT_ERROR(KSPSetUp(ours), PETSC_ERR_ARG_INCOMP, "which " + key + " " + value + " does not");
  }
  const Option given("-t_pc_oclspkt_lines", "x");
  const Direct ours(problem.matrix(), PCLU, PCOCLSPKT);
  EXPECT_ERROR(KSPSetUp(ours), kAnyError, "this one has 216 nonzero entries off the three bands");
}

TEST(Factor, SolvesLinesOfAGridThatNothingElseCouples) {
  const GridProblem problem(PETSC_COMM_SELF, {2, {12, 10, 1}, 1});
  const Option given("-t_pc_oclspkt_lines", "y");
  Mat A = problem.matrix();
  problem.for_each([&](const MatStencil& row) {
    for (const int step : {-1, 1}) {
      MatStencil column = row;
      column.i += step;
      const PetscScalar zero = 0;
      if (column.i >= 0 && column.i < 12) MatSetValuesStencil(A, 1, &row, 1, &column, &zero, INSERT_VALUES);
    }
  });
  OK(assemble(A));
  const Direct ours(A, PCLU, PCOCLSPKT);
  const Vector x(120);
  OK(KSPSolve(ours, problem.right(), x));
  EXPECT_LE(residual(A, problem.right(), x), 1e-14);
}

TEST(Factor, RefusesANamedMethodAboveItsLimits) {
  const Option method("-t_pc_oclspkt_method", "exact-factored"), devices("-t_pc_oclspkt_devices", "host");
  Rows rows = tridiagonal(40, -1, 4, -2);
  rows[20][1].second = 1e-9;  // without pivoting, row 21 becomes -2e9
  rows[19][2].second = rows[20][0].second = 1e-9;
  const Matrix A(rows);
  const Direct ours(A, PCLU, PCOCLSPKT);
  EXPECT_ERROR(KSPSetUp(ours), PETSC_ERR_ARG_INCOMP,
               "-pc_oclspkt_method exact-factored is above its limits for this matrix");
}

/// A null space that is attached says nothing of the right-hand sides to come.
TEST(Factor, PinsNoSingularMatrix) {
  Rows rows = tridiagonal(10, -1, 2, -1);
  rows[0][0].second = rows[9][1].second = 1;
  const Matrix A(rows);
  const Vector b(10), x(10);
  HeldMatNullSpace constants;
  OK(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_TRUE, 0, nullptr, &constants));
  OK(MatSetNullSpace(A, constants));
  const Option given("-t_pc_oclspkt_singular", "auto");
  const Direct ours(A, PCLU, PCOCLSPKT);
  OK(KSPSolve(ours, b, x));
  EXPECT_EQ(converged_reason(ours), KSP_DIVERGED_PC_FAILED);
}

}  // namespace
}  // namespace oclspkt::test
