// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <limits>

#include "pipeline.hpp"
#include "runtime.hpp"

namespace oclspkt::ocl {

/// Handling of non-finite right-hand sides in an apply by work-groups. Kernels that propagate NaN and Inf exactly cost
/// some 10 %. The other kernels only note, in device memory, that they met one. An exact launch follows each of theirs;
/// it repeats the work if there is a note, and does nothing otherwise. The host does not wait for the note.
class OCLSPKT_API NonFinite {
 public:
  /// Make the memory for the notes. @return bytes on the device
  std::int64_t set_up(const OpenDevice& device, const Waiter& waiter, Pipeline& pipeline, Times& times) {
    constexpr std::int64_t kBytes = sizeof(Int);
    constexpr Int kNone = 0;
    met_by_ = make_buffer(device, Access::read_write, kBytes);
    pipeline.bring(&kNone, kBytes, met_by_, waiter, times);
    return kBytes;
  }
  /// The number of the last launch that met a non-finite number; an argument of the kernels.
  const Buffer& met_by() const { return met_by_; }
  /// A number for a launch and for the exact launch that follows it; it differs from the last 2^31 numbers.
  Int next() {
    last_ = last_ == std::numeric_limits<Int>::max() ? 1 : last_ + 1;
    return last_;
  }

 private:
  Buffer met_by_;
  Int last_ = 0;  ///< 0 is never a launch's number
};

}  // namespace oclspkt::ocl
