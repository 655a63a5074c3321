// SPDX-License-Identifier: BSD-2-Clause
// A device that fails on one rank of several: its rows are solved there on what is left, and all ranks are right.
#include <regex>

#include "device.hpp"
#include "faults.hpp"
#include "grid_problem.hxx"
#include "long_line.hxx"

namespace oclspkt::test {
namespace {

/// The last rank is the one that fails.
bool unlucky() { return PetscGlobalRank + 1 == PetscGlobalSize; }

/// Every launch fails on the last rank or on all, from the set-up or from the first apply on.
TEST(DevicesOfAllRanks, ThatFailLeaveAllRanksRightAndPrintOneLineForThePreconditioner) {
  for (const bool in_set_up : {true, false}) {
    for (const bool all : {true, false}) {
      SCOPED_TRACE(std::string(in_set_up ? "in the set-up, " : "in an apply, ") + (all ? "all ranks" : "one rank"));
      const Printed printed;
      {  // the last lines are printed when the preconditioner is destroyed
        const LongLine line(200000, [](PetscInt i, PetscInt) { return Row{-1, 3 + 0.5 * std::sin(i), -1}; });
        OK(PCOCLSPKTSetDevices(line.pc(), "cpu"));
        const Faults faults;
        if (!in_set_up) {
          OK(PCSetUp(line.pc()));
        }
        if (all || unlucky()) Faults::at(ocl::Place::launch, -1, 0, 1000000);
        EXPECT_EQ(line.failed(), PC_NOERROR);
        for (int i = 0; i < 2; ++i) EXPECT_LE(line.backward_error(), 10);
        EXPECT_EQ(Faults::fired() > 0, all || unlucky());
        const char* device;
        OK(PCOCLSPKTGetDeviceUsed(line.pc(), &device, nullptr));
        EXPECT_EQ(std::string(device) == "host", all || unlucky()) << device;
      }
      EXPECT_EQ(Printed::lines(), 1);
    }
  }
}

// Several directions with vectors of the host on a device that copies them: how often they are moved, and that the
// answer is that of the host.

constexpr const char* kOneWay = "one way to the device and back for all directions";
const Shape kGrid{3, {31, 23, 17}, 1};

/// Bytes that all directions of this rank have moved to the device and from it.
struct Moved {
  std::int64_t up = 0, down = 0;
  explicit Moved(PC pc) {
    const std::string text = view_text(reinterpret_cast<PetscObject>(pc), PETSC_VIEWER_ASCII_INFO_DETAIL);
    const std::regex line("held, ([0-9]+) to the device, ([0-9]+) from it");
    for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) {
      up += std::stoll((*at)[1]);
      down += std::stoll((*at)[2]);
    }
  }
};

/// A device, the same for all directions, which `cpu` may not be.
std::string one_device() {
  for (const DeviceInfo& info : device_module(nullptr)->devices()) {
    if (info.type == DeviceType::cpu && info.fp64 && !info.emulated) return std::to_string(info.index);
  }
  return "no device of type cpu";
}

/// A preconditioner along axes of the grid: on the host, or on a device with memory of its own.
class AllAxes : public LinePreconditioner {
 public:
  AllAxes(const GridProblem& problem, PCOCLSPKTCombine combine, const std::string& devices = one_device(),
          const std::string& axes = "x,y,z")
      : LinePreconditioner(problem, axes, combine) {
    PCSetDM(*this, problem.dm());
    PCOCLSPKTSetDevices(*this, devices.c_str());
    PCOCLSPKTSetTransfer(*this, PC_OCLSPKT_TRANSFER_COPY);
    PCOCLSPKTSetOnDeviceFailure(*this, PC_OCLSPKT_ON_DEVICE_FAILURE_QUIET);
  }
};

/// True if no line is cut.
bool alone() { return PetscGlobalSize == 1; }

TEST(Directions, OfVectorsOnTheHostMakeOneWayToTheDeviceAndBack) {
  const GridProblem problem(PETSC_COMM_WORLD, kGrid);
  PetscInt rows;
  OK(VecGetLocalSize(problem.right(), &rows));
  const std::int64_t bytes = rows * static_cast<std::int64_t>(sizeof(PetscScalar));
  for (const PCOCLSPKTCombine combine : kCombines) {
    SCOPED_TRACE(PCOCLSPKTCombines[combine]);
    const bool once = alone() && combine != PC_OCLSPKT_COMBINE_MULTIPLICATIVE;
    const AllAxes pc(problem, combine), host(problem, combine, "host");
    for (const bool transpose : {false, true, false}) {
      EXPECT_LE(relative_distance(solve(problem, pc, transpose), solve(problem, host, transpose)), kRounding);
    }
    EXPECT_EQ(contains(pc.view(), kOneWay), once) << pc.view();
    EXPECT_FALSE(contains(host.view(), kOneWay));
    const Moved before(pc);
    solve(problem, pc);
    const Moved after(pc);
    if (alone()) {
      EXPECT_EQ(after.up - before.up, once ? bytes : 3 * bytes);
      EXPECT_EQ(after.down - before.down, once ? bytes : 3 * bytes);
    }
  }
}

TEST(Directions, TakeNewValuesOnTheirNextWay) {
  const GridProblem problem(PETSC_COMM_WORLD, kGrid);
  const AllAxes pc(problem, PC_OCLSPKT_COMBINE_SYMMETRIC), host(problem, PC_OCLSPKT_COMBINE_SYMMETRIC, "host");
  for (int i = 0; i < 2; ++i) {
    EXPECT_LE(relative_distance(solve(problem, pc), solve(problem, host)), kRounding);
    OK(MatScale(problem.matrix(), 2));
    OK(MatShift(problem.matrix(), 1));
  }
  OK(PCReset(pc));
  OK(PCOCLSPKTSetDirections(pc, "z,x"));
  OK(PCOCLSPKTSetDirections(host, "z,x"));
  OK(PCSetOperators(pc, problem.matrix(), problem.matrix()));
  EXPECT_LE(relative_distance(solve(problem, pc), solve(problem, host)), kRounding);
}

TEST(Directions, TakeTheColumnsOfAMatrixAsVectors) {
  const PetscInt columns = 6;
  const GridProblem problem(PETSC_COMM_WORLD, kGrid);
  PetscInt rows;
  HeldMat from, to;
  OK(VecGetLocalSize(problem.right(), &rows));
  OK(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, columns, nullptr, &from));
  OK(MatSetRandom(from, nullptr));
  OK(MatDuplicate(from, MAT_DO_NOT_COPY_VALUES, &to));
  for (const PCOCLSPKTCombine combine : kCombines) {
    SCOPED_TRACE(PCOCLSPKTCombines[combine]);
    const bool once = combine != PC_OCLSPKT_COMBINE_MULTIPLICATIVE;
    const AllAxes pc(problem, combine);
    expect_columns_alike(pc, from, to);
    const Moved before(pc);
    OK(PCMatApply(pc, from, to));
    const Moved after(pc);
    if (alone()) {
      EXPECT_EQ(after.up - before.up, (once ? 1 : 3) * columns * rows * static_cast<PetscInt>(sizeof(PetscScalar)));
    }
  }
}

/// Of the first, the second and the third solve of an apply.
TEST(Directions, OnADeviceThatFailsAreRightWithinTheApply) {
  const GridProblem problem(PETSC_COMM_WORLD, kGrid);
  const AllAxes host(problem, PC_OCLSPKT_COMBINE_SYMMETRIC, "host");
  const std::vector<PetscScalar> expected = solve(problem, host);
  for (const int call : {0, 2, 4}) {
    SCOPED_TRACE("launch " + std::to_string(call));
    const AllAxes pc(problem, PC_OCLSPKT_COMBINE_SYMMETRIC);
    solve(problem, pc);
    const Faults faults;
    Faults::at(ocl::Place::launch, -1, call);
    EXPECT_LE(relative_distance(solve(problem, pc), expected), kRounding);
    EXPECT_EQ(Faults::fired(), 1);
    EXPECT_FALSE(contains(pc.view(), kOneWay));
    EXPECT_LE(relative_distance(solve(problem, pc), expected), kRounding);
    if (alone()) {
      EXPECT_TRUE(contains(pc.view(), "degraded: ")) << pc.view();
    }
  }
}

/// Three ranks divide the grid along z, so that no line along x or y is cut.
const Shape kUncut{3, {6, 5, 40}, 1};

/// PETSc numbers the messages of objects on each rank. A product by a matrix that was made later ends only if all ranks
/// have made as many objects before.
TEST(Directions, OfOneRankOnAnotherWayLeaveObjectsOfAllRanksInStep) {
  const auto product = [](const GridProblem& problem) {
    HeldVec z = duplicate(problem.right());
    EXPECT_EQ(MatMult(problem.matrix(), problem.right(), z), 0);
    return problem.natural(z);
  };
  const GridProblem problem(PETSC_COMM_WORLD, kUncut);
  const AllAxes host(problem, PC_OCLSPKT_COMBINE_ADDITIVE, "host", "x,y");
  const AllAxes pc(problem, PC_OCLSPKT_COMBINE_ADDITIVE, unlucky() && !alone() ? "host" : one_device(), "x,y");
  EXPECT_LE(relative_distance(solve(problem, pc), solve(problem, host)), kRounding);
  const bool once = contains(pc.view(), kOneWay);
  EXPECT_TRUE(once || PetscGlobalRank > 0) << "the first rank makes no visit";
  const GridProblem later(PETSC_COMM_WORLD, kUncut);
  EXPECT_EQ(product(later), product(problem));
}

TEST(Directions, WhoseWayOneRankCannotPrepareFailOnAllRanks) {
  const GridProblem problem(PETSC_COMM_WORLD, kUncut);
  int allocations = 0;
  for (const bool fails : {false, false, true}) {
    const AllAxes pc(problem, PC_OCLSPKT_COMBINE_SYMMETRIC, one_device(), "x,y");
    OK(PCOCLSPKTSetOnDeviceFailure(pc, PC_OCLSPKT_ON_DEVICE_FAILURE_ERROR));
    const Faults faults;
    const ErrorTexts errors;
    if (fails && unlucky()) Faults::at(ocl::Place::allocate, -1, allocations - 1);
    EXPECT_EQ(PCSetUp(pc) != 0, fails) << errors.text();
    EXPECT_EQ(Faults::fired() > 0, fails && unlucky());
    allocations = Faults::seen(ocl::Place::allocate);
  }
}

/// An apply of six columns with a device that fails on the last rank is an error there, and ends on all ranks.
void expect_to_stop_on_one_rank(const GridProblem& problem, const AllAxes& pc) {
  HeldMat from, to;
  PetscInt rows;
  OK(PCOCLSPKTSetOnDeviceFailure(pc, PC_OCLSPKT_ON_DEVICE_FAILURE_ERROR));
  const std::vector<PetscScalar> expected = solve(problem, pc);
  OK(VecGetLocalSize(problem.right(), &rows));
  OK(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, 6, nullptr, &from));
  OK(MatSetRandom(from, nullptr));
  OK(MatDuplicate(from, MAT_DO_NOT_COPY_VALUES, &to));
  OK(PCMatApply(pc, from, to));  // makes the vectors for columns
  {
    const Faults faults;
    const ErrorTexts errors;
    if (unlucky()) Faults::at(ocl::Place::launch, -1, 0);
    EXPECT_EQ(PCMatApply(pc, from, to) != 0, unlucky());
    EXPECT_EQ(Faults::fired() > 0, unlucky());
  }
  EXPECT_EQ(solve(problem, pc), expected);
}

/// The other ranks wait for messages of later directions, whose lines are cut, or for the work vectors of later
/// columns. An error leaves the events of PETSc open on its rank, so -log_sync must no longer wait at them. This test
/// is the last one.
TEST(StoppedApply, OfOneRankLetsTheOtherRanksEndTheirs) {
  for (const char* const name : {"PCApply", "PCMatApply", "OCLSPKTSolve"}) {
    PetscLogEvent event;
    OK(PetscLogEventGetId(name, &event));
    OK(PetscLogEventSetCollective(event, PETSC_FALSE));
  }
  const GridProblem cut(PETSC_COMM_WORLD, kGrid), uncut(PETSC_COMM_WORLD, kUncut);
  expect_to_stop_on_one_rank(cut, AllAxes(cut, PC_OCLSPKT_COMBINE_SYMMETRIC));
  expect_to_stop_on_one_rank(uncut, AllAxes(uncut, PC_OCLSPKT_COMBINE_SYMMETRIC, one_device(), "x,y"));
}

}  // namespace
}  // namespace oclspkt::test
