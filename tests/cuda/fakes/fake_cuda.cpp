// SPDX-License-Identifier: BSD-2-Clause
// A libcuda.so.1 that has its cards on the host.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <sstream>
#include <utility>

#include "fake.hpp"
#include "fake_state.hpp"

using namespace oclspkt::cuda;
using namespace fake_driver;
using oclspkt::test::fake::Arguments;

namespace {

constexpr std::size_t kAlignment = 512;

void touch(CUdeviceptr address, std::size_t bytes) {
  if (allocation_of(address, bytes) == nullptr) mistake("memory is touched that is no allocation");
}

bool is_pinned(const void* p, std::size_t bytes) {
  const Allocation* held = allocation_of(reinterpret_cast<CUdeviceptr>(p), bytes);
  return held != nullptr && (held->kind == Kind::pinned || held->kind == Kind::registered);
}

StreamAt stream_at(CUstream handle) {
  if (handle == nullptr) return stack.back()->null_stream;
  if (fake().streams.count(handle) != 0) return handle->stream;
  mistake("a stream that is none");
  return nullptr;
}

void work_until(Stream& stream, std::size_t place) {
  while (stream.done < place) {
    const auto work = std::exchange(stream.work[stream.done++], nullptr);  // which may hold this very stream
    work();
  }
}

void finish(Stream& stream) { work_until(stream, stream.work.size()); }

/// Enqueue, or do at once.
void enqueue(const StreamAt& stream, std::function<void()> work, bool now = false) {
  stream->work.push_back(std::move(work));
  if (now || !fake().deferred) finish(*stream);
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void copy(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

CUresult make_memory(Kind kind, std::size_t bytes, CUdeviceptr* address) {
  if (bytes == 0) return kInvalidValue;
  if (kind == Kind::device) {
    if (static_cast<long long>(bytes) > fake().memory_left) return kOutOfMemory;
  }
  void* p = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (p == nullptr) return kOutOfMemory;
  std::memset(p, kNever, bytes);
  *address = reinterpret_cast<CUdeviceptr>(p);
  fake().memory[*address] = {bytes, stack.back()->card, kind};
  return kSuccess;
}

CUresult free_memory(CUdeviceptr address, Kind kind) {
  const auto at = fake().memory.find(address);
  if (at == fake().memory.end() || at->second.kind != kind) return wrong("memory is freed that is none", kInvalidValue);
  if (kind == Kind::device) {  // waits, as CUDA does
    for (CUstream stream : fake().streams) finish(*stream->stream);
  }
  if (kind != Kind::registered) {
    std::memset(host_of(address), kNever, at->second.bytes);
    std::free(host_of(address));
  }
  fake().memory.erase(at);
  return kSuccess;
}

CUresult copy_between(CUdeviceptr device, const void* host, std::size_t bytes, CUstream stream,
                      const std::function<void()>& work) {
  const Allocation* held = allocation_of(device, bytes);
  if (held == nullptr) return wrong("a copy beyond an allocation", kInvalidValue);
  if (held->card != stack.back()->card) mistake("a copy in the context of another card");
  const StreamAt at = stream_at(stream);
  if (at == nullptr) return kInvalidHandle;
  // Memory that is not pinned is copied before the call is over.
  const bool pinned = is_pinned(host, bytes);
  enqueue(
      at,
      [=] {
        touch(device, bytes);
        if (pinned && !is_pinned(host, bytes)) mistake("pinned memory is gone before its copy");
        work();
      },
      !pinned);
  return kSuccess;
}

}  // namespace

namespace oclspkt::test::fake {

std::string describe(const Alive& alive) {
  std::ostringstream text;
  text << alive.memory << " of memory, " << alive.pinned << " pinned, " << alive.registered << " registered, "
       << alive.streams << " streams, " << alive.events << " events, " << alive.modules << " modules, " << alive.shared
       << " of shared memory";
  return text.str();
}
void restart() {
  const std::lock_guard lock(::fake().mutex);
  ::fake().calls.forget();
  ::fake().mistakes.clear();
  ::fake().deferred = false;
  ::fake().memory_left = std::numeric_limits<long long>::max();
  ::fake().version = 13000;
  ::fake().major = 9;
  ::fake().minor = 0;
}
Alive alive() {
  const std::lock_guard lock(::fake().mutex);
  Alive all;
  for (const auto& [address, allocation] : ::fake().memory) {
    if (allocation.kind == Kind::device) ++all.memory;
    if (allocation.kind == Kind::shared) ++all.shared;
    if (allocation.kind == Kind::pinned) ++all.pinned;
    if (allocation.kind == Kind::registered) ++all.registered;
  }
  all.streams = static_cast<int>(::fake().streams.size());
  all.events = static_cast<int>(::fake().events.size());
  all.modules = static_cast<int>(::fake().modules.size());
  all.shared += static_cast<int>(::fake().shareable.size() + ::fake().reserved.size());
  return all;
}
std::vector<std::string> mistakes() {
  const std::lock_guard lock(::fake().mutex);
  return std::exchange(::fake().mistakes, {});
}
int calls(const std::string& function) {
  const std::lock_guard lock(::fake().mutex);
  return ::fake().calls.count(function);
}
void fail(const std::string& function, int first, CUresult result, int times) {
  const std::lock_guard lock(::fake().mutex);
  ::fake().calls.fail(function, first, result, times);
}
int failed() {
  const std::lock_guard lock(::fake().mutex);
  return ::fake().calls.failed();
}
void defer(bool deferred) {
  const std::lock_guard lock(::fake().mutex);
  ::fake().deferred = deferred;
}
void set_memory_left(long long bytes) { ::fake().memory_left = bytes; }
void set_compute_capability(int major, int minor) {
  ::fake().major = major;
  ::fake().minor = minor;
}
void set_driver_version(int version) { ::fake().version = version; }
std::string last_module() { return ::fake().last_module; }

}  // namespace oclspkt::test::fake

extern "C" {

CUresult cuInit(unsigned /*flags*/) {
  const std::lock_guard lock(fake().mutex);
  if (const CUresult result = fake().calls.enter("cuInit")) return result;
  if (const char* answer = std::getenv("FAKE_CUDA_INIT")) return std::atoi(answer);
  if (const char* cards = std::getenv("FAKE_CUDA_CARDS")) fake().cards = std::atoi(cards);
  if (!fake().started) std::atexit([] { fake().ended = true; });
  fake().started = true;
  return kSuccess;
}
CUresult cuDriverGetVersion(int* version) {
  CALL(cuDriverGetVersion, false);
  *version = fake().version;
  return kSuccess;
}
CUresult cuGetErrorName(CUresult result, const char** name) {
  *name = result == kNoDevice ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_OF_THE_FAKE";
  return kSuccess;
}
CUresult cuDeviceGetCount(int* count) {
  CALL(cuDeviceGetCount, false);
  *count = fake().cards;
  return kSuccess;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  CALL(cuDeviceGet, false);
  *device = ordinal;
  return kSuccess;
}
CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  CALL(cuDeviceGetName, false);
  std::snprintf(name, static_cast<std::size_t>(bytes), "Fake card %d", device);
  return kSuccess;
}
CUresult cuDeviceGetAttribute(int* value, int which, CUdevice device) {
  CALL(cuDeviceGetAttribute, false);
  const std::map<int, int> values = {{kMaxThreadsPerBlock, 1024},
                                     {kMaxSharedMemoryPerBlock, 48 << 10},
                                     {kMultiprocessors, 4},
                                     {kPciBus, 10 + device},
                                     {kPciDevice, 3},
                                     {kL2CacheBytes, 4 << 20},
                                     {kPciDomain, 1},
                                     {kComputeMajor, fake().major},
                                     {kComputeMinor, fake().minor}};
  if (values.count(which) == 0) return wrong("an attribute that the fake does not have", kInvalidValue);
  *value = values.at(which);
  return kSuccess;
}
CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice /*device*/) {
  CALL(cuDeviceTotalMem_v2, false);
  *bytes = std::size_t{1} << 30;
  return kSuccess;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  CALL(cuDevicePrimaryCtxRetain, false);
  if (device < 0 || device >= fake().cards) return kInvalidDevice;
  *context = &fake().contexts[device];
  return kSuccess;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  CALL(cuCtxGetCurrent, false);
  *context = stack.empty() ? nullptr : stack.back();
  return kSuccess;
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
  CALL(cuCtxPushCurrent_v2, false);
  stack.push_back(context);
  return kSuccess;
}
CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  CALL(cuCtxPopCurrent_v2, true);
  *context = stack.back();
  stack.pop_back();
  return kSuccess;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  IN_CONTEXT(cuCtxGetDevice);
  *device = stack.back()->card;
  return kSuccess;
}
CUresult cuCtxSynchronize() {
  IN_CONTEXT(cuCtxSynchronize);
  for (CUstream stream : fake().streams) {
    if (stream->stream->context == stack.back()) finish(*stream->stream);
  }
  finish(*stack.back()->null_stream);
  return kSuccess;
}
CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  IN_CONTEXT(cuMemAlloc_v2);
  return make_memory(Kind::device, bytes, address);
}
CUresult cuMemFree_v2(CUdeviceptr address) {
  IN_CONTEXT(cuMemFree_v2);
  return free_memory(address, Kind::device);
}
CUresult cuMemGetAddressRange_v2(CUdeviceptr* begin, std::size_t* bytes, CUdeviceptr address) {
  IN_CONTEXT(cuMemGetAddressRange_v2);
  auto at = fake().memory.upper_bound(address);
  if (at == fake().memory.begin()) return kNotFound;
  --at;
  if (address - at->first >= at->second.bytes) return kNotFound;
  *begin = at->first;
  *bytes = at->second.bytes;
  return kSuccess;
}
CUresult cuPointerGetAttribute(void* value, int which, CUdeviceptr address) {
  IN_CONTEXT(cuPointerGetAttribute);
  const Allocation* held = allocation_of(address, 1);
  if (which != kPointerDevice || held == nullptr) return kInvalidValue;
  *static_cast<int*>(value) = held->card;
  return kSuccess;
}
CUresult cuMemHostAlloc(void** host, std::size_t bytes, unsigned /*flags*/) {
  IN_CONTEXT(cuMemHostAlloc);
  CUdeviceptr address = 0;
  const CUresult result = make_memory(Kind::pinned, bytes, &address);
  if (result == kSuccess) *host = host_of(address);
  return result;
}
CUresult cuMemFreeHost(void* host) {
  IN_CONTEXT(cuMemFreeHost);
  return free_memory(reinterpret_cast<CUdeviceptr>(host), Kind::pinned);
}
CUresult cuMemHostRegister_v2(void* host, std::size_t bytes, unsigned /*flags*/) {
  IN_CONTEXT(cuMemHostRegister_v2);
  const auto address = reinterpret_cast<CUdeviceptr>(host);
  if (host == nullptr || bytes == 0) return kInvalidValue;
  const auto next = fake().memory.lower_bound(address);
  if (allocation_of(address, 1) != nullptr || (next != fake().memory.end() && next->first < address + bytes)) {
    return kAlreadyRegistered;
  }
  fake().memory[address] = {bytes, stack.back()->card, Kind::registered};
  return kSuccess;
}
CUresult cuMemHostUnregister(void* host) {
  IN_CONTEXT(cuMemHostUnregister);
  return free_memory(reinterpret_cast<CUdeviceptr>(host), Kind::registered);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  IN_CONTEXT(cuMemcpyHtoDAsync_v2);
  return copy_between(to, from, bytes, stream, [=] { copy(host_of(to), from, bytes); });
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  IN_CONTEXT(cuMemcpyDtoHAsync_v2);
  return copy_between(from, to, bytes, stream, [=] { copy(to, host_of(from), bytes); });
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  IN_CONTEXT(cuMemcpyDtoH_v2);
  if (allocation_of(from, bytes) == nullptr) return wrong("a copy beyond an allocation", kInvalidValue);
  copy(to, host_of(from), bytes);
  return kSuccess;
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  IN_CONTEXT(cuMemcpyDtoDAsync_v2);
  if (allocation_of(from, bytes) == nullptr) return wrong("a copy beyond an allocation", kInvalidValue);
  const StreamAt at = stream_at(stream);
  if (at == nullptr || allocation_of(to, bytes) == nullptr) return wrong("a copy to nowhere", kInvalidValue);
  enqueue(at, [=] {
    touch(from, bytes);
    touch(to, bytes);
    copy(host_of(to), host_of(from), bytes);
  });
  return kSuccess;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream stream) {
  IN_CONTEXT(cuMemsetD8Async);
  const StreamAt at = stream_at(stream);
  if (at == nullptr || allocation_of(to, bytes) == nullptr) return wrong("filling beyond memory", kInvalidValue);
  enqueue(at, [=] {
    touch(to, bytes);
    std::memset(host_of(to), value, bytes);
  });
  return kSuccess;
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  IN_CONTEXT(cuMemsetD32Async);
  const StreamAt at = stream_at(stream);
  if (at == nullptr || allocation_of(to, 4 * count) == nullptr) return wrong("filling beyond memory", kInvalidValue);
  enqueue(at, [=] {
    touch(to, 4 * count);
    std::fill_n(static_cast<unsigned*>(host_of(to)), count, value);
  });
  return kSuccess;
}
CUresult cuStreamCreate(CUstream* stream, unsigned /*flags*/) {
  IN_CONTEXT(cuStreamCreate);
  *stream = new CUstream_st{std::make_shared<Stream>(Stream{stack.back(), {}})};
  fake().streams.insert(*stream);
  return kSuccess;
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  IN_CONTEXT(cuStreamDestroy_v2);
  const StreamAt at = stream_at(stream);
  if (at == nullptr) return kInvalidHandle;
  finish(*at);
  fake().streams.erase(stream);
  delete stream;
  return kSuccess;
}
CUresult cuStreamSynchronize(CUstream stream) {
  IN_CONTEXT(cuStreamSynchronize);
  const StreamAt at = stream_at(stream);
  if (at == nullptr) return kInvalidHandle;
  finish(*at);
  return kSuccess;
}
CUresult cuStreamQuery(CUstream stream) {
  IN_CONTEXT(cuStreamQuery);
  const StreamAt at = stream_at(stream);
  if (at == nullptr) return kInvalidHandle;
  if (at->done == at->work.size()) return kSuccess;
  work_until(*at, at->done + 1);
  return kNotReady;
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  CALL(cuStreamGetCtx, stream == nullptr);
  if (stream == nullptr) {
    *context = stack.back();
    return kSuccess;
  }
  const StreamAt at = stream_at(stream);
  if (at == nullptr) return kInvalidHandle;
  *context = at->context;
  return kSuccess;
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned /*flags*/) {
  IN_CONTEXT(cuStreamWaitEvent);
  const StreamAt at = stream_at(stream);
  if (at == nullptr || fake().events.count(event) == 0) return wrong("waiting for no event", kInvalidHandle);
  if (event->stream) enqueue(at, [of = event->stream, place = event->place] { work_until(*of, place); });
  return kSuccess;
}
CUresult cuEventCreate(CUevent* event, unsigned flags) {
  IN_CONTEXT(cuEventCreate);
  *event = new CUevent_st{(flags & kEventDisableTiming) == 0, nullptr, 0, nullptr};
  fake().events.insert(*event);
  return kSuccess;
}
CUresult cuEventDestroy_v2(CUevent event) {
  CALL(cuEventDestroy_v2, false);
  if (fake().events.erase(event) == 0) return wrong("destroying no event", kInvalidHandle);
  delete event;
  return kSuccess;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  IN_CONTEXT(cuEventRecord);
  const StreamAt at = stream_at(stream);
  if (at == nullptr || fake().events.count(event) == 0) return wrong("recording no event", kInvalidHandle);
  event->stream = at;
  event->place = at->work.size() + 1;
  event->time = std::make_shared<double>(0);
  enqueue(at, [time = event->time] { *time = seconds_now(); });
  return kSuccess;
}
CUresult cuEventQuery(CUevent event) {
  CALL(cuEventQuery, false);
  if (fake().events.count(event) == 0) return wrong("asking no event", kInvalidHandle);
  if (!event->stream || event->stream->done >= event->place) return kSuccess;
  work_until(*event->stream, event->stream->done + 1);
  return kNotReady;
}
CUresult cuEventSynchronize(CUevent event) {
  CALL(cuEventSynchronize, false);
  if (fake().events.count(event) == 0) return wrong("waiting for no event", kInvalidHandle);
  if (event->stream) work_until(*event->stream, event->place);
  return kSuccess;
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  CALL(cuEventElapsedTime, false);
  for (CUevent event : {begin, end}) {
    if (fake().events.count(event) == 0 || !event->timed || !event->stream)
      return wrong("a time of none", kInvalidHandle);
    if (event->stream->done < event->place) return kNotReady;
  }
  *milliseconds = static_cast<float>((*end->time - *begin->time) * 1e3);
  return kSuccess;
}
CUresult cuModuleLoadData(CUmodule* module, const void* code) {
  IN_CONTEXT(cuModuleLoadData);
  std::istringstream text(static_cast<const char*>(code));
  std::string word, form, symmetry, scalar;
  int architecture = 0, version = 0, kind = 0;
  CUmod_st made{stack.back(), {}, {0, 0, 0}};
  text >> word >> form >> architecture >> version >> made.kernel.name >> scalar >> symmetry;
  if (word != "fake" || !text) return kInvalidImage;
  made.kernel.is_double = scalar == "double";
  made.kernel.symmetric = symmetry == "symmetric";
  while (text >> kind) {
    made.kernel.kinds.push_back(kind);
    made.signature.push_back(kind);
  }
  if (version / 1000 > fake().version / 1000) return form == "ptx" ? kTooNewPtx : kNoBinary;
  const int own = 10 * fake().major + fake().minor;
  if (form == "cubin" ? architecture != own : architecture > own) return kNoBinary;
  fake().last_module = form + " " + std::to_string(architecture);
  *module = new CUmod_st(made);
  fake().modules[*module] = std::make_unique<CUfunc_st>(CUfunc_st{*module});
  fake().memory[reinterpret_cast<CUdeviceptr>((*module)->signature.data())] = {made.signature.size() * sizeof(int),
                                                                               stack.back()->card, Kind::module};
  return kSuccess;
}
CUresult cuModuleUnload(CUmodule module) {
  IN_CONTEXT(cuModuleUnload);
  if (fake().modules.count(module) == 0) return wrong("unloading no module", kInvalidHandle);
  fake().memory.erase(reinterpret_cast<CUdeviceptr>(module->signature.data()));
  fake().modules.erase(module);
  delete module;
  return kSuccess;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  IN_CONTEXT(cuModuleGetFunction);
  if (fake().modules.count(module) == 0 || module->kernel.name != name) return kNotFound;
  *function = fake().modules[module].get();
  return kSuccess;
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes, CUmodule module, const char* name) {
  IN_CONTEXT(cuModuleGetGlobal_v2);
  if (fake().modules.count(module) == 0 || "oclspkt_parameters_" + module->kernel.name != name) return kNotFound;
  *address = reinterpret_cast<CUdeviceptr>(module->signature.data());
  *bytes = module->signature.size() * sizeof(int);
  return kSuccess;
}
CUresult cuFuncGetAttribute(int* value, int which, CUfunction /*function*/) {
  IN_CONTEXT(cuFuncGetAttribute);
  *value = which == kFunctionMaxThreads ? 1024 : 0;
  return kSuccess;
}
CUresult cuLaunchKernel(CUfunction function, unsigned groups, unsigned /*y*/, unsigned /*z*/, unsigned items,
                        unsigned /*items_y*/, unsigned /*items_z*/, unsigned /*local*/, CUstream stream, void** values,
                        void** /*extra*/) {
  IN_CONTEXT(cuLaunchKernel);
  const StreamAt at = stream_at(stream);
  if (at == nullptr) return kInvalidHandle;
  if (fake().modules.count(function->module) == 0) return wrong("launching no kernel", kInvalidHandle);
  if (at->context != stack.back() || function->module->context != stack.back()) {
    return wrong("a launch in another context", kInvalidContext);
  }
  if (groups == 0 || items == 0 || items > 1024) return kInvalidValue;
  const FakeKernel kernel = function->module->kernel;
  const Arguments arguments(kernel, values);
  for (std::size_t i = 0; i < kernel.kinds.size(); ++i) {
    const CUdeviceptr address = kernel.kinds[i] == 1 ? arguments.address(i) : 0;
    if (address == 0) continue;
    const Allocation* held = allocation_of(address, 1);
    if (held == nullptr) {
      mistake("a kernel is given memory that is none");
    } else if (held->card != stack.back()->card) {
      mistake("a kernel is given memory of another card");
    }
  }
  enqueue(at, [=] {
    if (kernel.name != "tile_halo") return;
    const auto check = [](unsigned long long address, long long bytes) {
      touch(address, static_cast<std::size_t>(bytes));
    };
    if (kernel.is_double) {
      oclspkt::test::fake::run_tile_halo<double>(kernel, arguments, check);
    } else {
      oclspkt::test::fake::run_tile_halo<float>(kernel, arguments, check);
    }
  });
  return kSuccess;
}

}  // extern "C"

namespace oclspkt::test::fake {

std::vector<std::string> functions() {
  return {"cuDriverGetVersion",    "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain",
          "cuCtxGetCurrent",       "cuCtxPushCurrent_v2",  "cuMemAlloc_v2",
          "cuMemHostAlloc",        "cuMemHostRegister_v2", "cuMemcpyHtoDAsync_v2",
          "cuMemcpyDtoHAsync_v2",  "cuMemcpyDtoH_v2",      "cuMemcpyDtoDAsync_v2",
          "cuMemsetD8Async",       "cuMemsetD32Async",     "cuStreamCreate",
          "cuStreamSynchronize",   "cuStreamQuery",        "cuStreamWaitEvent",
          "cuStreamGetCtx",        "cuEventCreate",        "cuEventRecord",
          "cuEventQuery",          "cuEventSynchronize",   "cuEventElapsedTime",
          "cuModuleLoadData",      "cuModuleGetFunction",  "cuModuleGetGlobal_v2",
          "cuFuncGetAttribute",    "cuLaunchKernel",       "cuMemGetAddressRange_v2",
          "cuPointerGetAttribute", "cuCtxGetDevice",       "cuCtxSynchronize"};
}

std::vector<std::string> functions_for_sharing() {
  return {"cuMemGetAllocationGranularity", "cuMemCreate", "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess",
          "cuMemExportToShareableHandle"};
}

}  // namespace oclspkt::test::fake
