// SPDX-License-Identifier: BSD-2-Clause
#include "repeat.hpp"

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace oclspkt::bench::gpu {
namespace {

/// Fills a buffer over and over, by a queue of its own, until it ends.
class Load {
 public:
  explicit Load(const DeviceHandles& handles) : buffer_(handles.context, CL_MEM_READ_WRITE, kBytes) {
    cl_int error = CL_SUCCESS;
    queue_ = clCreateCommandQueue(handles.context, handles.device, 0, &error);
    check(error, "clCreateCommandQueue");
    thread_ = std::thread([this] { run(); });
  }
  ~Load() {
    ends_ = true;
    thread_.join();
    clReleaseCommandQueue(queue_);
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

 private:
  static constexpr std::size_t kBytes = std::size_t{64} << 20;

  void run() {
    cl_uchar value = 0;
    while (!ends_) {
      // A device that fails shows in the applies beside.
      const cl_int error = clEnqueueFillBuffer(queue_, buffer_.get(), &value, 1, 0, kBytes, 0, nullptr, nullptr);
      if (error != CL_SUCCESS || clFinish(queue_) != CL_SUCCESS) return;
      ++value;
    }
  }

  Memory buffer_;
  cl_command_queue queue_ = nullptr;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace

int count_others(const DeviceHandles& handles, const Memory& x, const void* first, std::size_t bytes, int times,
                 const std::function<void()>& apply) {
  const Load load(handles);
  std::vector<std::byte> now(bytes);
  int others = 0;
  for (int i = 0; i < times; ++i) {
    apply();
    check(clEnqueueReadBuffer(handles.queue, x.get(), CL_TRUE, 0, bytes, now.data(), 0, nullptr, nullptr), "a read");
    others += std::memcmp(now.data(), first, bytes) != 0 ? 1 : 0;
  }
  return others;
}

}  // namespace oclspkt::bench::gpu
