// SPDX-License-Identifier: BSD-2-Clause
#include "runtime.hpp"

#include <vector>

#include "fault.hpp"

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

}  // namespace

Buffer make_buffer(const OpenDevice& device, Access access, std::int64_t bytes, Bank bank) {
  return device.buffer(flags_of(access), bytes, nullptr, bank);
}

std::int64_t ensure(const OpenDevice& device, Buffer& buffer, Access access, std::int64_t bytes, Bank bank) {
  const std::int64_t present = bytes_of(buffer);
  if (present >= bytes) return present;
  buffer = Buffer();  // release the old buffer before asking for more
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

}  // namespace oclspkt::ocl
