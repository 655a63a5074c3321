// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "certificate.hpp"
#include "geometry.hpp"
#include "oclspkt/export.hpp"
#include "rounding.hpp"

namespace oclspkt {

/// Where a line is cut into segments, level by level, see SegmentFactors.
struct SegmentCut {
  Index rows = 0, upper_rows = 0;  ///< of segments of the first level, and of those above it; at least 2
  bool symmetric = false;          ///< the line is symmetric: couplings of the first level are its multipliers

  Index segment_rows(std::size_t level) const { return level == 0 ? rows : upper_rows; }
  /// Segments of a level that has rows.
  Index segments(std::size_t level, Index rows_of_level) const { return (rows_of_level - 1) / segment_rows(level) + 1; }
};

/// The demands on a plan for lines side by side by work-groups.
struct GridDemand {
  Method method = Method::truncated_streamed;  ///< or exact_factored
  Form form = Form::general;                   ///< or shared, or symmetric
  Index reach = 0;      ///< rows that are left between what is truncated and what feels it, or of exact_factored rows
                        ///< of a tile, at least, as far as the device lets it; 0: any
  Index item_rows = 0;  ///< of a work-item, at most 16, as the user asks (Options::partition); 0: chosen
  bool in_turn =
      false;  ///< exact_factored: lines that a tile holds are swept down in turn, too, see GridTiles::in_turn
  bool one_item = false;  ///< exact_factored: every line by one work-item, so that there is no interface system
  bool segments = false;  ///< exact_factored: lines longer than a tile are cut into segments, if all rows fit at once

  /// Segments, if there are any, are swept concurrently.
  bool at_once() const { return segments && form == Form::shared && !in_turn; }
};

/// Lines side by side by work-groups: one streams a segment of one bundle tile by tile, items / bundle work-items down
/// each line, item_rows rows a work-item. truncated-streamed reads `halo` rows, `in_flight` tiles, beyond either end of
/// a segment; exact-factored has one segment, or those of one tile each that are condensed.
struct GridTiles {
  int item_lines = 1;    ///< lines of a work-item
  int in_flight = 1;     ///< tiles that wait for the unknown below them
  bool in_turn = false;  ///< work-items of a line sweep down one after the other, and concurrently up only
};

/// Work-items that share a line.
inline int grid_items_down(const Plan& plan) {
  return static_cast<int>(plan.items * static_cast<Index>(plan.as<GridTiles>().item_lines) / plan.as<Beside>().bundle);
}

inline Index grid_tile_rows(const Plan& plan) { return static_cast<Index>(grid_items_down(plan)) * plan.item_rows; }

/// Rows between a truncated row and the nearest unknown that depends on it.
inline Index grid_reach(const Plan& plan) { return grid_tile_rows(plan) * plan.as<GridTiles>().in_flight; }

/// Exact: lines are cut into segments of a tile, which are condensed to their first rows, see GridFactors.
inline bool grid_condenses(const Plan& plan) {
  return plan.method == Method::exact_factored && plan.as<Beside>().segments > 1;
}

/// Condensed lines that are all alike: work-groups go through many bundles (kernels/gpu/grid_shared_condense.cl),
/// `run_tiles` tiles each, and sweeps are concurrent.
inline bool grid_condenses_at_once(const Plan& plan) {
  return grid_condenses(plan) && plan.form == Form::shared && !plan.as<GridTiles>().in_turn;
}

/// A tile holds whole lines, so that nothing is truncated.
inline bool in_one_tile(const Plan& plan) { return plan.as<Beside>().segments == 1 && plan.m <= grid_tile_rows(plan); }

/// By kernels/gpu/grid_shared.cl, whose work-groups go through many tiles with the factors of one line; streamed, in
/// runs of run_tiles, counted through all lines.
inline bool goes_through_tiles(const Plan& plan) {
  return plan.form == Form::shared &&
         (in_one_tile(plan) ? !plan.as<GridTiles>().in_turn : plan.method == Method::truncated_streamed);
}

/// The forms that such a plan may have.
enum class GridForm { streamed, shared, whole, condensed, factored };

inline GridForm grid_form(const Plan& plan) {
  if (grid_condenses(plan)) return GridForm::condensed;
  if (goes_through_tiles(plan)) return GridForm::shared;
  if (in_one_tile(plan)) return GridForm::whole;
  return plan.method == Method::exact_factored ? GridForm::factored : GridForm::streamed;
}

/// Rows of a work-item up to which registers hold those of two tiles.
inline constexpr int kMostRowsAhead = 16;

/// y of the next tile is on its way while one is solved. Tiles of more rows a work-item leave no registers for it.
inline bool reads_ahead(const Plan& plan) { return plan.item_rows <= kMostRowsAhead; }

/// Rows of a line that one tile may hold, on devices with room for large work-groups.
inline constexpr Index kMostGridRows = 256;

/// Tiles of the levels above the first of grid_condenses(): few rows a line, so that work-groups of as many
/// work-items hold whole lines where they can.
struct UpperTiles {
  int bundle, down;  ///< lines of a work-group, and work-items of a line
  Index rows;        ///< of a tile
};
OCLSPKT_API UpperTiles upper_tiles(const Plan& plan, Index block_lines);

/// grid_condenses(): how every line is cut.
OCLSPKT_API SegmentCut grid_cut(const Plan& plan, Index block_lines);

/// Scalars of local memory of a work-group of goes_through_tiles().
/// @param whole  in_one_tile()
OCLSPKT_API Index shared_grid_words(Index bundle, Index items_down, Index tile_rows, bool whole);

/// Plan lines side by side by work-groups, by stored factors. Lines that one tile holds are solved in one
/// pass that truncates nothing (kernels/gpu/grid_whole.cl), others as the method says (grid_streamed.cl,
/// grid_factored.cl), or by segments (grid_condense.cl); lines that are all alike by grid_shared.cl unless they are
/// streamed or cut into segments.
/// @pre   lines.beside(), traits.group_items > 0
/// @post  chunk_blocks is 0 if the memory does not hold one block, or of grid_condenses() all
/// @throws InvalidInput if `item_rows` is negative
OCLSPKT_API Plan make_grid_plan(const LineSet& lines, const GridDemand& demand, int word, const DeviceTraits& traits);

/// Plans of exact-factored, the fastest by words and idle cores first: lines streamed whole and, where they are longer
/// than a tile and all rows fit at once, cut into segments.
/// @param demand  method, in_turn, one_item and segments are not read
/// @pre, @throws  as for make_grid_plan()
OCLSPKT_API std::vector<Plan> make_exact_grid_plans(const LineSet& lines, GridDemand demand, int word,
                                                    const DeviceTraits& traits);

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
