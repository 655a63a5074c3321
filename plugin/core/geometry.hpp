// SPDX-License-Identifier: BSD-2-Clause
// What plans hold beside what every plan has, see Plan::as(): a struct for each thing that several schemes share.
#pragma once

#include "plan.hpp"

namespace oclspkt {

/// Lines side by side: bundle k of a block holds its lines from k*lines on, the last bundle all that are left; segment
/// k of a line holds its rows [k*m, min(length, (k+1)*m)).
struct Beside {
  Index segments = 0;      ///< of a line; 0: lines are not cut, whatever their length
  Index bundle = 1;        ///< lines that are swept together
  Index bundles = 1;       ///< of a block
  Index window = 0;        ///< words of a work-group: a row carried, and every row that is swept
  Index chunk_blocks = 0;  ///< blocks per chunk; 0: the memory does not hold one
  bool windowed = false;   ///< what the sweep down leaves is still in the cache for the way back
};

/// Whole lines, side by side or one after the other, by factors in the order of the rows.
struct FactoredLines {
  bool through_x = false;  ///< the sweep down leaves its values in x and not in a window
  bool resident = false;   ///< factors that all lines share stay in the cache
};

/// Factors of lines laid end to end that are stored: in the order of the lanes where there are some
/// (core/interleaved_factors), else in that of the rows.
struct StoredFactors {
  Index reach = 0;        ///< rows of a partition that what enters it gets to, a multiple of lanes; m: all of them
  Index lead_in = -1;     ///< rows above a partition from which its pivots come out right; -1: a line's first row
  bool corrects = false;  ///< what partitions, or work-items, differ by where they meet is found, passed on and taken
                          ///< off, so that rounding does not grow; by work-groups a halo is a tile then
};

/// Partitions of truncated-halo that solve the equations between them: nothing is read again, what is truncated is a
/// tile away.
struct JoinedPartitions {};

/// A system that is eliminated from both its ends to a tile.
struct Sides {
  Index meeting = 0;  ///< tile from which on rows are eliminated up, those before it down
};

/// The scan of a work-group: work-items know of those up to 2^steps away, or 4^steps where factors are kept.
struct Scan {
  int steps = 0;
};

/// Work-groups that keep the factors of their rows, and go through many tiles with them.
struct KeptTiles {
  int item_tiles = 1;           ///< tiles that a work-item solves at once
  bool symmetric = false;       ///< the couplings of the line are its multipliers
  bool tells_products = false;  ///< products of the scan are in local memory, not in registers
};

/// What is left of tiles is a system of its own, level by level.
struct Levels {
  int items = 0;  ///< work-items of a work-group of the levels above the first
};

/// Segments of a line; 0: lines are laid end to end, or not cut.
inline Index segments_of(const Plan& plan) { return plan.has<Beside>() ? plan.as<Beside>().segments : 0; }

/// truncated-halo by stored factors of lines that are all alike, which work-groups keep from tile to tile
/// (kernels/gpu/tile_shared.cl); there are `runs` work-groups. Without a halo tiles hold whole lines, with one they are
/// parts of a line, `m` rows each, and `runs` a multiple of those of a line unless every tile has a work-group.
inline bool keeps_factors(const Plan& plan) { return plan.has<KeptTiles>(); }

/// Truncated-streamed by work-groups: a run is a line, so that nothing is swept for its neighbours, and lines of two
/// tiles truncate nothing.
inline bool runs_are_lines(const Plan& plan) {
  return plan.has<StoredFactors>() && plan.method == Method::truncated_streamed && plan.halo == 0 &&
         plan.m == plan.run_tiles * plan.group_rows();
}

/// Truncated-streamed by work-groups: what a run has of its neighbours' rows has the same bits there, as these are a
/// tile.
inline bool joins_runs(const Plan& plan) { return plan.halo > 0 && plan.halo == plan.group_rows(); }

/// exact-twopass by work-groups: tiles are reduced to their last rows, and those in turn; nothing is stored.
inline bool reduces_tiles(const Plan& plan) { return plan.has<Levels>(); }

/// exact-twopass by partitions, what is left of them being solved on the host.
inline bool by_partitions(const Plan& plan) { return plan.method == Method::exact_twopass && !plan.by_groups(); }

/// The tiles, or rows, of a plan that stand for all others; none where no two are known to be alike.
inline SharedTiles shared_tiles(const Plan& plan) {
  const SharedTiles* shared = plan.find<SharedTiles>();
  return shared != nullptr ? *shared : SharedTiles{};
}

/// Stored factors: tiles that have some of their own.
inline Index factor_tiles(const Plan& plan) {
  if (plan.form != Form::shared) return plan.tiles();
  const SharedTiles shared = shared_tiles(plan);
  return shared.head + shared.period + shared.all - shared.tail;
}

/// Stored factors: words of each array of them a tile. Symmetric couplings begin with the multipliers of the first
/// rows.
inline Index factor_words(const Plan& plan) { return (plan.m + (plan.symmetric() ? 1 : 0)) * plan.lanes; }

/// Where stored factors in the order of the lanes lie.
inline StoredPlaces places_by_tiles(const Plan& plan) {
  return {plan.form == Form::shared ? factor_tiles(plan) * factor_words(plan) : 0, factor_words(plan)};
}

/// Stored factors: what enters a partition gets through it.
inline bool passes(const Plan& plan) { return plan.as<StoredFactors>().reach >= plan.m; }

/// Exact-factored, swept from both ends of the system to a tile.
inline bool twisted(const Plan& plan) { return plan.has<Sides>(); }

}  // namespace oclspkt
