// SPDX-License-Identifier: BSD-2-Clause
// Banks of the memory of a board with an FPGA: each vendor has a way of its own to say where a buffer is to be. All
// that is a vendor's own stands in banks_VENDOR.cpp.
#pragma once

#include "device.hpp"
#include "opencl.hpp"

namespace oclspkt::ocl {

/// A bank, counted from 1; 0: wherever the run-time puts a buffer.
using Bank = int;

/// How the run-time of a vendor is told a bank.
struct BankVendor {
  const char* platform;  ///< words in the name of its platform
  /// As clCreateBuffer() without memory of the host. @param bank  1 or 2
  cl_mem (*create)(cl_context context, cl_mem_flags flags, std::size_t bytes, Bank bank, cl_int* error);
};

const BankVendor& amd_banks();
const BankVendor& intel_banks();

/// The vendor of a device with an FPGA; null for other devices, and for vendors that are not known.
OCLSPKT_API const BankVendor* bank_vendor(const DeviceInfo& info);

}  // namespace oclspkt::ocl
