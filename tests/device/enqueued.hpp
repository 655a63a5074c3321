// SPDX-License-Identifier: BSD-2-Clause
// Applies that wait in a queue of the caller: nobody looks at what one met before the next begins.
#pragma once

#include <cstring>

#include "devices.hpp"
#include "opencl.hpp"

namespace oclspkt::test {

/// Vectors in the context of a solver that is set up, and a queue of their own.
template <typename T>
class Enqueued {
 public:
  Enqueued(DeviceSolver<T>& solver, Index extent) : solver_(solver) {
    const DeviceHandles handles = solver.handles();
    const cl::Context context(handles.context, true);
    const std::size_t bytes = static_cast<std::size_t>(extent) * sizeof(T);
    queue_ = cl::CommandQueue(context, cl::Device(handles.device, true));
    y_ = cl::Buffer(context, CL_MEM_READ_WRITE, bytes);
    x_ = cl::Buffer(context, CL_MEM_READ_WRITE, bytes);
  }
  /// One apply for each vector, with no wait between them.
  /// @param before  what x holds until then
  std::vector<std::vector<T>> solve(const std::vector<std::vector<T>>& all, T before = T(7)) {
    std::vector<std::vector<T>> solved;
    for (const std::vector<T>& y : all) solved.emplace_back(y.size(), before);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t bytes = all[i].size() * sizeof(T);
      queue_.enqueueWriteBuffer(y_, CL_FALSE, 0, bytes, all[i].data());
      queue_.enqueueWriteBuffer(x_, CL_FALSE, 0, bytes, solved[i].data());
      solver_.enqueue({DeviceQueue::Kind::opencl, queue_()}, y_(), 0, x_(), 0, 1);
      queue_.enqueueReadBuffer(x_, CL_FALSE, 0, bytes, solved[i].data());
    }
    queue_.finish();
    return solved;
  }

 private:
  DeviceSolver<T>& solver_;
  cl::CommandQueue queue_;
  cl::Buffer y_, x_;
};

/// The same in every kind of row: rows of NaN are equal, too.
template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

}  // namespace oclspkt::test
