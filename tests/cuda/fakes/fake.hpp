// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "driver.hpp"

// What tests tell the fake libcuda.so.1 and libnvrtc.so.13, and ask them. Tests are linked with both, so our module
// finds them loaded under these names.
//
// The fake driver keeps the memory of its cards on the host. It notes mistakes: calls without a context, copies beyond
// an allocation, objects that are used after their end. Streams work at once, or as late as they may. Kernel tile_halo
// is computed; others only look at their arguments. From the environment, as the driver starts: FAKE_CUDA_CARDS,
// FAKE_CUDA_INIT (what cuInit answers). After exit handlers that are older than the first cuInit, a call ends the
// process with status 70.
namespace oclspkt::test::fake {

/// Objects that were made and not given back.
struct Alive {
  int memory = 0, pinned = 0, registered = 0, streams = 0, events = 0, modules = 0;
  int shared = 0;  ///< pieces of memory to be shared, reserved addresses, and one mapped to the other
  bool operator==(const Alive&) const = default;
};
std::string describe(const Alive& alive);

/// Forget counts, mistakes, failures and settings; objects stay.
void restart();
Alive alive();
/// Take the mistakes since the last call.
std::vector<std::string> mistakes();
/// Calls of a function since the last restart.
int calls(const std::string& function);
/// Functions of the driver that may fail, those aside that list cards or give objects back.
std::vector<std::string> functions();
/// Those that are called only where memory is made for another run-time.
std::vector<std::string> functions_for_sharing();

/// Let calls number first ... first + times - 1 of a function, counted from now, answer `result`; "" is any function
/// but cuGetErrorName.
void fail(const std::string& function, int first, cuda::CUresult result, int times = 1);
/// Calls that were made to fail.
int failed();

/// Streams work only when somebody waits for them or asks about them, and no further than that.
void defer(bool deferred);
/// Bytes that a card has left.
void set_memory_left(long long bytes);
void set_compute_capability(int major, int minor);
void set_driver_version(int version);
/// What the last module was: "cubin 90", "ptx 80".
std::string last_module();

namespace nvrtc {
void restart();
/// Compilations since the last restart.
int compilations();
/// Let the next compilations fail with a log.
void refuse(bool refused);
void set_architectures(std::vector<int> known);
}  // namespace nvrtc

}  // namespace oclspkt::test::fake

// Functions of the fake driver that tests call as programs do.
extern "C" {
oclspkt::cuda::CUresult cuInit(unsigned);
oclspkt::cuda::CUresult cuDevicePrimaryCtxRetain(oclspkt::cuda::CUcontext*, oclspkt::cuda::CUdevice);
oclspkt::cuda::CUresult cuCtxPushCurrent_v2(oclspkt::cuda::CUcontext);
oclspkt::cuda::CUresult cuCtxPopCurrent_v2(oclspkt::cuda::CUcontext*);
oclspkt::cuda::CUresult cuMemAlloc_v2(oclspkt::cuda::CUdeviceptr*, std::size_t);
oclspkt::cuda::CUresult cuMemFree_v2(oclspkt::cuda::CUdeviceptr);
oclspkt::cuda::CUresult cuMemcpyDtoH_v2(void*, oclspkt::cuda::CUdeviceptr, std::size_t);
oclspkt::cuda::CUresult cuMemcpyHtoDAsync_v2(oclspkt::cuda::CUdeviceptr, const void*, std::size_t,
                                             oclspkt::cuda::CUstream);
oclspkt::cuda::CUresult cuMemcpyDtoHAsync_v2(void*, oclspkt::cuda::CUdeviceptr, std::size_t, oclspkt::cuda::CUstream);
oclspkt::cuda::CUresult cuMemHostRegister_v2(void*, std::size_t, unsigned);
oclspkt::cuda::CUresult cuMemHostUnregister(void*);
oclspkt::cuda::CUresult cuStreamCreate(oclspkt::cuda::CUstream*, unsigned);
oclspkt::cuda::CUresult cuStreamDestroy_v2(oclspkt::cuda::CUstream);
oclspkt::cuda::CUresult cuStreamSynchronize(oclspkt::cuda::CUstream);
oclspkt::cuda::CUresult cuStreamQuery(oclspkt::cuda::CUstream);
}
