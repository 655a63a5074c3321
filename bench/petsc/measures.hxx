// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "contestants.hxx"
#include "progress.hpp"

namespace oclspkt::bench::petsc {

/// GMRES with the plugin, and what it is made of. Seconds are one a round.
struct Gmres {
  PetscInt iterations = 0;
  std::vector<double> solve;  ///< GMRES with the plugin
  std::vector<double> own;    ///< GMRES without a preconditioner, as many iterations
  std::vector<double> apply;  ///< of the plugin alone
  /// Applies of a solve: the first residual and one an iteration.
  double applies() const { return static_cast<double>(iterations) + 1; }
  /// Median over rounds of solve / (own + applies * apply).
  double ratio() const;
};

/// All that was measured of one system.
struct Part {
  std::string name;  ///< "one line", or "x", "y", "z" of a grid
  PetscInt rows = 0;
  std::vector<Contestant> contestants;  ///< the plugin first
  std::vector<double> extraction;       ///< seconds of ExtractBare(), one a round; only of one line
  Gmres gmres;                          ///< only of one line
  bool bad() const;                     ///< the plugin failed or is wrong
};

/// One line: everybody under preonly, in turn; bare extraction; GMRES.
PetscErrorCode RunOneLine(PetscInt rows, int repetitions, Progress& progress, Part* part);

/// The lines along an axis of a grid of n^3 points: an implicit step with new coefficients is a set-up and one apply.
/// @param axis 0, 1, 2 for x, y, z
PetscErrorCode RunAxis(PetscInt n, int axis, int repetitions, Progress& progress, Part* part);

}  // namespace oclspkt::bench::petsc
