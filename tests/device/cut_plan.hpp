// SPDX-License-Identifier: BSD-2-Clause
// Chunks of a plan by their number.
#pragma once

#include "geometry.hpp"
#include "layout.hpp"

namespace oclspkt::test {

/// Tiles, or blocks of lines side by side, that a plan counts its chunks in.
inline Index units_of(const Plan& plan, const LineSet& lines) {
  return lines.contiguous() ? plan.tiles() : lines.blocks();
}

/// Let the chunks of a plan be so many. @return false if no size of chunks does
inline bool cut_into(Plan& plan, const LineSet& lines, int parts) {
  const Index units = units_of(plan, lines);
  for (Index each = quotient_up(units, parts); each > 0 && quotient_up(units, each) == parts; --each) {
    (lines.contiguous() ? plan.chunk_tiles : plan.as<Beside>().chunk_blocks) = each;
    return true;
  }
  return false;
}

inline ocl::Layout layout_of(const Plan& plan, const LineSet& lines, int word) {
  return lines.contiguous() ? ocl::make_layout(plan, word, {}) : ocl::make_strided_layout(plan, lines, word, {});
}

/// True if a plan takes all rows at once.
inline bool is_whole(const Plan& plan) { return plan.cut().whole; }

}  // namespace oclspkt::test
