// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "geometry.hpp"
#include "oclspkt/line_set.hpp"
#include "plan.hpp"

namespace oclspkt::ocl {

/// A count that is not negative, as OpenCL and containers want it.
inline std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

/// The tiles of one launch and the rows they need; for lines side by side their blocks and the places they cover.
struct Chunk {
  Index tile_begin = 0, tile_end = 0;
  Index first = 0, end = 0;            ///< rows that must be there
  Index kept_first = 0, kept_end = 0;  ///< rows that are solved
  /// Lines laid end to end: tiles that the buffers were made for. Those of the launch, or more where it takes a part.
  Index held_begin = 0, held_end = 0;
  Index rows() const { return end - first; }
};

/// What a device's memory allows, in bytes.
struct Limits {
  std::int64_t allocation = INT64_MAX;  ///< one buffer
  std::int64_t memory = INT64_MAX;      ///< all buffers
  Index alignment = 1;  ///< rows: chunks of lines laid end to end begin at multiples of it, as parts of a buffer must
  Index chunk = INT64_MAX;  ///< rows of a chunk; one that needs all rows at once has more
};

/// How a plan lies in the memory of a device.
struct Layout {
  std::vector<Chunk> chunks;
  std::vector<Chunk> band_chunks;  ///< places of the bands that go with each chunk; one for all of them if it is shared
  Index longest = 0;               ///< rows of the largest chunk
  int runs = 1;                    ///< work-groups of a launch, at most
  Index slot = 0;                  ///< vectors of scratch a work-group
  Index chunk_tiles = 0;           ///< tiles of a chunk, at most
  bool resident = true;            ///< the bands of all chunks fit at once
  std::int64_t scratch_bytes = 0;
  std::int64_t own_bytes = 0;  ///< what the scheme has beside that
};

/// A chunk cut into parts that come to the device, are solved and leave it at once: while the solution of one goes
/// back, the next are solved and later ones still come.
struct Pieces {
  struct Up {
    Index first, end;  ///< rows
  };
  struct Launch {
    Chunk tiles;      ///< in the buffers of the whole chunk
    std::size_t ups;  ///< must have come before
  };
  struct Down {
    Index first, end;      ///< rows
    std::size_t launches;  ///< must have been made before
  };
  std::vector<Up> ups;  ///< all rows of the chunk, in order
  std::vector<Launch> launches;
  std::vector<Down> downs;  ///< all that are solved
};

/// Where the stored factors of a chunk of tiles stand: whole tiles, one more on either side, also where the last one
/// reaches beyond the system; all that there are where tiles share them.
Chunk places_of_factors(const Plan& plan, Chunk chunk);

/// Cut a plan into chunks of at most plan.chunk_tiles tiles so that all buffers of a chunk stay within the limits.
/// @param word  bytes per scalar
/// @throws InvalidInput if not even one tile fits, or a partition is too long for the kernels' counters
Layout make_layout(const Plan& plan, int word, const Limits& limits);

/// Cut a chunk of a layout. Launches are those of whole tiles, about as long as the pieces.
/// @param rows   of a piece, at most
/// @param whole  one launch takes the chunk; for lines side by side, whose tiles are blocks, it always is
Pieces make_pieces(const Plan& plan, const Chunk& chunk, Index rows, bool whole);

/// Rows [0, n) that come to the device or leave it, and nothing that is launched.
/// @param rows  of a piece, at most
void make_pieces(Pieces& pieces, Index n, Index rows, bool up, bool down);

/// Cut the blocks of lines side by side into chunks of at most Cut::blocks. Stored factors take the
/// bands' places.
/// @throws InvalidInput if not even one block fits
Layout make_strided_layout(const Plan& plan, const LineSet& lines, int word, const Limits& limits);

}  // namespace oclspkt::ocl
