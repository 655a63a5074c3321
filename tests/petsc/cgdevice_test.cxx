// SPDX-License-Identifier: BSD-2-Clause
// The Krylov method `cgdevice` against KSPCG, under -oclspkt_types. On several ranks it is KSPCG.
#include <petscksp.h>

#include <functional>

#include "oclspkt/oclspkt_vec.h"
#include "types_support.hxx"

namespace oclspkt::test {
namespace {

/// What a solve told.
struct Told {
  KSPConvergedReason reason;
  PetscInt iterations;
  std::vector<PetscReal> history;
  std::vector<PetscScalar> x;
};

/// Rank 0 prints the view.
void expect_view(KSP ksp, const std::string& part) {
  char text[20000];
  PetscViewer viewer;
  FILE* const file = std::tmpfile();
  PetscViewerASCIIOpenWithFILE(PETSC_COMM_WORLD, file, &viewer);
  OK(KSPView(ksp, viewer));
  PetscViewerDestroy(&viewer);
  std::rewind(file);
  const std::string all(text, std::fread(text, 1, sizeof text, file));
  std::fclose(file);
  if (PetscGlobalRank == 0) expect_in(all, {part});
}

/// A system of all ranks, 40 x 20 unknowns each, and solvers of it.
class CgDevice : public testing::Test {
 protected:
  static constexpr PetscInt kRows = 800, kPlane = 40;
  using Change = std::function<void(KSP)>;

  void SetUp() override {
    PetscInt first, rows;
    OK(MatCreateAIJ(PETSC_COMM_WORLD, kRows, kRows, PETSC_DETERMINE, PETSC_DETERMINE, 5, nullptr, 4, nullptr, &a));
    OK(MatGetOwnershipRange(a, &first, nullptr));
    OK(MatGetSize(a, &rows, nullptr));
    for (PetscInt i = first; i < first + kRows; ++i) {
      for (const PetscInt j : {i - kPlane, i - 1, i, i + 1, i + kPlane}) {
        if (j >= 0 && j < rows) MatSetValue(a, i, j, i == j ? 4.02 + 0.1 * (i % 7) : -1, INSERT_VALUES);
      }
    }
    OK(assemble(a));
    OK(MatCreateVecs(a, &b, nullptr));
    std::vector<PetscScalar> values(kRows);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i * i % 97));
    write_values(b, values);
  }

  static void options(KSP ksp, const char* check) {
    OK(PetscOptionsSetValue(nullptr, "-ksp_cgdevice_check", check));
    OK(KSPSetFromOptions(ksp));
    OK(PetscOptionsClearValue(nullptr, "-ksp_cgdevice_check"));
  }
  /// @param check  null: KSPCG
  KSP solver(const char* check, const char* pc_type, const Change& change) {
    KSP ksp;
    PC pc;
    KSPCreate(PETSC_COMM_WORLD, &ksp);
    KSPSetOperators(ksp, a, a);
    EXPECT_EQ(KSPSetType(ksp, check != nullptr ? KSPCGDEVICE : KSPCG), 0);
    KSPGetPC(ksp, &pc);
    EXPECT_EQ(PCSetType(pc, pc_type), 0);
    KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 500);
    options(ksp, check != nullptr ? check : "1");
    KSPSetResidualHistory(ksp, nullptr, 1000, PETSC_TRUE);
    if (change) change(ksp);
    return ksp;
  }
  Told told(KSP ksp, PetscScalar guess = 0) {
    HeldVec x = duplicate(b);
    Told told{};
    const PetscReal* norms;
    PetscInt count;
    VecSet(x, guess);
    EXPECT_EQ(KSPSolve(ksp, b, x), 0);
    told.reason = converged_reason(ksp);
    told.iterations = iterations_of(ksp);
    KSPGetResidualHistory(ksp, &norms, &count);
    told.history.assign(norms, norms + count);
    told.x = values_of(x);
    return told;
  }
  static void expect_alike(const Told& ours, const Told& cg) {
    EXPECT_EQ(ours.reason, cg.reason);
    EXPECT_EQ(ours.iterations, cg.iterations);
    ASSERT_EQ(ours.history.size(), cg.history.size());
    for (std::size_t i = 0; i < cg.history.size(); ++i) {
      if (std::isnan(cg.history[i])) continue;
      EXPECT_NEAR(ours.history[i], cg.history[i], 1e-7 * cg.history[i] + 1e-12) << "norm " << i;
    }
    for (std::size_t i = 0; i < cg.x.size(); ++i) {
      if (std::isnan(cg.x[i])) continue;
      ASSERT_NEAR(ours.x[i], cg.x[i], 1e-9) << "row " << i;
    }
  }
  /// The device solves as KSPCG does, whatever the iterations between checks.
  KSPConvergedReason expect_as_cg(const char* pc_type, const Change& change = {}, PetscScalar guess = 0) {
    HeldKSP cg = solver(nullptr, pc_type, change);
    const Told expected = told(cg, guess);
    for (const char* check : {"1", "10", "1000"}) {
      SCOPED_TRACE(std::string(pc_type) + ", check " + check);
      HeldKSP ksp = solver(check, pc_type, change);
      expect_alike(told(ksp, guess), expected);
      expect_view(ksp, PetscGlobalSize == 1 ? "scalars stay on the device" : "KSPCG solves: there are 3 ranks");
    }
    return expected.reason;
  }
  /// KSPCG solves, and the view says why.
  void expect_fallback(const char* pc_type, const Change& change, const char* why) {
    HeldKSP cg = solver(nullptr, pc_type, change), ksp = solver("10", pc_type, change);
    const Told expected = told(cg);
    expect_alike(told(ksp), expected);
    expect_view(ksp, std::string("KSPCG solves: ") + (PetscGlobalSize == 1 ? why : ""));
  }

  /// False if the device works in the vectors' own memory.
  bool has_copies() {
    VecScale(b, 1.5);
    return is_away(b);
  }

  HeldMat a;
  HeldVec b;
};

TEST_F(CgDevice, IteratesAsKspcgForAllNormsAndPreconditioners) {
  for (const auto& [pc, of_ranks] : {std::pair{PCNONE, KSP_NORM_NATURAL},
                                     {PCJACOBI, KSP_NORM_UNPRECONDITIONED},
                                     {PCOCLSPKT, KSP_NORM_PRECONDITIONED}}) {
    if (std::string(pc) == PCOCLSPKT && !has_copies()) continue; /* it takes vectors of the host there */
    for (const KSPNormType norm : {KSP_NORM_PRECONDITIONED, KSP_NORM_UNPRECONDITIONED, KSP_NORM_NATURAL}) {
      if (PetscGlobalSize > 1 && norm != of_ranks) continue; /* one process tries all pairs */
      SCOPED_TRACE(KSPNormTypes[norm]);
      expect_as_cg(pc, [&](KSP ksp) { OK(KSPSetNormType(ksp, norm)); });
    }
    expect_as_cg(pc, [&](KSP ksp) {
      OK(KSPSetNormType(ksp, KSP_NORM_NONE));
      OK(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 23));
    });
  }
}

TEST_F(CgDevice, TakesAnInitialGuess) {
  expect_as_cg(
      PCJACOBI, [](KSP ksp) { OK(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE)); }, 0.5);
}

TEST_F(CgDevice, EndsAtTheLimitsOfIterationsAndOfGrowth) {
  for (const PetscInt most : {1, 7, 10, 20}) {
    expect_as_cg(PCNONE,
                 [&](KSP ksp) { OK(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, most)); });
  }
  expect_as_cg(PCNONE, [](KSP ksp) {
    OK(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 12));
    OK(KSPConvergedDefaultSetConvergedMaxits(ksp, PETSC_TRUE));
  });
  expect_as_cg(PCNONE, [](KSP ksp) { OK(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, 0.999999, 100)); });
  expect_as_cg(PCJACOBI, [](KSP ksp) { OK(KSPSetTolerances(ksp, 0, 1e-3, PETSC_DEFAULT, 400)); });
}

TEST_F(CgDevice, OfZeroIsZero) {
  OK(VecSet(b, 0));
  expect_as_cg(PCNONE);
  expect_as_cg(PCJACOBI, [](KSP ksp) { OK(KSPSetNormType(ksp, KSP_NORM_NONE)); });
}

TEST_F(CgDevice, EndsWithTheReasonOfKspcgWhereTheMethodBreaksDown) {
  HeldMat other;
  OK(MatDuplicate(a, MAT_COPY_VALUES, &other));
  HeldVec signs = duplicate(b);
  std::vector<PetscScalar> values(kRows, 1);
  for (std::size_t i = 0; i < values.size(); i += 3) values[i] = -1;
  write_values(signs, values);
  OK(MatDiagonalSet(other, signs, INSERT_VALUES));
  EXPECT_EQ(expect_as_cg(PCJACOBI, [&](KSP ksp) { OK(KSPSetOperators(ksp, a, other)); }), KSP_DIVERGED_INDEFINITE_PC);
  OK(MatScale(a, -1)); /* negative definite: no breakdown */
  EXPECT_GT(expect_as_cg(PCNONE), 0);
  OK(MatShift(a, 3));
  EXPECT_EQ(expect_as_cg(PCNONE), KSP_DIVERGED_INDEFINITE_MAT);
  EXPECT_EQ(expect_as_cg(PCJACOBI, [](KSP ksp) { OK(KSPSetNormType(ksp, KSP_NORM_NATURAL)); }),
            KSP_DIVERGED_INDEFINITE_MAT);
  OK(MatZeroEntries(a));
  EXPECT_EQ(expect_as_cg(PCNONE), KSP_DIVERGED_INDEFINITE_MAT);
  HeldKSP ksp = solver("10", PCNONE, {});
  OK(MatZeroEntries(a));
  OK(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  HeldVec x = duplicate(b);
  EXPECT_ERROR(KSPSolve(ksp, b, x), PETSC_ERR_NOT_CONVERGED);
}

TEST_F(CgDevice, EndsAtNumbersThatAreNone) {
  std::vector<PetscScalar> values = values_of(b);
  values[17] = kNan;
  write_values(b, values);
  EXPECT_EQ(expect_as_cg(PCNONE), KSP_DIVERGED_NANORINF);
  EXPECT_EQ(expect_as_cg(PCJACOBI, [](KSP ksp) { OK(KSPSetNormType(ksp, KSP_NORM_NONE)); }), KSP_DIVERGED_NANORINF);
  values[17] = 1;
  write_values(b, values);
  PetscInt first;
  OK(MatGetOwnershipRange(a, &first, nullptr));
  OK(MatSetValue(a, first + 3, first + 3, kInf, INSERT_VALUES));
  OK(assemble(a));
  EXPECT_EQ(expect_as_cg(PCNONE), KSP_DIVERGED_NANORINF);
}

TEST_F(CgDevice, RemovesANullSpace) {
  HeldMatNullSpace constants;
  HeldVec ones = duplicate(b), sums = duplicate(b);
  OK(VecSet(ones, 1));
  OK(MatMult(a, ones, sums));
  OK(VecScale(sums, -1));
  OK(MatDiagonalSet(a, sums, ADD_VALUES));
  OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, &constants));
  OK(MatSetNullSpace(a, constants));
  OK(MatNullSpaceRemove(constants, b));
  for (const char* pc : {PCNONE, PCJACOBI}) expect_as_cg(pc);
}

TEST_F(CgDevice, MonitorsSeeEachIterationAndItsSolution) {
  struct Seen {
    Vec b, r;
    PetscInt calls;
  };
  const auto monitor = [](KSP ksp, PetscInt at, PetscReal norm, void* context) -> PetscErrorCode {
    auto* const seen = static_cast<Seen*>(context);
    Mat matrix;
    Vec x;
    PetscReal right;
    PetscFunctionBegin;
    EXPECT_EQ(at, seen->calls++);
    PetscCall(KSPBuildSolution(ksp, nullptr, &x));
    PetscCall(KSPGetOperators(ksp, &matrix, nullptr));
    PetscCall(MatResidual(matrix, seen->b, x, seen->r));
    PetscCall(VecNorm(seen->r, NORM_2, &right));
    EXPECT_NEAR(norm, right, 1e-9);
    PetscFunctionReturn(0);
  };
  HeldVec r = duplicate(b);
  Seen seen{b, r, 0};
  const auto watch = [&](KSP ksp) { OK(KSPMonitorSet(ksp, monitor, &seen, nullptr)); };
  HeldKSP ksp = solver("10", PCNONE, watch);
  const Told last = told(ksp);
  EXPECT_EQ(seen.calls, last.iterations + 1);
}

TEST_F(CgDevice, AsksAConvergenceTestOfTheProgramAtEachIteration) {
  const auto test = [](KSP, PetscInt at, PetscReal, KSPConvergedReason* reason, void*) -> PetscErrorCode {
    *reason = at == 5 ? KSP_CONVERGED_ITS : KSP_CONVERGED_ITERATING;
    return 0;
  };
  expect_as_cg(PCJACOBI, [&](KSP ksp) { OK(KSPSetConvergenceTest(ksp, test, nullptr, nullptr)); });
  expect_as_cg(PCJACOBI, [&](KSP ksp) {
    OK(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 33));
    OK(KSPSetConvergenceTest(ksp, KSPConvergedSkip, nullptr, nullptr));
  });
}

TEST_F(CgDevice, FollowsTheMatrix) {
  HeldKSP ksp = solver("10", PCJACOBI, {});
  for (const PetscScalar shift : {0., 0.5, 3.}) {
    SCOPED_TRACE(shift);
    OK(MatShift(a, shift));
    HeldKSP cg = solver(nullptr, PCJACOBI, {});
    expect_alike(told(ksp), told(cg));
  }
  OK(KSPReset(ksp));
  OK(KSPSetType(ksp, KSPGMRES));
  OK(KSPSetType(ksp, KSPCGDEVICE));
  OK(KSPSetOperators(ksp, a, a));
  HeldKSP cg = solver(nullptr, PCJACOBI, {});
  expect_alike(told(ksp), told(cg));
}

TEST_F(CgDevice, IsKspcgWhereTheDeviceCannotDoAll) {
  if (PetscGlobalSize == 1) expect_fallback(PCSOR, {}, "the preconditioner is sor, not none, jacobi or oclspkt");
  expect_fallback(
      PCJACOBI, [](KSP ksp) { OK(KSPSetComputeEigenvalues(ksp, PETSC_TRUE)); }, "eigenvalues");
  expect_fallback(
      PCJACOBI, [](KSP ksp) { OK(KSPSetCheckNormIteration(ksp, 4)); }, "-ksp_check_norm_iteration");
  expect_fallback(
      PCJACOBI,
      [](KSP ksp) {
        OK(PetscOptionsSetValue(nullptr, "-ksp_cg_single_reduction", "1"));
        OK(KSPSetFromOptions(ksp));
        OK(PetscOptionsClearValue(nullptr, "-ksp_cg_single_reduction"));
      },
      "its scalars come by one reduction");
  if (PetscGlobalSize > 1) return;
  HeldMat blocks;
  OK(MatConvert(a, MATSEQBAIJ, MAT_INITIAL_MATRIX, &blocks));
  expect_fallback(
      PCNONE, [&](KSP ksp) { OK(KSPSetOperators(ksp, blocks, blocks)); }, "the matrix has type seqbaij");
  HeldKSP ksp = solver("10", PCJACOBI, {});
  HeldVec x = duplicate(b);
  OK(KSPSolveTranspose(ksp, b, x));
  expect_view(ksp, "KSPCG solves: the solve is KSPSolveTranspose()");
}

/// Right-hand sides whose squares over- or underflow, and matrices that scale them: a power of two changes no bits.
TEST_F(CgDevice, ScalesWithTheSystemWhateverItsSize) {
  if (PetscGlobalSize > 1) GTEST_SKIP() << "KSPCG solves on several ranks";
  if (!has_copies()) GTEST_SKIP() << "PETSc's first norm over- or underflows";
  struct Powers {
    int of_b, of_a;
  };
  for (const std::string pc : {PCNONE, PCJACOBI, PCOCLSPKT}) {
    for (const KSPNormType norm : {KSP_NORM_PRECONDITIONED, KSP_NORM_UNPRECONDITIONED, KSP_NORM_NATURAL}) {
      const auto change = [&](KSP ksp) {
        OK(KSPSetNormType(ksp, norm));
        OK(KSPSetTolerances(ksp, 1e-8, 0, PETSC_DEFAULT, 500));
      };
      HeldKSP ksp = solver("10", pc.c_str(), change);
      const Told plain = told(ksp);
      EXPECT_EQ(plain.reason, KSP_CONVERGED_RTOL);
      for (const Powers by : {Powers{-664, 0}, {664, 0}, {-20, -400}, {300, 500}, {-664, -664}}) {
        SCOPED_TRACE(pc + ", " + KSPNormTypes[norm] + ", b times 2^" + std::to_string(by.of_b) + ", A times 2^" +
                     std::to_string(by.of_a));
        OK(MatScale(a, std::ldexp(1, by.of_a)));
        OK(VecScale(b, std::ldexp(1, by.of_b)));
        const Told seen = told(ksp);
        expect_view(ksp, "scalars stay on the device");
        OK(MatScale(a, std::ldexp(1, -by.of_a)));
        OK(VecScale(b, std::ldexp(1, -by.of_b)));
        EXPECT_EQ(seen.reason, plain.reason);
        const int of_z = pc == PCNONE ? 0 : -by.of_a;
        const int of_norm = by.of_b + (norm == KSP_NORM_PRECONDITIONED ? of_z
                                       : norm == KSP_NORM_NATURAL      ? of_z / 2
                                                                       : 0);
        ASSERT_EQ(seen.history.size(), plain.history.size());
        for (std::size_t i = 0; i < plain.history.size(); ++i) {
          const double right = std::ldexp(plain.history[i], of_norm); /* the first one is made otherwise */
          EXPECT_NEAR(seen.history[i] / right, 1, i == 0 ? 1e-14 : 0) << "norm " << i;
        }
        for (std::size_t i = 0; i < plain.x.size(); ++i) {
          ASSERT_EQ(seen.x[i], std::ldexp(plain.x[i], by.of_b - by.of_a)) << "row " << i;
        }
      }
    }
  }
}

/// The residual that a monitor builds has the scale of the right-hand side.
TEST_F(CgDevice, BuildsTheResidualOfASystemThatItScales) {
  const auto monitor = [](KSP ksp, PetscInt, PetscReal norm, void*) -> PetscErrorCode {
    Vec residual;
    PetscReal built;
    PetscFunctionBegin;
    PetscCall(KSPBuildResidual(ksp, nullptr, nullptr, &residual));
    PetscCall(VecNorm(residual, NORM_2, &built));
    PetscCall(VecDestroy(&residual));
    EXPECT_NEAR(built / norm, 1, 1e-12);
    PetscFunctionReturn(0);
  };
  OK(VecScale(b, PetscGlobalSize > 1 || !has_copies() ? 1 : 1e-150));
  HeldKSP ksp = solver("10", PCNONE, [&](KSP k) {
    OK(KSPSetTolerances(k, 1e-8, 0, PETSC_DEFAULT, 500));
    OK(KSPMonitorSet(k, monitor, nullptr, nullptr));
  });
  EXPECT_EQ(told(ksp).reason, KSP_CONVERGED_RTOL);
}

TEST_F(CgDevice, RefusesToCheckNever) {
  HeldKSP ksp;
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetType(ksp, KSPCGDEVICE));
  OK(PetscOptionsSetValue(nullptr, "-ksp_cgdevice_check", "0"));
  EXPECT_ERROR(KSPSetFromOptions(ksp), PETSC_ERR_ARG_OUTOFRANGE, "-ksp_cgdevice_check 0: give 1 to 100000 iterations");
  OK(PetscOptionsClearValue(nullptr, "-ksp_cgdevice_check"));
}

/// Solve for 12000 rows under the limits of a profile, and print the views. KSPCG comes to the same iterates.
TEST(CgDeviceLimit, IsItsOwn) {
  constexpr PetscInt kRows = 12000;
  HeldVec any = make_vec(kRows, VECSTANDARD);
  OK(VecSet(any, 1)); /* opens the device: the limit of vectors is known from here on */
  HeldMat a = second_differences(kRows, 1, 3);
  HeldVec b, x, right;
  OK(MatShift(a, 0.1));
  OK(MatCreateVecs(a, &b, &x));
  OK(VecDuplicate(x, &right));
  OK(VecSet(b, 1));
  for (const char* pc : {PCJACOBI, PCOCLSPKT}) {
    PetscInt iterations[2];
    for (const bool cg : {true, false}) {
      HeldKSP ksp;
      PC own;
      OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
      OK(KSPSetOperators(ksp, a, a));
      OK(KSPSetType(ksp, cg ? KSPCG : KSPCGDEVICE));
      OK(KSPGetPC(ksp, &own));
      OK(PCSetType(own, pc));
      for (int solve = 0; solve < 2; ++solve) {
        OK(KSPSolve(ksp, b, cg ? right : x));
        EXPECT_EQ(converged_reason(ksp), KSP_CONVERGED_RTOL);
      }
      iterations[cg] = iterations_of(ksp);
      if (cg) continue;
      OK(KSPView(ksp, PETSC_VIEWER_STDOUT_WORLD));
    }
    EXPECT_EQ(iterations[0], iterations[1]);
    OK(VecAXPY(x, -1, right));
    EXPECT_LT(norm_of(x, NORM_INFINITY), 1e-9);
  }
}

}  // namespace
}  // namespace oclspkt::test
