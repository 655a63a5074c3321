// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

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

}  // namespace oclspkt
