// SPDX-License-Identifier: BSD-2-Clause
// AMD's (Xilinx) boards: a flag says that the host pointer points to a struct that names a bank. The image must have
// been linked with the kernel's arguments on the same banks. Not tested, for want of a board.
#include "banks.hpp"

namespace oclspkt::ocl {
namespace {

/// CL_MEM_EXT_PTR_XILINX of their header.
constexpr cl_mem_flags kExtendedPointer = cl_mem_flags{1} << 31;

/// Their cl_mem_ext_ptr_t.
struct ExtendedPointer {
  unsigned flags;   ///< XCL_MEM_DDR_BANK0 is bit 0, and so on
  void* host;       ///< memory of the host; null: none
  void* parameter;  ///< null
};

cl_mem create_behind_pointer(cl_context context, cl_mem_flags flags, std::size_t bytes, Bank bank, cl_int* error) {
  ExtendedPointer pointer{1U << static_cast<unsigned>(bank - 1), nullptr, nullptr};
  return clCreateBuffer(context, flags | kExtendedPointer, bytes, &pointer, error);
}

}  // namespace

const BankVendor& amd_banks() {
  static constexpr BankVendor kAmd{"Xilinx", create_behind_pointer};
  return kAmd;
}

}  // namespace oclspkt::ocl
