// SPDX-License-Identifier: BSD-2-Clause
// Memory banks of boards with an FPGA. Each vendor has its own way to place a buffer in a bank.
#pragma once

#include "device.hpp"
#include "opencl.hpp"

namespace oclspkt::ocl {

/// Number of a bank, from 1; 0 leaves the choice to the run-time.
using Bank = int;

struct BankVendor {
  const char* platform;  ///< a word in the name of the vendor's platform
  /// Create a buffer in a bank, without host memory, as clCreateBuffer() does. @param bank  1 or 2
  cl_mem (*create)(cl_context context, cl_mem_flags flags, std::size_t bytes, Bank bank, cl_int* error);
};

/// Returns the vendor of a device with an FPGA; null for other devices and for unknown vendors.
OCLSPKT_API const BankVendor* bank_vendor(const DeviceInfo& info);

}  // namespace oclspkt::ocl
