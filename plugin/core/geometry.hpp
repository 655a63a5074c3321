// SPDX-License-Identifier: BSD-2-Clause
// Structs that plans of several families hold beside the members of Plan, see
// Plan::as().
#pragma once

#include "plan.hpp"
#include "tuning.hpp"

namespace oclspkt {

/// Lines side by side: bundle k of a block holds its lines from k*lines on, the last bundle the remaining lines;
/// segment k of a line holds its rows [k*m, min(length, (k+1)*m)).
struct Beside {
  Index segments = 0;      ///< of a line; 0: lines are not cut, whatever their length
  Index bundle = 1;        ///< lines that are swept together
  Index bundles = 1;       ///< of a block
  Index window = 0;        ///< words of a work-group: a row carried, and every row that is swept
  Index chunk_blocks = 0;  ///< blocks per chunk; 0: the memory does not hold one
  bool windowed = false;   ///< results of the sweep down are still in the cache when the sweep up reads them
};

/// Factors of lines laid end to end that are stored: in the order of the lanes where there are some
/// (schemes/lanes/interleaved_factors), else in that of the rows.
struct StoredFactors {
  Index reach = 0;     ///< how many rows of a partition depend on the unknown above it, a multiple of lanes; m: all
  Index lead_in = -1;  ///< rows above a partition at which elimination begins, so that its pivots converge; -1: at the
                       ///< line's first row
  bool corrects = false;  ///< what partitions, or work-items, differ by where they meet is found, passed on and taken
                          ///< off, so that rounding does not grow; by work-groups a halo is a tile then
};

/// Tiles that stand for all others, or rows where by work-groups `period` rows do: of `all` tiles, and of the next as
/// many again, the first `head`, `period` tiles behind them that repeat as far as `tail`, and those from `tail` on.
struct SharedTiles {
  Index head = 0, period = 0, tail = 0, all = 0;
};

/// The shared tiles of a plan; all 0 if it shares none.
inline SharedTiles shared_tiles(const Plan& plan) {
  const SharedTiles* shared = plan.find<SharedTiles>();
  return shared != nullptr ? *shared : SharedTiles{};
}

/// Figures that a plan goes on asking when it is made.
struct PlanFigures {
  const Tuning* of;
};

/// Let a plan ask the figures of its device.
inline void keep_figures(const DeviceTraits& traits, Plan& plan) {
  if (traits.figures != nullptr) plan.add(PlanFigures{traits.figures});
}

/// Those of keep_figures(); else the library's.
inline const Tuning& figures_of(const Plan& plan) {
  const PlanFigures* const kept = plan.find<PlanFigures>();
  return kept != nullptr ? *kept->of : Tuning::built_in();
}

}  // namespace oclspkt
