// SPDX-License-Identifier: BSD-2-Clause
// Answers that method auto may not give: told, or the failed reason of all ranks, though one rank alone finds it.
#include <algorithm>

#include "long_line.hxx"

namespace oclspkt::test {
namespace {

constexpr PetscInt kOwn = 30;
/// Of rows and of a right-hand side, both well within the range; the unknown is 3e399.
constexpr PetscScalar kRow = 1e-200, kSide = 1e200;

Row joined(PetscInt, PetscInt) { return {-kRow, 4 * kRow, -kRow}; }
/// No row couples to one of another rank.
Row apart(PetscInt i, PetscInt) { return {i % kOwn == 0 ? 0 : -kRow, 4 * kRow, (i + 1) % kOwn == 0 ? 0 : -kRow}; }

/// kRow everywhere, but for one row of the last rank.
void give(Vec b, PetscScalar large) {
  PetscInt first = 0, end = 0;
  EXPECT_EQ(VecSet(b, kRow), 0);
  EXPECT_EQ(VecGetOwnershipRange(b, &first, &end), 0);
  if (rank_here() + 1 == ranks()) {
    EXPECT_EQ(VecSetValue(b, end - kOwn / 2, large, INSERT_VALUES), 0);
  }
  EXPECT_EQ(VecAssemblyBegin(b), 0);
  EXPECT_EQ(VecAssemblyEnd(b), 0);
}

/// The reason with which a solve ends, the same on all ranks.
KSPConvergedReason solve(KSP ksp, const LongLine& line, PetscScalar large) {
  give(line.b(), large);
  EXPECT_EQ(KSPSolve(ksp, line.b(), line.x()), 0);
  const KSPConvergedReason reason = converged_reason(ksp);
  int ends[] = {reason, -reason};
  MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
  EXPECT_EQ(ends[0], -ends[1]);
  return reason;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(AboveBound, ErrorEndsSolvesOfAllRanksAndTheNextOneIsSolved) {
  for (const auto row : {joined, apart}) {
    for (KSPType type : {KSPPREONLY, KSPGMRES, KSPCG, KSPRICHARDSON, KSPBCGS}) {
      const LongLine line(kOwn, row);
      HeldKSP ksp;
      OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
      OK(KSPSetOperators(ksp, line.matrix(), line.matrix()));
      OK(KSPSetType(ksp, type));
      OK(KSPSetPC(ksp, line.pc()));
      OK(KSPSetTolerances(ksp, 1e-10, 1e-300, PETSC_DEFAULT, 20));
      OK(PCOCLSPKTSetAboveBound(line.pc(), PC_OCLSPKT_ABOVE_BOUND_ERROR));
      EXPECT_GT(solve(ksp, line, kRow), 0) << type;
      EXPECT_EQ(solve(ksp, line, kSide), KSP_DIVERGED_PC_FAILED) << type;
      const std::string view = view_text(reinterpret_cast<PetscObject>(line.pc()));
      if (rank_here() == 0) {
        expect_in(view, {"apply failed: ", "an answer is not finite: it leaves the range of the numbers"});
      }
      EXPECT_GT(solve(ksp, line, kRow), 0) << type << ": another right-hand side";
    }
  }
}

TEST(AboveBound, ErrorIsOneOfAllRanksWhereFailuresAreErrors) {
  const LongLine line(kOwn, apart);
  OK(PCOCLSPKTSetAboveBound(line.pc(), PC_OCLSPKT_ABOVE_BOUND_ERROR));
  OK(PCSetErrorIfFailure(line.pc(), PETSC_TRUE));
  give(line.b(), kSide);
  EXPECT_ERROR(PCApply(line.pc(), line.b(), line.x()), PETSC_ERR_MAT_LU_ZRPVT, "an answer is not finite");
}

TEST(AboveBound, WarnTellsOnceByInfoAndInTheViewWhateverRankItIs) {
  const LongLine line(kOwn, apart);
  OK(PCSetUp(line.pc()));
  give(line.b(), kSide);
  testing::internal::CaptureStdout();
  OK(PetscInfoSetFile(nullptr, nullptr));
  OK(PetscInfoAllow(PETSC_TRUE));
  for (int k = 0; k < 2; ++k) OK(PCApply(line.pc(), line.b(), line.x()));
  OK(PetscInfoAllow(PETSC_FALSE));
  const std::string info = testing::internal::GetCapturedStdout();
  if (ranks() == 1) {  // others print elsewhere
    EXPECT_EQ(count(info, "WARNING: method auto has no method within its limits"), 1U) << info;
  }
  const std::string view = view_text(reinterpret_cast<PetscObject>(line.pc()));
  if (rank_here() == 0) {
    EXPECT_TRUE(contains(view, "ABOVE the limits of method auto: ")) << view;
    EXPECT_EQ(contains(view, "rank " + std::to_string(ranks() - 1) + ": an answer"), ranks() > 1) << view;
  }
}

TEST(AboveBound, ErrorIsAnErrorOfTheDirectSolver) {
  const Option above("-pc_oclspkt_above_bound", "error"), devices("-pc_oclspkt_devices", "host");
  const LongLine line(kOwn, joined);
  HeldMat F;
  MatFactorInfo info;
  OK(MatGetFactor(line.matrix(), PCOCLSPKT, MAT_FACTOR_LU, &F));
  OK(MatFactorInfoInitialize(&info));
  OK(MatLUFactorSymbolic(F, line.matrix(), nullptr, nullptr, &info));
  OK(MatLUFactorNumeric(F, line.matrix(), &info));
  give(line.b(), kRow);
  OK(MatSolve(F, line.b(), line.x()));
  for (const auto& solve : {MatSolve, MatSolveTranspose}) {
    give(line.b(), kSide);
    EXPECT_ERROR(solve(F, line.b(), line.x()), PETSC_ERR_NOT_CONVERGED, "oclspkt did not solve: ");
    give(line.b(), kRow);
    EXPECT_EQ(solve(F, line.b(), line.x()), 0) << "another right-hand side";
  }
}

}  // namespace
}  // namespace oclspkt::test
