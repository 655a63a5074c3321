// SPDX-License-Identifier: BSD-2-Clause
// Truncation and rounding errors of a partition's rows, computed by sweeps. Rows count in the order of the sweep.
#pragma once

#include <cmath>
#include <vector>

#include "rounding_scan.hpp"
#include "sweep_rows.hpp"

namespace oclspkt {

/// An error that depends on the error of another unknown: own + carried * (other error).
struct Inherited {
  double own = 0, carried = 1;
  double from(double other) const { return own + carried * other; }
};

struct ForwardSweep {
  std::vector<double> coupling;  ///< |c_i p_i|, c the couplings to the next row, p the reciprocal pivots
  std::vector<double> entered;   ///< influence of the unknown before the partition on row i
  double last = 0;               ///< scaled coupling c_i p_i of the last row, with its sign
  double spike = 1;              ///< influence of the unknown behind the partition on the first row

  template <typename T>
  void fill(const SweepRows<T>& a, Index first, Index end) {
    const auto size = static_cast<std::size_t>(end - first);
    coupling.resize(size);
    entered.resize(size);
    spike = 1;
    double c = 0, left = 1;
    for (Index i = first; i < end; ++i) {
      const auto diag = static_cast<double>(a.diag(i));
      const double u = diag - a.lower(i) * c;
      // With an infinite diagonal the ratio is 0; 0 * diag makes it NaN.
      c = a.upper(i) / u + 0 * diag;
      const auto at = static_cast<std::size_t>(i - first);
      entered[at] = left *= std::abs(a.lower(i) / u);
      coupling[at] = std::abs(c);
      spike *= coupling[at];
    }
    last = c;
  }

  /// The largest error of the rows from `stop` on, if the last row has the error `at_last`. NaN if an error is NaN.
  double largest_error(double at_last, std::size_t stop) const {
    double worst = 0, error = at_last;
    for (std::size_t i = coupling.size(); i-- > stop;) {
      if (i + 1 < coupling.size()) error = entered[i] + coupling[i] * error;
      if (!(error <= worst)) worst = error;
      if (std::isnan(error)) break;
    }
    return worst;
  }
  /// A bound on largest_error() as a function of the last row's error.
  Inherited largest_errors(std::size_t stop) const {
    Inherited worst, row;
    for (std::size_t i = coupling.size(); i-- > stop;) {
      if (i + 1 < coupling.size()) row = {entered[i] + coupling[i] * row.own, coupling[i] * row.carried};
      if (!(row.own <= worst.own)) worst.own = row.own;
      if (!(row.carried <= worst.carried)) worst.carried = row.carried;
      if (std::isnan(row.own)) break;
    }
    return worst;
  }
};

/// The rounding errors of one sweep over a partition.
struct RoundedSweep {
  RoundedRows rows;
  std::vector<double> errors;  ///< errors of the right-hand sides after the sweep, divided by the pivots

  /// @param n  rows of the system
  template <typename T>
  void fill(const SweepRows<T>& from, Index first, Index count, Index n) {
    rows.resize(count);
    errors.resize(static_cast<std::size_t>(count));
    PivotAbove above;
    rows.fill(from, first, n, above);
    double error = 0;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      errors[i] = error = (i > 0 ? rows.down[i] * error : 0) + rows.weight[i] * rows.local[i];
    }
  }
  /// Error of the unknown of row `stop`, as a function of the error of the last row's unknown.
  Inherited substituted(std::size_t stop) const {
    Inherited error;
    for (std::size_t i = errors.size() - 1; i-- > stop;) {
      error = {errors[i] + rows.up[i] * error.own, rows.up[i] * error.carried};
    }
    return error;
  }
};

}  // namespace oclspkt
