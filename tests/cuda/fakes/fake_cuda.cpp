// SPDX-License-Identifier: BSD-2-Clause
// A libcuda.so.1 that has its cards on the host: its settings, cards and contexts.
#include <cstdlib>
#include <sstream>

#include "fake.hpp"
#include "fake_state.hpp"

using namespace oclspkt::cuda;
using namespace fake_driver;

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

}  // extern "C"
