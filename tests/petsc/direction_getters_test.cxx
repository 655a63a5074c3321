// SPDX-License-Identifier: BSD-2-Clause
// What the getters of the PC say of several directions, on every rank.
#include <algorithm>
#include <cstring>

#include "grid_problem.hxx"

namespace oclspkt::test {
namespace {

TEST(Directions, AreAllToldOfByEveryGetter) {
  const GridProblem problem(PETSC_COMM_WORLD, {2, {40, 30, 1}, 1}, 3);
  PC pc;
  OK(PCCreate(PETSC_COMM_WORLD, &pc));
  OK(PCSetType(pc, PCOCLSPKT));
  OK(PCSetOperators(pc, problem.matrix(), problem.matrix()));
  OK(PCOCLSPKTSetDevices(pc, "host"));
  OK(PCOCLSPKTSetMethod(pc, PC_OCLSPKT_METHOD_EXACT_FACTORED));
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
  OK(PCDestroy(&pc));
}

TEST(Directions, HaveOneCertificateTheLargestOnEveryRank) {
  const Shape shape{2, {64, 2048, 1}, 1};
  const GridProblem problem(PETSC_COMM_WORLD, shape, 1.05);
  const Matrix one(tridiagonal(10, -1, 4, -1));
  if (!device_is_there(one, "cpu")) GTEST_SKIP() << "no CPU device, and the host truncates nothing";
  PetscReal bounds[3] = {};
  const char* const directions[] = {"x", "y", "x,y"};
  for (int i = 0; i < 3; ++i) {
    PC pc;
    OK(PCCreate(PETSC_COMM_WORLD, &pc));
    OK(PCSetType(pc, PCOCLSPKT));
    OK(PCSetOperators(pc, problem.matrix(), problem.matrix()));
    OK(PCOCLSPKTSetDevices(pc, "cpu"));
    OK(PCOCLSPKTSetMethod(pc, PC_OCLSPKT_METHOD_TRUNCATED_HALO));
    OK(PCOCLSPKTSetRtol(pc, 1e-3));
    OK(PCOCLSPKTSetPartition(pc, 16));
    OK(PCOCLSPKTSetDirections(pc, directions[i]));
    OK(PCSetUp(pc));
    OK(PCOCLSPKTGetCertificate(pc, &bounds[i], nullptr, nullptr));
    PetscReal most = bounds[i];
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD);
    EXPECT_EQ(bounds[i], most) << "the same on every rank";
    OK(PCDestroy(&pc));
  }
  EXPECT_NE(bounds[0], bounds[1]) << "or the test cannot fail";
  EXPECT_EQ(bounds[2], std::max(bounds[0], bounds[1]));
}

}  // namespace
}  // namespace oclspkt::test
