// SPDX-License-Identifier: BSD-2-Clause
#include "support.hxx"

namespace oclspkt::test {
namespace {

constexpr PetscInt kPoints = 200;

/// -u'' with no flux through either end: the constant vectors are its null space.
Rows neumann(PetscInt n = kPoints) {
  Rows rows = tridiagonal(n, -1, 2, -1);
  rows.front()[0].second = rows.back()[1].second = 1;
  return rows;
}

/// How the null space tells of the constant vectors.
enum class Attached { nothing, flag, vector, other_vector };

void attach(Mat A, Attached how) {
  if (how == Attached::nothing) return;
  HeldMatNullSpace space;
  const Vector v(kPoints);  // not constant
  if (how == Attached::vector) {
    OK(VecSet(v, 1));
  }
  OK(VecNormalize(v, nullptr));
  const Vec vectors[] = {v};
  const bool flag = how == Attached::flag;
  OK(MatNullSpaceCreate(PETSC_COMM_SELF, flag ? PETSC_TRUE : PETSC_FALSE, flag ? 0 : 1, vectors, &space));
  OK(MatSetNullSpace(A, space));
}

/// A right-hand side that sums to 0 but for rounding.
void make_consistent(Vec b) {
  PetscScalar sum;
  OK(VecSum(b, &sum));
  OK(VecShift(b, -sum / kPoints));
}

struct KrylovOutcome {
  KSPConvergedReason reason;
  PetscInt iterations;
  PetscReal residual;
  std::string view;
};

KrylovOutcome solve(Mat A, Mat P, KSPType type, PCOCLSPKTSingular singular) {
  const Vector b(kPoints), x(kPoints);
  make_consistent(b);
  const Preconditioner made(P);
  EXPECT_EQ(PCOCLSPKTSetSingular(made, singular), 0);
  EXPECT_EQ(PCSetOperators(made, A, P), 0);
  HeldKSP ksp = make_ksp(made, type, 1e-10);
  EXPECT_EQ(KSPSolve(ksp, b, x), 0);
  return {converged_reason(ksp), iterations_of(ksp), residual(A, b, x), made.view()};
}

void expect_solved(const KrylovOutcome& outcome, const char* why) {
  EXPECT_GT(outcome.reason, 0);
  EXPECT_LE(outcome.iterations, 2);
  EXPECT_LE(outcome.residual, 1e-9);
  expect_in(outcome.view, {std::string("singular: pinned, ") + why + "\n"});
}

TEST(NullSpace, OfConstantsMakesNeumannConverge) {
  const Matrix A(neumann());
  for (const Attached how : {Attached::flag, Attached::vector}) {
    attach(A, how);
    for (const KSPType type : {KSPGMRES, KSPCG}) {
      SCOPED_TRACE(type);
      expect_solved(solve(A, A, type, PC_OCLSPKT_SINGULAR_AUTO), "one line, and the matrix has a constant null space");
    }
  }
}

TEST(NullSpace, MayBeAttachedToTheMatrixOfTheSystemAlone) {
  const Matrix A(neumann()), P(neumann());
  attach(A, Attached::flag);
  expect_solved(solve(A, P, KSPGMRES, PC_OCLSPKT_SINGULAR_AUTO), "one line, and the matrix has a constant null space");
}

TEST(NullSpace, IsNotNeededWherePinningIsAskedFor) {
  const Matrix A(neumann());
  for (const KSPType type : {KSPGMRES, KSPCG}) {
    SCOPED_TRACE(type);
    expect_solved(solve(A, A, type, PC_OCLSPKT_SINGULAR_PIN), "asked for");
  }
}

TEST(NullSpace, ThatIsMissingOrNotConstantOrOverruledFailsAndSaysWhere) {
  for (const Attached how : {Attached::nothing, Attached::other_vector, Attached::flag}) {
    const Matrix A(neumann());
    attach(A, how);
    const KrylovOutcome outcome =
        solve(A, A, KSPGMRES, how == Attached::flag ? PC_OCLSPKT_SINGULAR_FAIL : PC_OCLSPKT_SINGULAR_AUTO);
    EXPECT_EQ(outcome.reason, KSP_DIVERGED_PC_FAILED);
    expect_in(outcome.view, {"singular: line 0, its rows sum to 0", "singular pin "});
  }
}

TEST(NullSpace, DoesNotTouchAMatrixThatIsNotSingular) {
  const Rows rows = tridiagonal(kPoints, -1, 2.5, -1);
  const Matrix A(rows), plain(rows);
  attach(A, Attached::flag);
  const Preconditioner pc(A), without(plain);
  const Vector b(kPoints), x(kPoints), y(kPoints);
  OK(PCApply(pc, b, x));
  OK(PCApply(without, b, y));
  EXPECT_EQ(distance(x, y), 0);
  const auto choice = [](const std::string& view) { return view.substr(0, view.find("linear system matrix")); };
  EXPECT_EQ(choice(pc.view()), choice(without.view()));
}

TEST(NullSpace, PinsOneLineOnly) {
  // Two Neumann problems: each has its own constants.
  Rows rows = neumann(kPoints / 2);
  for (PetscInt i = 0; i < kPoints / 2; ++i) {
    auto row = rows[static_cast<std::size_t>(i)];
    for (auto& entry : row) entry.first += kPoints / 2;
    rows.push_back(row);
  }
  const Matrix A(rows);
  attach(A, Attached::flag);
  const KrylovOutcome outcome = solve(A, A, KSPGMRES, PC_OCLSPKT_SINGULAR_AUTO);
  EXPECT_EQ(outcome.reason, KSP_DIVERGED_PC_FAILED);
  // The right-hand side sums to 0 over both, not over each: only the view tells.
  expect_in(solve(A, A, KSPGMRES, PC_OCLSPKT_SINGULAR_PIN).view,
            {"fallback lines: 2, from line 0 on, by pivot, pinned on the host"});
}

/// What PetscInfo() prints during the set-up of a new PC.
std::string info_of_set_up(Mat A) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(PetscInfoSetFile(nullptr, nullptr), 0);
  EXPECT_EQ(PetscInfoAllow(PETSC_TRUE), 0);
  const Preconditioner pc(A);
  EXPECT_EQ(PCSetUp(pc), 0);
  EXPECT_EQ(PetscInfoAllow(PETSC_FALSE), 0);
  return testing::internal::GetCapturedStdout();
}

TEST(NullSpace, IsNamedByInfo) {
  const Matrix A(neumann());
  const std::string failed = info_of_set_up(A);
  expect_in(failed, {"set-up failed: ", "singular: line 0, its rows sum to 0"});
  attach(A, Attached::flag);
  const std::string pinned = info_of_set_up(A);
  EXPECT_TRUE(contains(pinned, "pinned (one line, and the matrix has a constant null space): singular: line 0, "))
      << pinned;
}

}  // namespace
}  // namespace oclspkt::test
