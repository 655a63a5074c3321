// SPDX-License-Identifier: BSD-2-Clause
// What the makers of plans share; none of it is for others.
#pragma once

#include <algorithm>

#include "plan.hpp"

namespace oclspkt {

/// Partitions shorter than this spend their time on starts and interfaces.
inline constexpr Index kShortPartition = 64;
/// Words a row that a tile keeps between its two sweeps.
inline constexpr Index kScratchWords = 2;
/// Runs per core, so that a core that is late does not hold up the others.
inline constexpr Index kRunsPerCore = 4;

/// Partitions of a tile by lanes of lines laid end to end.
inline int lanes_of_tile(const DeviceTraits& traits) { return std::max({1, traits.lanes, traits.tile_lanes}); }

/// @throws InvalidInput if it is negative
void check_partition(Index partition);

/// Words of an array of a chunk: five, with what stands on either side, share the memory, and each is an allocation of
/// its own.
std::int64_t chunk_words(int word, const DeviceTraits& traits);

/// Choose chunk_tiles of a plan that is complete but for that.
/// @throws InvalidInput if the chunk limit does not hold one tile
void cut_into_chunks(Plan& plan, int word, const DeviceTraits& traits);

/// Work-groups for all cores that share so many tiles, or pieces of lines side by side.
void take_runs(Plan& plan, Index pieces, const DeviceTraits& traits);

/// Blocks of side-by-side lines in one chunk; 0 if none fits. Blocks that interleave are not told apart.
/// @param window words that the work-groups keep
Index choose_chunk_blocks(const LineSet& lines, Index window, int word, const DeviceTraits& traits);

}  // namespace oclspkt
