// SPDX-License-Identifier: BSD-2-Clause
#include "measures.hxx"

#include <algorithm>
#include <limits>

#include "clock.hpp"
#include "measure.hpp"

namespace oclspkt::bench::petsc {
namespace {

PetscErrorCode CheckExtraction(const System& system, const Bands<PetscScalar>& bands) {
  const std::pair<Vec, const PetscScalar*> pairs[] = {
      {system.lower, bands.view().lower}, {system.diag, bands.view().diag}, {system.upper, bands.view().upper}};

  PetscFunctionBeginUser;
  for (const auto& [vec, values] : pairs) {
    const PetscScalar* right;
    PetscCall(VecGetArrayRead(vec, &right));
    const bool equal = std::equal(values, values + system.rows(), right);
    PetscCall(VecRestoreArrayRead(vec, &right));
    PetscCheck(equal, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the bare extraction does not give the bands");
  }
  PetscFunctionReturn(0);
}

/// Like everybody in turn, right after the values changed: repeated by itself the loop finds the matrix in the caches.
PetscErrorCode TimeExtraction(System& system, Bands<PetscScalar>& bands, std::vector<double>* seconds) {
  PetscFunctionBeginUser;
  PetscCall(system.ChangeValues());
  const double start = MPI_Wtime();
  PetscCall(ExtractBare(system, bands));
  seconds->push_back(MPI_Wtime() - start);
  PetscFunctionReturn(0);
}

/// Everybody in turn, with other values in every round. The first round is kept apart.
/// @param extracts the bare extraction takes part
PetscErrorCode TakeRounds(System& system, const std::string& axis, int repetitions, bool extracts, Progress& progress,
                          Part* part) {
  Bands<PetscScalar> bands;

  PetscFunctionBeginUser;
  if (extracts) {
    bands.reshape(system.lines);
    PetscCall(ExtractBare(system, bands));  // touches the pages
    bands.close_lines();
    PetscCall(CheckExtraction(system, bands));
  }
  for (int round = 0; round <= repetitions; ++round) {
    progress.step(part->name + ", " + std::to_string(part->rows) + " rows: round " + std::to_string(round) + " of " +
                  std::to_string(repetitions));
    PetscCall(system.ChangeValues());
    for (Contestant& contestant : part->contestants) {
      if (contestant.note.empty()) PetscCall(TakeRound(system, axis, contestant));
      if (round > 0) continue;
      contestant.first_setup = contestant.setup.front();
      contestant.setup.clear();
      contestant.solve.clear();
    }
    if (extracts && round > 0) PetscCall(TimeExtraction(system, bands, &part->extraction));
  }
  PetscFunctionReturn(0);
}

/// Seconds of a solve that begins at 0.
PetscErrorCode TimeSolve(System& system, KSP ksp, std::vector<double>* seconds) {
  PetscFunctionBeginUser;
  const double start = MPI_Wtime();
  PetscCall(KSPSolve(ksp, system.right, system.solution));
  seconds->push_back(MPI_Wtime() - start);
  PetscFunctionReturn(0);
}

PetscErrorCode TimeGmres(System& system, int repetitions, Progress& progress, Gmres* gmres) {
  constexpr double kNever = std::numeric_limits<double>::min(), kFar = std::numeric_limits<double>::max();
  KSP with, without;
  PC pc;
  double error;

  PetscFunctionBeginUser;
  progress.step("GMRES");
  PetscCall(CreateKSP(system, KSPGMRES, "oclspkt", "oclspkt", &with));
  PetscCall(CreateKSP(system, KSPGMRES, PCNONE, "none", &without));
  PetscCall(KSPSetTolerances(with, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(with, &pc));
  PetscCall(KSPSolve(with, system.right, system.solution));
  PetscCall(KSPGetIterationNumber(with, &gmres->iterations));
  PetscCall(system.BackwardError(&error));
  PetscCheck(error <= 1e-10, PETSC_COMM_SELF, PETSC_ERR_PLIB, "GMRES with the plugin is off by %g", error);
  PetscCall(KSPSetTolerances(without, kNever, kNever, kFar, gmres->iterations));
  PetscCall(KSPSolve(without, system.right, system.solution));
  for (int round = 0; round < repetitions; ++round) {
    PetscCall(TimeSolve(system, with, &gmres->solve));
    PetscCall(TimeSolve(system, without, &gmres->own));
    const double start = MPI_Wtime();
    PetscCall(PCApply(pc, system.right, system.solution));
    gmres->apply.push_back(MPI_Wtime() - start);
  }
  PetscCall(KSPDestroy(&with));
  PetscCall(KSPDestroy(&without));
  PetscFunctionReturn(0);
}

}  // namespace

double Gmres::ratio() const {
  std::vector<double> parts;
  for (std::size_t i = 0; i < own.size(); ++i) parts.push_back(own[i] + applies() * apply[i]);
  return median_ratio(solve, parts);
}

bool Part::bad() const {
  return std::any_of(contestants.begin(), contestants.end(),
                     [](const Contestant& c) { return c.solver.rfind("oclspkt", 0) == 0 && !c.note.empty(); });
}

PetscErrorCode RunOneLine(PetscInt rows, int repetitions, Progress& progress, Part* part) {
  System system;

  PetscFunctionBeginUser;
  part->name = "one line";
  part->rows = rows;
  progress.step("make the matrix of " + std::to_string(rows) + " rows");
  PetscCall(system.Create(MatrixSpec{.dominance = 3}, LineSet::one(rows), 0));
  PetscCall(CreateContestants(system, "", &part->contestants));
  PetscCall(TakeRounds(system, "", repetitions, true, progress, part));
  PetscCall(DestroyContestants(&part->contestants));
  PetscCall(TimeGmres(system, repetitions, progress, &part->gmres));
  PetscCall(system.Destroy());
  PetscFunctionReturn(0);
}

PetscErrorCode RunAxis(PetscInt n, int axis, int repetitions, Progress& progress, Part* part) {
  const std::string name(1, "xyz"[axis]);
  System system;

  PetscFunctionBeginUser;
  part->name = name + " of " + std::to_string(n) + "^3";
  part->rows = n * n * n;
  progress.step("make the matrix of lines along " + name);
  PetscCall(
      system.Create(MatrixSpec{.matrix = Matrix::conduction, .lambda = 10}, LineSet::grid_axis(axis, n, n, n), n));
  PetscCall(CreateContestants(system, name, &part->contestants));
  PetscCall(TakeRounds(system, name, repetitions, false, progress, part));
  PetscCall(DestroyContestants(&part->contestants));
  PetscCall(system.Destroy());
  PetscFunctionReturn(0);
}

}  // namespace oclspkt::bench::petsc
