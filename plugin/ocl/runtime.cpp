// SPDX-License-Identifier: BSD-2-Clause
#include "runtime.hpp"

#include <limits>
#include <vector>

namespace oclspkt::ocl {
namespace {

constexpr cl_mem_flags flags_of(Access access) {
  return access == Access::read ? CL_MEM_READ_ONLY : access == Access::write ? CL_MEM_WRITE_ONLY : CL_MEM_READ_WRITE;
}

Event read_by(const OpenDevice& device, const cl::CommandQueue& queue, const Buffer& from, void* to, std::int64_t bytes,
              const std::vector<cl::Event>* before) {
  fault_point(Place::read, device.info(), queue());
  Event event;
  queue.enqueueReadBuffer(from, CL_FALSE, 0, static_cast<std::size_t>(bytes), to, before, &event);
  return event;
}

Event write_by(const OpenDevice& device, const cl::CommandQueue& queue, const void* from, const Buffer& to,
               std::int64_t bytes) {
  fault_point(Place::write, device.info(), queue());
  Event event;
  queue.enqueueWriteBuffer(to, CL_FALSE, 0, static_cast<std::size_t>(bytes), from, nullptr, &event);
  return event;
}

[[noreturn]] void refuse_launch(const OpenDevice& device, const Kernel& kernel, const std::string& why) {
  throw DeviceError("kernel " + kernel.name + " cannot be launched on " + describe(device.info()) + ": " + why +
                    "; choose another device, or host");
}

void check_geometry(const OpenDevice& device, const Kernel& kernel, Geometry geometry) {
  const std::size_t most = std::min(kernel.max_group_items, device.found().max_group_items);
  if (geometry.group_items < 1 || geometry.group_items > most) {
    refuse_launch(device, kernel,
                  "a work-group of " + std::to_string(geometry.group_items) + " work-items, at most " +
                      std::to_string(most) + " are possible");
  }
  // Some devices count work-items in 32 bits.
  const std::int64_t largest =
      std::numeric_limits<std::int32_t>::max() / static_cast<std::int64_t>(geometry.group_items);
  if (geometry.groups < 1 || geometry.groups > largest) {
    refuse_launch(
        device, kernel,
        std::to_string(geometry.groups) + " work-groups, between 1 and " + std::to_string(largest) + " are possible");
  }
  const std::size_t local = kernel.local_bytes + geometry.local_bytes;
  if (local > device.found().local_bytes) {
    refuse_launch(device, kernel,
                  "it needs " + std::to_string(local) + " bytes of local memory, the device has " +
                      std::to_string(device.found().local_bytes));
  }
}

void check_buffer(const OpenDevice& device, const Kernel& kernel, const BufferNeed& need) {
  if ((*need.buffer)() == nullptr)
    refuse_launch(device, kernel, std::string("buffer ") + need.name + " was never made");
  const auto size = static_cast<std::int64_t>(need.buffer->getInfo<CL_MEM_SIZE>());
  if (size < need.bytes) {
    refuse_launch(device, kernel,
                  std::string("buffer ") + need.name + " holds " + std::to_string(size) + " bytes, " +
                      std::to_string(need.bytes) + " are needed");
  }
  // Only a caller's memory can have a smaller alignment than the device's allocations.
  const auto address = reinterpret_cast<std::uintptr_t>(need.buffer->getInfo<CL_MEM_HOST_PTR>());
  const bool aligned =
      address != 0 ? address % need.alignment == 0 : device.found().base_alignment % need.alignment == 0;
  if (!aligned) {
    refuse_launch(
        device, kernel,
        std::string("buffer ") + need.name + " is not aligned to " + std::to_string(need.alignment) + " bytes");
  }
}

}  // namespace

Buffer make_buffer(const OpenDevice& device, Access access, std::int64_t bytes, Bank bank) {
  return device.buffer(flags_of(access), bytes, nullptr, bank);
}

std::int64_t ensure(const OpenDevice& device, Buffer& buffer, Access access, std::int64_t bytes, Bank bank) {
  const std::int64_t present = bytes_of(buffer);
  if (present >= bytes) return present;
  buffer = Buffer();  // release the old buffer before asking for more memory
  buffer = make_buffer(device, access, bytes, bank);
  return bytes;
}

Buffer wrap(const OpenDevice& device, const void* p, std::int64_t bytes) {
  return device.buffer(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, const_cast<void*>(p));
}

Event enqueue_read(const OpenDevice& device, const Buffer& from, void* to, std::int64_t bytes) {
  return read_by(device, device.queue(), from, to, bytes, nullptr);
}

Event enqueue_write(const OpenDevice& device, const void* from, const Buffer& to, std::int64_t bytes) {
  return write_by(device, device.queue(), from, to, bytes);
}

Event enqueue_read_beside(OpenDevice& device, const Buffer& from, void* to, std::int64_t bytes, const Event& behind) {
  const cl::CommandQueue& queue = device.transfer_queues().down;
  const std::vector<cl::Event> before{behind};
  Event event = read_by(device, queue, from, to, bytes, &before);
  queue.flush();
  return event;
}

Event enqueue_write_beside(OpenDevice& device, const void* from, const Buffer& to, std::int64_t bytes) {
  const cl::CommandQueue& queue = device.transfer_queues().up;
  Event event = write_by(device, queue, from, to, bytes);
  queue.flush();
  return event;
}

Event enqueue_copy(const OpenDevice& device, const Buffer& from, const Buffer& to, std::int64_t bytes) {
  fault_point(Place::launch, device.info(), device.queue()());
  Event event;
  device.queue().enqueueCopyBuffer(from, to, 0, 0, static_cast<std::size_t>(bytes), nullptr, &event);
  return event;
}

void enqueue_kernel(const OpenDevice& device, const Kernel& kernel, Geometry geometry,
                    std::initializer_list<BufferNeed> needs, Event* event) {
  try {
    check_geometry(device, kernel, geometry);
    for (const BufferNeed& need : needs) {
      if (need.buffer != nullptr) check_buffer(device, kernel, need);
    }
    fault_point(Place::launch, device.info(), device.queue()());
    const cl::NDRange local(geometry.group_items);
    const cl::NDRange global(static_cast<std::size_t>(geometry.groups) * geometry.group_items);
    device.queue().enqueueNDRangeKernel(kernel.handle, cl::NullRange, global, local, nullptr, event);
  } catch (const cl::Error& error) {
    throw device_error(device.info(), "launching kernel " + kernel.name, error);
  }
}

}  // namespace oclspkt::ocl
