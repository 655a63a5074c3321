// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "certificate.hpp"
#include "rounding.hpp"
#include "schemes/grids/grid_plan.hpp"

namespace oclspkt {

/// The bound on rounding of a plan for lines side by side by work-groups that the survey gives, in eps; infinite if it
/// gives none. It counts the rows of a work-item and how work-items meet.
double grid_rounding_by_survey(const Plan& plan, const Survey& survey);

/// The bounds of some lines of `length` rows, laid end to end each, by the products of their multipliers and couplings:
/// see SweepRounding and, of segments, CondenseRounding. Their rows are counted from the first row of the line.
/// @pre couplings out of the lines are 0
/// @cost a division and some 40 multiply-adds a row; of segments twice as many
template <typename T>
std::vector<Rounding> bound_grid_lines(const Plan& plan, Index length, const std::vector<BandsView<T>>& lines);

/// Take the bound of a line in, whose row is then an offset in the vector, if it is larger than the worst or not known.
void take_worse(const Rounding& bound, const LineSet& lines, Index line, Rounding& worst);

/// The result of following the decay of every line, for a plan for lines side by side by work-groups.
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
