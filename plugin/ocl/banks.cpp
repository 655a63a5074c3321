// SPDX-License-Identifier: BSD-2-Clause
#include "banks.hpp"

namespace oclspkt::ocl {
namespace {

// Intel's boards: bits 16 to 18 of the flags name a bank. Intel's header defines the values, CL_CHANNEL_1_INTELFPGA =
// (1 << 16) and so on; with 0 the run-time chooses. This works only if the image does not interleave the banks.
constexpr unsigned kChannelShift = 16;

cl_mem create_in_channel(cl_context context, cl_mem_flags flags, std::size_t bytes, Bank bank, cl_int* error) {
  return clCreateBuffer(context, flags | static_cast<cl_mem_flags>(bank) << kChannelShift, bytes, nullptr, error);
}

// AMD's (Xilinx) boards: a flag marks the host pointer as a pointer to a struct that names a bank. The image must be
// linked with the kernel's arguments on the same banks. This is not tested, because we have no such board.

/// CL_MEM_EXT_PTR_XILINX of AMD's header.
constexpr cl_mem_flags kExtendedPointer = cl_mem_flags{1} << 31;

/// cl_mem_ext_ptr_t of AMD's header.
struct ExtendedPointer {
  unsigned flags;   ///< bit 0 is XCL_MEM_DDR_BANK0, bit 1 the next bank, and so on
  void* host;       ///< host memory; null: none
  void* parameter;  ///< must be null
};

cl_mem create_behind_pointer(cl_context context, cl_mem_flags flags, std::size_t bytes, Bank bank, cl_int* error) {
  ExtendedPointer pointer{1U << static_cast<unsigned>(bank - 1), nullptr, nullptr};
  return clCreateBuffer(context, flags | kExtendedPointer, bytes, &pointer, error);
}

constexpr BankVendor kVendors[] = {{"Intel(R) FPGA", create_in_channel}, {"Xilinx", create_behind_pointer}};

}  // namespace

const BankVendor* bank_vendor(const DeviceInfo& info) {
  if (info.type != DeviceType::fpga) return nullptr;
  for (const BankVendor& vendor : kVendors) {
    if (info.platform.find(vendor.platform) != std::string::npos) return &vendor;
  }
  return nullptr;
}

}  // namespace oclspkt::ocl
