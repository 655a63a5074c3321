// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>

namespace oclspkt::ocl {

/// Lock pages of host memory as long as the result lives; the memory must outlive the result. Devices copy from and to
/// locked pages at the speed of the bus, without an intermediate copy. One lock serves all devices of a driver.
/// @return null if a lock gains nothing (the device works in host memory, or its driver does not use locks), or if the
///         system does not lock so many bytes
std::shared_ptr<void> lock_pages(int device, const void* p, std::int64_t bytes);

/// True if all pages of the range are locked.
bool pages_locked(const void* p, std::int64_t bytes);

}  // namespace oclspkt::ocl
