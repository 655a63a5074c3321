// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "card_vectors.hpp"
#include "error_name.hpp"
#include "fault.hpp"
#include "native.hpp"
#include "runtime.hpp"
#include "waiter.hpp"

namespace oclspkt::ocl {

/// Vectors in memory of another run-time, with buffers of an OpenCL device over the same memory. The run-times share no
/// events. Therefore the host waits whenever one run-time uses data that the other run-time wrote.
class ImportedVectors {
 public:
  /// @param bytes  bytes of each vector
  /// @throws DeviceError, cl::Error
  ImportedVectors(const OpenDevice& device, std::unique_ptr<CardVectors> memory, std::int64_t bytes)
      : functions_(functions_of(device.found())),
        memory_(std::move(memory)),
        y_(import(device, CardVectors::Which::y)),
        x_(import(device, CardVectors::Which::x)),
        room_(bytes) {}

  /// Make new vectors, unless the present vectors are long enough. Check the vectors in both cases.
  /// @param queues_of  the module of the other run-time
  /// @throws VectorsNotShared
  static void ensure(std::shared_ptr<ImportedVectors>& vectors, const OpenDevice& device, DeviceModule& queues_of,
                     std::int64_t bytes, const Waiter& waiter) {
    try {
      if (!vectors || vectors->room_ < bytes) {
        vectors.reset();
        vectors = std::make_shared<ImportedVectors>(device, queues_of.make_card_vectors(device.info().physical, bytes),
                                                    bytes);
      }
      vectors->check(device, waiter);
    } catch (const DeviceError& error) {
      throw VectorsNotShared(error.what());
    } catch (const cl::Error& error) {
      throw VectorsNotShared(device_error(device.info(), "importing memory of CUDA", error).what());
    }
  }

  const Buffer& y() const { return y_; }
  const Buffer& x() const { return x_; }
  std::int64_t bytes() const { return ocl::bytes_of(y_) + ocl::bytes_of(x_); }
  bool takes(const DeviceQueue& queue) const { return memory_->takes(queue); }

  /// Copy the caller's y to its buffer.
  /// @param both  copy x as well, because elements between lines must keep their values
  /// @throws InvalidInput, DeviceError
  void bring(const CardVectors::Call& call, bool both) { memory_->bring(call, both); }
  /// Enqueue the copy of x back to the caller.
  /// @throws InvalidInput, DeviceError
  void take(const CardVectors::Call& call) { memory_->take(call); }

  /// Begin to use the buffers in the device's queue.
  /// @throws cl::Error
  void acquire(const OpenDevice& device) const { hand_over(device, functions_.acquire, nullptr); }
  /// End the use of the buffers, and wait until this is complete.
  /// @param waiter  a waiter of the same device
  /// @throws DeviceError, cl::Error
  void release(const OpenDevice& device, const Waiter& waiter) const {
    cl_event event = nullptr;
    hand_over(device, functions_.release, &event);
    waiter.wait(Event(event));
  }

 private:
  /// Check that the device sees the numbers that the other run-time writes. A driver may map wrong memory, for example
  /// memory of another part of a divided card. The device reads into seen_, so this object must not move.
  /// @throws DeviceError, cl::Error
  void check(const OpenDevice& device, const Waiter& waiter) {
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

  static ExternalMemory functions_of(const FoundDevice& found) {
    std::string why;
    const std::optional<ExternalMemory> functions = external_memory(found.handle, why);
    if (!functions) throw DeviceError(describe(found.info) + ": " + why);
    return *functions;
  }

  Buffer import(const OpenDevice& device, CardVectors::Which which) const {
    fault_point(Place::allocate, device.info(), device.queue()());
    const CardVectors::Exported exported = memory_->exported(which);
    cl_int code = CL_SUCCESS;
    const cl_mem made =
        functions_.import(device.context()(), exported.descriptor, static_cast<std::size_t>(exported.bytes), &code);
    if (code == CL_SUCCESS) return Buffer(made);
    close(exported.descriptor);
    throw cl::Error(code, "clCreateBufferWithProperties");
  }

  void hand_over(const OpenDevice& device, ExternalMemory::HandOver function, cl_event* event) const {
    const cl_mem buffers[] = {y_(), x_()};
    const cl_int code = function(device.queue()(), 2, buffers, 0, nullptr, event);
    if (code != CL_SUCCESS) {
      throw cl::Error(
          code, event == nullptr ? "clEnqueueAcquireExternalMemObjectsKHR" : "clEnqueueReleaseExternalMemObjectsKHR");
    }
  }

  const ExternalMemory functions_;
  const std::unique_ptr<CardVectors> memory_;  ///< destroyed after the buffers
  const Buffer y_, x_;
  const std::int64_t room_;
  std::uint32_t seen_[2] = {};
};

}  // namespace oclspkt::ocl
