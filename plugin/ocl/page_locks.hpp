// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>

namespace oclspkt::ocl {

/// Lock pages of host memory as long as the result lives. Devices then copy from and to it at the speed of the bus,
/// without an intermediate copy. One lock serves all devices of a driver.
///
/// If locked memory is returned to the system and then allocated at the same address, the pages are other ones: the
/// device still uses the old pages. See same_memory() in passes.cpp.
/// @return null if a lock gains nothing (the device works in host memory, or its driver does not use locks), or if the
///         system does not lock so much
std::shared_ptr<void> lock_pages(int device, const void* p, std::int64_t bytes);

/// True if the whole range is locked.
bool pages_locked(const void* p, std::int64_t bytes);

/// Make pages_locked() return false for all locks that overlap this memory.
void distrust_locks(const void* p, std::int64_t bytes);

}  // namespace oclspkt::ocl
