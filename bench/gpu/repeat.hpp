// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>

#include "memory.hpp"
#include "oclspkt/solver.hpp"

namespace oclspkt::bench::gpu {

/// Call `apply` again and again, with the device busy with other work beside, and count the times that it leaves other
/// bits in `x` than the first apply did.
/// @param first  `bytes` bytes, what x held after that one
/// @throws DeviceError
int count_others(const DeviceHandles& handles, const Memory& x, const void* first, std::size_t bytes, int times,
                 const std::function<void()>& apply);

}  // namespace oclspkt::bench::gpu
