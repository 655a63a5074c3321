// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <any>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "oclspkt/export.hpp"
#include "oclspkt/line_set.hpp"
#include "oclspkt/options.hpp"

namespace oclspkt {

inline Index quotient_up(Index value, Index divisor) { return (value + divisor - 1) / divisor; }
inline Index round_up(Index value, Index multiple) { return quotient_up(value, multiple) * multiple; }

/// Words of local memory of a work-group that holds a tile of lines laid end to end: its rows with a vector of padding
/// for each work-item at most (kernels/gpu/tile_rows.clh), which is as much as a scan takes (tile_scan.clh).
inline Index group_local_words(int items, int item_rows) {
  constexpr Index kVector = 4;
  return items * (item_rows + kVector);
}

/// The same of exact-twopass: the rows with a vector of padding for each work-item, or five numbers of one row of each
/// and of that above the tile, and one more (kernels/gpu/tile_excess.clh).
inline Index reduce_local_words(int items, int item_rows) {
  return std::max(group_local_words(items, item_rows), 5 * (Index{items} + 1) + 1);
}

/// Words of local memory for the products of a scan of so many steps, both ways (kernels/gpu/tile_shared.cl).
inline Index scan_product_words(int items, int steps) { return Index{6} * steps * items; }

/// Rows of a work-item in all levels of exact-twopass but the first, which are short: what counts is how few steps
/// follow each other.
inline constexpr int kLevelItemRows = 4;

/// Lines side by side by work-groups: rows of a work-item up to which registers hold those of two tiles.
inline constexpr int kMostRowsAhead = 16;

/// What a plan must know of the device that will run it.
struct DeviceTraits {
  int lanes = 8;                          ///< SIMD lanes of the scalar type in a register
  int tile_lanes = 1;                     ///< partitions of a tile, swept side by side, unless lanes are more
  int cores = 1;                          ///< work-groups that run at once
  std::int64_t cache_bytes = 1 << 20;     ///< second-level cache of a core
  std::int64_t chunk_bytes = INT64_MAX;   ///< largest single allocation
  std::int64_t memory_bytes = INT64_MAX;  ///< all allocations together; INT64_MAX where host memory is shared
  bool host = false;                      ///< the calling thread, no device
  int group_items = 0;                    ///< work-items of a work-group at most, where kernels for GPUs are used
  std::int64_t local_bytes = 0;           ///< local memory of a work-group, there and where kernels for FPGAs are used
  bool unproven = false;                  ///< those kernels run on a device that they are not made for
  bool paper = false;                     ///< of the kernels that are used the paper's own are asked for
  bool task = false;                      ///< kernels for FPGAs are used: one work-item that streams all rows
};

inline constexpr DeviceTraits kHostTraits{.lanes = 1, .host = true};

/// Tiles that stand for all others, or rows where by work-groups `period` rows do: of `all` tiles, and of the next as
/// many again, the first `head`, `period` tiles behind them that repeat as far as `tail`, and those from `tail` on.
struct SharedTiles {
  Index head = 0, period = 0, tail = 0, all = 0;
};

/// How lines may be cut into chunks, and those laid end to end into pieces of the pipeline.
struct Cut {
  Index grain;           ///< rows: cuts lie at multiples of it
  Index before, behind;  ///< rows read again beyond the cuts
  bool whole;            ///< all rows at once: nothing may be cut
  Index blocks = 0;      ///< lines side by side: blocks of a chunk at most; 0: the memory does not hold one
};

/// Where the arrays lie that go with the chunks of lines laid end to end: as bands, a number a row, by default.
struct StoredPlaces {
  Index shared = 0;      ///< numbers of each array that serve all chunks; 0: each chunk has its own
  Index tile_words = 0;  ///< numbers of a tile, of which a chunk has one more on either side; 0: as bands
};

/// How the rows of a line set map to work; fixed from set-up to set-up.
///
/// Lines laid end to end: partition k holds rows [k*m, min(n, (k+1)*m)), tile t partitions [t*lanes, (t+1)*lanes).
/// By work-groups (`items` > 0; lines laid end to end on GPUs): a partition is what a work-group solves, and is read
/// with its halos in tiles of items * item_rows rows, item_rows a work-item: run_tiles * items * item_rows = m + 2
/// halo. Truncated-halo takes one tile, truncated-streamed streams several by stored factors, exact-twopass takes one
/// without halo (kernels/gpu/tile_excess.clh). In the paper's form a work-item takes a partition, a tile is those of a
/// work-group.
/// Lines side by side: see Beside (core/geometry.hpp) and GridTiles (core/grid_plan.hpp).
struct Plan {
  Method method = Method::exact_factored;
  Form form = Form::general;
  Index n = 0;                    ///< rows, all lines glued
  Index m = 0;                    ///< rows per partition or segment
  Index halo = 0;                 ///< rows read again beyond each side of a partition
  int lanes = 1;                  ///< partitions per tile
  int items = 0;                  ///< work-items of a work-group; 0: tiles are swept by vectors of lanes
  int item_rows = 0;              ///< rows of a work-item; 0: as above
  int run_tiles = 1;              ///< tiles of a partition, or of a run through all lines
  int runs = 1;                   ///< work-groups; each takes a run of consecutive tiles
  bool narrow = false;            ///< bands or factors are floats beside vectors of doubles
  Index chunk_tiles = 0;          ///< tiles per chunk: what one launch covers, at most what one allocation may hold
  double idle = 1;                ///< time against that of full lanes on all cores
  const char* made_by = nullptr;  ///< the name of its scheme
  /// What only some schemes know of their plans, in structs of their own (core/geometry.hpp and the schemes' files): at
  /// most one of each type, see as().
  std::vector<std::any> geometry = {};

  /// The struct of type G; null if there is none.
  template <typename G>
  const G* find() const {
    for (const std::any& of : geometry) {
      if (const G* found = std::any_cast<G>(&of)) return found;
    }
    return nullptr;
  }
  template <typename G>
  bool has() const {
    return find<G>() != nullptr;
  }
  /// The struct of type G.
  /// @throws std::bad_any_cast if there is none
  template <typename G>
  const G& as() const {
    if (const G* found = find<G>()) return *found;
    throw std::bad_any_cast();
  }
  template <typename G>
  G& as() {
    return const_cast<G&>(std::as_const(*this).template as<G>());
  }
  /// Give the plan such a struct, in the place of one of that type.
  template <typename G>
  G& add(G of = {}) {
    if (has<G>()) return as<G>() = std::move(of);
    return std::any_cast<G&>(geometry.emplace_back(std::move(of)));
  }
  OCLSPKT_API Cut cut() const;
  Index partitions() const { return m > 0 ? quotient_up(n, m) : 0; }
  Index tiles() const { return lanes > 0 ? quotient_up(partitions(), lanes) : 0; }
  Index tile_rows() const { return m * lanes; }
  bool by_groups() const { return items > 0; }
  /// Rows that a work-group holds at once.
  Index group_rows() const { return static_cast<Index>(items) * item_rows; }
  /// The multiplier, or lower coupling, of a row is the coupling of the row above it, and is not kept.
  bool symmetric() const { return form == Form::symmetric; }
  /// Bytes of a stored factor. @param word  of the vectors
  int factor_word(int word) const { return narrow ? static_cast<int>(sizeof(float)) : word; }
  /// Rows that are swept for one that is solved.
  double overlap() const;
  /// Words read and written per row by one apply.
  double words_per_row() const;
};

/// Choose partitions, runs and chunks.
/// @param n         rows
/// @param halo      rows of halo the certificate asks for (0 for the exact methods)
/// @param partition rows per partition asked for by the user, of a work-item (at most 32) where the plan is by
///                  work-groups; 0: chosen
/// @param word      bytes per scalar
/// @throws InvalidInput if `partition` is negative or the chunk limit does not hold one tile; by work-groups if
///                  none holds the halo
OCLSPKT_API Plan make_plan(Method method, Index n, Index halo, Index partition, int word, const DeviceTraits& traits);

/// Plan truncated-streamed by work-groups and stored factors, for lines laid end to end: a work-group streams the tiles
/// of a run, which is truncated `reach` rows away from it.
/// @param reach     rows, at most longest_reach()
/// @param partition rows of a work-item asked for by the user, at most 32; 0: chosen
/// @throws InvalidInput if `partition` is negative, `reach` too long or the chunk limit does not hold one run
OCLSPKT_API Plan make_run_plan(Index n, Index reach, Index partition, int word, const DeviceTraits& traits);

/// The same for lines of equal length, each of them a run, whose tiles it fills.
/// @param form   general or symmetric, which the plans have then; by it shapes are faster or slower
/// @return the fastest first; none where no shape fits, a tile holds a line, or the last turn of work-groups leaves
///         too much of the device idle
OCLSPKT_API std::vector<Plan> make_line_runs_plans(Index n, Index length, Form form, int word,
                                                   const DeviceTraits& traits);

/// Cut the runs of such a plan, unless they are lines, for the form that it has got.
OCLSPKT_API void cut_runs_anew(Plan& plan, int word, const DeviceTraits& traits);

/// Let the runs of such a plan have the same bits of what they share, see joins_runs(), if they share anything.
OCLSPKT_API void join_runs(Plan& plan, int word, const DeviceTraits& traits);

/// The same, and let them correct what their work-items differ by, see StoredFactors::corrects.
OCLSPKT_API void correct_runs(Plan& plan, int word, const DeviceTraits& traits);

/// Work-groups of make_run_plan() that a core is to have at a time; compilers are told where they take it.
/// @param word  bytes of a scalar
OCLSPKT_API Index runs_of_core(const Plan& plan, int word);

/// Rows of a tile, which is as far as a run can reach.
OCLSPKT_API Index longest_reach(Index partition, int word, const DeviceTraits& traits);

/// Share the stored factors of lines that are all alike, of which those of one are kept.
/// @param plan   by make_run_plan(), of lines of `length` rows
/// @return false, and plan as it was, where a line would not stay in the cache or its rows do not fill vectors
OCLSPKT_API bool share_line(Plan& plan, Index length, int word);

/// Let work-groups keep the stored factors of their rows, and go through many tiles with them: keeps_factors().
/// @param plan   truncated-halo by work-groups, of lines that share_line() shares; a halo is one of stored factors
/// @return false, and plan as it was, where a work-group of the device holds neither whole lines nor a good part of one
///         with its halos, or too little beside it
OCLSPKT_API bool keep_factors(Plan& plan, Index length, int word, const DeviceTraits& traits);

/// Let the couplings that work-groups keep be the multipliers, which takes fewer registers: in double. Parts of lines
/// then keep products of their scan in local memory, if it has room for them, and a core holds a work-group more.
/// @param plan   keeps_factors(), of lines that are symmetric to the bit
OCLSPKT_API void make_factors_symmetric(Plan& plan, Index length, int word, const DeviceTraits& traits);

/// Rows of every line; 0 where they differ, or there are none.
OCLSPKT_API Index equal_length(const LineSet& lines);

/// Keep the bands, or stored factors, of a plan by work-groups as floats beside vectors of doubles.
/// @return false, and plan as it was, where tiles and halos do not begin and end with whole vectors of floats, as where
///         lines of odd length fill tiles, or what is shared stays in the cache
OCLSPKT_API bool keep_narrow(Plan& plan);

/// Plan exact-twopass by work-groups, for lines laid end to end: tiles are reduced to their first and last rows, and
/// those in turn.
/// @param partition as for make_run_plan
/// @param form  symmetric or general
/// @post chunk_tiles is 0 if the memory does not hold all rows at once
/// @throws InvalidInput if `partition` is negative
OCLSPKT_API Plan make_reduce_plan(Index n, Index partition, int word, const DeviceTraits& traits,
                                  Form form = Form::general);

/// Let the work-items of a tile couple with no more of their neighbours than the halo's rows, which is enough where
/// every row decays as the halo asks for; without it they couple with all. Does nothing to other plans.
OCLSPKT_API void couple_within_halo(Plan& plan);

/// Rows of the longest halo with which truncated-halo still solves more rows than it only reads; unlimited but for
/// plans by work-groups, whose tiles are no longer than their work-items hold.
OCLSPKT_API Index longest_halo(Index partition, int word, const DeviceTraits& traits);

/// Rows of a partition that holds whole lines laid end to end, so that truncated-halo truncates nothing with no halo; 0
/// where lines differ in length, a partition would not stay in the cache or in the memory, or cores would be idle.
OCLSPKT_API Index partition_of_whole_lines(const LineSet& lines, int word, const DeviceTraits& traits);

/// Plan truncated-halo for lines laid end to end.
/// @param partition  as partition_of_whole_lines() gave it
OCLSPKT_API Plan make_whole_lines_plan(const LineSet& lines, Index partition, int word, const DeviceTraits& traits);

/// Plan truncated-halo for lines laid end to end on a device whose registers hold a row of a tile: its partitions
/// solve one interface system, no row is swept twice, and what is truncated is a tile away (JoinedPartitions).
/// @param halo  rows that the certificate asks for
/// @return false, and plan as it was, where the device, the halo or the memory do not suit
OCLSPKT_API bool stream_tiles(Plan& plan, Index halo, int word, const DeviceTraits& traits);

/// Say how many rows what enters a partition of a stored plan gets to, at least: whole blocks of `lanes` rows.
OCLSPKT_API void reach_rows(Plan& plan, Index rows);

/// Plan truncated-streamed by stored factors, for lines laid end to end.
/// @param reach     rows that what enters a partition gets to, see reach_rows() and certify_stored(); 0: all of them
/// @param partition rows per partition asked for by the user, rounded up to whole lanes; 0: chosen
/// @throws InvalidInput if `partition` is negative or the chunk limit does not hold three tiles
OCLSPKT_API Plan make_stored_plan(Index n, Index reach, Index partition, int word, const DeviceTraits& traits);

/// Plan exact-factored for lines laid end to end on a device: tiles of stored factors, swept by two work-groups from
/// both ends of the system to the tile where they meet.
/// @param partition as for make_stored_plan
/// @post chunk_tiles is 0 if the memory does not hold all rows at once
/// @throws InvalidInput if `partition` is negative
OCLSPKT_API Plan make_twisted_plan(Index n, Index partition, int word, const DeviceTraits& traits);

/// Share the stored factors of lines that are all alike: those of the fewest tiles that hold whole lines serve the
/// others, if they stay in the cache. A partition that nobody asked for gets another length where one tile then does.
/// @param plan   by make_stored_plan(), of any number of lines of `length` rows
/// @param choose the partition is free to change
/// @return false, and plan as it was, where nothing is to be gained
OCLSPKT_API bool share_lines(Plan& plan, Index length, bool choose, int word, const DeviceTraits& traits);

/// The longest partition that is no longer than that of a plan and whose tiles fill lines of `length` rows; 0 if there
/// is none.
OCLSPKT_API Index partition_that_fills(Index length, const Plan& plan);

/// Share the stored factors of a line whose rows are alike but for the first and the last: a tile between them serves
/// all between them, and those of a line serve all lines.
/// @param length  rows of a line, plan.n if it is the only one
/// @return false, and plan as it was, where tiles do not fill lines, are too few, or the pivots of the first still
///         change
OCLSPKT_API bool share_rows(Plan& plan, Index length);

/// Let the couplings of a symmetric matrix be its multipliers.
/// @return false, and plan as it was, where the memory does not hold one row more of three tiles
OCLSPKT_API bool make_symmetric(Plan& plan, int word, const DeviceTraits& traits);

/// Plan exact-factored: bundles for lines side by side, by work-groups where the device has kernels for GPUs, else line
/// by line.
/// @param form shared or general
/// @post chunk_blocks is 0 if the lines are beside() and the memory does not hold one block
OCLSPKT_API Plan make_factored_plan(const LineSet& lines, Form form, int word, const DeviceTraits& traits);

/// Blocks of side-by-side lines in one chunk; 0 if none fits. Blocks that interleave are not told apart.
/// @param window words that the work-groups keep
Index choose_chunk_blocks(const LineSet& lines, Index window, int word, const DeviceTraits& traits);

/// Plan truncated-halo for lines side by side: every line cut into segments, so that few long lines keep all cores
/// busy.
/// @param halo      rows of halo the certificate asks for
/// @param partition rows per segment asked for by the user; 0: chosen
/// @pre   lines.beside()
/// @post  chunk_blocks is 0 if the memory does not hold one block
/// @throws InvalidInput if `partition` is negative
OCLSPKT_API Plan make_strided_halo_plan(const LineSet& lines, Index halo, Index partition, int word,
                                        const DeviceTraits& traits);

}  // namespace oclspkt
