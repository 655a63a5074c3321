// SPDX-License-Identifier: BSD-2-Clause
// Intel's boards: bits 16 to 18 of the flags name a bank, CL_CHANNEL_1_INTELFPGA = (1 << 16) and so on in Intel's
// header; 0 leaves the choice to the run-time. Valid for memories whose banks the image does not interleave.
#include "banks.hpp"

namespace oclspkt::ocl {
namespace {

constexpr unsigned kChannelShift = 16;

cl_mem create_in_channel(cl_context context, cl_mem_flags flags, std::size_t bytes, Bank bank, cl_int* error) {
  return clCreateBuffer(context, flags | static_cast<cl_mem_flags>(bank) << kChannelShift, bytes, nullptr, error);
}

}  // namespace

const BankVendor& intel_banks() {
  static constexpr BankVendor kIntel{"Intel(R) FPGA", create_in_channel};
  return kIntel;
}

}  // namespace oclspkt::ocl
