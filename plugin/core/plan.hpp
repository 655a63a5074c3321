// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <any>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "oclspkt/export.hpp"
#include "oclspkt/line_set.hpp"
#include "oclspkt/options.hpp"

namespace oclspkt {

inline Index quotient_up(Index value, Index divisor) { return (value + divisor - 1) / divisor; }
inline Index round_up(Index value, Index multiple) { return quotient_up(value, multiple) * multiple; }

class Tuning;

/// What a plan must know of the device that will run it.
struct DeviceTraits {
  int lanes = 8;                          ///< SIMD lanes of the scalar type in a register
  int tile_lanes = 1;                     ///< partitions of a tile, swept side by side, unless lanes are more
  int cores = 1;                          ///< work-groups that run at once
  std::int64_t cache_bytes = 1 << 20;     ///< second-level cache of a core
  std::int64_t chunk_bytes = INT64_MAX;   ///< largest single allocation
  std::int64_t memory_bytes = INT64_MAX;  ///< all allocations together; INT64_MAX where host memory is shared
  bool host = false;                      ///< the calling thread, no device
  int group_items = 0;                    ///< work-items of a work-group at most, where kernels for GPUs are used
  std::int64_t local_bytes = 0;           ///< local memory of a work-group; kernels for GPUs and FPGAs
  bool unproven = false;                  ///< those kernels run on a device that they are not made for
  bool paper = false;                     ///< the user asks for the kernels of the paper's form
  bool task = false;                      ///< kernels for FPGAs are used: one work-item that streams all rows
  const Tuning* figures = nullptr;        ///< measured for such a device, see figures_of(); null: the library's
};

inline constexpr DeviceTraits kHostTraits{.lanes = 1, .host = true};

/// How lines may be cut into chunks, and those laid end to end into pieces of the pipeline.
struct Cut {
  Index grain;           ///< rows: cuts lie at multiples of it
  Index before, behind;  ///< rows read again beyond the cuts
  bool whole;            ///< all rows at once: nothing may be cut
  Index blocks = 0;      ///< lines side by side: blocks of a chunk at most; 0: the memory does not hold one
};

/// Places of stored arrays that are divided with the chunks of lines laid end to end. By default they are divided as
/// bands are, a number a row.
struct StoredPlaces {
  Index shared = 0;      ///< numbers of each array that serve all chunks; 0: each chunk has its own
  Index tile_words = 0;  ///< numbers of a tile, of which a chunk has one more on either side; 0: as bands
};

/// How the rows of a line set map to work; fixed from set-up to set-up.
///
/// Lines laid end to end: partition k holds rows [k*m, min(n, (k+1)*m)), tile t partitions [t*lanes, (t+1)*lanes).
/// Lines side by side: see Beside (core/geometry.hpp). What the other members mean, and what more a scheme must know,
/// its family's folder says (core/schemes). A value and no abstract class: proposals, rejections and tests copy plans,
/// cut them to first rows and change single numbers; what a plan does is asked of its scheme.
struct Plan {
  Method method = Method::exact_factored;
  Form form = Form::general;
  Index n = 0;                    ///< rows, all lines glued
  Index m = 0;                    ///< rows per partition or segment
  Index halo = 0;                 ///< rows read again beyond each side of a partition
  int lanes = 1;                  ///< partitions per tile
  int items = 0;                  ///< work-items of a work-group; 0: tiles are swept by vectors of lanes
  int item_rows = 0;              ///< rows of a work-item; 0: as above
  int run_tiles = 1;              ///< tiles of a partition, or of a run through all lines
  int runs = 1;                   ///< work-groups; each takes a run of consecutive tiles
  bool narrow = false;            ///< bands or factors are floats beside vectors of doubles
  Index chunk_tiles = 0;          ///< tiles per chunk: what one launch covers, at most what one allocation may hold
  double idle = 1;                ///< time against that of full lanes on all cores
  const char* made_by = nullptr;  ///< the name of its scheme
  /// Structs of single schemes or families, at most one of each type, see as().
  std::vector<std::any> geometry = {};

  /// The struct of type G; null if there is none.
  template <typename G>
  const G* find() const {
    for (const std::any& of : geometry) {
      if (const G* found = std::any_cast<G>(&of)) return found;
    }
    return nullptr;
  }
  template <typename G>
  bool has() const {
    return find<G>() != nullptr;
  }
  /// The struct of type G.
  /// @throws std::bad_any_cast if there is none
  template <typename G>
  const G& as() const {
    if (const G* found = find<G>()) return *found;
    throw std::bad_any_cast();
  }
  template <typename G>
  G& as() {
    return const_cast<G&>(std::as_const(*this).template as<G>());
  }
  /// Give the plan a struct of type G, which replaces one that it has.
  template <typename G>
  G& add(G of = {}) {
    if (has<G>()) return as<G>() = std::move(of);
    return std::any_cast<G&>(geometry.emplace_back(std::move(of)));
  }
  OCLSPKT_API Cut cut() const;
  Index partitions() const { return m > 0 ? quotient_up(n, m) : 0; }
  Index tiles() const { return lanes > 0 ? quotient_up(partitions(), lanes) : 0; }
  Index tile_rows() const { return m * lanes; }
  /// Rows that a work-group holds at once.
  Index group_rows() const { return static_cast<Index>(items) * item_rows; }
  /// The multiplier, or lower coupling, of a row is the coupling of the row above it, and is not kept.
  bool symmetric() const { return form == Form::symmetric; }
  /// Bytes of a stored factor. @param word  of the vectors
  int factor_word(int word) const { return narrow ? static_cast<int>(sizeof(float)) : word; }
  /// Rows that are swept for one that is solved, of lines laid end to end.
  double overlap() const;
  /// Words read and written per row by one apply.
  double words_per_row() const;
};

/// The wanted plan if no values of the matrix are known: for probes, predicted rates, and tests.
struct PlanRequest {
  Method method;
  const LineSet& lines;
  Form form = Form::general;
  Index halo = 0;       ///< rows that the certificate asks for; 0 for the exact methods
  Index partition = 0;  ///< rows per partition, of a work-item (at most 32) where the plan is by work-groups; 0: chosen
  int word;             ///< bytes per scalar
  const DeviceTraits& traits;
};

/// The plan of the first scheme that has one, see Scheme::make().
/// @throws DeviceError if there is none; InvalidInput if `partition` is negative, the chunk limit does not hold one
///         tile, or no work-group holds the halo
OCLSPKT_API Plan make_plan(const PlanRequest& request);

/// Plan for one line of n rows.
OCLSPKT_API Plan make_plan(Method method, Index n, Index halo, Index partition, int word, const DeviceTraits& traits);

/// Plan exact-factored: bundles for lines side by side, by work-groups where the device has kernels for GPUs, else line
/// by line.
/// @param form shared, symmetric or general
/// @post cut().blocks is 0 if the lines are beside() and the memory does not hold one block
OCLSPKT_API Plan make_factored_plan(const LineSet& lines, Form form, int word, const DeviceTraits& traits);

/// Rows of every line; 0 where they differ, or there are none.
OCLSPKT_API Index equal_length(const LineSet& lines);

}  // namespace oclspkt
