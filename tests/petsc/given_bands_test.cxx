// SPDX-License-Identifier: BSD-2-Clause
// Bands that the caller gives instead of the matrix, along the axes of grids on any number of ranks.
#include <petsc/private/matimpl.h>

#include <cstring>

#include "grid_problem.hxx"

namespace oclspkt::test {
namespace {

/// The bands of an axis as vectors.
struct OwnBands {
  HeldVec lower, diag, upper;
  OwnBands(const GridProblem& problem, int axis, PetscReal dominance) {
    std::vector<PetscScalar> values[3];
    problem.for_each([&](const MatStencil& s) {
      // What leads out of the grid is not read.
      values[0].push_back((axis == 0 ? s.i : axis == 1 ? s.j : s.k) == 0 ? 1e30 : problem.coupling(s, axis, -1));
      values[1].push_back(problem.diagonal(s, dominance));
      values[2].push_back(problem.coupling(s, axis, 1));
    });
    auto of_band = std::begin(values);
    for (Vec* v : {&lower, &diag, &upper}) {
      VecDuplicate(problem.right(), v);
      write_values(*v, *of_band++);
    }
  }
  PetscErrorCode give(PC pc, const std::string& along) const {
    return PCOCLSPKTSetBands(pc, along.c_str(), lower, diag, upper);
  }
};

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

TEST(GivenBands, AreSolvedLikeThoseOfTheMatrixAndMayChangeAfterTheCall) {
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

// What the getters of the PC say of several directions, on every rank, and what is left of these in the end.

TEST(Directions, AreAllToldOfByEveryGetter) {
  const GridProblem problem(PETSC_COMM_WORLD, {2, {40, 30, 1}, 1}, 3);
  HeldPC pc = pc_for(problem, "host", PC_OCLSPKT_METHOD_EXACT_FACTORED, "x,y");
  const char *method = nullptr, *why = nullptr, *device = nullptr, *type = nullptr;
  for (const char* directions : {"x,y", "y"}) {
    const bool several = std::strlen(directions) > 1;
    OK(PCOCLSPKTSetDirections(pc, directions));
    OK(PCSetUp(pc));
    OK(PCOCLSPKTGetMethodUsed(pc, &method, &why));
    OK(PCOCLSPKTGetDeviceUsed(pc, &device, &type));
    EXPECT_STREQ(method, several ? "x: exact-factored; y: exact-factored" : "exact-factored");
    EXPECT_EQ(std::strncmp(why, "x: ", 3) == 0 && contains(why, "; y: "), several) << why;
    EXPECT_STREQ(device, several ? "x: host; y: host" : "host");
    EXPECT_STREQ(type, several ? "x: host; y: host" : "host");
  }
}

TEST(Directions, AreToldOfOneByOne) {
  const GridProblem problem(PETSC_COMM_WORLD, {2, {40, 30, 1}, 1}, 3);
  HeldPC pc = pc_for(problem, "host", PC_OCLSPKT_METHOD_EXACT_FACTORED, "y,x");
  const char* directions = nullptr;
  {
    const ErrorTexts errors;
    EXPECT_EQ(PCOCLSPKTGetDirectionsUsed(pc, &directions), PETSC_ERR_ARG_WRONGSTATE) << "nothing is set up";
  }
  OK(PCSetUp(pc));
  OK(PCOCLSPKTGetDirectionsUsed(pc, &directions));
  EXPECT_STREQ(directions, "y,x");
  PetscInt64 all = -1;
  OK(PCOCLSPKTGetIgnoredEntries(pc, &all));
  EXPECT_EQ(all, 0) << "the bands of both directions have the whole matrix";
  const PetscInt64 couplings[] = {2 * 39 * 30, 2 * 40 * 29};  // along x and y
  const char* texts[2][4];
  for (int i = 0; i < 2; ++i) {
    const char* const direction = i == 0 ? "x" : "y";
    PetscReal certificate = -1, rounding = -1, tolerance = -1;
    PetscInt64 ignored = -1;
    OK(PCOCLSPKTGetDirectionMethodUsed(pc, direction, &texts[i][0], &texts[i][1]));
    OK(PCOCLSPKTGetDirectionDeviceUsed(pc, direction, &texts[i][2], &texts[i][3]));
    OK(PCOCLSPKTGetDirectionCertificate(pc, direction, &certificate, &rounding, &tolerance));
    OK(PCOCLSPKTGetDirectionIgnoredEntries(pc, direction, &ignored));
    EXPECT_EQ(certificate, 0);
    EXPECT_GT(rounding, 0);
    EXPECT_GT(tolerance, 0);
    EXPECT_EQ(ignored, couplings[1 - i]) << direction;
    OK(PCOCLSPKTGetDirectionMethodUsed(pc, direction, nullptr, nullptr));
  }
  for (const auto& text : texts) {  // those of the first direction are still there
    EXPECT_STREQ(text[0], "exact-factored");
    EXPECT_STRNE(text[1], "");
    EXPECT_STREQ(text[2], "host");
    EXPECT_STREQ(text[3], "host");
  }
  const ErrorTexts errors;
  EXPECT_EQ(PCOCLSPKTGetDirectionMethodUsed(pc, "z", &directions, nullptr), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_TRUE(contains(errors.text(), "does not solve along 'z'; its directions are y,x")) << errors.text();
  EXPECT_EQ(PCOCLSPKTGetDirectionIgnoredEntries(pc, nullptr, nullptr), PETSC_ERR_ARG_NULL);
}

TEST(Directions, HaveOneCertificateTheLargestOnEveryRank) {
  const Shape shape{2, {64, 2048, 1}, 1};
  const GridProblem problem(PETSC_COMM_WORLD, shape, 1.05);
  const Matrix one(tridiagonal(10, -1, 4, -1));
  if (!device_is_there(one, "cpu")) GTEST_SKIP() << "no CPU device, and the host truncates nothing";
  PetscReal bounds[3] = {};
  const char* const directions[] = {"x", "y", "x,y"};
  for (int i = 0; i < 3; ++i) {
    HeldPC pc = pc_for(problem, "cpu", PC_OCLSPKT_METHOD_TRUNCATED_HALO, directions[i]);
    OK(PCOCLSPKTSetRtol(pc, 1e-3));
    OK(PCOCLSPKTSetPartition(pc, 16));
    OK(PCSetUp(pc));
    OK(PCOCLSPKTGetCertificate(pc, &bounds[i], nullptr, nullptr));
    PetscReal most = bounds[i];
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD);
    EXPECT_EQ(bounds[i], most) << "the same on every rank";
    for (int d = 0; d < 2 && i == 2; ++d) {
      PetscReal own = -1;
      OK(PCOCLSPKTGetDirectionCertificate(pc, directions[d], &own, nullptr, nullptr));
      EXPECT_EQ(own, bounds[d]) << "of the direction " << directions[d] << " alone";
    }
  }
  EXPECT_NE(bounds[0], bounds[1]) << "or the test cannot fail";
  EXPECT_EQ(bounds[2], std::max(bounds[0], bounds[1]));
}

TEST(Directions, LeaveNothingBehindWhenTheTypeChanges) {
  const GridProblem problem(PETSC_COMM_WORLD, {2, {20, 15, 1}, 1}, 3);
  HeldVec right, solution;
  OK(MatCreateVecs(problem.matrix(), &solution, &right));
  OK(VecSet(right, 1));
  PetscLayout layout;
  OK(VecGetLayout(solution, &layout));
  const PetscInt before = layout->refcnt;
  HeldPC pc = pc_for(problem, "host", PC_OCLSPKT_METHOD_AUTO, "x,y");
  OK(PCOCLSPKTSetCombine(pc, PC_OCLSPKT_COMBINE_MULTIPLICATIVE));
  OK(PCApply(pc, right, solution));
  EXPECT_GT(layout->refcnt, before) << "vectors like the solution, or the test cannot fail";
  OK(PCSetType(pc, PCJACOBI));
  EXPECT_EQ(layout->refcnt, before);
}

}  // namespace
}  // namespace oclspkt::test
