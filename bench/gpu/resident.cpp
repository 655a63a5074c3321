// SPDX-License-Identifier: BSD-2-Clause
#include "resident.hpp"

#include <cstring>
#include <vector>

#include "driver.hpp"
#include "memory.hpp"
#include "repeat.hpp"

namespace oclspkt::bench::gpu {
namespace {

template <typename T>
class OpenClResident final : public Resident {
 public:
  OpenClResident(Solver<T>& solver, std::size_t bytes)
      : solver_(solver),
        handles_(solver.device_handles()),
        bytes_(bytes),
        y_(handles_.context, CL_MEM_READ_ONLY, bytes),
        x_(handles_.context, CL_MEM_READ_WRITE, bytes) {}
  void write(const void* y) override {
    check(clEnqueueWriteBuffer(handles_.queue, y_.get(), CL_TRUE, 0, bytes_, y, 0, nullptr, nullptr), "a write");
  }
  void read(void* x) override {
    check(clEnqueueReadBuffer(handles_.queue, x_.get(), CL_TRUE, 0, bytes_, x, 0, nullptr, nullptr), "a read");
  }
  double apply() override {
    const double before = solver_.times().kernel_seconds;
    solver_.apply_on_device(y_.get(), x_.get());
    return solver_.times().kernel_seconds - before;
  }
  int count_others(const void* first, int times) override {
    return gpu::count_others(handles_, x_, first, bytes_, times, [&] { apply(); });
  }

 private:
  Solver<T>& solver_;
  DeviceHandles handles_;
  std::size_t bytes_;
  Memory y_, x_;
};

class OpenCl final : public Setting {
 public:
  std::unique_ptr<Resident> resident(Solver<float>& solver, std::size_t bytes) override {
    return std::make_unique<OpenClResident<float>>(solver, bytes);
  }
  std::unique_ptr<Resident> resident(Solver<double>& solver, std::size_t bytes) override {
    return std::make_unique<OpenClResident<double>>(solver, bytes);
  }
};

void check_cuda(cuda::CUresult result, const char* what) {
  if (result != cuda::kSuccess) throw DeviceError(std::string(what) + " gave CUDA error " + std::to_string(result));
}

template <typename T>
class CudaResident final : public Resident {
 public:
  CudaResident(Solver<T>& solver, const DeviceQueue& queue, std::size_t bytes)
      : d_(*cuda::driver()), solver_(solver), queue_(queue), bytes_(bytes) {
    check_cuda(d_.memory_alloc(&y_, bytes), "cuMemAlloc");
    check_cuda(d_.memory_alloc(&x_, bytes), "cuMemAlloc");
    check_cuda(d_.event_create(&begin_, cuda::kEventDefault), "cuEventCreate");
    check_cuda(d_.event_create(&end_, cuda::kEventDefault), "cuEventCreate");
  }
  ~CudaResident() override {
    d_.event_destroy(begin_);
    d_.event_destroy(end_);
    d_.memory_free(y_);
    d_.memory_free(x_);
  }
  CudaResident(const CudaResident&) = delete;
  CudaResident& operator=(const CudaResident&) = delete;

  void write(const void* y) override {
    check_cuda(d_.copy_up(y_, y, bytes_, stream()), "a write");
    check_cuda(d_.stream_synchronize(stream()), "a write");
  }
  void read(void* x) override { check_cuda(d_.copy_down_now(x, x_, bytes_), "a read"); }
  double apply() override {
    float milliseconds = 0;
    check_cuda(d_.event_record(begin_, stream()), "cuEventRecord");
    solver_.enqueue(queue_, reinterpret_cast<const void*>(y_), 0, reinterpret_cast<void*>(x_), 0, 1);
    check_cuda(d_.event_record(end_, stream()), "cuEventRecord");
    check_cuda(d_.event_synchronize(end_), "an apply");
    check_cuda(d_.event_elapsed(&milliseconds, begin_, end_), "cuEventElapsedTime");
    return 1e-3 * static_cast<double>(milliseconds);
  }
  int count_others(const void* first, int times) override {
    std::vector<std::byte> x(bytes_);
    int others = 0;
    for (int i = 0; i < times; ++i) {
      apply();
      read(x.data());
      others += std::memcmp(x.data(), first, bytes_) != 0;
    }
    return others;
  }

 private:
  cuda::CUstream stream() const { return static_cast<cuda::CUstream>(queue_.handle); }

  const cuda::Driver& d_;
  Solver<T>& solver_;
  DeviceQueue queue_;
  std::size_t bytes_;
  cuda::CUdeviceptr y_ = 0, x_ = 0;
  cuda::CUevent begin_ = nullptr, end_ = nullptr;
};

/// The first card's primary context, current in this thread for good, and a stream.
class Cuda final : public Setting {
 public:
  Cuda() {
    std::string why;
    const cuda::Driver* d = cuda::driver(&why);
    if (d == nullptr) throw DeviceError(why);
    cuda::CUdevice card = 0;
    cuda::CUcontext context = nullptr;
    cuda::CUstream stream = nullptr;
    check_cuda(d->device_get(&card, 0), "cuDeviceGet");
    check_cuda(d->primary_retain(&context, card), "cuDevicePrimaryCtxRetain");
    check_cuda(d->context_push(context), "cuCtxPushCurrent");
    check_cuda(d->stream_create(&stream, cuda::kStreamNonBlocking), "cuStreamCreate");
    queue_ = {DeviceQueue::Kind::cuda, stream};
  }
  Known known() const override { return {.queue = queue_}; }
  std::unique_ptr<Resident> resident(Solver<float>& solver, std::size_t bytes) override {
    return std::make_unique<CudaResident<float>>(solver, queue_, bytes);
  }
  std::unique_ptr<Resident> resident(Solver<double>& solver, std::size_t bytes) override {
    return std::make_unique<CudaResident<double>>(solver, queue_, bytes);
  }

 private:
  DeviceQueue queue_;
};

}  // namespace

std::unique_ptr<Setting> make_setting(const Place& place) {
  if (place.device.cuda) return std::make_unique<Cuda>();
  return std::make_unique<OpenCl>();
}

}  // namespace oclspkt::bench::gpu
