// SPDX-License-Identifier: BSD-2-Clause
// Plans by work-groups for lines laid end to end: a partition is what a work-group solves, and is read with its halos
// in tiles of items * item_rows rows, item_rows a work-item: run_tiles * items * item_rows = m + 2 halo. Truncated-halo
// takes one tile, truncated-streamed streams several by stored factors, exact-twopass takes one without halo
// (kernels/gpu/tile_excess.clh).
#pragma once

#include <algorithm>
#include <vector>

#include "geometry.hpp"
#include "oclspkt/export.hpp"

namespace oclspkt {

/// The scan of a work-group: work-items know of those up to 2^steps away, or 4^steps where factors are kept.
struct Scan {
  int steps = 0;
};

/// Truncated-halo by stored factors of lines that are all alike, which work-groups keep from tile to tile
/// (kernels/gpu/tile_shared.cl); there are `runs` work-groups. Without a halo tiles hold whole lines, with one they are
/// parts of a line, `m` rows each, and `runs` a multiple of those of a line unless every tile has a work-group.
struct KeptTiles {
  int item_tiles = 1;           ///< tiles that a work-item solves at once
  bool symmetric = false;       ///< the couplings of the line are its multipliers
  bool tells_products = false;  ///< products of the scan are in local memory, not in registers
};

/// The tiles' interface equations form a smaller tridiagonal system, which is reduced level by level.
struct Levels {
  int items = 0;  ///< work-items of a work-group of the levels above the first
};

/// Truncated-streamed by work-groups: a run is a line, so that nothing is swept for its neighbours, and lines of two
/// tiles truncate nothing.
inline bool runs_are_lines(const Plan& plan) {
  return plan.has<StoredFactors>() && plan.method == Method::truncated_streamed && plan.halo == 0 &&
         plan.m == plan.run_tiles * plan.group_rows();
}

/// Truncated-streamed by work-groups: the halo of a run is a whole tile, so that its rows have the same bits as in the
/// neighbour's run.
inline bool joins_runs(const Plan& plan) { return plan.halo > 0 && plan.halo == plan.group_rows(); }

/// Words of local memory of a work-group that holds a tile: its rows with a vector of padding for each work-item at
/// most (kernels/gpu/tile_rows.clh), which is as much as a scan takes (tile_scan.clh).
inline Index group_local_words(int items, int item_rows) {
  constexpr Index kVector = 4;
  return items * (item_rows + kVector);
}

/// The words of exact-twopass: the rows with a vector of padding for each work-item, or five numbers of one row of each
/// and of that above the tile, and one more (kernels/gpu/tile_excess.clh).
inline Index reduce_local_words(int items, int item_rows) {
  return std::max(group_local_words(items, item_rows), 5 * (Index{items} + 1) + 1);
}

/// Words of local memory for the products of a scan of so many steps, both ways (kernels/gpu/tile_shared.cl).
inline Index scan_product_words(int items, int steps) { return Index{6} * steps * items; }

/// Rows of a work-item in all levels of exact-twopass but the first, which are short: what counts is how few steps
/// follow each other.
inline constexpr int kLevelItemRows = 4;

/// Plan truncated-halo. @param halo, partition, @throws  see PlanRequest, make_plan()
Plan make_tile_plan(Index n, Index halo, Index partition, int word, const DeviceTraits& traits);

/// Rows of the lines of `length` rows that a work-group holds whole; 0 if not even one.
Index lines_in_a_tile(Index length, int word, const DeviceTraits& traits);

/// Plan truncated-halo for lines of `length` rows, of which each work-group holds `partition` rows whole.
Plan make_lines_plan(Index n, Index length, Index partition, int word, const DeviceTraits& traits);

/// Plan truncated-streamed by stored factors: a work-group streams the tiles of a run.
/// @param reach     rows away from which a run is truncated, at most longest_reach()
/// @param partition rows of a work-item asked for by the user, at most 32; 0: chosen
/// @throws InvalidInput if `partition` is negative, `reach` too long or the chunk limit does not hold one run
OCLSPKT_API Plan make_run_plan(Index n, Index reach, Index partition, int word, const DeviceTraits& traits);

/// Plans of lines of equal length, each of them a run, whose tiles it fills, the fastest first; none where no shape
/// fits, a tile holds a line, or the last turn of work-groups leaves too much of the device idle. @param form  not
/// shared
OCLSPKT_API std::vector<Plan> make_line_runs_plans(Index n, Index length, Form form, int word,
                                                   const DeviceTraits& traits);

/// Cut the runs of such a plan, unless they are lines, for the form that it has got.
OCLSPKT_API void cut_runs_anew(Plan& plan, int word, const DeviceTraits& traits);

/// Let the runs of such a plan have the same bits of what they share, see joins_runs(), if they share anything.
OCLSPKT_API void join_runs(Plan& plan, int word, const DeviceTraits& traits);

/// Let them correct what their work-items differ by as well, see StoredFactors::corrects.
OCLSPKT_API void correct_runs(Plan& plan, int word, const DeviceTraits& traits);

/// Work-groups of make_run_plan() that a core is to have at a time; compilers are told where they take it.
OCLSPKT_API Index runs_of_core(const Plan& plan, int word);

/// Rows of a tile, which is as far as a run can reach.
OCLSPKT_API Index longest_reach(Index partition, int word, const DeviceTraits& traits);

/// Let the stored factors of one of lines that are all alike, of `length` rows, serve all.
/// @return false, and plan as it was, where a line would not stay in the cache or its rows do not fill vectors
OCLSPKT_API bool share_line(Plan& plan, Index length, int word);

/// Let work-groups keep the factors that share_line() shares: KeptTiles. The halo is one of stored factors.
/// @return false, and plan as it was, where a work-group holds neither whole lines nor a good part of one with its
/// halos
OCLSPKT_API bool keep_factors(Plan& plan, Index length, int word, const DeviceTraits& traits);

/// Let the couplings that work-groups keep be the multipliers, which takes fewer registers: in double, of lines that
/// are symmetric to the bit. Parts of lines then keep products of their scan in local memory, if there is room for
/// them, and a core holds a work-group more.
OCLSPKT_API void make_factors_symmetric(Plan& plan, Index length, int word, const DeviceTraits& traits);

/// Keep the bands, or stored factors, as floats beside vectors of doubles.
/// @return false, and plan as it was, where tiles or halos are no whole vectors of floats, or what is shared stays in
/// the
///         cache
OCLSPKT_API bool keep_narrow(Plan& plan);

/// Plan exact-twopass: tiles are reduced to their first and last rows, and those in turn. @param form  not shared
/// @post chunk_tiles is 0 if the memory does not hold all rows at once
/// @throws InvalidInput if `partition` is negative
OCLSPKT_API Plan make_reduce_plan(Index n, Index partition, int word, const DeviceTraits& traits,
                                  Form form = Form::general);

/// Let the work-items of a tile couple with no more of their neighbours than the halo's rows, which is enough where
/// every row decays as the halo asks for; without it they couple with all. Does nothing to plans without Scan.
OCLSPKT_API void couple_within_halo(Plan& plan);

/// Rows of the longest halo with which truncated-halo still solves more rows than it only reads.
Index longest_tile_halo(Index partition, int word, const DeviceTraits& traits);

}  // namespace oclspkt
