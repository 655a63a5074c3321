// SPDX-License-Identifier: BSD-2-Clause
#pragma once

// The objects behind the handles of OpenCL's C interface in this module. plugin/ocl uses OpenCL only through this
// interface, so it runs on CUDA by the functions here. The module exports no OpenCL name (exports.map), which keeps its
// functions apart from a libOpenCL in the same process.
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "driver.hpp"
#include "translate.hpp"

namespace oclspkt::cuda {
struct Counted {
  std::atomic<cl_uint> references{1};
};

/// Returns a CUDA result as an OpenCL error code: -20000 minus its number. ocl/error_name.cpp knows its CUDA name.
inline cl_int code_of(CUresult result) { return result == kSuccess ? CL_SUCCESS : -20000 - result; }

template <typename Object>
cl_int retain(Object* object, cl_int invalid) {
  if (object == nullptr) return invalid;
  object->references.fetch_add(1, std::memory_order_relaxed);
  return CL_SUCCESS;
}

/// Drop a reference. Dropping the last reference calls end(), which frees the contents of the object.
template <typename Object, typename End>
cl_int release(Object* object, cl_int invalid, const End& end) {
  if (object == nullptr) return invalid;
  if (object->references.fetch_sub(1, std::memory_order_acq_rel) == 1) end();
  return CL_SUCCESS;
}

/// Answers a query as OpenCL does.
class Answer {
 public:
  Answer(std::size_t size, void* value, std::size_t* size_ret) : size_(size), value_(value), size_ret_(size_ret) {}
  template <typename V>
  cl_int operator()(const V& answer) const {
    return give(&answer, std::span(&answer, 1).size_bytes());
  }
  cl_int operator()(const std::string& answer) const { return give(answer.c_str(), answer.size() + 1); }
  /// Answer with a number of CUDA, converted to V. @param ask  function of an int* that receives the number
  template <typename V, typename Ask>
  cl_int number(const Ask& ask) const {
    int number = 0;
    const CUresult result = ask(&number);
    return result == kSuccess ? (*this)(static_cast<V>(number)) : code_of(result);
  }

 private:
  cl_int give(const void* answer, std::size_t bytes) const {
    if (size_ret_ != nullptr) *size_ret_ = bytes;
    if (value_ == nullptr) return CL_SUCCESS;
    if (size_ < bytes) return CL_INVALID_VALUE;
    std::memcpy(value_, answer, bytes);
    return CL_SUCCESS;
  }
  std::size_t size_;
  void* value_;
  std::size_t* size_ret_;
};

template <typename Object>
Object* with_code(cl_int* code, cl_int value, Object* object = nullptr) {
  if (code != nullptr) *code = value;
  return object;
}

/// Events that are not in use. They are kept because making an event takes longer than launching a kernel.
class IdleEvents {
 public:
  explicit IdleEvents(unsigned flags) : flags_(flags) {}
  /// Take an idle event, or make an event. @pre the context is current
  CUresult take(CUevent* event);
  /// Does not allocate memory. @param event  may be null
  void give_back(CUevent event) noexcept;
  /// @pre the context is current
  void destroy() noexcept;

 private:
  const unsigned flags_;
  std::mutex mutex_;
  std::size_t made_ = 0;  ///< number of events that idle_ has room for
  std::vector<CUevent> idle_;
};

}  // namespace oclspkt::cuda

struct _cl_platform_id {};

/// A card. The object lives until the process ends.
struct _cl_device_id {
  int ordinal = 0;
  oclspkt::cuda::CUdevice handle = 0;
  std::string name;
  std::size_t memory = 0;
  cl_context context = nullptr;  ///< made at first use
  oclspkt::cuda::CUresult attribute(int which, int* value) const {
    return oclspkt::cuda::driver()->device_attribute(value, which, handle);
  }
};

/// The card's primary context. CUDA calls of the program and of PETSc use the same context. We retain it once and never
/// release it, because the last release destroys the memory of all users. A program that uses the context without a
/// reference does not expect that. A release also waits for ever for a kernel that hangs. The reference count counts
/// users of this object; without users, no idle events are kept.
struct _cl_context : oclspkt::cuda::Counted {
  cl_device_id device = nullptr;
  oclspkt::cuda::CUcontext handle = nullptr;
  oclspkt::cuda::IdleEvents timed{oclspkt::cuda::kEventDefault}, plain{oclspkt::cuda::kEventDisableTiming};
  oclspkt::cuda::IdleEvents& events(bool times) { return times ? timed : plain; }
};

struct _cl_command_queue : oclspkt::cuda::Counted {
  cl_context context = nullptr;
  oclspkt::cuda::CUstream stream = nullptr;
  bool times = false;
  bool callers = false;  ///< the stream belongs to the program: we neither destroy it nor record events in it
};

struct _cl_mem : oclspkt::cuda::Counted {
  enum class Kind { device, pinned, registered, part, callers };
  Kind kind = Kind::device;
  cl_context context = nullptr;
  cl_mem_flags flags = 0;
  std::size_t bytes = 0;
  oclspkt::cuda::CUdeviceptr address = 0;
  void* host = nullptr;    ///< address on the host, for pinned and registered memory
  cl_mem whole = nullptr;  ///< for a part: the buffer that it belongs to
  std::size_t offset = 0;  ///< for a part: its first byte in this buffer
};

struct _cl_event : oclspkt::cuda::Counted {
  cl_command_queue queue = nullptr;
  oclspkt::cuda::CUevent begin = nullptr,
                         end = nullptr;  ///< null begin: the queue records no times; null end: a caller's queue
};

struct _cl_program : oclspkt::cuda::Counted {
  cl_context context = nullptr;
  std::string source, log;
  oclspkt::cuda::CUmodule module = nullptr;
};

struct _cl_kernel : oclspkt::cuda::Counted {
  struct Argument {
    oclspkt::cuda::ParameterKind kind;
    alignas(16) unsigned char value[16] = {};  ///< long enough for every argument of our kernels
    std::size_t local_bytes = 0;
    bool set = false;
  };
  cl_program program = nullptr;
  oclspkt::cuda::CUfunction function = nullptr;
  std::size_t group[3] = {};  ///< the work-group size that the kernel requires; zeros: any size
  std::vector<Argument> arguments;
  std::vector<void*> pointers;  ///< addresses of the arguments' values, in the format of a launch
};

namespace oclspkt::cuda {

/// Makes a context current in this thread while the object lives. CUDA calls use the current context of their thread.
class Current {
 public:
  explicit Current(cl_context context) {
    CUcontext now = nullptr;
    const Driver& d = *driver();
    result_ = d.context_current(&now);
    if (result_ == kSuccess && now != context->handle) {
      result_ = d.context_push(context->handle);
      pushed_ = result_ == kSuccess;
    }
  }
  ~Current() {
    CUcontext popped = nullptr;
    if (pushed_) driver()->context_pop(&popped);
  }
  Current& operator=(Current&&) = delete;
  CUresult result() const { return result_; }

 private:
  CUresult result_ = kSuccess;
  bool pushed_ = false;
};

/// Returns the cards that the driver lists; none without a driver.
const std::vector<cl_device_id>& cards();

/// Returns one line for each card whose attributes cannot be read.
const std::vector<std::string>& problems_of_cards();

/// Describes a failed call in words: "cuCtxGetDevice gave CUDA_ERROR_ILLEGAL_ADDRESS (700)".
std::string failure(const char* function, CUresult result);
/// @throws cl::Error unless the call succeeded
void require(const char* function, CUresult result);

/// Returns the context of a card, or null if the result is not kSuccess. @param[out] result  CUDA's result
cl_context context_of(cl_device_id card, CUresult* result);

/// A command of a queue. It waits for the events of the wait list, and makes its own event.
class Command {
 public:
  Command(cl_command_queue queue, cl_uint waits, const cl_event* wait_list, cl_event* event);
  Command& operator=(Command&&) = delete;

  /// Enqueue the command by calling work(driver, stream).
  template <typename Work>
  cl_int run(const Work& work, bool blocking = false) {
    if (result_ == kSuccess) begin();
    if (result_ == kSuccess) result_ = work(*driver(), queue_->stream);
    if (result_ == kSuccess) end(blocking);
    return code_of(result_);
  }

 private:
  struct Release {
    void operator()(cl_event event) const { clReleaseEvent(event); }
  };
  void begin();
  void end(bool blocking);

  cl_command_queue queue_;
  cl_event* event_;
  Current current_;
  CUresult result_;
  std::unique_ptr<_cl_event, Release> made_;  ///< the command's event; the caller receives it after success
};

}  // namespace oclspkt::cuda
