// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "device.hpp"
#include "opencl.hpp"

namespace oclspkt::ocl {

/// A device that was found, with the properties that kernels and plans depend on.
struct FoundDevice {
  DeviceInfo info;
  cl::Device handle;
  cl::Context context;                     ///< a caller's context; empty: the registry makes a context
  int listed_as = -1;                      ///< for a caller's context: number of the device in our context; else -1
  int lanes_float = 16, lanes_double = 8;  ///< numbers in a vector register
  std::int64_t cache_bytes = 0;            ///< second-level cache of a core
  std::size_t base_alignment = 0;          ///< bytes that every allocation is aligned to
  std::size_t local_bytes = 0;             ///< local memory of a work-group
  std::size_t max_group_items = 1;         ///< most work-items of a work-group
  int lanes(bool is_double) const { return is_double ? lanes_double : lanes_float; }
  /// Partitions of a tile: as many as a cache line has numbers. A row of a tile then takes several vector registers,
  /// whose operations overlap.
  int tile_lanes(bool is_double) const;
  /// True if the device uses kernels for GPUs, whose work-groups have many work-items.
  bool by_groups(Variant variant) const;
  /// True if the device uses kernels for FPGAs, which have one work-item.
  bool by_task(Variant variant) const;
  /// Returns the properties that plans depend on, as if all of the device's memory were free.
  DeviceTraits traits(bool is_double, Variant variant) const;
};

bool has_extension(const cl::Device& device, const char* name);

/// Returns the PCI address in the form "pci:0000:41:00.0"; empty if no extension reports it.
std::string pci_address(const cl::Device& device);

struct Discovery {
  std::vector<FoundDevice> devices;
  std::vector<std::string> problems;
  std::size_t platforms = 0;  ///< number of platforms that the loader offers
};

/// List every device of every platform, in the loader's order. Throws only bad_alloc. A driver may end the process;
/// discover() protects programs from this.
Discovery look_at_platforms();

/// List the devices of all drivers that pass a test in a child process. The problems describe the faults of other
/// drivers. If no test is possible, no driver is loaded, and the problem names the cure. The call must be the process's
/// first use of OpenCL. Throws only bad_alloc.
Discovery discover();

}  // namespace oclspkt::ocl
