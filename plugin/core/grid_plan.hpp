// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "oclspkt/export.hpp"
#include "plan.hpp"

namespace oclspkt {

/// What a plan for lines side by side by work-groups is asked for.
struct GridDemand {
  Method method = Method::truncated_streamed;  ///< or exact_factored
  Form form = Form::general;                   ///< or shared
  Index tile_rows = 0;                         ///< rows that a tile has at least, as far as the device lets it; 0: any
  Index item_rows = 0;    ///< of a work-item, at most 16, as the user asks (Options::partition); 0: chosen
  bool one_item = false;  ///< exact_factored: every line by one work-item, so that nothing has to settle
};

/// Rows of a line that one tile may hold, on devices with room for large work-groups.
inline constexpr Index kMostGridRows = 256;

/// Plan lines side by side by work-groups, by stored factors: Plan::grid(). Lines that one tile holds are solved in one
/// pass that truncates nothing (kernels/gpu/grid_whole.cl), others as the method says (grid_streamed.cl,
/// grid_factored.cl).
/// @pre   lines.beside(), traits.group_items > 0
/// @post  chunk_blocks is 0 if the memory does not hold one block
/// @throws InvalidInput if `item_rows` is negative
OCLSPKT_API Plan make_grid_plan(const LineSet& lines, const GridDemand& demand, int word, const DeviceTraits& traits);

}  // namespace oclspkt
