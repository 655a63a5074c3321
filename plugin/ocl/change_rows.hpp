// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>

#include "launch.hpp"
#include "layout.hpp"
#include "runtime.hpp"

namespace oclspkt::ocl {

/// Rows that a launch solved, and the vector z that changes them.
struct ChangedRows {
  const Buffer& x;
  const Buffer& z;
  Index first, end;  ///< of x
  Index ahead = 0;   ///< where x begins in z, see kernels/common/change_rows.cl
};

/// Enqueue kernel change_rows after the launch.
template <typename T>
Event change_rows(OpenDevice& device, Kernel& kernel, const ChangedRows& rows) {
  constexpr Index kItems = 128, kWord = sizeof(T);
  const Index count = rows.end - rows.first;
  set_arguments(device, kernel, rows.x, rows.z, static_cast<Long>(rows.first), static_cast<Long>(count),
                static_cast<Long>(rows.ahead));
  return launch(device, kernel, {std::max<Index>(1, quotient_up(count, kItems)), kItems},
                {{"x", &rows.x, rows.end * kWord, kWord}, {"z", &rows.z, (rows.ahead + rows.end) * kWord, kWord}});
}

}  // namespace oclspkt::ocl
