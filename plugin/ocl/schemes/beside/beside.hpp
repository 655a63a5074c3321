// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>

#include "geometry.hpp"
#include "schemes/lane_needs.hpp"

namespace oclspkt::ocl {

/// Lines side by side as kernels by lanes take them.
struct BesideCounts {
  BesideCounts(const Site& s, Index some_blocks)
      : blocks{some_blocks},
        block_stride{s.lines.block_stride()},
        block_lines{s.lines.block_lines()},
        row_stride{s.lines.row_stride()},
        slot{s.layout.slot},
        length{static_cast<Int>(s.lines.length(0))},
        bundle{static_cast<Int>(s.plan.as<Beside>().bundle)},
        bundles{static_cast<Int>(s.plan.as<Beside>().bundles)} {}
  Long blocks, block_stride, block_lines, row_stride, slot;
  Int length, bundle, bundles;
};

/// As many work-groups as the layout has windows for, or as there are pieces.
inline Geometry work_groups_of(const Site& s, Index pieces) {
  return {std::clamp<Index>(s.layout.runs, 1, std::max<Index>(1, pieces))};
}

}  // namespace oclspkt::ocl
