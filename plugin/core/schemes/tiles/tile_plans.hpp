// SPDX-License-Identifier: BSD-2-Clause
// Plans by work-groups for lines laid end to end. A partition is the rows that a work-group solves. The work-group
// reads them and their halos in run_tiles tiles. A tile has `items` work-items of `item_rows` rows each, so that
// run_tiles * items * item_rows = m + 2 halo. Truncated-halo takes one tile. Truncated-streamed streams several tiles
// by stored factors. Exact-twopass takes one tile without a halo (kernels/gpu/tile_excess.clh).
#pragma once

#include <algorithm>
#include <vector>

#include "geometry.hpp"
#include "oclspkt/export.hpp"

namespace oclspkt {

/// The scan of a work-group. After `steps` steps a work-item has the results of work-items up to 2^steps away, or
/// 4^steps if the plan has KeptTiles.
struct Scan {
  int steps = 0;
};

/// Truncated-halo by stored factors of lines that are all alike: `runs` work-groups keep the factors from tile to tile
/// (kernels/gpu/tile_shared.cl). Without a halo, tiles hold whole lines. With a halo, tiles are parts of a line of `m`
/// rows each; `runs` is then a multiple of the parts of a line, unless every tile has a work-group of its own.
struct KeptTiles {
  int item_tiles = 1;           ///< tiles that a work-item solves at the same time
  bool symmetric = false;       ///< the line's couplings serve as its multipliers
  bool tells_products = false;  ///< local memory, not registers, holds the products of the scan
};

/// The tiles' interface equations form a smaller tridiagonal system, which is reduced level by level.
struct Levels {
  int items = 0;  ///< work-items of a work-group of the levels above the first
};

/// True if each run of truncated-streamed is one line, so that no run sweeps rows of its neighbours. Such a plan
/// truncates nothing if a line has two tiles.
inline bool runs_are_lines(const Plan& plan) {
  return plan.has<StoredFactors>() && plan.method == Method::truncated_streamed && plan.halo == 0 &&
         plan.m == plan.run_tiles * plan.group_rows();
}

/// True if the halo of a run is a whole tile. Rows that two neighbouring runs of truncated-streamed sweep then have the
/// same bits in both runs.
inline bool joins_runs(const Plan& plan) { return plan.halo > 0 && plan.halo == plan.group_rows(); }

/// Words of local memory of a work-group that holds a tile: at most the tile's rows and a vector of padding for each
/// work-item (kernels/gpu/tile_rows.clh). A scan takes as much (tile_scan.clh).
inline Index group_local_words(int items, int item_rows) {
  constexpr Index kVector = 4;
  return items * (item_rows + kVector);
}

/// Words of local memory of a work-group of exact-twopass (kernels/gpu/tile_excess.clh): the rows with their padding
/// or, if that is more, five numbers for each work-item, five for the row above the tile, and one more number.
inline Index reduce_local_words(int items, int item_rows) {
  return std::max(group_local_words(items, item_rows), 5 * (Index{items} + 1) + 1);
}

/// Words of local memory for the products of a scan of `steps` steps, down and up (kernels/gpu/tile_shared.cl).
inline Index scan_product_words(int items, int steps) { return Index{6} * steps * items; }

/// Rows of a work-item in the levels of exact-twopass above the first. The time of these short levels is the time of
/// their successive steps, and few rows need few steps.
inline constexpr int kLevelItemRows = 4;

/// Plan truncated-halo by work-groups.
/// @param halo, partition  see PlanRequest
/// @throws the errors of make_plan()
Plan make_tile_plan(Index n, Index halo, Index partition, int word, const DeviceTraits& traits);

/// Rows of a work-group that holds as many whole lines of `length` rows as it can; 0 if a line is too long.
Index lines_in_a_tile(Index length, int word, const DeviceTraits& traits);

/// Plan truncated-halo for lines of `length` rows. Each work-group holds whole lines, `partition` rows in all.
Plan make_lines_plan(Index n, Index length, Index partition, int word, const DeviceTraits& traits);

/// Plan truncated-streamed by stored factors: a work-group streams the tiles of a run.
/// @param reach     rows after which a run is truncated, at most longest_reach()
/// @param partition rows of a work-item that the user asks for, at most 32; 0: chosen
/// @throws InvalidInput if `partition` is negative, `reach` is too long, or the chunk limit does not hold one run
OCLSPKT_API Plan make_run_plan(Index n, Index reach, Index partition, int word, const DeviceTraits& traits);

/// Plans of truncated-streamed for lines of equal length, the fastest first: each line is a run, and tiles fill it.
/// None if no shape fits, if one tile holds a line, or if the last turn of work-groups leaves too much of the device
/// idle.
/// @param form  any form but shared
OCLSPKT_API std::vector<Plan> make_line_runs_plans(Index n, Index length, Form form, int word,
                                                   const DeviceTraits& traits);

/// Cut the runs of a plan of truncated-streamed again for its form, unless runs are lines.
OCLSPKT_API void cut_runs_anew(Plan& plan, int word, const DeviceTraits& traits);

/// Make the halo of a run a whole tile, see joins_runs(). Does nothing if runs are lines.
OCLSPKT_API void join_runs(Plan& plan, int word, const DeviceTraits& traits);

/// Let runs also correct the differences between their work-items (StoredFactors::corrects), and join runs.
OCLSPKT_API void correct_runs(Plan& plan, int word, const DeviceTraits& traits);

/// Work-groups of make_run_plan() that a core runs at a time. Compilers that accept this number as a hint receive it.
OCLSPKT_API Index runs_of_core(const Plan& plan, int word);

/// Rows of a tile, which is the longest reach of a run.
OCLSPKT_API Index longest_reach(Index partition, int word, const DeviceTraits& traits);

/// Let the stored factors of one line serve all lines, which have `length` rows each and are all alike.
/// @return false, and an unchanged plan, if a line does not stay in the cache or its rows do not fill vectors
OCLSPKT_API bool share_line(Plan& plan, Index length, int word);

/// Let work-groups keep the factors of share_line() from tile to tile (KeptTiles), with the plan's halo.
/// @return false, and an unchanged plan, if a work-group holds neither whole lines nor a large part of a line with its
///         halos
OCLSPKT_API bool keep_factors(Plan& plan, Index length, int word, const DeviceTraits& traits);

/// Let the couplings that work-groups keep also serve as multipliers, which takes fewer registers. If lines are cut
/// into parts, keep the products of the scan in local memory, if it has room. A core then holds one more work-group.
/// Does nothing for floats.
/// @pre lines are symmetric to the bit
OCLSPKT_API void make_factors_symmetric(Plan& plan, Index length, int word, const DeviceTraits& traits);

/// Store the bands, or the stored factors, as floats; vectors stay in double.
/// @return false, and an unchanged plan, if tiles or halos are not whole vectors of floats, or if lines share their
///         factors, which stay in the cache
OCLSPKT_API bool keep_narrow(Plan& plan);

/// Plan exact-twopass. Tiles are reduced to their last rows, which form a system that is reduced in the same way.
/// @param form  any form but shared
/// @post chunk_tiles is 0 if the memory does not hold all rows at once
/// @throws InvalidInput if `partition` is negative
OCLSPKT_API Plan make_reduce_plan(Index n, Index partition, int word, const DeviceTraits& traits,
                                  Form form = Form::general);

/// Let work-items of a tile couple only with neighbours within the rows of the halo, which suffices if every row decays
/// as fast as the halo assumes. Otherwise, work-items couple with all of the tile. Does nothing to plans without Scan.
OCLSPKT_API void couple_within_halo(Plan& plan);

/// The longest halo, in rows, for which truncated-halo still solves more rows of a tile than the tile's halos have.
Index longest_tile_halo(Index partition, int word, const DeviceTraits& traits);

}  // namespace oclspkt
