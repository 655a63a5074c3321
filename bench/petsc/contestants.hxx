// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <petscksp.h>

#include <string>
#include <vector>

#include "system.hxx"

namespace oclspkt::bench::petsc {

/// Who solves a system, and how that went.
struct Contestant {
  enum class Source {
    matrix,  ///< set up from the matrix
    bands,   ///< from the bands, by PCOCLSPKTSetBands()
  };

  std::string solver;
  std::string method, device;  ///< of the plugin; empty for the others
  KSP ksp = nullptr;
  Source source = Source::matrix;
  bool solves = true;         ///< false for `none`, which only shows what KSP itself takes
  double first_setup = 0;     ///< seconds; of the first of a process with looking for devices and building programs
  double error = 0;           ///< largest normwise backward error of all rounds
  PetscInt iterations = 0;    ///< of the last solve
  std::vector<double> setup;  ///< seconds, one a round, each with other values
  std::vector<double> solve;  ///< seconds, one a round
  std::string note;           ///< why its times do not count; empty if they do
};

/// The plugin, ILU(0), LU in natural order and no preconditioner at all, under `type`.
/// @param axis x, y or z of the system's grid; empty: the system is one line and has none
/// @post a grid adds the plugin by its bands, and leaves LU out, whose factors fill up
PetscErrorCode CreateContestants(const System& system, const std::string& axis, std::vector<Contestant>* contestants);
PetscErrorCode DestroyContestants(std::vector<Contestant>* contestants);

/// A KSP of that type with that preconditioner. Options with the prefix `solver`_ apply.
PetscErrorCode CreateKSP(const System& system, KSPType type, PCType preconditioner, const std::string& solver,
                         KSP* ksp);

/// Set up and solve once for the values as they are now, and judge the answer.
PetscErrorCode TakeRound(System& system, const std::string& axis, Contestant& contestant);

}  // namespace oclspkt::bench::petsc
