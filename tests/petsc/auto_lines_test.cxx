// SPDX-License-Identifier: BSD-2-Clause
// What `-pc_oclspkt_lines auto` rests on, and what is said of couplings that the preconditioner leaves out.
#include <petscdmstag.h>

#include "grid_problem.hxx"

namespace oclspkt::test {
namespace {

/// A plane with the full pattern of the star, whatever couples, and a KSP for it.
class Plane {
 public:
  explicit Plane(PetscInt nx = 12, PetscInt ny = 11, DMBoundaryType along_x = DM_BOUNDARY_NONE,
                 DMBoundaryType along_y = DM_BOUNDARY_NONE)
      : nodes_{nx, ny}, periodic_{along_x == DM_BOUNDARY_PERIODIC, along_y == DM_BOUNDARY_PERIODIC} {
    DMDACreate2d(PETSC_COMM_WORLD, along_x, along_y, DMDA_STENCIL_STAR, nx, ny, PETSC_DECIDE, PETSC_DECIDE, 1, 1,
                 nullptr, nullptr, &dm_);
    DMSetUp(dm_);
    DMCreateMatrix(dm_, &matrix_);
    MatCreateVecs(matrix_, &x_, &b_);
    VecSet(b_, 1);
    *&ksp_ = make_ksp(matrix_, PCOCLSPKT, "t_");
    PCOCLSPKTSetDevices(pc(), "host");
  }

  /// Couplings of -x and -y to the neighbours along the axes, and a diagonal.
  void fill(PetscScalar x, PetscScalar y, PetscScalar diagonal = 3) const {
    PetscInt first[2], width[2];
    MatZeroEntries(matrix_);
    DMDAGetCorners(dm_, &first[0], &first[1], nullptr, &width[0], &width[1], nullptr);
    for (PetscInt j = first[1]; j < first[1] + width[1]; ++j) {
      for (PetscInt i = first[0]; i < first[0] + width[0]; ++i) {
        const MatStencil row{0, j, i, 0};
        MatSetValuesStencil(matrix_, 1, &row, 1, &row, &diagonal, ADD_VALUES);
        couple(row, 0, -x);
        couple(row, 1, -y);
      }
    }
    assemble(matrix_);
  }
  /// |b - A x| / |b| behind one solve.
  PetscReal solve(KSPType type = KSPPREONLY) const {
    KSPSetType(ksp_, type);
    EXPECT_EQ(KSPSolve(ksp_, b_, x_), 0);
    return residual(matrix_, b_, x_);
  }
  std::string directions() const { return got(PCOCLSPKTGetDirectionsUsed, pc()); }
  std::string view(PetscViewerFormat format = PETSC_VIEWER_DEFAULT) const {
    return view_text(reinterpret_cast<PetscObject>(pc()), format);
  }
  KSP ksp() const { return ksp_; }
  PC pc() const { return pc_of(ksp_); }

 private:
  void couple(const MatStencil& row, int axis, PetscScalar value) const {
    for (const PetscInt step : {-1, 1}) {
      MatStencil column = row;
      PetscInt& at = axis == 0 ? column.i : column.j;
      at += step;
      if (!periodic_[axis] && (at < 0 || at >= nodes_[axis])) continue;
      MatSetValuesStencil(matrix_, 1, &row, 1, &column, &value, ADD_VALUES);
    }
  }
  PetscInt nodes_[2];
  bool periodic_[2];
  HeldDM dm_;
  HeldMat matrix_;
  HeldVec x_, b_;
  HeldKSP ksp_;
};

TEST(AutomaticLines, AreChosenAgainWhenTheValuesChangeAndThePatternStays) {
  const Plane plane;
  plane.fill(1, 0);
  EXPECT_LE(plane.solve(), 1e-14) << plane.view();
  plane.fill(0, 1);
  EXPECT_LE(plane.solve(), 1e-14) << plane.view();
  EXPECT_EQ(plane.directions(), "y");
  plane.fill(1, 0);
  EXPECT_LE(plane.solve(), 1e-14) << plane.view();
  plane.fill(1, 0.01);
  plane.solve();
  EXPECT_EQ(plane.directions(), "x");
  plane.fill(0.1, 1);
  plane.solve();
  EXPECT_EQ(plane.directions(), "y");
  EXPECT_EQ(ignored(plane.pc()), 2 * 11 * 11);
}

TEST(AutomaticLines, StayWhereTheyAreWhileNoOtherAxisIsMuchStronger) {
  const Plane plane;
  plane.fill(0.5, 0.5);
  plane.solve(KSPGMRES);
  const std::string before = plane.directions(), once = "pattern searches: 1,";
  for (const PetscScalar scale : {1.0, 1.1, 0.2}) {
    plane.fill(0.5 * scale, 0.55 * scale);
    plane.solve(KSPGMRES);
    EXPECT_EQ(plane.directions(), before);
    const std::string text = plane.view(PETSC_VIEWER_ASCII_INFO_DETAIL);
    EXPECT_TRUE(PetscGlobalRank != 0 || contains(text, once)) << text;
  }
}

TEST(AutomaticLines, TellOfAPeriodicAxisThatIsMuchStronger) {
  for (const char* answer : {"warn", "ignore"}) {
    const Option option("-t_pc_oclspkt_ignored", answer);
    const Plane plane(12, 11, DM_BOUNDARY_PERIODIC);
    OK(PCSetFromOptions(plane.pc()));
    plane.fill(1, 0.001);
    const Printed printed;
    OK(PCSetUp(plane.pc()));
    plane.fill(1.1, 0.001);
    OK(PCSetUp(plane.pc()));
    EXPECT_EQ(Printed::lines(), answer[0] == 'w' ? 1 : 0);
    const std::string text = plane.view();
    if (PetscGlobalRank != 0) continue;
    EXPECT_TRUE(answer[0] != 'w' || contains(Printed::text(), "0.667, is 1.1e+03 times that along y"))
        << Printed::text();
    expect_in(text, {"strongest coupling (x 0.733 but periodic, y 0.000606)",
                     "left out: the coupling along x, 0.733, is 1.21e+03 times that along y"});
  }
  const Plane alike(12, 11, DM_BOUNDARY_PERIODIC);
  alike.fill(1, 0.5);
  const Printed printed;
  OK(PCSetUp(alike.pc()));
  EXPECT_EQ(Printed::lines(), 0) << Printed::text();
}

TEST(PeriodicDirections, OfOneOrTwoNodesAreNotCyclic) {
  for (const PetscInt nodes : {1, 2}) {
    const Plane plane(24, nodes, DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC);
    OK(PCOCLSPKTSetDirections(plane.pc(), "y"));
    plane.fill(0, 0.25);
    EXPECT_LE(plane.solve(), 1e-14) << nodes;
    EXPECT_EQ(ignored(plane.pc()), 0);
  }
}

TEST(IgnoredEntries, AreToldOnceWhereNoKrylovMethodFollows) {
  const Plane plane;
  plane.fill(1, 0.1);
  const Printed printed;
  plane.solve(KSPGMRES);
  EXPECT_EQ(Printed::lines(), 0);
  EXPECT_FALSE(contains(plane.view(), "no Krylov method"));
  for (int solve = 0; solve < 2; ++solve) EXPECT_GT(plane.solve(), 1e-3);
  EXPECT_EQ(Printed::lines(), 1);
  const std::string text = plane.view();
  if (PetscGlobalRank != 0) return;
  EXPECT_TRUE(contains(Printed::text(), "ignores 240 nonzero entries off the three bands")) << Printed::text();
  EXPECT_TRUE(contains(text, "ignored: 240 nonzero entries off the three bands, and no Krylov method follows")) << text;
}

TEST(IgnoredEntries, OfAPartOfAnotherSolverAreNotToldNorThoseThatTheUserKnowsOf) {
  const Plane plane, known;
  const Option block("-t_sub_pc_type", "oclspkt"), devices("-t_sub_pc_oclspkt_devices", "host"),
      lines("-t_sub_pc_oclspkt_lines", "matrix"), ignore("-t_pc_oclspkt_ignored", "ignore");
  plane.fill(0.1, 1);
  known.fill(0.1, 1);
  OK(PCSetFromOptions(known.pc()));
  OK(PCSetType(plane.pc(), PCBJACOBI));
  OK(KSPSetFromOptions(plane.ksp()));
  const Printed printed;
  plane.solve(KSPGMRES);
  known.solve();
  EXPECT_EQ(Printed::lines(), 0) << Printed::text();
}

TEST(IgnoredEntries, AreAnErrorWithTheirNumberIfTheUserSaysSo) {
  const Plane plane;
  OK(PCOCLSPKTSetIgnored(plane.pc(), PC_OCLSPKT_IGNORED_ERROR));
  plane.fill(1, 0);
  EXPECT_LE(plane.solve(), 1e-14);
  plane.fill(1, 0.1);
  EXPECT_ERROR(PCSetUp(plane.pc()), PETSC_ERR_ARG_INCOMP, "the matrix has 240 nonzero entries off the three bands",
               "-pc_oclspkt_lines");
}

TEST(Lines, OfADMThatIsNoDMDAAreRefusedByItsType) {
  HeldDM dm;
  HeldMat matrix;
  OK(DMStagCreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 24, 1, 0, DMSTAG_STENCIL_BOX, 1, nullptr, &dm));
  OK(DMSetUp(dm));
  OK(DMCreateMatrix(dm, &matrix));
  const LinePreconditioner pc(matrix, "x");
  const ErrorTexts errors;
  EXPECT_NE(PCSetUp(pc), 0);
  EXPECT_TRUE(contains(errors.text(), "of type stag")) << errors.text();
  EXPECT_FALSE(contains(errors.text(), "give the DMDA")) << errors.text();
}

TEST(Solves, OfACompositePreconditionerReachItsParts) {
  const Plane plane;
  plane.fill(1, 0.1);
  const Option parts("-t_pc_composite_pcs", "oclspkt,oclspkt"), type("-t_pc_composite_type", "multiplicative"),
      x("-t_sub_0_pc_oclspkt_lines", "x"), y("-t_sub_1_pc_oclspkt_lines", "y"),
      host("-t_sub_0_pc_oclspkt_devices", "host"), too("-t_sub_1_pc_oclspkt_devices", "host");
  OK(PCSetType(plane.pc(), PCCOMPOSITE));
  OK(KSPSetFromOptions(plane.ksp()));
  const Printed printed;
  EXPECT_LE(plane.solve(KSPGMRES), 1e-4);
  plane.solve(KSPPREONLY);
  EXPECT_EQ(Printed::lines(), 0) << Printed::text();
}

#if PETSC_VERSION_LT(3, 24, 0)
int prepared = 0;
PetscErrorCode prepare(PC, KSP) {
  ++prepared;
  return 0;
}

TEST(Solves, CallTheFunctionOfPCSetPreSolve) {
  const Plane plane;
  plane.fill(1, 0);
  OK(PCSetPreSolve(plane.pc(), prepare));
  plane.solve();
  EXPECT_EQ(prepared, 1);
}
#endif

}  // namespace
}  // namespace oclspkt::test
