// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <petscksp.h>

#include <string>
#include <vector>

#include "problem.hxx"

namespace oclspkt::bench::adi {

/// Who takes the steps, and how that went for one lambda.
struct Contestant {
  std::string name;
  KSP ksp = nullptr;
  bool ours = false;
  double rtol = 0;              ///< of CG; 0 for ours, which does not iterate
  double setup_seconds = 0;     ///< once
  double error = 0;             ///< after all steps, against the equation discrete in space; see Problem::Error()
  double allowed = 0;           ///< what the error had to be for rtol to be chosen
  PetscInt iterations = 0;      ///< of all steps
  std::vector<double> seconds;  ///< of all steps, one for each repetition
  std::string note;             ///< why there is no time; empty if there is one
};

/// What a run is about.
struct Task {
  const Problem* problem;
  double lambda;
  int steps;
};

/// (1 - dt A_axes)^-1 by the plugin, from bands given axis by axis; not set up yet.
/// @param axes of x, y and z, joined by commas
PetscErrorCode CreateLines(const Task& task, const std::string& axes, KSP* ksp);

/// The plugin, and CG with ILU, ICC and GAMG, all of them set up.
PetscErrorCode CreateContestants(const Task& task, Mat matrix, std::vector<Contestant>* contestants);
PetscErrorCode DestroyContestants(std::vector<Contestant>* contestants);

/// Take all steps from the start. u holds the end. CG starts each step from the one before.
PetscErrorCode TakeSteps(const Task& task, Contestant& contestant, Vec u, double* seconds);

/// Find the loosest tolerance, by factors of sqrt(10), whose error is at most `allowed`.
PetscErrorCode FindTolerance(const Task& task, double allowed, Contestant& contestant, Vec u);

}  // namespace oclspkt::bench::adi
