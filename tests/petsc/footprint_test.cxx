// SPDX-License-Identifier: BSD-2-Clause
// PCApply() leaves nothing behind: the plugin allocates nothing, compiles nothing, prints nothing and keeps no object.
#include "footprint.hpp"

#include "device.hpp"
#include "grid_problem.hxx"

namespace oclspkt::test {
namespace {

constexpr PetscInt kVectors = 40;
/// 60 x 70 points, on few ranks still lines of more than a vector register.
const Shape kGrid{2, {60, 70, 1}, 1};

/// The host and every device, by index.
std::vector<std::string> places() {
  std::vector<std::string> all{"host"};
  if (DeviceModule* module = device_module(nullptr)) {
    for (const DeviceInfo& info : module->devices()) all.push_back(std::to_string(info.index));
  }
  return all;
}

/// Apply to vectors in turn, and see that late applies leave what early ones left.
void expect_steady(PC pc, Vec like, int applies) {
  Vec* vectors;
  OK(VecDuplicateVecs(like, kVectors, &vectors));
  for (PetscInt i = 0; i < kVectors; ++i) OK(VecCopy(like, vectors[i]));
  PetscInt at = 0;
  const auto apply = [&](int times) {
    for (int i = 0; i < times; ++i, at = (at + 2) % kVectors) {
      OK(PCApply(pc, vectors[at], vectors[at + 1]));
    }
  };
  OK(PCSetUp(pc));
  apply(10);
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const Footprint early = footprint();
  apply(applies);
  const Footprint late = footprint();
  EXPECT_EQ(::testing::internal::GetCapturedStderr() + ::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(late, early);
  OK(VecDestroyVecs(kVectors, &vectors));
}

void with_every_place(const char* lines, const char* method, int applies, const char* more = "") {
  const GridProblem problem(PETSC_COMM_WORLD, kGrid);
  for (const std::string& place : places()) {
    SCOPED_TRACE("devices " + place);
    const OptionSet options("-pc_oclspkt_lines " + std::string(lines) + " -pc_oclspkt_method " + method +
                            " -pc_oclspkt_rtol 1e-5" + more);
    HeldPC pc = make_pc(problem.matrix(), place.c_str());
    OK(PCSetDM(pc, problem.dm()));
    OK(PCSetFromOptions(pc));
    expect_steady(pc, problem.right(), applies);
  }
  EXPECT_GT(buffers_made(), 0) << "what is counted is not what is called";
}

TEST(AppliesOfPetsc, LeaveNothingBehindForLinesEndToEnd) {
  with_every_place("x", "auto", 100);
  with_every_place("x", "exact", 100);
}

TEST(AppliesOfPetsc, LeaveNothingBehindForLinesSideBySide) { with_every_place("y", "auto", 100); }

TEST(AppliesOfPetsc, LeaveNothingBehindForSeveralDirections) {
  with_every_place("x,y", "auto", 100);
  with_every_place("x,y", "auto", 100, " -pc_oclspkt_combine symmetric -pc_oclspkt_transfer copy");
}

}  // namespace
}  // namespace oclspkt::test
