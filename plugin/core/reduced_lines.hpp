// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "oclspkt/bands.hpp"

namespace oclspkt {

/// An equation of a small tridiagonal system: lower x_(i-1) + diag x_i + upper x_(i+1) = f.
struct ReducedRow {
  double lower = 0, diag = 0, upper = 0;
  double scale = 0;  ///< largest number of the row that it was made from
};

/// Many small tridiagonal systems, one after the other, solved by Gaussian elimination with partial pivoting in double:
/// the equations that are left of lines when the inner rows of their parts are gone.
class ReducedLines {
 public:
  void clear();
  /// Factor one more system.
  /// @param[in] rows shape [n]; lower of the first and upper of the last are not read
  /// @return the smallest pivot against its row's scale; NaN if one is not finite
  /// @cost 2n divisions
  double add(const std::vector<ReducedRow>& rows);
  /// Unknowns of all systems.
  Index size() const { return static_cast<Index>(rows_.size()); }
  /// Solve all systems in place. NaN stays in its system.
  /// @param[in,out] x shape [size()]; right-hand sides, then unknowns, in the order of add()
  void solve(double* x) const;
  std::int64_t bytes() const;

 private:
  /// A row of the upper triangle, and what led to it.
  struct Row {
    double diag, upper, upper2;
    double multiplier;  ///< times this row's right-hand side goes from the next one's
    bool swapped;       ///< with the next row, before
  };
  std::vector<Row> rows_;
  std::vector<Index> starts_{0};  ///< shape [systems + 1]
};

}  // namespace oclspkt
