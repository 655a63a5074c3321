// SPDX-License-Identifier: BSD-2-Clause
#include "non_finite.hpp"

#include <limits>

namespace oclspkt::ocl {

std::int64_t NonFinite::set_up(const OpenDevice& device, const Waiter& waiter, Pipeline& pipeline, Times& times) {
  constexpr std::int64_t kBytes = sizeof(Int);
  constexpr Int kNone = 0;
  met_by_ = make_buffer(device, Access::read_write, kBytes);
  pipeline.bring(&kNone, kBytes, met_by_, waiter, times);
  return kBytes;
}

Int NonFinite::next() {
  last_ = last_ == std::numeric_limits<Int>::max() ? 1 : last_ + 1;
  return last_;
}

}  // namespace oclspkt::ocl
