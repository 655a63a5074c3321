// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace oclspkt::fuzz {

/// Devices that compute with the model of the kernels, in the place of the OpenCL module:
///   0: model cpu, double   1: model gpu, float only   2: model fpga, emulated
/// Let the count-th call from now on that could fail throw a DeviceError; 0: none does.
void fail_device_call(int count);

/// True if it has been thrown.
bool device_failed();

}  // namespace oclspkt::fuzz
