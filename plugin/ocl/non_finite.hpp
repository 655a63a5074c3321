// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "pipeline.hpp"
#include "runtime.hpp"

namespace oclspkt::ocl {

/// Non-finite numbers in the right-hand side of an apply by work-groups. Kernels that propagate them exactly cost some
/// 10 %. Others only tell, in a flag on the device, that they met one; the apply is then repeated by the exact kernels.
class OCLSPKT_API NonFinite {
 public:
  /// Make the flag and the memory that it is read to. @return bytes on the device
  std::int64_t set_up(OpenDevice& device, const Waiter& waiter, Pipeline& pipeline, Times& times);
  /// The flag, an argument of the kernels.
  const Buffer& flag() const { return flag_; }

  /// Forget a question of an apply that failed.
  void begin() { asked_ = false; }
  /// Ask the device whether the launches so far met one; met() has the answer when the event has ended.
  Event ask(const OpenDevice& device);
  /// True if the launches since the last call met one, which they then spread among lines. The flag is cleared.
  bool met(const OpenDevice& device, const Waiter& waiter);

 private:
  Buffer flag_;                    ///< not 0 if a launch met a non-finite number
  std::unique_ptr<Staging> told_;  ///< what was read of it: into other memory it takes 40 us, not 6 (H200)
  bool asked_ = false;             ///< it is being read, or has been
};

}  // namespace oclspkt::ocl
