// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "schemes/part.hpp"

namespace oclspkt::ocl {

/// What launches by lanes over bands need: numbers one by one, and scratch by vectors.
template <typename T>
struct LaneNeeds {
  LaneNeeds(const Site& site, const Tiles& tiles)
      : lower{"lower", &tiles.bands.lower, array(tiles), sizeof(T)},
        diag{"diag", &tiles.bands.diag, array(tiles), sizeof(T)},
        upper{"upper", &tiles.bands.upper, array(tiles), sizeof(T)},
        y{"y", &tiles.y, array(tiles), sizeof(T)},
        x{"x", &tiles.x, array(tiles), sizeof(T)},
        scratch(scratch_of(site)) {}

  static std::int64_t array(const Tiles& tiles) { return tiles.chunk.rows() * static_cast<Index>(sizeof(T)); }
  static BufferNeed scratch_of(const Site& site) {
    return {"scratch", &site.scratch, site.layout.scratch_bytes, sizeof(T) * size(site.plan.lanes)};
  }

  /// A buffer of a number a row.
  BufferNeed as_x(const char* name, const Buffer& buffer) const { return {name, &buffer, x.bytes, x.alignment}; }

  BufferNeed lower, diag, upper, y, x, scratch;
};

/// Vectors of scratch where partitions and what is read beside them are swept both ways, two numbers a row.
inline Index swept_both_ways(const Plan& plan) {
  const Cut cut = plan.cut();
  return plan.lanes + 2 * (cut.before + plan.m + cut.behind);
}

/// Bytes that a pass over all rows leaves, in whole tiles.
inline std::int64_t swept_bytes(const Plan& plan, Index word) { return plan.tiles() * plan.tile_rows() * word; }

/// Rows and tiles of a launch as kernels take them.
struct LaneCounts {
  LaneCounts(const Site& site, const Chunk& chunk)
      : n{site.plan.n},
        first{chunk.first},
        begin{chunk.tile_begin},
        end{chunk.tile_end},
        m{static_cast<Int>(site.plan.m)},
        halo{static_cast<Int>(site.plan.halo)},
        slot{static_cast<Int>(site.layout.slot)} {}
  Long n, first, begin, end;
  Int m, halo, slot;
};

}  // namespace oclspkt::ocl
