// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>

#include "hard_matrices.hpp"
#include "line_judge.hpp"
#include "oclspkt/solver.hpp"

namespace oclspkt::test {

/// Solve one matrix and say what is wrong, or nothing: the answer must be right (see LineJudge), or reported where
/// LAPACK fails too.
///
/// @param smooth the right-hand side is that of a solution around 3, else it is around 3 itself
template <typename T>
std::optional<std::string> silently_wrong(const HardMatrix& matrix, const Options& options, bool smooth) {
  const Bands<T> bands = to_bands<T>(matrix);
  const LineSet& lines = bands.lines();
  std::vector<T> y = random_vector<T>(lines.rows());
  if (smooth) multiply(lines, bands.view(), random_vector<T>(lines.rows()).data(), y.data());
  std::vector<T> x(y.size());
  LineJudge<T> judge(bands, y);

  Solver<T> solver(options);
  try {
    solver.set_up(lines, bands.view().lower, bands.view().diag, bands.view().upper);
  } catch (const Breakdown& error) {
    if (!judge.lapack_manages()) return std::nullopt;
    return matrix.name + " is reported although LAPACK manages: " + error.what();
  }
  solver.apply(y.data(), x.data());
  const auto wrong = judge.wrong(x.data());
  if (!wrong) return std::nullopt;
  return matrix.name + ", " + std::to_string(lines.rows()) + " rows: silently wrong by " +
         name(solver.report().method) + " (" + solver.report().why + "): " + *wrong;
}

}  // namespace oclspkt::test
