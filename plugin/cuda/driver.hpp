// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>

// The part of CUDA's driver API and run-time compiler that we use. Both libraries are opened at first use, so a build
// needs nothing of CUDA, nor does a machine without a card. Types and values are those of NVIDIA's reference manuals
// ("CUDA Driver API", "NVRTC"), whose binary interface does not change.
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

// Results.
inline constexpr CUresult kSuccess = 0, kInvalidValue = 1, kNoDevice = 100, kNotFound = 500, kNotReady = 600;

// Attributes of a device.
inline constexpr int kMaxThreadsPerBlock = 1, kMaxSharedMemoryPerBlock = 8, kMultiprocessors = 16, kPciBus = 33,
                     kPciDevice = 34, kL2CacheBytes = 38, kPciDomain = 50, kComputeMajor = 75, kComputeMinor = 76;

// An attribute of a pointer.
inline constexpr int kPointerDevice = 9;

// Attributes of a function.
inline constexpr int kFunctionMaxThreads = 0, kFunctionSharedBytes = 1;

/// Physical memory without addresses; other run-times get file descriptors of it.
using CUmemGenericAllocationHandle = unsigned long long;
struct CUmemLocation {
  int type = 1;  ///< a device
  int id = 0;
};
struct CUmemAllocationProp {
  int type = 1;                  ///< pinned
  int requestedHandleTypes = 1;  ///< a file descriptor
  CUmemLocation location;
  void* win32HandleMetaData = nullptr;
  unsigned char allocFlags[8] = {};
};
struct CUmemAccessDesc {
  CUmemLocation location;
  int flags = 3;  ///< read and write
};
inline constexpr int kFileDescriptor = 1, kLeastGranularity = 0;

inline constexpr unsigned kStreamNonBlocking = 1, kEventDefault = 0, kEventDisableTiming = 2, kHostAllocPortable = 1;

/// The functions of libcuda.so.1 that we use.
struct Driver {
  CUresult (*init)(unsigned);
  CUresult (*version)(int*);
  CUresult (*error_name)(CUresult, const char**);
  CUresult (*device_count)(int*);
  CUresult (*device_get)(CUdevice*, int);
  CUresult (*device_name)(char*, int, CUdevice);
  CUresult (*device_attribute)(int*, int, CUdevice);
  CUresult (*device_memory)(std::size_t*, CUdevice);
  CUresult (*primary_retain)(CUcontext*, CUdevice);
  CUresult (*context_current)(CUcontext*);
  CUresult (*context_push)(CUcontext);
  CUresult (*context_pop)(CUcontext*);
  CUresult (*context_device)(CUdevice*);
  CUresult (*context_synchronize)();
  CUresult (*memory_alloc)(CUdeviceptr*, std::size_t);
  CUresult (*memory_free)(CUdeviceptr);
  CUresult (*memory_range)(CUdeviceptr*, std::size_t*, CUdeviceptr);
  CUresult (*granularity)(std::size_t*, const CUmemAllocationProp*, int);
  CUresult (*physical_create)(CUmemGenericAllocationHandle*, std::size_t, const CUmemAllocationProp*,
                              unsigned long long);
  CUresult (*physical_release)(CUmemGenericAllocationHandle);
  CUresult (*physical_export)(void*, CUmemGenericAllocationHandle, int, unsigned long long);
  CUresult (*address_reserve)(CUdeviceptr*, std::size_t, std::size_t, CUdeviceptr, unsigned long long);
  CUresult (*address_free)(CUdeviceptr, std::size_t);
  CUresult (*address_map)(CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle, unsigned long long);
  CUresult (*address_unmap)(CUdeviceptr, std::size_t);
  CUresult (*address_access)(CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t);
  CUresult (*pointer_attribute)(void*, int, CUdeviceptr);
  CUresult (*host_alloc)(void**, std::size_t, unsigned);
  CUresult (*host_free)(void*);
  CUresult (*host_register)(void*, std::size_t, unsigned);
  CUresult (*host_unregister)(void*);
  CUresult (*copy_up)(CUdeviceptr, const void*, std::size_t, CUstream);
  CUresult (*copy_down)(void*, CUdeviceptr, std::size_t, CUstream);
  CUresult (*copy_down_now)(void*, CUdeviceptr, std::size_t);
  CUresult (*copy_on_device)(CUdeviceptr, CUdeviceptr, std::size_t, CUstream);
  CUresult (*fill_bytes)(CUdeviceptr, unsigned char, std::size_t, CUstream);
  CUresult (*fill_words)(CUdeviceptr, unsigned, std::size_t, CUstream);
  CUresult (*stream_create)(CUstream*, unsigned);
  CUresult (*stream_destroy)(CUstream);
  CUresult (*stream_synchronize)(CUstream);
  CUresult (*stream_query)(CUstream);
  CUresult (*stream_context)(CUstream, CUcontext*);
  CUresult (*stream_wait)(CUstream, CUevent, unsigned);
  CUresult (*event_create)(CUevent*, unsigned);
  CUresult (*event_destroy)(CUevent);
  CUresult (*event_record)(CUevent, CUstream);
  CUresult (*event_query)(CUevent);
  CUresult (*event_synchronize)(CUevent);
  CUresult (*event_elapsed)(float*, CUevent, CUevent);
  CUresult (*module_load)(CUmodule*, const void*);
  CUresult (*module_unload)(CUmodule);
  CUresult (*module_function)(CUfunction*, CUmodule, const char*);
  CUresult (*module_global)(CUdeviceptr*, std::size_t*, CUmodule, const char*);
  CUresult (*function_attribute)(int*, int, CUfunction);
  CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**,
                     void**);
};

/// The functions of libnvrtc.so that we use.
struct Compiler {
  int (*version)(int*, int*);
  const char* (*error_text)(int);
  int (*create)(nvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*);
  int (*destroy)(nvrtcProgram*);
  int (*compile)(nvrtcProgram, int, const char* const*);
  int (*log_size)(nvrtcProgram, std::size_t*);
  int (*log)(nvrtcProgram, char*);
  int (*cubin_size)(nvrtcProgram, std::size_t*);
  int (*cubin)(nvrtcProgram, char*);
  int (*ptx_size)(nvrtcProgram, std::size_t*);
  int (*ptx)(nvrtcProgram, char*);
  int (*arch_count)(int*);
  int (*archs)(int*);
  /// Identifies the compiler: version, and size and date of its file, because builds of one version differ.
  std::string identity;
};

/// The initialised driver. @param[out] why  one line on why there is none, if the result is null
const Driver* driver(std::string* why = nullptr);

/// True if this machine has no driver, or the driver no card; neither is worth a message.
bool is_absent();

/// The compiler. Of the versions that the loader finds, the one nearest to the driver's is taken, an older one if
/// possible: a driver cannot load code of a newer compiler. OCLSPKT_NVRTC names another file.
const Compiler* compiler(std::string* why = nullptr);

}  // namespace oclspkt::cuda
