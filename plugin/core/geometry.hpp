// SPDX-License-Identifier: BSD-2-Clause
// Structs that plans of several families of schemes hold in addition to Plan's members, see Plan::as().
#pragma once

#include "plan.hpp"
#include "tuning.hpp"

namespace oclspkt {

/// How blocks of lines side by side (LineSet::beside()) are divided. Bundle k of a block begins with its line k*bundle;
/// the last bundle holds the remaining lines. Segment k of a line holds rows [k*m, min(length, (k+1)*m)).
struct Beside {
  Index segments = 0;      ///< segments of a line; 0: lines are not cut, whatever their length
  Index bundle = 1;        ///< lines that are swept together
  Index bundles = 1;       ///< bundles of a block
  Index window = 0;        ///< words of a work-group: one row of carried values, and the rows of a sweep
  Index chunk_blocks = 0;  ///< blocks per chunk; 0: a block does not fit into the memory
  bool windowed = false;   ///< the sweep up finds the results of the sweep down in the cache
};

/// Stored factors of lines laid end to end. Plans with lanes store them in the order of the lanes
/// (schemes/lanes/interleaved_factors), other plans in the order of the rows.
struct StoredFactors {
  Index reach = 0;  ///< how many rows of a partition depend on the unknown above it, a multiple of lanes; plan.m: all
  Index lead_in = -1;  ///< rows above a partition at which elimination begins, so that its pivots converge; -1: at the
                       ///< line's first row
  bool corrects = false;  ///< true: two neighbours (partitions or work-items) both compute the result of
                          ///< the row above their joint; kernels subtract the difference, so that
                          ///< rounding does not grow. The halo of a work-group is then a tile
};

/// Which tiles have factors in common. The pattern repeats every `all` tiles. Its first `head` tiles, and its tiles
/// from `tail` on, have factors of their own. The tiles between them repeat the factors of `period` tiles. Plans for
/// work-groups count rows instead of tiles.
struct SharedTiles {
  Index head = 0, period = 0, tail = 0, all = 0;
};

/// The shared tiles of a plan; all members are 0 if the plan shares none.
inline SharedTiles shared_tiles(const Plan& plan) {
  const SharedTiles* shared = plan.find<SharedTiles>();
  return shared != nullptr ? *shared : SharedTiles{};
}

/// The measured figures of a plan's device, for use after the plan is made.
struct PlanFigures {
  const Tuning* of;
};

/// Add the measured figures of the device to a plan, if the device has any.
inline void keep_figures(const DeviceTraits& traits, Plan& plan) {
  if (traits.figures != nullptr) plan.add(PlanFigures{traits.figures});
}

/// The figures that keep_figures() added to the plan, else the built-in figures.
inline const Tuning& figures_of(const Plan& plan) {
  const PlanFigures* const kept = plan.find<PlanFigures>();
  return kept != nullptr ? *kept->of : Tuning::built_in();
}

}  // namespace oclspkt
