// SPDX-License-Identifier: BSD-2-Clause
#include "banks.hpp"

namespace oclspkt::ocl {

const BankVendor* bank_vendor(const DeviceInfo& info) {
  if (info.type != DeviceType::fpga) return nullptr;
  for (const BankVendor* vendor : {&intel_banks(), &amd_banks()}) {
    if (info.platform.find(vendor->platform) != std::string::npos) return vendor;
  }
  return nullptr;
}

}  // namespace oclspkt::ocl
