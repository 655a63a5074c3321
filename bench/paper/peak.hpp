// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "space.hpp"

namespace oclspkt::bench::paper {

/// Measure the arithmetic peak of a device of OpenCL: multiply-adds of numbers in registers, as many that do not depend
/// on each other as hide their latency.
/// @return operations a second, two a multiply-add
/// @throws DeviceError
template <typename T>
double measure_peak(Space<T>& space, int cores, bool gpu);

}  // namespace oclspkt::bench::paper
