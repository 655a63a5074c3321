// SPDX-License-Identifier: BSD-2-Clause
// What the makers of plans share; none of it is for others.
#pragma once

#include "plan.hpp"

namespace oclspkt {

/// @throws InvalidInput if it is negative
void check_partition(Index partition);

/// Words of an array of a chunk: five, with what stands on either side, share the memory, and each is an allocation of
/// its own.
std::int64_t chunk_words(int word, const DeviceTraits& traits);

/// Choose chunk_tiles of a plan that is complete but for that.
/// @throws InvalidInput if the chunk limit does not hold one tile
void cut_into_chunks(Plan& plan, int word, const DeviceTraits& traits);

/// Cut truncated-halo by work-groups: plan.halo is what the certificate asks for.
/// @throws InvalidInput if no work-group holds the halos
void cut_by_groups(Plan& plan, Index partition, int word, const DeviceTraits& traits);

/// By work-groups: rows of the lines of `length` rows that one holds whole; 0 if not even one.
Index lines_in_a_tile(Index length, int word, const DeviceTraits& traits);

/// Plan truncated-halo by work-groups for lines of `length` rows, of which each holds `partition` rows whole.
Plan make_lines_plan(Index n, Index length, Index partition, int word, const DeviceTraits& traits);

}  // namespace oclspkt
