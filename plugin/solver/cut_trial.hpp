// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "accord.hpp"
#include "cut_interface.hpp"
#include "cut_set.hpp"
#include "line_solver.hpp"

namespace oclspkt {

/// The results of the trial solves of cut lines.
struct CutTrialResult {
  bool failed = false;         ///< on any process
  double backward_error = 0;   ///< componentwise, the largest of all processes
  std::vector<Gathering> why;  ///< shape [cut lines]; of this process; Gathering::trial if a line fails
};

/// Collective: run the trial solves of cut lines.
/// @param inner solver of the inner rows
/// @param whole the bands as they were given
/// @param tol   tolerance of the answer
template <typename T>
CutTrialResult try_lines(Accord& accord, const CutSet<T>& set, LineSolver<T>& inner, CutInterface<T>& interface,
                         const Bands<T>& whole, double tol);

}  // namespace oclspkt
