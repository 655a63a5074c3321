// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "device.hpp"
#include "launch.hpp"

namespace oclspkt::ocl {

/// Kernel tile_stream for 1 to 4 arrays to read.
Kernel tile_stream(OpenDevice& device, int reads, bool is_double);

/// Work-groups for n scalars of `word` bytes.
Geometry tile_stream_geometry(Index n, int word);

/// See DeviceModule::make_stream().
std::unique_ptr<DeviceStream> make_resident_stream(int device, Index n, int reads, bool is_double);

}  // namespace oclspkt::ocl
