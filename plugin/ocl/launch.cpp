// SPDX-License-Identifier: BSD-2-Clause
#include "launch.hpp"

#include <limits>

namespace oclspkt::ocl {
namespace {

[[noreturn]] void refuse(const OpenDevice& device, const Kernel& kernel, const std::string& why) {
  throw DeviceError("kernel " + kernel.name + " cannot be launched on " + describe(device.info()) + ": " + why +
                    "; choose another device, or host");
}

void check_geometry(const OpenDevice& device, const Kernel& kernel, Geometry geometry) {
  const std::size_t most = std::min(kernel.max_group_items, device.found().max_group_items);
  if (geometry.group_items < 1 || geometry.group_items > most) {
    refuse(device, kernel,
           "a work-group of " + std::to_string(geometry.group_items) + " work-items, at most " + std::to_string(most) +
               " are possible");
  }
  // Some devices count work-items in words of only 32 bits.
  const std::int64_t largest =
      std::numeric_limits<std::int32_t>::max() / static_cast<std::int64_t>(geometry.group_items);
  if (geometry.groups < 1 || geometry.groups > largest) {
    refuse(
        device, kernel,
        std::to_string(geometry.groups) + " work-groups, between 1 and " + std::to_string(largest) + " are possible");
  }
  const std::size_t local = kernel.local_bytes + geometry.local_bytes;
  if (local > device.found().local_bytes) {
    refuse(device, kernel,
           "it needs " + std::to_string(local) + " bytes of local memory, the device has " +
               std::to_string(device.found().local_bytes));
  }
}

void check_buffer(const OpenDevice& device, const Kernel& kernel, const BufferNeed& need) {
  if ((*need.buffer)() == nullptr) refuse(device, kernel, std::string("buffer ") + need.name + " was never made");
  const auto size = static_cast<std::int64_t>(need.buffer->getInfo<CL_MEM_SIZE>());
  if (size < need.bytes) {
    refuse(device, kernel,
           std::string("buffer ") + need.name + " holds " + std::to_string(size) + " bytes, " +
               std::to_string(need.bytes) + " are needed");
  }
  // A caller's memory has an alignment of its own; all other memory has the device's.
  const auto address = reinterpret_cast<std::uintptr_t>(need.buffer->getInfo<CL_MEM_HOST_PTR>());
  const bool aligned =
      address != 0 ? address % need.alignment == 0 : device.found().base_alignment % need.alignment == 0;
  if (!aligned) {
    refuse(device, kernel,
           std::string("buffer ") + need.name + " is not aligned to " + std::to_string(need.alignment) + " bytes");
  }
}

void check_and_enqueue(const OpenDevice& device, const Kernel& kernel, Geometry geometry,
                       std::initializer_list<BufferNeed> needs, cl::Event* event) {
  try {
    check_geometry(device, kernel, geometry);
    for (const BufferNeed& need : needs) check_buffer(device, kernel, need);
    fault_point(Place::launch, device.info(), device.queue()());
    const cl::NDRange local(geometry.group_items);
    const cl::NDRange global(static_cast<std::size_t>(geometry.groups) * geometry.group_items);
    device.queue().enqueueNDRangeKernel(kernel.handle, cl::NullRange, global, local, nullptr, event);
  } catch (const cl::Error& error) {
    throw device_error(device.info(), "launching kernel " + kernel.name, error);
  }
}

}  // namespace

cl::Event launch(const OpenDevice& device, const Kernel& kernel, Geometry geometry,
                 std::initializer_list<BufferNeed> needs) {
  cl::Event event;
  check_and_enqueue(device, kernel, geometry, needs, &event);
  return event;
}

void launch_unseen(const OpenDevice& device, const Kernel& kernel, Geometry geometry) {
  check_and_enqueue(device, kernel, geometry, {}, nullptr);
}

}  // namespace oclspkt::ocl
