// SPDX-License-Identifier: BSD-2-Clause
#include <petscdmda.h>

#include <functional>

#include "support.hxx"

/// PETSc's preconditioners that hold others inside, with ours there. The oracle is PETSc's own LU in the same place:
/// both are exact for tridiagonal matrices, so that the outer method takes the same iterations to the same solution.
namespace oclspkt::test {
namespace {

constexpr const char* kOuter =
    " -ksp_type gmres -ksp_rtol 1e-13 -ksp_max_it 300 -ksp_norm_type unpreconditioned "
    "-ksp_pc_side right ";
/// Relative to the largest entry: the residual's tolerance times a condition below 1000 in all of the matrices here.
constexpr PetscReal kTolerance = 1e-10;

/// `@` stands for the type of the preconditioner inside.
std::string with_type(std::string options, const std::string& type) {
  for (auto at = options.find('@'); at != std::string::npos; at = options.find('@')) options.replace(at, 1, type);
  return options;
}

/// Gives a KSP its operators.
using Problem = std::function<void(KSP)>;

struct Outcome {
  PetscInt iterations = -1, transposed_iterations = -1;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  std::vector<PetscScalar> solution, transposed, columns, applied;
  std::string view, left;
};

constexpr PetscInt kColumns = 3;

std::vector<PetscScalar> entries(Mat dense) {
  const PetscScalar* values = nullptr;
  PetscInt rows = 0, columns = 0;
  MatGetSize(dense, &rows, &columns);
  MatDenseGetArrayRead(dense, &values);
  std::vector<PetscScalar> copy(values, values + rows * columns);
  MatDenseRestoreArrayRead(dense, &values);
  return copy;
}

/// What PETSc has for the outer preconditioner.
struct Supported {
  bool transpose = true, mat_apply = true;
};

void solve_columns(KSP ksp, Mat A, Vec b, bool mat_apply, Outcome& outcome) {
  HeldMat right, solution;
  PetscInt n;
  OK(MatGetSize(A, &n, nullptr));
  OK(MatCreateSeqDense(PETSC_COMM_SELF, n, kColumns, nullptr, &right));
  OK(MatDuplicate(right, MAT_DO_NOT_COPY_VALUES, &solution));
  for (PetscInt c = 0; c < kColumns; ++c) {
    Vec column;
    OK(MatDenseGetColumnVecWrite(right, c, &column));
    OK(VecCopy(b, column));
    OK(VecSetValue(column, c % n, 10, ADD_VALUES));
    OK(assemble(column));
    OK(MatDenseRestoreColumnVecWrite(right, c, &column));
  }
  OK(KSPMatSolve(ksp, right, solution));
  outcome.columns = entries(solution);
  if (mat_apply) {
    OK(PCMatApply(pc_of(ksp), right, solution));
    outcome.applied = entries(solution);
  }
}

void solve_all(KSP ksp, Supported supported, Outcome& outcome) {
  Mat A;
  OK(KSPSetUp(ksp));
  OK(KSPGetOperators(ksp, &A, nullptr));
  PetscInt n;
  OK(MatGetSize(A, &n, nullptr));
  const Vector b(n);
  const HeldVec x = duplicate(b);
  OK(KSPSetComputeRHS(ksp, nullptr, nullptr));
  OK(KSPSolve(ksp, b, x));
  outcome.iterations = iterations_of(ksp);
  outcome.reason = converged_reason(ksp);
  outcome.solution = values_of(x);
  outcome.view = view_text(reinterpret_cast<PetscObject>(ksp));
  if (supported.transpose) {
    OK(KSPSolveTranspose(ksp, b, x));
    EXPECT_GT(converged_reason(ksp), 0) << "transposed";
    OK(KSPGetIterationNumber(ksp, &outcome.transposed_iterations));
    outcome.transposed = values_of(x);
  }
  solve_columns(ksp, A, b, supported.mat_apply, outcome);
}

Outcome run(const Problem& problem, const std::string& options, Supported supported, const char* prefix = "") {
  const OptionSet set(options);
  Outcome outcome;
  HeldKSP ksp;
  KSPCreate(PETSC_COMM_SELF, &ksp);
  KSPSetOptionsPrefix(ksp, prefix);
  problem(ksp);
  KSPSetFromOptions(ksp);
  solve_all(ksp, supported, outcome);
  outcome.left = set.left();
  return outcome;
}

void expect_close(const std::vector<PetscScalar>& ours, const std::vector<PetscScalar>& theirs, const char* what) {
  ASSERT_EQ(ours.size(), theirs.size()) << what;
  PetscReal scale = 0;
  for (const PetscScalar value : theirs) scale = PetscMax(scale, PetscAbsScalar(value));
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ASSERT_LE(PetscAbsScalar(ours[i] - theirs[i]), kTolerance * scale) << what << ", entry " << i;
  }
}

/// Solve with ours and with LU inside, and compare. @return what ours said
Outcome expect_like_lu(const Problem& problem, const std::string& options, Supported supported = {}) {
  SCOPED_TRACE(options);
  const Outcome ours = run(problem, with_type(options, PCOCLSPKT) + kOuter, supported);
  const Outcome theirs = run(problem, with_type(options, PCLU) + kOuter, supported);
  EXPECT_GT(ours.reason, 0);
  EXPECT_EQ(ours.iterations, theirs.iterations);
  EXPECT_EQ(ours.transposed_iterations, theirs.transposed_iterations);
  EXPECT_EQ(ours.left, "");
  EXPECT_TRUE(contains(ours.view, "type: oclspkt")) << ours.view;
  expect_close(ours.solution, theirs.solution, "solution");
  expect_close(ours.transposed, theirs.transposed, "transposed");
  expect_close(ours.columns, theirs.columns, "columns");
  expect_close(ours.applied, theirs.applied, "one application to columns");
  return ours;
}

Problem on(Mat A) {
  return [A](KSP ksp) { KSPSetOperators(ksp, A, A); };
}

/// Two 1-D fields, unlike and coupled point by point, interleaved.
Rows two_fields(PetscInt points) {
  Rows rows(static_cast<std::size_t>(2 * points));
  for (PetscInt i = 0; i < points; ++i) {
    for (PetscInt field = 0; field < 2; ++field) {
      auto& row = rows[static_cast<std::size_t>(2 * i + field)];
      if (i > 0) row.emplace_back(2 * (i - 1) + field, -1);
      row.emplace_back(2 * i, field == 0 ? 3 : 0.5);
      row.emplace_back(2 * i + 1, field == 0 ? -0.25 : 2.75);
      if (i < points - 1) row.emplace_back(2 * (i + 1) + field, -1.25 + 0.5 * field);
    }
  }
  return rows;
}

/// Split by index sets: columns of a dense matrix have no block size to split by.
Problem on_fields(Mat A) {
  return [A](KSP ksp) {
    const PC pc = pc_of(ksp);
    PetscInt n;
    OK(KSPSetOperators(ksp, A, A));
    OK(MatGetSize(A, &n, nullptr));
    OK(PCSetType(pc, PCFIELDSPLIT));
    for (const PetscInt field : {0, 1}) {
      HeldIS rows;
      OK(ISCreateStride(PETSC_COMM_SELF, n / 2, field, 2, &rows));
      OK(PCFieldSplitSetIS(pc, field == 0 ? "0" : "1", rows));
    }
  };
}

/// 1-D diffusion with a reaction term on the grid of a DMDA, scaled as finite elements are.
PetscErrorCode ComputeDiffusion(KSP ksp, Mat, Mat P, void*) {
  DM dm;
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(KSPGetDM(ksp, &dm));
  PetscCall(DMDAGetInfo(dm, nullptr, &n, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                        nullptr, nullptr, nullptr));
  const PetscScalar h = 1. / static_cast<PetscScalar>(n - 1);
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt columns[] = {i - 1, i, i + 1};
    const PetscScalar values[] = {-1 / h, 2 / h + h, -1 / h};
    const PetscInt first = i == 0, count = 3 - (i == 0) - (i == n - 1);
    PetscCall(MatSetValues(P, 1, &i, count, columns + first, values + first, INSERT_VALUES));
  }
  PetscCall(assemble(P));
  PetscFunctionReturn(0);
}

void diffusion_on_grid(KSP ksp) {
  HeldDM dm;
  OK(DMDACreate1d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, 33, 1, 1, nullptr, &dm));
  OK(DMSetUp(dm));
  OK(KSPSetDM(ksp, dm));
  OK(KSPSetComputeOperators(ksp, ComputeDiffusion, nullptr));
}

TEST(Callers, MultigridSmoothsWithIt) {
  for (const char* galerkin : {"none", "both", "pmat"}) {
    for (const char* smoother : {"richardson", "chebyshev"}) {
      for (const char* coarse : {"", " -mg_coarse_pc_type @"}) {
        expect_like_lu(diffusion_on_grid, std::string("-pc_type mg -pc_mg_levels 5 -pc_mg_galerkin ") + galerkin +
                                              " -mg_levels_pc_type @ -mg_levels_ksp_type " + smoother + coarse);
      }
    }
  }
}

/* Coarse grids of 3 rows and of 1 row, with linear interpolation. */
void down_to_one_row(KSP ksp, Mat A) {
  const PC pc = pc_of(ksp);
  OK(KSPSetOperators(ksp, A, A));
  OK(PCSetType(pc, PCMG));
  OK(PCMGSetLevels(pc, 3, nullptr));
  OK(PCMGSetGalerkin(pc, PC_MG_GALERKIN_BOTH));
  for (PetscInt level = 1, coarse = 1; level < 3; ++level, coarse = 2 * coarse + 1) {
    HeldMat interpolation;
    OK(MatCreateSeqAIJ(PETSC_COMM_SELF, 2 * coarse + 1, coarse, 2, nullptr, &interpolation));
    for (PetscInt c = 0; c < coarse; ++c) {
      for (PetscInt i = 0; i < 3; ++i) OK(MatSetValue(interpolation, 2 * c + i, c, i == 1 ? 1 : 0.5, INSERT_VALUES));
    }
    OK(assemble(interpolation));
    OK(PCMGSetInterpolation(pc, level, interpolation));
  }
}

TEST(Callers, MultigridGoesDownToOneRow) {
  const Matrix A(tridiagonal(7, -1, 2.5, -1.25));
  for (const char* smoother : {"richardson", "chebyshev"}) {
    expect_like_lu([&](KSP ksp) { down_to_one_row(ksp, A); },
                   std::string("-mg_levels_pc_type @ -mg_coarse_pc_type @ -mg_levels_ksp_type ") + smoother);
  }
}

TEST(Callers, FieldsplitSolvesItsFieldsWithIt) {
  const Matrix A(two_fields(60));
  const std::string fields =
      "-fieldsplit_0_ksp_type preonly "
      "-fieldsplit_1_ksp_type preonly -fieldsplit_0_pc_type @ -fieldsplit_1_pc_type @ "
      "-pc_fieldsplit_type ";
  expect_like_lu(on_fields(A), fields + "additive");
  expect_like_lu(on_fields(A), fields + "multiplicative");
  expect_like_lu(on_fields(A), fields + "symmetric_multiplicative", {.transpose = false});
  for (const char* precondition : {"a11", "selfp"}) {
    for (const char* factors : {"diag", "lower", "upper", "full"}) {
      expect_like_lu(on_fields(A),
                     fields + "schur -pc_fieldsplit_schur_precondition " + precondition +
                         " -pc_fieldsplit_schur_fact_type " + factors,
                     {.transpose = false});
    }
  }
}

TEST(Callers, AdditiveSchwarzOverlapsIt) {
  const Matrix A(tridiagonal(101, -1, 2.5, -1.25));
  const std::string schwarz = "-pc_type asm -sub_pc_type @ ";
  expect_like_lu(on(A), schwarz + "-pc_asm_blocks 1");
  for (const char* overlap : {"0", "1", "2"}) {
    for (const char* type : {"basic", "restrict"}) {
      expect_like_lu(on(A), schwarz + "-pc_asm_blocks 5 -pc_asm_overlap " + overlap + " -pc_asm_type " + type,
                     {.mat_apply = false});
    }
  }
}

TEST(Callers, BlockJacobiHoldsManyOfIt) {
  const Matrix A(tridiagonal(120, -1, 2.5, -1.25));
  for (const char* blocks : {"1", "7", "40", "120"}) {
    expect_like_lu(on(A), std::string("-pc_type bjacobi -sub_pc_type @ -pc_bjacobi_blocks ") + blocks);
  }
}

TEST(Callers, CompositeAndKspHoldIt) {
  const Matrix A(tridiagonal(100, -1, 2.5, -1.25));
  for (const char* type : {"additive", "multiplicative", "symmetric_multiplicative"}) {
    // Symmetric multiplication is for symmetric matrices, and has no transpose.
    expect_like_lu(on(A), std::string("-pc_type composite -pc_composite_pcs @,jacobi -pc_composite_type ") + type,
                   Supported{.transpose = !std::string(type).starts_with("symmetric")});
  }
  expect_like_lu(on(A), "-pc_type ksp -ksp_ksp_type preonly -ksp_pc_type @");
  expect_like_lu(on(A), "-pc_type ksp -ksp_ksp_type richardson -ksp_ksp_max_it 2 -ksp_pc_type @");
}

TEST(Callers, PrefixesAreHeardThreeLevelsDeep) {
  const Matrix A(two_fields(60));
  const std::string inner = "-c_fieldsplit_0_sub_pc_oclspkt_", other = "-c_fieldsplit_1_sub_sub_1_pc_oclspkt_";
  const Outcome ours = run(on_fields(A),
                           "-c_ksp_type gmres -c_ksp_rtol 1e-10 "
                           "-c_fieldsplit_0_pc_type bjacobi -c_fieldsplit_0_sub_pc_type oclspkt "
                           "-c_fieldsplit_1_pc_type asm -c_fieldsplit_1_sub_pc_type composite "
                           "-c_fieldsplit_1_sub_pc_composite_pcs jacobi,oclspkt " +
                               inner + "method exact-twopass " + inner + "partition 16 " + inner + "devices host " +
                               other + "method pivot " + other + "rtol 0.25",
                           {.transpose = false}, "c_");
  EXPECT_GT(ours.reason, 0);
  EXPECT_EQ(ours.left, "");
  expect_in(ours.view, {"method: exact-factored, ",
                        "options: -pc_oclspkt_devices host -pc_oclspkt_method exact-twopass -pc_oclspkt_partition 16\n",
                        "method: pivot, ", "options: -pc_oclspkt_method pivot -pc_oclspkt_rtol 0.25\n"});
}

TEST(Callers, AnOptionBehindAWrongPrefixIsLeftOver) {
  const Matrix A(tridiagonal(50, -1, 2.5, -1.25));
  const Outcome ours =
      run(on(A), "-pc_type bjacobi -sub_pc_type oclspkt -pc_oclspkt_method pivot -sub_sub_pc_oclspkt_method pivot",
          {.transpose = false});
  EXPECT_EQ(ours.left, "pc_oclspkt_method sub_sub_pc_oclspkt_method");
  EXPECT_FALSE(contains(ours.view, "method: pivot")) << ours.view;
}

}  // namespace
}  // namespace oclspkt::test
