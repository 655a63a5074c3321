// SPDX-License-Identifier: BSD-2-Clause
// The preconditioner amid vectors and matrices of -oclspkt_types. What is not valid on the host is NaN.
#include <string>

#include "grid_problem.hxx"
#include "types_support.hxx"
#include "types_vectors.hxx"

namespace oclspkt::test {
namespace {

TEST(Types, ThePreconditionerTakesThemWhereTheyAre) {
  const Matrix A(tridiagonal(2000, -1, 4, -2));
  const Vector x(2000);
  HeldVec right = duplicate(x), solution = duplicate(x);
  const Preconditioner pc(A, "Portable");
  OK(PCSetUp(pc));
  for (const bool transpose : {false, true}) {
    OK((transpose ? MatMultTranspose : MatMult)(A, x, right));
    OK((transpose ? PCApplyTranspose : PCApply)(pc, right, solution));
    EXPECT_TRUE(is_away(solution));
    EXPECT_LE(distance(solution, x), 1e-12);
  }
  expect_in(pc.view(), {"  vectors: on the device, no copy\n"});
}

/// To ask the matrix for a vector is collective: a rank whose device takes vectors did not ask again, one with too few
/// rows for it did.
TEST(Types, SetUpsFollowEachOtherWhereOneRankHasTooFewRowsForItsDevice) {
  PetscMPIInt rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  const PetscInt rows = rank == 1 ? 0 : 40;
  HeldMat A = second_differences(rows);
  HeldVec solution, right, expected;
  OK(MatCreateVecs(A, &solution, &right));
  OK(VecDuplicate(solution, &expected));
  OK(VecSet(expected, 3));
  HeldPC pc = make_pc(A, "Portable");
  for (int i = 0; i < 3; ++i) {
    OK(MatScale(A, 2));
    OK(PCSetUp(pc));
    OK(MatMult(A, expected, right));
    OK(PCApply(pc, right, solution));
    EXPECT_LE(distance(solution, expected), 1e-10) << "set-up " << i;
  }
}

TEST(Types, ThePreconditionerSolvesGridsInEveryCombinationAsOfTheHost) {
  const GridProblem problem(PETSC_COMM_WORLD, {3, {21, 12, 7}, 1});
  PetscInt n;
  OK(VecGetLocalSize(problem.right(), &n));
  const Owned right(n, false), expected(n, false);
  OK(VecCopy(problem.right(), right));
  HeldVec solution = duplicate(problem.right());
  for (const PCOCLSPKTCombine combine : kCombines) {
    for (const char* lines : {"x", "z", "x,y,z"}) {
      const LinePreconditioner pc(problem, lines);
      OK(PCSetDM(pc, problem.dm()));
      OK(PCOCLSPKTSetCombine(pc, combine));
      OK(PCOCLSPKTSetDevices(pc, "Portable"));
      for (const bool transpose : {false, true}) {
        SCOPED_TRACE(std::string(PCOCLSPKTCombines[combine]) + " " + lines + (transpose ? " transposed" : ""));
        send_away(problem.right());
        OK((transpose ? PCApplyTranspose : PCApply)(pc, right, expected));
        const PetscReal size = norm_of(expected, NORM_INFINITY);
        OK(VecSet(solution, kNan));
        OK(PetscObjectStateIncrease((PetscObject)solution));
        OK((transpose ? PCApplyTranspose : PCApply)(pc, problem.right(), solution));
        EXPECT_LE(distance(solution, expected), 1e-12 * size);
      }
    }
  }
}

}  // namespace
}  // namespace oclspkt::test
