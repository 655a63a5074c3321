// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "certificate.hpp"
#include "geometry.hpp"
#include "oclspkt/export.hpp"
#include "rounding.hpp"

namespace oclspkt {

/// How a line is cut into segments, level by level, see SegmentFactors.
struct SegmentCut {
  Index rows = 0, upper_rows = 0;  ///< rows of a segment in the first level, and in the levels above; at least 2
  bool symmetric = false;          ///< the line is symmetric: the first level's couplings serve as its multipliers

  Index segment_rows(std::size_t level) const { return level == 0 ? rows : upper_rows; }
  /// Number of segments of a level with `rows_of_level` > 0 rows.
  Index segments(std::size_t level, Index rows_of_level) const { return (rows_of_level - 1) / segment_rows(level) + 1; }
};

/// Demands on a plan by work-groups for lines side by side.
struct GridDemand {
  Method method = Method::truncated_streamed;  ///< truncated_streamed or exact_factored
  Form form = Form::general;                   ///< general, shared or symmetric
  Index reach = 0;        ///< truncated: least distance, in rows, from a truncated row to an unknown that it
                          ///< affects; exact_factored: fewest rows of a tile, as far as the device allows; 0: any
  Index item_rows = 0;    ///< rows of a work-item, at most 16, from Options::partition; 0: chosen
  bool in_turn = false;   ///< exact_factored: sweep lines in turn, also lines that a tile holds, see GridTiles::in_turn
  bool one_item = false;  ///< exact_factored: one work-item for each line, so that there is no interface system
  bool segments = false;  ///< exact_factored: cut lines longer than a tile into segments, if all rows fit at once

  /// True if there are segments that are swept concurrently.
  bool at_once() const { return segments && form == Form::shared && !in_turn; }
};

/// The geometry of plans that solve lines side by side with work-groups. A work-group streams one segment of one
/// bundle, tile by tile. In a tile, each line has items / bundle work-items of item_rows rows. truncated-streamed also
/// reads `halo` rows (`in_flight` tiles) beyond both ends of a segment. exact-factored has one segment, or condensed
/// segments of one tile each.
struct GridTiles {
  int item_lines = 1;    ///< lines that a work-item solves
  int in_flight = 1;     ///< tiles that wait for the unknown below them
  bool in_turn = false;  ///< the work-items of a line sweep down one after the other; only the sweep up is concurrent
};

inline int grid_items_down(const Plan& plan) {
  return static_cast<int>(plan.items * static_cast<Index>(plan.as<GridTiles>().item_lines) / plan.as<Beside>().bundle);
}

inline Index grid_tile_rows(const Plan& plan) { return static_cast<Index>(grid_items_down(plan)) * plan.item_rows; }

/// Rows between a truncated row and the nearest unknown that it affects.
inline Index grid_reach(const Plan& plan) { return grid_tile_rows(plan) * plan.as<GridTiles>().in_flight; }

/// True if exact-factored cuts lines into segments of one tile and condenses them to their first rows (GridFactors).
inline bool grid_condenses(const Plan& plan) {
  return plan.method == Method::exact_factored && plan.as<Beside>().segments > 1;
}

/// True if lines are condensed and all alike. Sweeps are then concurrent, and each work-group goes through many
/// bundles, `run_tiles` tiles in all (kernels/gpu/grid_shared_condense.cl).
inline bool grid_condenses_at_once(const Plan& plan) {
  return grid_condenses(plan) && plan.form == Form::shared && !plan.as<GridTiles>().in_turn;
}

/// True if a tile holds whole lines, so that nothing is truncated.
inline bool in_one_tile(const Plan& plan) { return plan.as<Beside>().segments == 1 && plan.m <= grid_tile_rows(plan); }

/// True if kernels/gpu/grid_shared.cl solves the plan. Its work-groups go through many tiles with the factors of one
/// line. Streamed lines are cut into runs of run_tiles tiles, counted through all lines.
inline bool goes_through_tiles(const Plan& plan) {
  return plan.form == Form::shared &&
         (in_one_tile(plan) ? !plan.as<GridTiles>().in_turn : plan.method == Method::truncated_streamed);
}

enum class GridForm { streamed, shared, whole, condensed, factored };

inline GridForm grid_form(const Plan& plan) {
  if (grid_condenses(plan)) return GridForm::condensed;
  if (goes_through_tiles(plan)) return GridForm::shared;
  if (in_one_tile(plan)) return GridForm::whole;
  return plan.method == Method::exact_factored ? GridForm::factored : GridForm::streamed;
}

/// Most rows of a work-item for which registers hold the rows of two tiles.
inline constexpr int kMostRowsAhead = 16;

/// True if y of the next tile is read while a tile is solved. If work-items have more rows, no registers are free for
/// these numbers.
inline bool reads_ahead(const Plan& plan) { return plan.item_rows <= kMostRowsAhead; }

/// Most rows of a line that one tile holds, on devices with large work-groups.
inline constexpr Index kMostGridRows = 256;

/// The tiles of the levels above the first, if grid_condenses(). Lines have few rows there, so a work-group of the
/// usual size holds whole lines if it can.
struct UpperTiles {
  int bundle, down;  ///< lines of a work-group, and work-items of a line
  Index rows;        ///< rows of a tile
};
OCLSPKT_API UpperTiles upper_tiles(const Plan& plan, Index block_lines);

/// How every line is cut, if grid_condenses().
OCLSPKT_API SegmentCut grid_cut(const Plan& plan, Index block_lines);

/// Scalars of local memory that a work-group takes if goes_through_tiles().
/// @param whole  the result of in_one_tile()
OCLSPKT_API Index shared_grid_words(Index bundle, Index items_down, Index tile_rows, bool whole);

/// Plan stored factors by work-groups for lines side by side. Lines that one tile holds are solved in one pass that
/// truncates nothing (kernels/gpu/grid_whole.cl). Other lines are streamed as the method says (grid_streamed.cl,
/// grid_factored.cl) or cut into segments (grid_condense.cl). grid_shared.cl solves lines that are all alike, unless
/// exact-factored streams them or cuts them into segments.
/// @pre   lines.beside(), traits.group_items > 0
/// @post  chunk_blocks is 0 if the memory does not hold one block; if grid_condenses(), all blocks
/// @throws InvalidInput if `item_rows` is negative
OCLSPKT_API Plan make_grid_plan(const LineSet& lines, const GridDemand& demand, int word, const DeviceTraits& traits);

/// Plans of exact-factored, sorted by words and idle cores, the fastest first. Lines are streamed whole. If they are
/// longer than a tile and all rows fit at once, they may also be cut into segments.
/// @param demand  its method, in_turn, one_item and segments are ignored
/// @pre, @throws  see make_grid_plan()
OCLSPKT_API std::vector<Plan> make_exact_grid_plans(const LineSet& lines, GridDemand demand, int word,
                                                    const DeviceTraits& traits);

/// The bound on rounding, in eps, that the survey gives for a plan by work-groups for lines side by side; infinite if
/// the survey gives no bound.
double grid_rounding_by_survey(const Plan& plan, const Survey& survey);

/// The bounds on rounding of some lines of `length` contiguous rows: by SweepRounding, or by CondenseRounding if lines
/// are cut into segments. Rows count from the first row of the line.
/// @pre couplings out of the lines are 0
/// @cost a division and some 40 multiply-adds a row; twice that if lines are cut into segments
template <typename T>
std::vector<Rounding> bound_grid_lines(const Plan& plan, Index length, const std::vector<BandsView<T>>& lines);

/// Replace `worst` by `bound` if `bound` is larger or unknown. The row of `bound` is its number in line `line`, the row
/// of `worst` is an offset in the vector.
void take_worse(const Rounding& bound, const LineSet& lines, Index line, Rounding& worst);

/// The findings of a pass over every line, for a plan by work-groups for lines side by side.
struct GridEvidence {
  Certificate worst;        ///< the largest bound on truncation of a line; its rows are numbers in `line`
  Index line = -1;          ///< the line of `worst`, or the first line without a certificate
  Rounding rounding;        ///< the largest bound on rounding of a line
  std::vector<Index> weak;  ///< lines with a bound above its limit, in order
};

/// The evidence of a plan, line by line. The rounding comes from bound_grid_lines(). The certificate is that of stored
/// factors whose partitions are the rows of a work-item. With one tile in flight, certify_stored() computes it: each
/// tile has an interface system that is truncated one tile away. With several tiles in flight, certify_runs() computes
/// it. The certificate is 0 if nothing is truncated.
/// @param tol       certificate above which a line is weak
/// @param most_eps  bound on rounding above which a line is weak
/// @pre   lines.beside(), couplings out of the lines are 0
/// @cost  the cost of certify_stored() and bound_grid_lines(), by all processors of this process
template <typename T>
GridEvidence certify_grid(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, double tol,
                          double most_eps);

}  // namespace oclspkt
