// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>

// The parts of CUDA's driver API and of its run-time compiler that we use. Both libraries are opened at first use. A
// build needs no CUDA, and neither does a machine without a card. Types and values come from NVIDIA's reference manuals
// ("CUDA Driver API", "NVRTC"), whose binary interface is stable.
namespace oclspkt::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using nvrtcProgram = struct _nvrtcProgram*;

// Values of results, then attributes of a device, of a pointer and of a function.
inline constexpr CUresult kSuccess = 0, kInvalidValue = 1, kNoDevice = 100, kNotFound = 500, kNotReady = 600;
inline constexpr int kMaxThreadsPerBlock = 1, kMaxSharedMemoryPerBlock = 8, kMultiprocessors = 16, kPciBus = 33,
                     kPciDevice = 34, kL2CacheBytes = 38, kPciDomain = 50, kComputeMajor = 75, kComputeMinor = 76;
inline constexpr int kPointerDevice = 9;
inline constexpr int kFunctionMaxThreads = 0, kFunctionSharedBytes = 1;

/// Physical memory without addresses. CUDA exports a file descriptor of it to other run-times.
using CUmemGenericAllocationHandle = unsigned long long;
struct CUmemLocation {
  int type = 1;  ///< CU_MEM_LOCATION_TYPE_DEVICE
  int id = 0;
};
struct CUmemAllocationProp {
  int type = 1;                  ///< CU_MEM_ALLOCATION_TYPE_PINNED
  int requestedHandleTypes = 1;  ///< CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
  CUmemLocation location;
  void* win32HandleMetaData = nullptr;
  unsigned char allocFlags[8] = {};
};
struct CUmemAccessDesc {
  CUmemLocation location;
  int flags = 3;  ///< CU_MEM_ACCESS_FLAGS_PROT_READWRITE
};
inline constexpr int kFileDescriptor = 1, kLeastGranularity = 0;

inline constexpr unsigned kStreamNonBlocking = 1, kEventDefault = 0, kEventDisableTiming = 2, kHostAllocPortable = 1;

/// The functions of libcuda.so.1 that we use: X(member, symbol, parameters...). Their results are CUresult.
#define OCLSPKT_CUDA_FUNCTIONS(X)                                                                                   \
  X(init, cuInit, unsigned)                                                                                         \
  X(version, cuDriverGetVersion, int*)                                                                              \
  X(error_name, cuGetErrorName, CUresult, const char**)                                                             \
  X(device_count, cuDeviceGetCount, int*)                                                                           \
  X(device_get, cuDeviceGet, CUdevice*, int)                                                                        \
  X(device_name, cuDeviceGetName, char*, int, CUdevice)                                                             \
  X(device_attribute, cuDeviceGetAttribute, int*, int, CUdevice)                                                    \
  X(device_memory, cuDeviceTotalMem_v2, std::size_t*, CUdevice)                                                     \
  X(primary_retain, cuDevicePrimaryCtxRetain, CUcontext*, CUdevice)                                                 \
  X(context_current, cuCtxGetCurrent, CUcontext*)                                                                   \
  X(context_push, cuCtxPushCurrent_v2, CUcontext)                                                                   \
  X(context_pop, cuCtxPopCurrent_v2, CUcontext*)                                                                    \
  X(context_device, cuCtxGetDevice, CUdevice*)                                                                      \
  X(context_synchronize, cuCtxSynchronize)                                                                          \
  X(memory_alloc, cuMemAlloc_v2, CUdeviceptr*, std::size_t)                                                         \
  X(memory_free, cuMemFree_v2, CUdeviceptr)                                                                         \
  X(memory_range, cuMemGetAddressRange_v2, CUdeviceptr*, std::size_t*, CUdeviceptr)                                 \
  X(granularity, cuMemGetAllocationGranularity, std::size_t*, const CUmemAllocationProp*, int)                      \
  X(physical_create, cuMemCreate, CUmemGenericAllocationHandle*, std::size_t, const CUmemAllocationProp*,           \
    unsigned long long)                                                                                             \
  X(physical_release, cuMemRelease, CUmemGenericAllocationHandle)                                                   \
  X(physical_export, cuMemExportToShareableHandle, void*, CUmemGenericAllocationHandle, int, unsigned long long)    \
  X(address_reserve, cuMemAddressReserve, CUdeviceptr*, std::size_t, std::size_t, CUdeviceptr, unsigned long long)  \
  X(address_free, cuMemAddressFree, CUdeviceptr, std::size_t)                                                       \
  X(address_map, cuMemMap, CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle, unsigned long long) \
  X(address_unmap, cuMemUnmap, CUdeviceptr, std::size_t)                                                            \
  X(address_access, cuMemSetAccess, CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t)                  \
  X(pointer_attribute, cuPointerGetAttribute, void*, int, CUdeviceptr)                                              \
  X(host_alloc, cuMemHostAlloc, void**, std::size_t, unsigned)                                                      \
  X(host_free, cuMemFreeHost, void*)                                                                                \
  X(host_register, cuMemHostRegister_v2, void*, std::size_t, unsigned)                                              \
  X(host_unregister, cuMemHostUnregister, void*)                                                                    \
  X(copy_up, cuMemcpyHtoDAsync_v2, CUdeviceptr, const void*, std::size_t, CUstream)                                 \
  X(copy_down, cuMemcpyDtoHAsync_v2, void*, CUdeviceptr, std::size_t, CUstream)                                     \
  X(copy_down_now, cuMemcpyDtoH_v2, void*, CUdeviceptr, std::size_t)                                                \
  X(copy_on_device, cuMemcpyDtoDAsync_v2, CUdeviceptr, CUdeviceptr, std::size_t, CUstream)                          \
  X(fill_words, cuMemsetD32Async, CUdeviceptr, unsigned, std::size_t, CUstream)                                     \
  X(stream_create, cuStreamCreate, CUstream*, unsigned)                                                             \
  X(stream_destroy, cuStreamDestroy_v2, CUstream)                                                                   \
  X(stream_synchronize, cuStreamSynchronize, CUstream)                                                              \
  X(stream_query, cuStreamQuery, CUstream)                                                                          \
  X(stream_context, cuStreamGetCtx, CUstream, CUcontext*)                                                           \
  X(stream_wait, cuStreamWaitEvent, CUstream, CUevent, unsigned)                                                    \
  X(event_create, cuEventCreate, CUevent*, unsigned)                                                                \
  X(event_destroy, cuEventDestroy_v2, CUevent)                                                                      \
  X(event_record, cuEventRecord, CUevent, CUstream)                                                                 \
  X(event_query, cuEventQuery, CUevent)                                                                             \
  X(event_synchronize, cuEventSynchronize, CUevent)                                                                 \
  X(event_elapsed, cuEventElapsedTime, float*, CUevent, CUevent)                                                    \
  X(module_load, cuModuleLoadData, CUmodule*, const void*)                                                          \
  X(module_unload, cuModuleUnload, CUmodule)                                                                        \
  X(module_function, cuModuleGetFunction, CUfunction*, CUmodule, const char*)                                       \
  X(module_global, cuModuleGetGlobal_v2, CUdeviceptr*, std::size_t*, CUmodule, const char*)                         \
  X(function_attribute, cuFuncGetAttribute, int*, int, CUfunction)                                                  \
  X(launch, cuLaunchKernel, CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
    CUstream, void**, void**)
struct Driver {
#define OCLSPKT_POINTER(member, symbol, ...) int (*member)(__VA_ARGS__);
  OCLSPKT_CUDA_FUNCTIONS(OCLSPKT_POINTER)
};

/// The functions of libnvrtc.so that we use and that return an error number.
#define OCLSPKT_NVRTC_FUNCTIONS(X)                                                                                    \
  X(version, nvrtcVersion, int*, int*)                                                                                \
  X(create, nvrtcCreateProgram, nvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*) \
  X(destroy, nvrtcDestroyProgram, nvrtcProgram*)                                                                      \
  X(compile, nvrtcCompileProgram, nvrtcProgram, int, const char* const*)                                              \
  X(log_size, nvrtcGetProgramLogSize, nvrtcProgram, std::size_t*)                                                     \
  X(log, nvrtcGetProgramLog, nvrtcProgram, char*)                                                                     \
  X(cubin_size, nvrtcGetCUBINSize, nvrtcProgram, std::size_t*)                                                        \
  X(cubin, nvrtcGetCUBIN, nvrtcProgram, char*)                                                                        \
  X(ptx_size, nvrtcGetPTXSize, nvrtcProgram, std::size_t*)                                                            \
  X(ptx, nvrtcGetPTX, nvrtcProgram, char*)                                                                            \
  X(arch_count, nvrtcGetNumSupportedArchs, int*)                                                                      \
  X(archs, nvrtcGetSupportedArchs, int*)

struct Compiler {
  OCLSPKT_NVRTC_FUNCTIONS(OCLSPKT_POINTER)
#undef OCLSPKT_POINTER
  const char* (*error_text)(int);
  /// Identifies the compiler by version, and by size and date of its file, because builds of one version differ.
  std::string identity;
};

/// Returns the initialised driver, or null. @param[out] why  if null: one line that gives the cause
const Driver* driver(std::string* why = nullptr);

/// True if this machine has no driver, or if the driver has no card. Neither case is worth a message.
bool is_absent();

/// Returns the compiler whose version is closest to the driver's. Older versions come first, because a driver cannot
/// load code of a newer compiler. OCLSPKT_NVRTC names another file.
const Compiler* compiler(std::string* why = nullptr);

}  // namespace oclspkt::cuda
