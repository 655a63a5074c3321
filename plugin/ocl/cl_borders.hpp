// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "borders.hpp"
#include "imported_vectors.hpp"
#include "registry.hpp"

namespace oclspkt::ocl {

/// Copy a layout to a device.
/// @param imported  where callers' vectors are if their queues belong to another run-time; else null
/// @param bytes     of a vector
/// @throws DeviceError, BuildError
template <typename T>
std::unique_ptr<Borders<T>> make_borders(int device, const std::shared_ptr<OpenDevice>& open,
                                         const BorderLayout<T>& layout,
                                         const std::shared_ptr<ImportedVectors>& imported, std::int64_t bytes);

}  // namespace oclspkt::ocl
