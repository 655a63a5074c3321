// SPDX-License-Identifier: BSD-2-Clause
#include "resident.hpp"

#include <cstring>
#include <limits>
#include <vector>

#include "clock.hpp"
#include "driver.hpp"
#include "memory.hpp"
#include "opencl.hpp"
#include "repeat.hpp"

namespace oclspkt::bench::gpu {
namespace {

/// Enqueue so many applies into a queue of the caller and wait once. @return seconds of each, by the host's clock
template <typename T, typename Wait>
double seconds_of_each(int count, Solver<T>& solver, const DeviceQueue& queue, const void* y, void* x,
                       const Wait& wait) {
  const double seconds = seconds_of([&] {
    for (int i = 0; i < count; ++i) solver.enqueue(queue, y, 0, x, 0, 1);
    wait();
  });
  return seconds / count;
}

template <typename T>
class OpenClResident : public Resident {
 public:
  OpenClResident(Solver<T>& solver, std::size_t bytes) : OpenClResident(solver, solver.device_handles(), bytes) {}
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
  double batch(int) override { return std::numeric_limits<double>::quiet_NaN(); }
  int count_others(const void* first, int times) override {
    return gpu::count_others(handles_, x_, first, bytes_, times, [&] { apply(); });
  }

 protected:
  OpenClResident(Solver<T>& solver, const DeviceHandles& handles, std::size_t bytes)
      : solver_(solver),
        handles_(handles),
        bytes_(bytes),
        y_(handles_.context, CL_MEM_READ_ONLY, bytes),
        x_(handles_.context, CL_MEM_READ_WRITE, bytes) {}

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

/// The same by a queue of the caller.
template <typename T>
class OpenClEnqueued final : public OpenClResident<T> {
 public:
  OpenClEnqueued(Solver<T>& solver, const DeviceHandles& handles, std::size_t bytes)
      : OpenClResident<T>(solver, handles, bytes) {}
  double apply() override { return batch(1); }
  double batch(int count) override {
    const DeviceQueue queue{DeviceQueue::Kind::opencl, this->handles_.queue};
    return seconds_of_each(count, this->solver_, queue, this->y_.get(), this->x_.get(), [&] { wait(); });
  }

 private:
  /// Until all is done that was enqueued: to ask again and again, as the solver does, is faster than to sleep.
  void wait() const {
    cl_event end = nullptr;
    check(clEnqueueMarkerWithWaitList(this->handles_.queue, 0, nullptr, &end), "clEnqueueMarkerWithWaitList");
    cl_int status = CL_QUEUED, error = clFlush(this->handles_.queue);
    while (error == CL_SUCCESS && status > CL_COMPLETE) {
      error = clGetEventInfo(end, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    }
    clReleaseEvent(end);
    check(error, "clGetEventInfo");
    check(status, "an apply");
  }
};

/// A context and a queue of the program for a device of OpenCL.
class OpenClQueue final : public Setting {
 public:
  explicit OpenClQueue(const DeviceInfo& info) {
    cl_int error = CL_SUCCESS;
    handles_.device = device_like(info);
    handles_.context = clCreateContext(nullptr, 1, &handles_.device, nullptr, nullptr, &error);
    check(error, "clCreateContext");
    handles_.queue = clCreateCommandQueue(handles_.context, handles_.device, 0, &error);
    check(error, "clCreateCommandQueue");
  }
  ~OpenClQueue() override {
    clReleaseCommandQueue(handles_.queue);
    clReleaseContext(handles_.context);
  }
  OpenClQueue(const OpenClQueue&) = delete;
  OpenClQueue& operator=(const OpenClQueue&) = delete;
  Known known() const override { return {.queue = {DeviceQueue::Kind::opencl, handles_.queue}}; }
  std::unique_ptr<Resident> resident(Solver<float>& solver, std::size_t bytes) override {
    return std::make_unique<OpenClEnqueued<float>>(solver, handles_, bytes);
  }
  std::unique_ptr<Resident> resident(Solver<double>& solver, std::size_t bytes) override {
    return std::make_unique<OpenClEnqueued<double>>(solver, handles_, bytes);
  }

 private:
  /// The device that the library lists so.
  static cl_device_id device_like(const DeviceInfo& info) {
    std::vector<cl::Platform> platforms;
    cl::Platform::get(&platforms);
    for (const cl::Platform& platform : platforms) {
      if (platform.getInfo<CL_PLATFORM_NAME>() != info.platform) continue;
      std::vector<cl::Device> devices;
      platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
      for (const cl::Device& device : devices) {
        if (device.getInfo<CL_DEVICE_NAME>() == info.name) return device();
      }
    }
    throw DeviceError("OpenCL lists no device " + info.name + " for a queue of the program");
  }

  DeviceHandles handles_;
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
  double batch(int count) override {
    return seconds_of_each(count, solver_, queue_, reinterpret_cast<const void*>(y_), reinterpret_cast<void*>(x_),
                           [&] { check_cuda(d_.stream_synchronize(stream()), "applies"); });
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
  if (place.enqueued) return std::make_unique<OpenClQueue>(place.device);
  return std::make_unique<OpenCl>();
}

}  // namespace oclspkt::bench::gpu
