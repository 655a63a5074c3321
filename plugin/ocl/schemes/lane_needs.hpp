// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "schemes/worker.hpp"

namespace oclspkt::ocl {

/// Buffers of a launch by lanes over bands. Kernels access arrays number by number, and scratch in vectors of lanes.
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

  /// Returns the need of a buffer with one number for each row.
  BufferNeed as_x(const char* name, const Buffer& buffer) const { return {name, &buffer, x.bytes, x.alignment}; }

  BufferNeed lower, diag, upper, y, x, scratch;
};

/// The rows and tiles of a launch, as arguments of kernels.
struct LaneCounts {
  LaneCounts(const Site& site, const Chunk& chunk)
      : n{site.plan.n},
        first{chunk.first},
        begin{chunk.tile_begin},
        end{chunk.tile_end},
        m{static_cast<Int>(site.plan.m)},
        halo{static_cast<Int>(site.plan.halo)},
        slot{static_cast<Int>(site.layout.needs.slot)} {}
  Long n, first, begin, end;
  Int m, halo, slot;
};

}  // namespace oclspkt::ocl
