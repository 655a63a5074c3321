// SPDX-License-Identifier: BSD-2-Clause
// Vectors in card memory that OpenCL can import. OpenCL cannot import PETSc's vectors, made by cuMemAlloc().
#include "card_vectors.hpp"

#include <string>

#include "discovery.hpp"
#include "error_name.hpp"
#include "native.hpp"
#include "objects.hpp"

namespace oclspkt::cuda {
namespace {

/// Memory of a card. CUDA uses it by addresses; another run-time imports it by a file descriptor.
class SharedMemory {
 public:
  /// @pre the card's context is current
  /// @throws cl::Error
  SharedMemory(cl_device_id card, std::size_t bytes) : d_(*driver()) {
    CUmemAllocationProp properties;
    properties.location.id = card->handle;
    std::size_t page = 1;
    require("cuMemGetAllocationGranularity", d_.granularity(&page, &properties, kLeastGranularity));
    bytes_ = (bytes + page - 1) / page * page;
    try {
      require("cuMemCreate", d_.physical_create(&handle_, bytes_, &properties, 0));
      made_ = true;
      require("cuMemAddressReserve", d_.address_reserve(&address_, bytes_, 0, 0, 0));
      require("cuMemMap", d_.address_map(address_, bytes_, 0, handle_, 0));
      mapped_ = true;
      const CUmemAccessDesc access{.location = properties.location};
      require("cuMemSetAccess", d_.address_access(address_, bytes_, &access, 1));
    } catch (...) {
      free();
      throw;
    }
  }
  ~SharedMemory() { free(); }
  SharedMemory& operator=(SharedMemory&&) = delete;

  CUdeviceptr address() const { return address_; }
  CardVectors::Exported exported() const {
    int descriptor = -1;
    require("cuMemExportToShareableHandle", d_.physical_export(&descriptor, handle_, kFileDescriptor, 0));
    return {descriptor, static_cast<std::int64_t>(bytes_)};
  }

 private:
  void free() noexcept {
    if (mapped_) d_.address_unmap(address_, bytes_);
    if (address_ != 0) d_.address_free(address_, bytes_);
    if (made_) d_.physical_release(handle_);
  }

  const Driver& d_;
  std::size_t bytes_ = 0;
  CUmemGenericAllocationHandle handle_ = 0;
  CUdeviceptr address_ = 0;
  bool made_ = false, mapped_ = false;
};

/// An event that the last copy from the memory records. It stays valid if the stream of the copy is destroyed.
class LastCopy {
 public:
  /// @throws cl::Error
  LastCopy() { require("cuEventCreate", driver()->event_create(&event_, kEventDisableTiming)); }
  ~LastCopy() {
    driver()->event_synchronize(event_);
    driver()->event_destroy(event_);
  }
  LastCopy& operator=(LastCopy&&) = delete;
  CUevent event() const { return event_; }

 private:
  CUevent event_ = nullptr;
};

class CudaVectors final : public CardVectors {
 public:
  /// @throws DeviceError
  CudaVectors(cl_device_id card, cl_context context, std::int64_t bytes) : card_(card), context_(context, true) {
    work_in_context("making memory that OpenCL imports", [&] {
      y_ = std::make_unique<SharedMemory>(card, static_cast<std::size_t>(bytes));
      x_ = std::make_unique<SharedMemory>(card, static_cast<std::size_t>(bytes));
      last_copy_ = std::make_unique<LastCopy>();
    });
  }
  ~CudaVectors() override {
    const Current current(context_());
    last_copy_.reset();
    x_.reset();
    y_.reset();
  }
  CudaVectors& operator=(CudaVectors&&) = delete;

  Exported exported(Which which) override {
    return work_in_context("exporting memory", [&] { return memory(which).exported(); });
  }

  void mark(Which which, std::uint32_t word) override {
    work_in_context("writing to exported memory", [&] {
      require("cuMemsetD32Async", driver()->fill_words(memory(which).address(), word, 1, nullptr));
      require("cuStreamSynchronize", driver()->stream_synchronize(nullptr));
    });
  }

  bool takes(const DeviceQueue& queue) const override {
    try {
      return queue.kind == DeviceQueue::Kind::cuda && ocl::callers_queue(queue.handle)()->context == context_();
    } catch (const InvalidInput&) {
      return false;
    } catch (const cl::Error&) {
      return false;
    }
  }

  void bring(const Call& call, bool both) override {
    work("taking a caller's vectors", [&] {
      const CUstream stream = stream_of(call.queue);
      const CUdeviceptr y = callers("buffer y of enqueue", const_cast<void*>(call.y), call.bytes);
      const CUdeviceptr x = callers("buffer x of enqueue", call.x, call.bytes);
      const auto bytes = static_cast<std::size_t>(call.bytes);
      if (y < x + bytes && x < y + bytes) {
        throw InvalidInput("buffers x and y of enqueue overlap: use two separate buffers");
      }
      require("cuStreamWaitEvent", driver()->stream_wait(stream, last_copy_->event(), 0));
      copy(y_->address(), y, bytes, stream);
      if (both) copy(x_->address(), x, bytes, stream);
      require("cuStreamSynchronize", driver()->stream_synchronize(stream));
    });
  }

  void take(const Call& call) override {
    work("giving a caller the solution", [&] {
      const CUstream stream = stream_of(call.queue);
      copy(callers("buffer x of enqueue", call.x, call.bytes), x_->address(), static_cast<std::size_t>(call.bytes),
           stream);
      require("cuEventRecord", driver()->event_record(last_copy_->event(), stream));
    });
  }

 private:
  template <typename Work>
  auto work(const char* what, const Work& work) const -> decltype(work()) {
    try {
      return work();
    } catch (const cl::Error& error) {
      throw DeviceError(card_->name + " by CUDA: " + what + " failed: " + error.what() + " gave " +
                        ocl::error_name(error.err()));
    }
  }

  /// Call work() in the card's context. The caller's current context may belong to another card.
  template <typename Work>
  auto work_in_context(const char* what, const Work& work) const -> decltype(work()) {
    return this->work(what, [&] {
      const Current current(context_());
      require("cuCtxPushCurrent", current.result());
      return work();
    });
  }

  static void copy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    require("cuMemcpyDtoDAsync", driver()->copy_on_device(to, from, bytes, stream));
  }

  SharedMemory& memory(Which which) const { return which == Which::y ? *y_ : *x_; }

  /// Returns the stream of a queue. Checks that the queue's context is current, and that it is the card's context.
  CUstream stream_of(const DeviceQueue& queue) const {
    const cl::CommandQueue callers = ocl::callers_queue(queue.handle);
    if (callers()->context != context_()) {
      throw InvalidInput("the queue is of another device than " + card_->name + ": set the solver up with it");
    }
    return callers()->stream;
  }

  CUdeviceptr callers(const char* what, void* address, std::int64_t bytes) const {
    return ocl::callers_memory(context_, what, address, bytes)()->address;
  }

  const cl_device_id card_;
  const cl::Context context_;
  std::unique_ptr<SharedMemory> y_, x_;
  std::unique_ptr<LastCopy> last_copy_;
};

}  // namespace
}  // namespace oclspkt::cuda

namespace oclspkt::ocl {

std::unique_ptr<CardVectors> make_card_vectors(const std::string& place, std::int64_t bytes) {
  for (const cl_device_id card : cuda::cards()) {
    if (pci_address(cl::Device(card, true)) != place) continue;
    cuda::CUresult result = cuda::kSuccess;
    const cl_context context = cuda::context_of(card, &result);
    if (context == nullptr) throw DeviceError(card->name + ": " + cuda::failure("cuDevicePrimaryCtxRetain", result));
    return std::make_unique<cuda::CudaVectors>(card, context, bytes);
  }
  throw DeviceError("CUDA sees no card at " + place);
}

}  // namespace oclspkt::ocl
