// SPDX-License-Identifier: BSD-2-Clause
// Constants and functions that only the makers of plans share.
#pragma once

#include <algorithm>

#include "plan.hpp"

namespace oclspkt {

/// The fewest rows of a partition. Shorter partitions spend most of their time on starts and interfaces.
inline constexpr Index kShortPartition = 64;
/// Words that a tile keeps for each row between its two sweeps.
inline constexpr Index kScratchWords = 2;
/// Runs per core. With several runs, one slow core does not delay the other cores.
inline constexpr Index kRunsPerCore = 4;

/// Partitions of a tile, for lines laid end to end in lanes.
inline int lanes_of_tile(const DeviceTraits& traits) { return std::max({1, traits.lanes, traits.tile_lanes}); }

/// @throws InvalidInput if `partition` is negative
void check_partition(Index partition);

/// The most words of a chunk's array, halos included. Five arrays share the memory, each as a single allocation.
std::int64_t chunk_words(int word, const DeviceTraits& traits);

/// Set chunk_tiles of a plan whose other members are set.
/// @throws InvalidInput if a tile exceeds the chunk limit
void cut_into_chunks(Plan& plan, int word, const DeviceTraits& traits);

/// Set the number of runs so that every core has work.
/// @param pieces  tiles, or pieces of lines side by side
void take_runs(Plan& plan, Index pieces, const DeviceTraits& traits);

/// How many blocks of lines side by side a chunk holds; may be 0. Interleaved blocks must all fit into one chunk.
/// @param window words that the work-groups keep
Index choose_chunk_blocks(const LineSet& lines, Index window, int word, const DeviceTraits& traits);

}  // namespace oclspkt
