// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "pipeline.hpp"
#include "runtime.hpp"

namespace oclspkt::ocl {

/// Non-finite numbers in the right-hand side of an apply by work-groups. Kernels that propagate them exactly cost some
/// 10 %. Others only note, in memory of the device, that they met one. Behind each such launch stands one by exact
/// kernels, which does the same again where there is a note, and else nothing: no answer of the device is waited for.
class OCLSPKT_API NonFinite {
 public:
  /// Make the memory of the notes. @return bytes on the device
  std::int64_t set_up(const OpenDevice& device, const Waiter& waiter, Pipeline& pipeline, Times& times);
  /// The number of the last launch that met one, an argument of the kernels.
  const Buffer& met_by() const { return met_by_; }
  /// A number for a launch, and for the one behind it: none of the last 2^31 had it.
  Int next();

 private:
  Buffer met_by_;
  Int last_ = 0;  ///< 0 is of no launch
};

}  // namespace oclspkt::ocl
