// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "borders.hpp"
#include "registry.hpp"

namespace oclspkt::ocl {

/// Bring what a layout says to a device.
/// @throws DeviceError, BuildError
template <typename T>
std::unique_ptr<Borders<T>> make_borders(int device, const std::shared_ptr<OpenDevice>& open,
                                         const BorderLayout<T>& layout);

}  // namespace oclspkt::ocl
