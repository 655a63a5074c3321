// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "hard_matrices.hpp"
#include "oclspkt/solver.hpp"
#include "reference.hpp"
#include "residual.hpp"

namespace oclspkt::test {

/// Solve one matrix and say what is wrong, or nothing: the answer must be right (componentwise backward error <= 100
/// eps, or normwise <= 10 max(LAPACK's, eps)), or reported where LAPACK fails too.
///
/// @param smooth the right-hand side is that of a solution around 3, else it is around 3 itself
template <typename T>
std::optional<std::string> silently_wrong(const HardMatrix& matrix, const Options& options, bool smooth) {
  const double eps = std::numeric_limits<T>::epsilon();
  const Bands<T> bands = to_bands<T>(matrix);
  const LineSet& lines = bands.lines();
  std::vector<T> y = random_vector<T>(lines.rows());
  if (smooth) multiply(lines, bands.view(), random_vector<T>(lines.rows()).data(), y.data());
  std::vector<T> x(y.size()), x_reference(y.size());
  Reference<T> reference;
  reference.factor(lines, bands.view());
  reference.solve(y.data(), x_reference.data());
  const double lapack = normwise_backward_error(lines, bands.view(), x_reference.data(), y.data());
  const bool singular = std::any_of(reference.doubts().begin(), reference.doubts().end(),
                                    [](const auto& doubt) { return doubt.singular; });
  const bool lapack_manages = !singular && lapack <= 10 * eps;

  Solver<T> solver(options);
  try {
    solver.set_up(lines, bands.view().lower, bands.view().diag, bands.view().upper);
  } catch (const Breakdown& error) {
    if (!lapack_manages) return std::nullopt;
    return matrix.name + " is reported although LAPACK manages: " + error.what();
  }
  solver.apply(y.data(), x.data());
  const double componentwise = componentwise_backward_error(lines, bands.view(), x.data(), y.data());
  const double normwise = normwise_backward_error(lines, bands.view(), x.data(), y.data());
  if (componentwise <= 100 * eps || normwise <= 10 * std::max(lapack, eps)) return std::nullopt;
  return matrix.name + ", " + std::to_string(lines.rows()) + " rows: silently wrong by " +
         name(solver.report().method) + " (" + solver.report().why + "): componentwise " +
         std::to_string(componentwise / eps) + " eps, normwise " + std::to_string(normwise / eps) + " eps, LAPACK " +
         std::to_string(lapack / eps) + " eps";
}

}  // namespace oclspkt::test
