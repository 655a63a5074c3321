// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device.hpp"
#include "discovery.hpp"
#include "oclspkt/line_set.hpp"
#include "plan.hpp"

namespace oclspkt::ocl {

/// A non-negative count, in the type of OpenCL and of containers.
inline std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

/// The tiles of one launch and the rows they need; for lines side by side, blocks and the places they cover.
struct Chunk {
  Index tile_begin = 0, tile_end = 0;
  Index first = 0, end = 0;            ///< rows that the launch needs
  Index kept_first = 0, kept_end = 0;  ///< rows that the launch solves
  /// For lines end to end: tiles that the buffers were made for, more than the launch's if it takes a part of a chunk.
  Index held_begin = 0, held_end = 0;
  Index rows() const { return end - first; }
};

/// Limits of a device's memory, in bytes.
struct Limits {
  std::int64_t allocation = INT64_MAX;  ///< one buffer
  std::int64_t memory = INT64_MAX;      ///< all buffers
  Index alignment = 1;  ///< rows: chunks of lines laid end to end begin at multiples of it, as parts of a buffer must
  Index chunk = INT64_MAX;  ///< rows of a chunk; one that needs all rows at once has more
};

/// What a scheme needs on a device beside bands and vectors, for chunks of so many tiles, and how its kernels work.
struct Needs {
  Index slot = 1;            ///< vectors of scratch of a work-group
  std::int64_t largest = 0;  ///< bytes of the largest buffer of its own
  std::int64_t all = 0;      ///< bytes of all of them
  int arrays = 5;            ///< of a number a row that a chunk has: three bands, y and x
  int passes = 1;            ///< over all tiles; only the last one writes x
  Index block_rows = 1;      ///< kernels read and write blocks of so many rows, so buffers hold whole ones
  bool begins_show = false;  ///< where a launch begins shows in the bits of the solution
};

/// How a plan lies in the memory of a device.
struct Layout {
  std::vector<Chunk> chunks;
  std::vector<Chunk> band_chunks;  ///< places of the bands for each chunk; one for all chunks if they share bands
  Index longest = 0;               ///< rows of the largest chunk
  int runs = 1;                    ///< most work-groups of a launch
  Index chunk_tiles = 0;           ///< most tiles of a chunk
  bool resident = true;            ///< the bands of all chunks fit at once
  std::int64_t scratch_bytes = 0;
  Needs needs;
};

/// A chunk cut into pieces, so that transfers and kernels overlap. While the solution of one piece goes back, the next
/// ones are solved and later ones still arrive.
struct Pieces {
  struct Up {
    Index first, end;  ///< rows
  };
  struct Launch {
    Chunk tiles;      ///< in the buffers of the whole chunk
    std::size_t ups;  ///< transfers of `ups` that must have arrived before
  };
  struct Down {
    Index first, end;      ///< rows
    std::size_t launches;  ///< how many of `launches` must have been made before
  };
  std::vector<Up> ups;  ///< all rows of the chunk, in order
  std::vector<Launch> launches;
  std::vector<Down> downs;  ///< all rows that are solved
};

/// Where the stored factors of a chunk of tiles are: whole tiles, one more on either side, even if the last one reaches
/// beyond the system. If tiles share factors, all of them.
Chunk places_of_factors(const Plan& plan, Chunk chunk);

/// Check that a device has kernels for a plan, and that the plan is for these lines and this device.
/// @param word  bytes of a scalar
/// @throws InvalidInput that says what to do
void check_plan(const FoundDevice& found, const DeviceSettings& settings, const Plan& plan, const LineSet& lines,
                std::size_t word);

/// Cut a plan into chunks of at most plan.chunk_tiles tiles so that all buffers of a chunk stay within the limits.
/// @param word  bytes per scalar
/// @throws InvalidInput if not even one tile fits, or a partition is too long for the kernels' counters
Layout make_layout(const Plan& plan, int word, const Limits& limits);

/// Cut a chunk of a layout. Launches take whole tiles, and are about as long as the pieces.
/// @param rows   most rows of a piece
/// @param whole  one launch takes the chunk, as always for lines side by side, whose tiles are blocks
Pieces make_pieces(const Plan& plan, const Chunk& chunk, Index rows, bool whole);

/// Cut rows [0, n) into pieces that go to the device or leave it, without launches.
/// @param rows  most rows of a piece
void make_pieces(Pieces& pieces, Index n, Index rows, bool up, bool down);

/// Cut the blocks of lines side by side into chunks of at most Cut::blocks. Stored factors are in the bands' places.
/// @throws InvalidInput if not even one block fits
Layout make_strided_layout(const Plan& plan, const LineSet& lines, int word, const Limits& limits);

}  // namespace oclspkt::ocl
