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

/// Converts a non-negative count to the type of OpenCL and of containers.
inline std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

/// The tiles of a launch and the rows that they need. For lines side by side: blocks and the elements that they cover.
struct Chunk {
  Index tile_begin = 0, tile_end = 0;
  Index first = 0, end = 0;            ///< rows that the launch needs
  Index kept_first = 0, kept_end = 0;  ///< rows that the launch solves
  /// For lines end to end: tiles that the buffers hold, also if the launch takes only a part of the chunk.
  Index held_begin = 0, held_end = 0;
  Index rows() const { return end - first; }
};

/// Limits of a device's memory, in bytes unless stated.
struct Limits {
  std::int64_t allocation = INT64_MAX;  ///< the most bytes of one buffer
  std::int64_t memory = INT64_MAX;      ///< the most bytes of all buffers together
  Index alignment = 1;                  ///< chunks of lines end to end begin at multiples of so many rows
  Index chunk = INT64_MAX;              ///< most rows of a chunk, unless it needs all rows at once
};

/// Properties of a scheme's kernels, and its memory needs besides bands and vectors, for chunks of one size.
struct Needs {
  Index slot = 1;            ///< scratch of a work-group, in vectors of Plan::lanes numbers
  std::int64_t largest = 0;  ///< bytes of the scheme's largest buffer
  std::int64_t all = 0;      ///< bytes of all the scheme's buffers
  int arrays = 5;            ///< arrays of a chunk with one number for each row: three bands, y and x
  int passes = 1;            ///< passes over all tiles; only the last pass writes x
  Index block_rows = 1;      ///< rows of a block; kernels access whole blocks, so buffers hold whole blocks
  bool begins_show = false;  ///< the bits of the solution depend on where launches begin
};

/// The layout of a plan in the memory of a device.
struct Layout {
  std::vector<Chunk> chunks;
  std::vector<Chunk> band_chunks;  ///< elements of the bands for each chunk; one entry if all chunks share bands
  Index longest = 0;               ///< rows of the largest chunk
  int runs = 1;                    ///< most work-groups of a launch
  Index chunk_tiles = 0;           ///< most tiles of a chunk
  bool resident = true;            ///< the bands of all chunks fit at once
  std::int64_t scratch_bytes = 0;
  Needs needs;
};

/// A chunk cut into pieces, because transfers and kernels then overlap. While the host receives the solution of one
/// piece, the device solves the next piece and receives a third piece.
struct Pieces {
  struct Up {
    Index first, end;  ///< rows
  };
  struct Launch {
    Chunk tiles;      ///< tiles of the launch; buffers hold the whole chunk
    std::size_t ups;  ///< the launch waits for the first `ups` entries of Pieces::ups
  };
  struct Down {
    Index first, end;      ///< rows
    std::size_t launches;  ///< the transfer waits for the first `launches` entries of Pieces::launches
  };
  std::vector<Up> ups;  ///< all rows of the chunk, in order
  std::vector<Launch> launches;
  std::vector<Down> downs;  ///< all rows that the launches solve
};

/// Returns the elements of the stored factors that a chunk needs: its tiles and one more tile on either side. If tiles
/// share factors, a chunk needs all elements. The last tile counts as a whole, even if the system ends inside it.
Chunk places_of_factors(const Plan& plan, Chunk chunk);

/// Check that a device has kernels for a plan, and that the plan is for these lines and this device.
/// @param word  bytes of a scalar
/// @throws InvalidInput that names the cure
void check_plan(const FoundDevice& found, const DeviceSettings& settings, const Plan& plan, const LineSet& lines,
                std::size_t word);

/// Cut a plan into chunks of at most plan.chunk_tiles tiles. All buffers of a chunk stay within the limits.
/// @param word  bytes of a scalar
/// @throws InvalidInput if no tile fits, or if a partition is too long for the kernels' counters
Layout make_layout(const Plan& plan, int word, const Limits& limits);

/// Cut a chunk of a layout. Launches take whole tiles, and are about as long as the pieces.
/// @param rows   most rows of a piece
/// @param whole  one launch takes the whole chunk; always true for lines side by side
Pieces make_pieces(const Plan& plan, const Chunk& chunk, Index rows, bool whole);

/// Cut rows [0, n) into pieces for transfers without launches.
/// @param rows  most rows of a piece
/// @param up    make pieces that go to the device
/// @param down  make pieces that go to the host
void make_pieces(Pieces& pieces, Index n, Index rows, bool up, bool down);

/// Cut the blocks of lines side by side into chunks of at most Cut::blocks. Stored factors have the layout of bands.
/// @throws InvalidInput if no block fits
Layout make_strided_layout(const Plan& plan, const LineSet& lines, int word, const Limits& limits);

}  // namespace oclspkt::ocl
