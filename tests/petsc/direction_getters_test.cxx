// SPDX-License-Identifier: BSD-2-Clause
// What the getters of the PC say of several directions, on every rank, and what is left of these in the end.
#include <petsc/private/matimpl.h>

#include <algorithm>
#include <cstring>

#include "grid_problem.hxx"

namespace oclspkt::test {
namespace {

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
