// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <unistd.h>

#include <cstdio>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "driver.hpp"
#include "fake_calls.hpp"

// What the fake driver knows, and how its calls begin.
namespace fake_driver {

using namespace oclspkt::cuda;
using oclspkt::test::fake::FakeKernel;

inline constexpr CUresult kOutOfMemory = 2, kNotInitialized = 3, kInvalidDevice = 101, kInvalidImage = 200,
                          kInvalidContext = 201, kNoBinary = 209, kTooNewPtx = 222, kInvalidHandle = 400,
                          kAlreadyRegistered = 712;
inline constexpr int kMostCards = 8;
inline constexpr unsigned char kNever = 0xFF;  // memory that nobody wrote: NaN

/// shared: what a file descriptor stands for.
enum class Kind { device, pinned, registered, module, shared };
struct Allocation {
  std::size_t bytes;
  int card;
  Kind kind;
};

/// Work in order, done up to some place.
struct Stream {
  CUcontext context;
  std::vector<std::function<void()>> work;
  std::size_t done = 0;
};
using StreamAt = std::shared_ptr<Stream>;

}  // namespace fake_driver

struct oclspkt::cuda::CUctx_st {
  int card;
  fake_driver::StreamAt null_stream;
};
struct oclspkt::cuda::CUstream_st {
  fake_driver::StreamAt stream;
};
struct oclspkt::cuda::CUevent_st {
  bool timed;
  fake_driver::StreamAt stream;  ///< that it was recorded in last
  std::size_t place = 0;
  std::shared_ptr<double> time;
};
struct oclspkt::cuda::CUmod_st {
  CUcontext context;
  oclspkt::test::fake::FakeKernel kernel;
  std::vector<int> signature;
};
struct oclspkt::cuda::CUfunc_st {
  CUmodule module;
};

namespace fake_driver {

/// Memory that was made to be shared, and addresses that were reserved for it.
struct Shareable {
  int descriptor;
  std::size_t bytes;
  int card;
};

struct Fake {
  std::recursive_mutex mutex;
  oclspkt::test::fake::Calls calls;
  std::vector<std::string> mistakes;
  bool started = false, ended = false, deferred = false;
  int cards = 2, version = 13000, major = 9, minor = 0;
  long long memory_left = std::numeric_limits<long long>::max();
  std::string last_module;
  CUctx_st contexts[kMostCards];
  std::map<CUdeviceptr, Allocation> memory;
  std::set<CUstream> streams;
  std::set<CUevent> events;
  std::map<CUmodule, std::unique_ptr<CUfunc_st>> modules;
  std::map<CUmemGenericAllocationHandle, Shareable> shareable;
  std::map<CUdeviceptr, std::size_t> reserved;  ///< bytes
  Fake() {
    for (int i = 0; i < kMostCards; ++i) {
      contexts[i].card = i;
      contexts[i].null_stream = std::make_shared<Stream>(Stream{&contexts[i], {}});
    }
  }
};
inline Fake& fake() {
  static auto* all = new Fake;
  return *all;
}
inline thread_local std::vector<CUcontext> stack;

inline void mistake(const std::string& what) { fake().mistakes.push_back(what); }

/// One call of the driver: locks it, and counts.
class Call {
 public:
  Call(const char* function, bool needs_context) : lock_(fake().mutex) {
    if (fake().ended) {
      std::fprintf(stderr, "%s after the driver's end\n", function);
      _exit(70);
    }
    result = fake().calls.enter(function);
    if (result == kSuccess && !fake().started) result = kNotInitialized;
    if (result == kSuccess && needs_context && stack.empty()) {
      mistake(std::string(function) + " without a context");
      result = kInvalidContext;
    }
  }
  CUresult result;

 private:
  std::lock_guard<std::recursive_mutex> lock_;
};
#define CALL(function, needs_context)         \
  const Call call_(#function, needs_context); \
  if (call_.result != kSuccess) return call_.result
#define IN_CONTEXT(function) CALL(function, true)

inline CUresult wrong(const std::string& what, CUresult result) {
  mistake(what);
  return result;
}

/// The allocation that holds all bytes from an address on; null if there is none.
inline const Allocation* allocation_of(CUdeviceptr address, std::size_t bytes) {
  auto at = fake().memory.upper_bound(address);
  if (at == fake().memory.begin()) return nullptr;
  --at;
  return address - at->first <= at->second.bytes && bytes <= at->second.bytes - (address - at->first) ? &at->second
                                                                                                      : nullptr;
}

inline void* host_of(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

inline void touch(CUdeviceptr address, std::size_t bytes) {
  if (allocation_of(address, bytes) == nullptr) mistake("memory is touched that is no allocation");
}

inline StreamAt stream_at(CUstream handle) {
  if (handle == nullptr) return stack.back()->null_stream;
  if (fake().streams.count(handle) != 0) return handle->stream;
  mistake("a stream that is none");
  return nullptr;
}

inline void work_until(Stream& stream, std::size_t place) {
  while (stream.done < place) {
    const auto work = std::exchange(stream.work[stream.done++], nullptr);  // which may hold this very stream
    work();
  }
}

inline void finish(Stream& stream) { work_until(stream, stream.work.size()); }

/// Enqueue, or do at once.
inline void enqueue(const StreamAt& stream, std::function<void()> work, bool now = false) {
  stream->work.push_back(std::move(work));
  if (now || !fake().deferred) finish(*stream);
}

}  // namespace fake_driver
