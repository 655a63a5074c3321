// SPDX-License-Identifier: BSD-2-Clause
// What both forms of the paper for lines laid end to end share when they propose plans.
#pragma once

#include <vector>

#include "evidence.hpp"
#include "paper_form.hpp"
#include "schemes/proposal.hpp"

namespace oclspkt {

/// The lines that dominance alone does not cover where partitions of so many rows would, if they are few.
/// @param rows  see bound_paper()
template <typename T>
std::vector<Index> lines_paper_leaves(const Problem<T>& problem, Index rows, double tol) {
  const LineSet& lines = problem.bands.lines();
  std::vector<Index> weak;
  for (Index l = 0; lines.count() > 1 && l < lines.count(); ++l) {
    if (!(bound_paper(line_dominance(lines, problem.bands.view(), l), rows) <= tol)) weak.push_back(l);
  }
  const bool few = rows_in(lines, weak) <= kFallbackShare * static_cast<double>(lines.rows());
  return few ? weak : std::vector<Index>{};
}

}  // namespace oclspkt
