// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device_bands.hpp"
#include "imported_vectors.hpp"
#include "non_finite.hpp"
#include "pipeline.hpp"
#include "registry.hpp"
#include "schemes/part.hpp"

namespace oclspkt::ocl {

/// All objects of a solver that a device may use, host memory included. They must outlive a device that was lost.
template <typename T>
struct DeviceState {
  std::shared_ptr<OpenDevice> device;     ///< null before the first set-up and after a release
  std::shared_ptr<OpenDevice> for_calls;  ///< the same device, as apply_on_device() uses it
  std::shared_ptr<OpenDevice> callers;    ///< the same device by a caller's queue, as enqueue() uses it
  DeviceQueue queue;                      ///< the queue of `callers`
  bool enqueued = false;                  ///< that queue may hold commands that use the objects below
  Placed placed;                          ///< where buffers are placed
  std::string carries;                    ///< name of the scheme of `part`
  std::unique_ptr<Part<T>> part;
  DeviceBands bands;
  Buffer y, x;                         ///< of one chunk; in place: wrappers of the caller's memory, only in an apply
  Buffer scratch;                      ///< of Layout::scratch_bytes
  std::unique_ptr<Pipeline> pipeline;  ///< null in place
  Buffer units;                        ///< factors of all rows by which solutions are multiplied; empty: none
  Kernel scale;                        ///< kernel that multiplies by `units`
  NonFinite non_finite;
  std::vector<Event> earlier;                 ///< all launches of a pass but the last, until their times are known
  std::shared_ptr<ImportedVectors> imported;  ///< if callers' queues belong to another run-time
};

/// Wait for the commands that enqueue() left in a caller's queue.
template <typename T>
void settle(DeviceState<T>& state) noexcept {
  if (state.enqueued && state.callers) clFinish(state.callers->queue()());
  state.enqueued = false;
}

template <typename T>
class DeviceHolding final : public Holding {
 public:
  std::mutex mutex;
  DeviceState<T> state;
  void drop() override {
    const std::lock_guard lock(mutex);
    settle(state);
    state = {};
  }
};

/// The vectors of an apply: on the host, in buffers of the device, or in a visit (see Visit).
template <typename T>
struct Vectors {
  const T* y = nullptr;
  T* x = nullptr;
  Buffer y_buffer{}, x_buffer{};
  bool enqueued = false;   ///< no caller waits for the apply
  bool unaligned = false;  ///< the buffers begin where kernels cannot read whole vectors
  /// In a visit: enqueue the change of rows that a launch solved, after the launch. x stays in the solver's own memory;
  /// it is copied from there if the host has an x. y is copied to y_buffer, or is already there if the host has none.
  std::function<Event(const Chunk& tiles)> then{};
  bool on_device() const { return x_buffer() != nullptr; }
};

}  // namespace oclspkt::ocl
