// SPDX-License-Identifier: BSD-2-Clause
#include "imported_vectors.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "error_name.hpp"
#include "fault.hpp"

namespace oclspkt::ocl {
namespace {

ExternalMemory functions_of(const FoundDevice& found) {
  std::string why;
  const std::optional<ExternalMemory> functions = external_memory(found.handle, why);
  if (!functions) throw DeviceError(describe(found.info) + ": " + why);
  return *functions;
}

}  // namespace

ImportedVectors::ImportedVectors(const OpenDevice& device, std::unique_ptr<CardVectors> memory, std::int64_t bytes)
    : functions_(functions_of(device.found())),
      memory_(std::move(memory)),
      y_(import(device, CardVectors::Which::y)),
      x_(import(device, CardVectors::Which::x)),
      room_(bytes) {}

Buffer ImportedVectors::import(const OpenDevice& device, CardVectors::Which which) const {
  fault_point(Place::allocate, device.info(), device.queue()());
  const CardVectors::Exported exported = memory_->exported(which);
  cl_int code = CL_SUCCESS;
  const cl_mem made =
      functions_.import(device.context()(), exported.descriptor, static_cast<std::size_t>(exported.bytes), &code);
  if (code == CL_SUCCESS) return Buffer(made);
  close(exported.descriptor);
  throw cl::Error(code, "clCreateBufferWithProperties");
}

void ImportedVectors::check(const OpenDevice& device, const Waiter& waiter) {
  constexpr std::uint32_t kWritten[] = {0x5A17C0DE, 0xC0DE5A17};
  memory_->mark(CardVectors::Which::y, kWritten[0]);
  memory_->mark(CardVectors::Which::x, kWritten[1]);
  acquire(device);
  enqueue_read(device, y_, &seen_[0], sizeof seen_[0]);
  enqueue_read(device, x_, &seen_[1], sizeof seen_[1]);
  release(device, waiter);
  if (std::ranges::equal(seen_, kWritten)) return;
  throw DeviceError(describe(device.info()) + " does not see what CUDA writes to memory that it has imported");
}

void ImportedVectors::hand_over(const OpenDevice& device, ExternalMemory::HandOver function, cl_event* event) const {
  const cl_mem buffers[] = {y_(), x_()};
  const cl_int code = function(device.queue()(), 2, buffers, 0, nullptr, event);
  if (code != CL_SUCCESS) {
    throw cl::Error(
        code, event == nullptr ? "clEnqueueAcquireExternalMemObjectsKHR" : "clEnqueueReleaseExternalMemObjectsKHR");
  }
}

}  // namespace oclspkt::ocl
