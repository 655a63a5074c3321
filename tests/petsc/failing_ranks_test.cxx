// SPDX-License-Identifier: BSD-2-Clause
// A device that fails on one rank of several: its rows are solved there on what is left, and all ranks are right.
#include "faults.hpp"
#include "long_line.hxx"

namespace oclspkt::test {
namespace {

/// The last rank is the one that fails.
bool unlucky() { return rank_here() + 1 == ranks(); }

/// Solve with every launch failing on the last rank, from the set-up or from the first apply on.
void fail_launches(bool in_set_up) {
  const LongLine line(200000, [](PetscInt i, PetscInt) { return Row{-1, 3 + 0.5 * std::sin(i), -1}; });
  OK(PCOCLSPKTSetDevices(line.pc(), "cpu"));
  OK(PCOCLSPKTSetOnDeviceFailure(line.pc(), PC_OCLSPKT_ON_DEVICE_FAILURE_QUIET));
  const Faults faults;
  if (!in_set_up) {
    OK(PCSetUp(line.pc()));
  }
  if (unlucky()) Faults::at(ocl::Place::launch, -1, 0, 1000000);
  EXPECT_EQ(line.failed(), PC_NOERROR);
  for (int i = 0; i < 2; ++i) EXPECT_LE(line.backward_error(), 10);
  EXPECT_EQ(Faults::fired() > 0, unlucky());
  const char* device;
  OK(PCOCLSPKTGetDeviceUsed(line.pc(), &device, nullptr));
  EXPECT_EQ(std::string(device) == "host", unlucky()) << device;
}

TEST(DeviceOfOneRank, ThatFailsInTheSetUpLeavesAllRanksRight) { fail_launches(true); }

TEST(DeviceOfOneRank, ThatFailsInAnApplyLeavesAllRanksRight) { fail_launches(false); }

/// Counts the lines that PETSc's error printer gets on this rank.
int printed = 0;
PetscErrorCode count_lines(const char[], ...) {
  ++printed;
  return 0;
}

TEST(DevicesOfAllRanks, ThatFailPrintOneLineForThePreconditioner) {
  auto* const before = PetscErrorPrintf;
  for (const bool in_set_up : {true, false}) {
    for (const bool all : {true, false}) {
      printed = 0;
      PetscErrorPrintf = count_lines;
      {
        const LongLine line(200000, [](PetscInt i, PetscInt) { return Row{-1, 3 + 0.5 * std::sin(i), -1}; });
        OK(PCOCLSPKTSetDevices(line.pc(), "cpu"));
        const Faults faults;
        if (!in_set_up) {
          OK(PCSetUp(line.pc()));
        }
        if (all || unlucky()) Faults::at(ocl::Place::launch, -1, 0, 1000000);
        EXPECT_LE(line.backward_error(), 10);
        EXPECT_EQ(Faults::fired() > 0, all || unlucky());
      }
      PetscErrorPrintf = before;
      MPI_Allreduce(MPI_IN_PLACE, &printed, 1, MPI_INT, MPI_SUM, PETSC_COMM_WORLD);
      EXPECT_EQ(printed, 1) << (in_set_up ? "in the set-up, " : "in an apply, ") << (all ? "all ranks" : "one rank");
    }
  }
}

}  // namespace
}  // namespace oclspkt::test
