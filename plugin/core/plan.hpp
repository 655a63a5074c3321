// SPDX-License-Identifier: BSD-2-Clause
#pragma once

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

/// The properties of the device that runs a plan.
struct DeviceTraits {
  int lanes = 8;                          ///< SIMD lanes of the scalar type in a register
  int tile_lanes = 1;                     ///< least number of partitions that a tile sweeps side by side
  int cores = 1;                          ///< work-groups that run at once
  std::int64_t cache_bytes = 1 << 20;     ///< bytes of a core's second-level cache
  std::int64_t chunk_bytes = INT64_MAX;   ///< bytes of the largest single allocation
  std::int64_t memory_bytes = INT64_MAX;  ///< bytes of all allocations together; INT64_MAX where host memory is shared
  bool host = false;                      ///< the calling thread is the device
  int group_items = 0;                    ///< most work-items of a work-group, for kernels for GPUs
  std::int64_t local_bytes = 0;           ///< bytes of a work-group's local memory, for kernels for GPUs and FPGAs
  bool fuses = true;                      ///< kernels round y - l d once, and not its product as well
  bool unproven = false;                  ///< kernels for GPUs or FPGAs run on another kind of device
  bool paper = false;                     ///< the user asks for the kernels of the paper's form
  bool task = false;                      ///< kernels for FPGAs are used: one work-item that streams all rows
  const Tuning* figures =
      nullptr;  ///< figures measured for this kind of device; null: built-in figures, see figures_of()
};

inline constexpr DeviceTraits kHostTraits{.lanes = 1, .host = true};

/// How lines may be cut into chunks, and lines laid end to end into pieces of the pipeline.
struct Cut {
  Index grain;           ///< cuts lie at multiples of this many rows
  Index before, behind;  ///< rows that a chunk reads before its first and behind its last row
  bool whole;            ///< nothing may be cut: one chunk has all rows
  Index blocks = 0;      ///< most blocks of a chunk, for lines side by side; 0: memory does not hold a block
};

/// How stored arrays are divided among the chunks of lines laid end to end. By default they have one number a row, and
/// are divided like the bands.
struct StoredPlaces {
  Index shared = 0;      ///< how many numbers of each array all chunks share; 0: chunks share nothing
  Index tile_words = 0;  ///< numbers of a tile; a chunk has one more tile on each side; 0: divided like bands
};

/// How the rows of a line set map to work-groups and lanes. Fixed until the next set-up.
///
/// Lines laid end to end: partition k has rows [k*m, min(n, (k+1)*m)), and tile t has partitions [t*lanes,
/// (t+1)*lanes). Lines side by side: see Beside (core/geometry.hpp). The other members, and the structs of single
/// schemes, are explained in core/schemes. A plan is a value, not an abstract class, because proposals, rejections and
/// tests copy plans, shorten them and change single numbers. Functions that depend on the kind of plan are in its
/// scheme.
struct Plan {
  Method method = Method::exact_factored;
  Form form = Form::general;
  Index n = 0;                    ///< rows of all lines
  Index m = 0;                    ///< rows per partition or segment
  Index halo = 0;                 ///< rows read again beyond each side of a partition
  int lanes = 1;                  ///< partitions per tile
  int items = 0;                  ///< work-items of a work-group; 0: tiles are swept by vectors of lanes
  int item_rows = 0;              ///< rows of a work-item; 0 if `items` is 0
  int run_tiles = 1;              ///< tiles of a partition, or of a run through all lines
  int runs = 1;                   ///< work-groups; each takes a run of consecutive tiles
  bool narrow = false;            ///< bands or factors are floats beside vectors of doubles
  Index chunk_tiles = 0;          ///< tiles per chunk. One launch covers a chunk, and its arrays are single allocations
  double idle = 1;                ///< ratio of the time to the time with full lanes on all cores
  const char* made_by = nullptr;  ///< the name of the plan's scheme
  /// Structs of schemes or families of schemes, at most one of each type, see as().
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
  /// Store a struct of type G, or replace the stored struct of this type.
  template <typename G>
  G& add(G of = {}) {
    if (has<G>()) return as<G>() = std::move(of);
    return std::any_cast<G&>(geometry.emplace_back(std::move(of)));
  }
  OCLSPKT_API Cut cut() const;
  Index partitions() const { return m > 0 ? quotient_up(n, m) : 0; }
  Index tiles() const { return lanes > 0 ? quotient_up(partitions(), lanes) : 0; }
  Index tile_rows() const { return m * lanes; }
  Index group_rows() const { return static_cast<Index>(items) * item_rows; }
  /// True if multipliers (or lower couplings) are not stored, because each equals the coupling of the row above.
  bool symmetric() const { return form == Form::symmetric; }
  /// Bytes of a stored factor. @param word  bytes of a scalar of the vectors
  int factor_word(int word) const { return narrow ? static_cast<int>(sizeof(float)) : word; }
  /// Swept rows per solved row, for lines laid end to end.
  double overlap() const;
  /// Words read and written per row by one apply.
  double words_per_row() const;
};

/// A request for a plan without the values of a matrix, for probes, predicted rates and tests.
struct PlanRequest {
  Method method;
  const LineSet& lines;
  Form form = Form::general;
  Index halo = 0;       ///< rows of halo that the certificate requires; 0 for exact methods
  Index partition = 0;  ///< rows per partition, or per work-item (at most 32) in plans for work-groups; 0: automatic
  int word;             ///< bytes per scalar
  const DeviceTraits& traits;
};

/// Make the plan of the first scheme that takes the request, see Scheme::make(). @return none if no scheme takes it
/// @throws InvalidInput if `partition` is negative, a tile exceeds the chunk limit, or no work-group holds the halo
OCLSPKT_API std::optional<Plan> find_plan(const PlanRequest& request);

/// Call find_plan() and return its plan.
/// @throws DeviceError if no scheme takes the request; InvalidInput as find_plan()
OCLSPKT_API Plan make_plan(const PlanRequest& request);

OCLSPKT_API Plan make_plan(Method method, Index n, Index halo, Index partition, int word, const DeviceTraits& traits);

/// Plan exact-factored: in bundles for lines side by side, by work-groups on devices with kernels for GPUs, else line
/// by line.
/// @param form shared, symmetric or general
/// @post cut().blocks is 0 if the lines are beside() and one block does not fit into the memory
OCLSPKT_API Plan make_factored_plan(const LineSet& lines, Form form, int word, const DeviceTraits& traits);

/// The common length of all lines; 0 if lengths differ or the set is empty.
OCLSPKT_API Index equal_length(const LineSet& lines);

}  // namespace oclspkt
