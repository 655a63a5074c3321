// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>

#include "oclspkt/line_set.hpp"

namespace oclspkt {

/// Where a line is cut into segments, level by level, see SegmentFactors.
struct SegmentCut {
  Index rows = 0, upper_rows = 0;  ///< of segments of the first level, and of those above it; at least 2
  bool symmetric = false;          ///< the line is symmetric: couplings of the first level are its multipliers

  Index segment_rows(std::size_t level) const { return level == 0 ? rows : upper_rows; }
  /// Segments of a level that has rows.
  Index segments(std::size_t level, Index rows_of_level) const { return (rows_of_level - 1) / segment_rows(level) + 1; }
};

}  // namespace oclspkt
