// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>

namespace oclspkt::ocl {

/// Lock pages of the host's memory, for as long as what is returned lives: devices then copy from and to it at the
/// speed of the bus, without a copy in between. One lock serves all devices of a driver. The memory must stay where it
/// is until then.
/// @return null where nothing is gained (the device works in the host's memory, or its driver has no use for it), or
///         where the system does not lock so much
std::shared_ptr<void> lock_pages(int device, const void* p, std::int64_t bytes);

/// True if all of it is locked.
bool pages_locked(const void* p, std::int64_t bytes);

}  // namespace oclspkt::ocl
