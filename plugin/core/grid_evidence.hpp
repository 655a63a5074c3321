// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "certificate.hpp"

namespace oclspkt {

/// What following the decay of every line showed of a plan for lines side by side by work-groups.
struct GridEvidence {
  Certificate worst;        ///< the largest bound and the largest growth of a line; rows are those of `line`
  Index line = -1;          ///< the line of the largest bound, or the first of which nothing is known
  std::vector<Index> weak;  ///< lines of which bound or growth is above its limit, in order
};

/// The certificate of Plan::grid(), line by line: that of stored factors whose partitions, the rows of a work-item,
/// settle each other inside a tile (certify_stored), truncated one tile away, or several (certify_runs). Where the plan
/// truncates nothing, only the growth counts. Where work-items sweep down in turn it is that of elimination, in the
/// order of the plan, or of settling on the way up, the largest product of the |c_i p_i| from any row to its
/// work-item's first: for rows that are dominant kDominantGrowth, and they need not be asked.
/// @param tol         largest bound of a line that is not weak
/// @param most_growth largest growth of such a line
/// @pre   lines.beside(), couplings out of the lines are 0
/// @cost  as certify_stored, by all processors of this process
template <typename T>
GridEvidence certify_grid(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, double tol,
                          double most_growth);

}  // namespace oclspkt
