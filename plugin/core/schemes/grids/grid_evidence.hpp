// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "certificate.hpp"
#include "rounding.hpp"

namespace oclspkt {

/// What following the decay of every line showed of a plan for lines side by side by work-groups.
struct GridEvidence {
  Certificate worst;        ///< the largest bound on truncation of a line; rows are those of `line`
  Index line = -1;          ///< the line of that, or the first of which nothing is known
  Rounding rounding;        ///< the largest bound on rounding of a line
  std::vector<Index> weak;  ///< lines of which a bound is above its limit, in order
};

/// The evidence of a plan, line by line: the certificate of stored factors whose partitions, the rows of a
/// work-item, solve one interface system inside a tile (certify_stored), truncated one tile away, or several
/// (certify_runs), and the bound on rounding (bound_grid_lines). A plan that truncates nothing has a certificate of 0.
/// @param tol       largest certificate of a line that is not weak
/// @param most_eps  largest bound on rounding of such a line
/// @pre   lines.beside(), couplings out of the lines are 0
/// @cost  as certify_stored and bound_grid_lines, by all processors of this process
template <typename T>
GridEvidence certify_grid(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, double tol,
                          double most_eps);

}  // namespace oclspkt
