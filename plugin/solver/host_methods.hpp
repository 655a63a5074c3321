// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "device.hpp"

namespace oclspkt {

/// The solver of the host: `pivot`, or stored factors, which carry every other method.
template <typename T>
std::unique_ptr<DeviceSolver<T>> make_host_solver(Method method);

}  // namespace oclspkt
