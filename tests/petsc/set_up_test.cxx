// SPDX-License-Identifier: BSD-2-Clause
#include "pc_oclspkt.hxx"
#include "support.hxx"

namespace oclspkt::test {
namespace {

constexpr PetscInt kRows = 100;

/// What the set-ups of a PC have done since its last reset.
struct Work {
  int searches, gathers;
  std::int64_t set_ups, uploads;
  bool operator==(const Work&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Work& w) {
  return out << w.searches << " searches, " << w.gathers << " gathers, " << w.set_ups << " set-ups, " << w.uploads
             << " uploads";
}

Work work(PC pc) {
  const petsc::PC_OCLSPKT& o = *petsc::data(pc);
  return {o.first().extraction.searches(), o.first().extraction.gathers(), o.first().solver.counts().set_ups,
          o.first().solver.counts().uploads};
}

/// Row 10 of tridiag(lower, diag, upper) x = b.
void expect_row(PC pc, PetscScalar lower, PetscScalar diag, PetscScalar upper, PetscInt n = kRows) {
  const Vector b(n), x(n);
  OK(PCApply(pc, b, x));
  EXPECT_LE(std::abs(lower * x[9] + diag * x[10] + upper * x[11] - b[10]), 1e-14);
}

TEST(SetUp, OfAnUnchangedMatrixDoesNothing) {
  const auto& [A, pc, b, x] = System(tridiagonal(kRows, -1, 4, -2));
  for (int i = 0; i < 3; ++i) {
    OK(PCSetUp(pc));
    expect_row(pc, -1, 4, -2);
    EXPECT_EQ(work(pc), (Work{1, 1, 1, 1}));
  }
  OK(PCSetOperators(pc, A, A));
  OK(PCSetFromOptions(pc));
  OK(PCSetUp(pc));
  EXPECT_EQ(work(pc), (Work{1, 1, 1, 1})) << "the same matrix and the same options again";
}

TEST(SetUp, OfNewValuesReadsThemOnceAndNoPattern) {
  auto&& [A, pc, b, x] = System(tridiagonal(kRows, -1, 4, -2));
  OK(PCSetUp(pc));
  const auto bytes = [&, &pc = pc] {
    return petsc::data(pc)->first().extraction.bytes() + petsc::data(pc)->first().solver.bytes();
  };
  const std::int64_t before = bytes();
  A.set_values(tridiagonal(kRows, -1, 5, -3));
  expect_row(pc, -1, 5, -3);
  EXPECT_EQ(work(pc), (Work{1, 2, 2, 2}));
  EXPECT_EQ(bytes(), before);
  // Two entries by MatSetValue().
  OK(MatSetValue(A, 10, 10, 6, INSERT_VALUES));
  OK(MatSetValue(A, 10, 11, -1, INSERT_VALUES));
  OK(assemble(A));
  expect_row(pc, -1, 6, -1);
  EXPECT_EQ(work(pc), (Work{1, 3, 3, 3}));
}

TEST(SetUp, AfterAResetTakesAnotherSizeAndCountsAnew) {
  const auto& [A, pc, b, x] = System(tridiagonal(kRows, -1, 4, -2));
  const Matrix B(tridiagonal(37, -1, 6, -3));
  OK(PCSetUp(pc));
  OK(PCReset(pc));
  EXPECT_EQ(work(pc), (Work{0, 0, 0, 0}));
  EXPECT_EQ(petsc::data(pc)->first().solver.bytes(), 0);
  OK(PCSetOperators(pc, B, B));
  expect_row(pc, -1, 6, -3, 37);
  EXPECT_EQ(work(pc), (Work{1, 1, 1, 1}));
}

TEST(SetUp, IsLeftOutWhileThePreconditionerIsReused) {
  auto&& [A, pc, b, x] = System(tridiagonal(kRows, -1, 4, -2));
  OK(PCSetUp(pc));
  OK(PCSetReusePreconditioner(pc, PETSC_TRUE));
  A.set_values(tridiagonal(kRows, -1, 5, -3));
  OK(PCSetUp(pc));
  expect_row(pc, -1, 4, -2);
  EXPECT_EQ(work(pc), (Work{1, 1, 1, 1}));
  OK(PCSetReusePreconditioner(pc, PETSC_FALSE));
  expect_row(pc, -1, 5, -3);
  EXPECT_EQ(work(pc), (Work{1, 2, 2, 2}));
}

TEST(SetUp, OfNewSettingsWaitsForTheEndOfTheReuse) {
  auto&& [A, pc, b, x] = System(tridiagonal(kRows, -1, 4, -2));
  OK(PCSetUp(pc));
  OK(PCSetReusePreconditioner(pc, PETSC_TRUE));
  OK(PCOCLSPKTSetMethod(pc, PC_OCLSPKT_METHOD_PIVOT));
  OK(PCSetUp(pc));
  expect_row(pc, -1, 4, -2);
  EXPECT_EQ(work(pc), (Work{1, 1, 1, 1}));
  OK(PCSetReusePreconditioner(pc, PETSC_FALSE));
  OK(PCSetUp(pc));
  const Work anew = work(pc);
  EXPECT_NE(anew, (Work{1, 1, 1, 1}));
  expect_row(pc, -1, 4, -2);
  EXPECT_EQ(work(pc), anew) << "an apply sets nothing up";
}

TEST(SetUp, ReadsTheSecondMatrixOfKspSetOperators) {
  Matrix A(tridiagonal(kRows, -1, 9, -1)), P(tridiagonal(kRows, -1, 4, -2));
  const Preconditioner pc;
  HeldKSP ksp;
  OK(KSPCreate(PETSC_COMM_SELF, &ksp));
  OK(KSPSetPC(ksp, pc));
  OK(KSPSetOperators(ksp, A, P));
  OK(KSPSetUp(ksp));
  expect_row(pc, -1, 4, -2);
  A.set_values(tridiagonal(kRows, -1, 10, -1));
  OK(KSPSetOperators(ksp, A, P));
  OK(KSPSetUp(ksp));
  EXPECT_EQ(work(pc), (Work{1, 1, 1, 1})) << "only the system's matrix changed";
  P.set_values(tridiagonal(kRows, -1, 5, -2));
  OK(KSPSetOperators(ksp, A, P));
  OK(KSPSetUp(ksp));
  EXPECT_EQ(work(pc), (Work{1, 2, 2, 2}));
  expect_row(pc, -1, 5, -2);
}

TEST(SetUp, ThatFailsIsHealedByTheNextGoodOne) {
  auto&& [A, pc, b, x] = System(tridiagonal(kRows, -1, 4, -2));
  OK(PCSetUp(pc));
  // NaN and Inf end the set-up before any method is tried; a zero matrix is known as singular, and one method is asked
  // all the same.
  const struct {
    PetscScalar diag;
    PCFailedReason failed;
    std::int64_t uploads;
  } bad[] = {{NAN, PC_FACTOR_OTHER, 0}, {INFINITY, PC_FACTOR_OTHER, 0}, {0, PC_FACTOR_NUMERIC_ZEROPIVOT, 1}};
  Work expected{1, 1, 1, 1};
  for (const auto& [diag, failed, uploads] : bad) {
    A.set_values(tridiagonal(kRows, 0, diag, 0));
    OK(PCSetUp(pc));
    EXPECT_EQ(failed_reason(pc), failed);
    expected = {1, expected.gathers + 1, expected.set_ups + 1, expected.uploads + uploads};
    EXPECT_EQ(work(pc), expected);
    OK(PCSetUp(pc));
    EXPECT_EQ(work(pc), expected) << "the matrix is as bad as before";
    A.set_values(tridiagonal(kRows, -1, 4, -2));
    OK(PCSetUp(pc));
    EXPECT_EQ(failed_reason(pc), PC_NOERROR);
    expected = {1, expected.gathers + 1, expected.set_ups + 1, expected.uploads + 1};
    expect_row(pc, -1, 4, -2);
    EXPECT_EQ(work(pc), expected);
  }
}

TEST(SetUp, ReadsATypeWithoutCompressedRowsAnewEachTime) {
  const Matrix A(tridiagonal(kRows, -1, 4, -1));
  HeldMat B;
  OK(MatConvert(A, MATSEQBAIJ, MAT_INITIAL_MATRIX, &B));
  const Preconditioner pc(A);
  OK(PCSetUp(pc));
  OK(PCSetOperators(pc, B, B));
  OK(MatScale(B, 2));
  expect_row(pc, -2, 8, -2);
  EXPECT_EQ(work(pc), (Work{1, 2, 2, 2}));
  OK(PCSetOperators(pc, A, A));
  expect_row(pc, -1, 4, -1);
  EXPECT_EQ(work(pc), (Work{2, 3, 3, 3})) << "positions are not kept meanwhile";
}

TEST(SetUp, CountsAreInTheDetailedView) {
  auto&& [A, pc, b, x] = System(tridiagonal(kRows, -1, 4, -2));
  OK(PCSetUp(pc));
  A.set_values(tridiagonal(kRows, -1, 5, -2));
  OK(PCSetUp(pc));
  expect_in(pc.view(PETSC_VIEWER_ASCII_INFO_DETAIL),
            {"set-ups: 2, matrix reads: 2, pattern searches: 1, bands passed to a solver: 2\n"});
}

/// |(x, B y) - (y, B x)| / |(x, B y)|
PetscReal asymmetry(PC pc, PetscInt n) {
  const Vector x(n), Bx(n), y(n), By(n);
  VecPointwiseMult(y, x, x);
  VecPointwiseMult(y, y, x);
  EXPECT_EQ(PCApply(pc, x, Bx), 0);
  EXPECT_EQ(PCApply(pc, y, By), 0);
  return PetscAbsScalar(dot(x, By) - dot(y, Bx)) / PetscAbsScalar(dot(x, By));
}

/// A symmetric matrix under an rtol that lets truncation in.
class Loosened : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr PetscInt n = 20000;

  static Rows rows() {
    Rows rows = tridiagonal(n, -1, 2.0001, -1);
    for (PetscInt i = 0; i < n; i += 3) rows[static_cast<std::size_t>(i)][i > 0 ? 1 : 0].second = 2.0003;
    return rows;
  }

  static std::string method(PC pc) {
    EXPECT_EQ(PCSetUp(pc), 0);
    return method_used(pc);
  }

  /// Iterations to reduce the residual by 1e10, or -1 if 50 do not.
  static PetscInt iterations(PC pc, KSPType type) {
    const Vector b(n), x(n);
    HeldKSP ksp = make_ksp(pc, type, 1e-10, 50);
    EXPECT_EQ(KSPSolve(ksp, b, x), 0);
    return converged_reason(ksp) > 0 ? iterations_of(ksp) : -1;
  }
};

TEST_P(Loosened, AutoKeepsASymmetricMatrixSymmetricSoThatCgConverges) {
  const Matrix A(rows());
  if (!device_is_there(A, GetParam())) GTEST_SKIP() << "no device " << GetParam();
  const Preconditioner pc(A, GetParam());
  const bool on_host = std::string(GetParam()) == "host";
  OK(PCOCLSPKTSetRtol(pc, 0.9));
  // Which of both exact methods it is depends on the cores of the device.
  EXPECT_EQ(method(pc).substr(0, 6), "exact-");
  EXPECT_LE(asymmetry(pc, n), 1e-10) << "eps times the condition of 1e5";
  const PetscInt count = iterations(pc, KSPCG);
  EXPECT_TRUE(count == 1 || count == 2) << count;

  // Not symmetric, and nothing speaks against truncation on a device but what PETSc knows of the matrix.
  Rows other = rows();
  other[50][0].second *= 1 + 4 * PETSC_MACHINE_EPSILON;
  for (const PetscBool known : {PETSC_FALSE, PETSC_TRUE}) {
    const Matrix B(other);
    OK(MatSetOption(B, MAT_SYMMETRIC, known));
    const Preconditioner second(B, GetParam());
    OK(PCOCLSPKTSetRtol(second, 0.9));
    const bool truncates = !on_host && !known;
    EXPECT_EQ(method(second).substr(0, 6), truncates ? "trunca" : "exact-");
  }
}

TEST_P(Loosened, ATruncatedMethodThatIsNamedBreaksCgAndNotFlexibleMethods) {
  const Matrix A(rows());
  if (!device_is_there(A, GetParam())) GTEST_SKIP() << "no device " << GetParam();
  const Preconditioner pc(A, GetParam());
  OK(PCOCLSPKTSetRtol(pc, 0.9));
  OK(PCOCLSPKTSetMethod(pc, PC_OCLSPKT_METHOD_TRUNCATED_HALO));
  if (std::string(GetParam()) == "host") {  // which truncates nothing, whatever is named
    EXPECT_EQ(method(pc), "exact-factored");
    EXPECT_LE(asymmetry(pc, n), 1e-10);
    return;
  }
  EXPECT_EQ(method(pc), "truncated-halo");
  EXPECT_GE(asymmetry(pc, n), 1e-8) << "only the rows near the joints of partitions make it";
  EXPECT_EQ(iterations(pc, KSPCG), -1) << "the manual page says so";
  for (const KSPType type : {KSPFCG, KSPGMRES}) {
    const PetscInt count = iterations(pc, type);
    EXPECT_TRUE(count > 0 && count <= 10) << type << " " << count;
  }
}

INSTANTIATE_TEST_SUITE_P(On, Loosened, ::testing::Values("host", kDevice));

}  // namespace
}  // namespace oclspkt::test
