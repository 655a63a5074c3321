// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>

#include "oclspkt/line_set.hpp"

namespace oclspkt {

/// Where a line is cut into segments, level by level, see SegmentFactors.
struct SegmentCut {
  Index rows = 0, upper_rows = 0;    ///< of segments of the first level, and of those above it; at least 2
  Index whole = 0, upper_whole = 0;  ///< the same of a level that is not cut, at most; at least 1
  bool serve = false;                ///< the line is symmetric: couplings of the first level serve as multipliers

  Index segment_rows(std::size_t level) const { return level == 0 ? rows : upper_rows; }
  /// Segments of a level; one where it is not cut.
  Index segments(std::size_t level, Index rows_of_level) const {
    return rows_of_level <= (level == 0 ? whole : upper_whole) ? 1 : (rows_of_level - 1) / segment_rows(level) + 1;
  }

  /// How many levels there are, and the rows of the last one.
  struct Depth {
    std::size_t levels;
    Index last_rows;
  };
  Depth depth(Index n) const {
    Depth depth{1, n};
    for (Index left; (left = segments(depth.levels - 1, depth.last_rows)) > 1; ++depth.levels) depth.last_rows = left;
    return depth;
  }
};

}  // namespace oclspkt
