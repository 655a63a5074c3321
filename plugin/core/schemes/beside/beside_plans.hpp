// SPDX-License-Identifier: BSD-2-Clause
// Plans for lines side by side, by lanes, and for lines in any layout, on the host.
#pragma once

#include "geometry.hpp"
#include "oclspkt/export.hpp"

namespace oclspkt {

/// Whole lines, side by side or one after the other, with factors in the order of the rows.
struct FactoredLines {
  bool through_x = false;  ///< the sweep down stores its results in x, not in a window
  bool resident = false;   ///< all lines share factors, which stay in the cache
};

/// Plan exact-factored by lanes or by the host, see make_factored_plan().
Plan make_bundles_plan(const LineSet& lines, Form form, int word, const DeviceTraits& traits);

/// Plan truncated-halo for lines side by side, cut into segments so that few long lines keep all cores busy.
/// @param halo      rows of halo that the certificate asks for
/// @param partition rows of a segment that the user asks for; 0: chosen
/// @pre   lines.beside()
/// @post  chunk_blocks is 0 if the memory does not hold one block
/// @throws InvalidInput if `partition` is negative
OCLSPKT_API Plan make_strided_halo_plan(const LineSet& lines, Index halo, Index partition, int word,
                                        const DeviceTraits& traits);

}  // namespace oclspkt
