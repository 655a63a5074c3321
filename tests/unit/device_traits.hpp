// SPDX-License-Identifier: BSD-2-Clause
// The devices that plans are tested for.
#pragma once

#include "plan.hpp"

namespace oclspkt {

/// Two cores with vectors of eight.
inline const DeviceTraits kTraits{.lanes = 8, .cores = 2, .cache_bytes = 1 << 20};
/// A GPU of many cores.
inline const DeviceTraits kGpu{.cores = 132, .group_items = 1024, .local_bytes = 48 << 10};

}  // namespace oclspkt
