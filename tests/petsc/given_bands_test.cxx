// SPDX-License-Identifier: BSD-2-Clause
// Bands that the caller gives instead of the matrix, along the axes of grids on any number of ranks.
#include <string>
#include <vector>

#include "grid_problem.hxx"

namespace oclspkt::test {
namespace {

/// The bands of an axis as vectors.
struct OwnBands {
  HeldVec lower, diag, upper;
  OwnBands(const GridProblem& problem, int axis, PetscReal dominance) {
    PetscScalar* values[3];
    for (Vec* v : {&lower, &diag, &upper}) VecDuplicate(problem.right(), v);
    VecGetArray(lower, &values[0]);
    VecGetArray(diag, &values[1]);
    VecGetArray(upper, &values[2]);
    PetscInt at = 0;
    problem.for_each([&](const MatStencil& s) {
      // What leads out of the grid is not read.
      values[0][at] = (axis == 0 ? s.i : axis == 1 ? s.j : s.k) == 0 ? 1e30 : problem.coupling(s, axis, -1);
      values[1][at] = problem.diagonal(s, dominance);
      values[2][at++] = problem.coupling(s, axis, 1);
    });
    VecRestoreArray(lower, &values[0]);
    VecRestoreArray(diag, &values[1]);
    VecRestoreArray(upper, &values[2]);
  }
  PetscErrorCode give(PC pc, const std::string& along) const {
    return PCOCLSPKTSetBands(pc, along.c_str(), lower, diag, upper);
  }
};

TEST(GivenBands, AreSolvedLikeThoseOfTheMatrix) {
  const Shape shape{3, {6, 5, 7}, 1};
  const GridProblem problem(PETSC_COMM_WORLD, shape);
  for (int axis = 0; axis < 3; ++axis) {
    const std::string word(1, static_cast<char>('x' + axis));
    const LinePreconditioner along(problem, word), given(problem, "auto");
    const OwnBands bands(problem, axis, 1.05);
    OK(bands.give(given, word));
    EXPECT_LE(relative_distance(solve(problem, given), solve(problem, along)), kRounding) << word;
  }
}

TEST(GivenBands, OfSeveralAxesAreSolvedOneAfterTheOtherAndAnewAtEachStep) {
  const Shape shape{2, {9, 7, 1}, 1};
  const GridProblem problem(PETSC_COMM_WORLD, shape), whole(PETSC_COMM_SELF, shape);
  const LinePreconditioner pc(problem, "auto");
  for (const PetscReal dominance : {1.05, 2.0}) {
    const GridProblem now(PETSC_COMM_SELF, shape, dominance);
    const OwnBands x(problem, 0, dominance), y(problem, 1, dominance);
    OK(x.give(pc, "x"));
    OK(y.give(pc, "y"));
    const LineOracle first(now, 0), second(now, 1);
    HeldVec half = duplicate(now.right()), full = duplicate(now.right());
    OK(PCApply(first, now.right(), half));
    OK(PCApply(second, half, full));
    EXPECT_LE(relative_distance(solve(problem, pc), now.natural(full)), kRounding);
  }
}

TEST(GivenBands, MayChangeAfterTheCall) {
  const GridProblem problem(PETSC_COMM_WORLD, {3, {6, 5, 7}, 1});
  for (int axis = 0; axis < 3; ++axis) {
    const std::string word(1, static_cast<char>('x' + axis));
    const LinePreconditioner given(problem, "auto");
    for (const PetscReal dominance : {1.05, 2.0, 1.5}) {  // lines are known from the second on
      const OwnBands bands(problem, axis, dominance);
      OK(bands.give(given, word));
      for (Vec v : {Vec(bands.lower), Vec(bands.diag), Vec(bands.upper)}) OK(VecSet(v, 1e300));
      const GridProblem same(PETSC_COMM_WORLD, {3, {6, 5, 7}, 1}, dominance);
      const LinePreconditioner along(same, word);
      EXPECT_LE(relative_distance(solve(problem, given), solve(problem, along)), kRounding) << word << dominance;
    }
  }
}

TEST(GivenBands, LeaveTheOperatorAloneUntilTheNextSetUp) {
  const GridProblem problem(PETSC_COMM_WORLD, {2, {9, 7, 1}, 1});
  const LinePreconditioner given(problem, "auto");
  const OwnBands first(problem, 1, 1.05), second(problem, 1, 2);
  OK(first.give(given, "y"));
  const std::vector<PetscScalar> before = solve(problem, given);
  OK(PCSetReusePreconditioner(given, PETSC_TRUE));
  for (int step = 0; step < 2; ++step) {
    OK(second.give(given, "y"));
    EXPECT_EQ(solve(problem, given), before);
  }
  OK(PCSetReusePreconditioner(given, PETSC_FALSE));
  EXPECT_NE(solve(problem, given), before);
}

TEST(GivenBands, AreThereForLaterSetUpsOfTheSameLines) {
  const GridProblem problem(PETSC_COMM_WORLD, {2, {9, 7, 1}, 1});
  const LinePreconditioner given(problem, "auto");
  const OwnBands x(problem, 0, 1.05), y(problem, 1, 1.05);
  OK(y.give(given, "y"));
  const std::vector<PetscScalar> alone = solve(problem, given);
  OK(PetscObjectStateIncrease(reinterpret_cast<PetscObject>(problem.matrix())));
  EXPECT_EQ(solve(problem, given), alone);
  OK(x.give(given, "x"));  // comes before the other
  const LinePreconditioner fresh(problem, "auto");
  OK(x.give(fresh, "x"));
  OK(y.give(fresh, "y"));
  EXPECT_EQ(solve(problem, given), solve(problem, fresh));
  OK(PCOCLSPKTSetBands(given, "x", nullptr, nullptr, nullptr));
  EXPECT_EQ(solve(problem, given), alone);
}

TEST(GivenBands, OfOtherLinesAreAnError) {
  const GridProblem problem(PETSC_COMM_SELF, {2, {12, 10, 1}, 1}), other(PETSC_COMM_SELF, {2, {10, 12, 1}, 1});
  const LinePreconditioner given(problem, "auto");
  const OwnBands bands(problem, 0, 2), now(other, 0, 2);
  OK(bands.give(given, "x"));
  OK(PCSetUp(given));
  OK(PCSetDM(given, other.dm()));
  OK(PCSetOperators(given, other.matrix(), other.matrix()));
  for (int time = 0; time < 2; ++time) {
    EXPECT_ERROR(PCSetUp(given), kAnyError, "call it again after PCSetDM()");
  }
  OK(now.give(given, "x"));
  const LinePreconditioner along(GridProblem(PETSC_COMM_SELF, {2, {10, 12, 1}, 1}, 2), "x");
  EXPECT_LE(relative_distance(solve(other, given), solve(other, along)), kRounding);
}

TEST(GivenBands, NeedNoMatrixThatCanBeRead) {
  const GridProblem problem(PETSC_COMM_WORLD, {2, {9, 7, 1}, 1});
  PetscInt rows;
  HeldMat shell;
  OK(VecGetLocalSize(problem.right(), &rows));
  OK(MatCreateShell(PETSC_COMM_WORLD, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE, nullptr, &shell));
  OK(MatSetDM(shell, problem.dm()));
  const LinePreconditioner along(problem, "y"), given(shell, "auto");
  const OwnBands bands(problem, 1, 1.05);
  OK(bands.give(given, "y"));
  EXPECT_LE(relative_distance(solve(problem, given), solve(problem, along)), kRounding);
}

TEST(GivenBands, ThatDoNotFitAreErrors) {
  const GridProblem problem(PETSC_COMM_WORLD, {2, {9, 7, 1}, 1}), other(PETSC_COMM_WORLD, {2, {19, 17, 1}, 1});
  const OwnBands bands(problem, 0, 2), large(other, 0, 2);
  const auto refused = [&](const char* lines, const char* axis, const OwnBands& b, const char* text) {
    const LinePreconditioner pc(problem, lines);
    EXPECT_ERROR(b.give(pc, axis) != 0 ? PETSC_ERR_ARG_WRONG : PCSetUp(pc), kAnyError, text);
  };
  refused("auto", "w", bands, "axes x, y and z");
  refused("auto", "z", bands, "2 dimensions");
  refused("auto", "x", large, "MatCreateVecs()");
  refused("x,y", "x", bands, "bands for all of them");
}

}  // namespace
}  // namespace oclspkt::test
