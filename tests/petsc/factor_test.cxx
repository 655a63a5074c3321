// SPDX-License-Identifier: BSD-2-Clause
#include "support.hxx"

namespace oclspkt::test {
namespace {

/// A KSP that does nothing but solve with the factors of a solver type; null: the default of PETSc.
class Direct {
 public:
  Direct(Mat A, const char* type, const char* solver) {
    PC pc;
    KSPCreate(PETSC_COMM_SELF, &ksp_);
    KSPSetOptionsPrefix(ksp_, "t_");
    KSPSetOperators(ksp_, A, A);
    KSPSetType(ksp_, KSPPREONLY);
    KSPGetPC(ksp_, &pc);
    PCSetType(pc, type);
    if (solver) PCFactorSetMatSolverType(pc, solver);
  }
  ~Direct() { KSPDestroy(&ksp_); }
  Direct(const Direct&) = delete;
  Direct& operator=(const Direct&) = delete;
  operator KSP() const { return ksp_; }

  /// The solver type in use.
  std::string used() const {
    PC pc;
    MatSolverType type = nullptr;
    KSPGetPC(ksp_, &pc);
    PCFactorGetMatSolverType(pc, &type);
    return type ? type : "none";
  }

 private:
  KSP ksp_ = nullptr;
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
  const std::string text = view_text(reinterpret_cast<PetscObject>(static_cast<KSP>(ours)));
  EXPECT_TRUE(contains(text, "oclspkt")) << text;
}

TEST(Factor, FollowsNewValues) {
  const Rows rows = tridiagonal(50, -1, 4, -2);
  Matrix A(tridiagonal(50, -1, 3, -1));
  const Direct ours(A, PCLU, PCOCLSPKT);
  const Vector b(50), x(50), y(50);
  OK(KSPSolve(ours, b, x));
  A.set_values(rows);
  OK(KSPSolve(ours, b, x));
  OK(KSPSolve(Direct(A, PCLU, nullptr), b, y));
  EXPECT_LE(distance(x, y), 1e-14);
}

TEST(Factor, SolvesManyRightHandSidesByCholesky) {
  const Matrix A(tridiagonal(30, -1, 3, -1));
  const Direct ours(A, PCCHOLESKY, PCOCLSPKT);
  Mat B, X, AX;
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
  for (Mat* m : {&B, &X, &AX}) OK(MatDestroy(m));
}

TEST(Factor, ReadsTheOptionsOfThePreconditioner) {
  const Option method("-t_pc_oclspkt_method", "pivot"), devices("-t_pc_oclspkt_devices", "host");
  const Matrix A(tridiagonal(40, -1, 4, -2));
  const Direct ours(A, PCLU, PCOCLSPKT);
  const Vector b(40), x(40);
  OK(KSPSolve(ours, b, x));
  const std::string text = view_text(reinterpret_cast<PetscObject>(static_cast<KSP>(ours)));
  EXPECT_TRUE(contains(text, "method: pivot")) << text;
}

TEST(Factor, RefusesEntriesOffTheBands) {
  Rows rows = tridiagonal(10, -1, 4, -1);
  rows[0].emplace_back(5, 1);
  const Matrix A(rows);
  const Direct ours(A, PCLU, PCOCLSPKT);
  const ErrorTexts errors;
  EXPECT_NE(KSPSetUp(ours), 0);
  EXPECT_TRUE(contains(errors.text(), "this one has 1 nonzero entries off the three bands")) << errors.text();
}

TEST(Factor, OfASingularMatrixFails) {
  Rows rows = tridiagonal(10, -1, 4, -1);
  for (auto& entry : rows[4]) entry.second = 0;
  const Matrix A(rows);
  const Direct ours(A, PCLU, PCOCLSPKT);
  const Vector b(10), x(10);
  KSPConvergedReason reason;
  OK(KSPSolve(ours, b, x));
  OK(KSPGetConvergedReason(ours, &reason));
  EXPECT_EQ(reason, KSP_DIVERGED_PC_FAILED);
}

}  // namespace
}  // namespace oclspkt::test
