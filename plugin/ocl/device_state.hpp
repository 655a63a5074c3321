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

/// Everything of a solver that a device may touch, host memory included: it has to outlive a device that was lost.
template <typename T>
struct DeviceState {
  std::shared_ptr<OpenDevice> device;     ///< null before the first set-up and after a release
  std::shared_ptr<OpenDevice> for_calls;  ///< by which apply_on_device() works: the same device
  std::shared_ptr<OpenDevice> callers;    ///< by which enqueue() works: the same device, by a caller's queue
  DeviceQueue queue;                      ///< that of `callers`
  bool enqueued = false;                  ///< it may hold commands that work in what is below
  Placed placed;                          ///< where buffers lie
  std::string carries;                    ///< name of the scheme that `part` is of
  std::unique_ptr<Part<T>> part;
  DeviceBands bands;
  Buffer y, x;                         ///< of one chunk; in place: wrappers of the caller's memory, in an apply only
  Buffer scratch;                      ///< of Layout::scratch_bytes
  std::unique_ptr<Pipeline> pipeline;  ///< none in place
  Buffer units;                        ///< of all rows, by which solutions are multiplied; none: by nothing
  Kernel scale;                        ///< multiplies by them
  NonFinite non_finite;
  std::vector<Event> earlier;                 ///< launches of a pass but the last, until their times are known
  std::shared_ptr<ImportedVectors> imported;  ///< where callers' queues are of another run-time
};

/// Wait for what enqueue() left in a caller's queue.
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

/// The vectors of an apply: of the host, in buffers of the device, or in a visit (see Visit).
template <typename T>
struct Vectors {
  const T* y = nullptr;
  T* x = nullptr;
  Buffer y_buffer{}, x_buffer{};
  bool enqueued = false;   ///< nobody waits for the apply
  bool unaligned = false;  ///< the buffers begin where kernels cannot read whole vectors
  /// In a visit: enqueue what is done to the rows that a launch solved, behind it. x stays in the solver's own memory,
  /// and comes from there where there is an x of the host; y goes to y_buffer, or is there if the host has none.
  std::function<Event(const Chunk& tiles)> then{};
  bool on_device() const { return x_buffer() != nullptr; }
};

}  // namespace oclspkt::ocl
