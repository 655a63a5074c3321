// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "device.hpp"
#include "opencl.hpp"

namespace oclspkt::ocl {

/// A device as found, with what the kernels must know of it.
struct FoundDevice {
  DeviceInfo info;
  cl::Device handle;
  cl::Context context;                     ///< that a caller made; none: the registry makes one
  int listed_as = -1;                      ///< the device that this one is in a caller's context; -1: itself
  int lanes_float = 16, lanes_double = 8;  ///< of a register
  std::int64_t cache_bytes = 0;            ///< second-level cache of a core
  std::size_t base_alignment = 0;          ///< bytes; of every allocation
  std::size_t local_bytes = 0;             ///< local memory of a work-group
  std::size_t max_group_items = 1;         ///< work-items of a work-group
  int lanes(bool is_double) const { return is_double ? lanes_double : lanes_float; }
  /// Partitions of a tile: rows of a block are whole cache lines, and registers of one row do not wait for each other.
  int tile_lanes(bool is_double) const;
  /// Kernels for GPUs are used, whose work-groups have many work-items.
  bool by_groups(Variant variant) const;
  /// Kernels for FPGAs are used, one work-item each.
  bool by_task(Variant variant) const;
  /// What a plan must know of the device, all of its memory taken for granted.
  DeviceTraits traits(bool is_double, Variant variant) const;
};

bool has_extension(const cl::Device& device, const char* name);

/// "pci:0000:41:00.0", or empty where no extension tells.
std::string pci_address(const cl::Device& device);

struct Discovery {
  std::vector<FoundDevice> devices;
  std::vector<std::string> problems;
  std::size_t platforms = 0;  ///< that the loader offers
};

/// Look at every device of every platform, in the loader's order. Throws nothing but bad_alloc. A driver may end the
/// process: programs call discover().
Discovery look_at_platforms();

/// The same with drivers only that a child process has survived; what is wrong with the others is among the problems.
/// Where drivers cannot be tried, none is loaded, and the problem names the cure. This must be the first use of OpenCL
/// in the process. Throws nothing but bad_alloc.
Discovery discover();

}  // namespace oclspkt::ocl
