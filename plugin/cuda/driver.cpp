// SPDX-License-Identifier: BSD-2-Clause
#include "driver.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "own_library.hpp"

namespace oclspkt::cuda {
namespace {

/// Looks up functions of a library, and remembers the first that is missing.
class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}
  template <typename F>
  void take(F& function, const char* name) {
    function = reinterpret_cast<F>(dlsym(library_, name));
    if (function == nullptr && missing_ == nullptr) missing_ = name;
  }
  const char* missing() const { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

const char* load_driver(Driver& d, void* library) {
  Symbols s(library);
  s.take(d.init, "cuInit");
  s.take(d.version, "cuDriverGetVersion");
  s.take(d.error_name, "cuGetErrorName");
  s.take(d.device_count, "cuDeviceGetCount");
  s.take(d.device_get, "cuDeviceGet");
  s.take(d.device_name, "cuDeviceGetName");
  s.take(d.device_attribute, "cuDeviceGetAttribute");
  s.take(d.device_memory, "cuDeviceTotalMem_v2");
  s.take(d.primary_retain, "cuDevicePrimaryCtxRetain");
  s.take(d.context_current, "cuCtxGetCurrent");
  s.take(d.context_push, "cuCtxPushCurrent_v2");
  s.take(d.context_pop, "cuCtxPopCurrent_v2");
  s.take(d.context_device, "cuCtxGetDevice");
  s.take(d.context_synchronize, "cuCtxSynchronize");
  s.take(d.memory_alloc, "cuMemAlloc_v2");
  s.take(d.memory_free, "cuMemFree_v2");
  s.take(d.memory_range, "cuMemGetAddressRange_v2");
  s.take(d.granularity, "cuMemGetAllocationGranularity");
  s.take(d.physical_create, "cuMemCreate");
  s.take(d.physical_release, "cuMemRelease");
  s.take(d.physical_export, "cuMemExportToShareableHandle");
  s.take(d.address_reserve, "cuMemAddressReserve");
  s.take(d.address_free, "cuMemAddressFree");
  s.take(d.address_map, "cuMemMap");
  s.take(d.address_unmap, "cuMemUnmap");
  s.take(d.address_access, "cuMemSetAccess");
  s.take(d.pointer_attribute, "cuPointerGetAttribute");
  s.take(d.host_alloc, "cuMemHostAlloc");
  s.take(d.host_free, "cuMemFreeHost");
  s.take(d.host_register, "cuMemHostRegister_v2");
  s.take(d.host_unregister, "cuMemHostUnregister");
  s.take(d.copy_up, "cuMemcpyHtoDAsync_v2");
  s.take(d.copy_down, "cuMemcpyDtoHAsync_v2");
  s.take(d.copy_down_now, "cuMemcpyDtoH_v2");
  s.take(d.copy_on_device, "cuMemcpyDtoDAsync_v2");
  s.take(d.fill_bytes, "cuMemsetD8Async");
  s.take(d.fill_words, "cuMemsetD32Async");
  s.take(d.stream_create, "cuStreamCreate");
  s.take(d.stream_destroy, "cuStreamDestroy_v2");
  s.take(d.stream_synchronize, "cuStreamSynchronize");
  s.take(d.stream_query, "cuStreamQuery");
  s.take(d.stream_context, "cuStreamGetCtx");
  s.take(d.stream_wait, "cuStreamWaitEvent");
  s.take(d.event_create, "cuEventCreate");
  s.take(d.event_destroy, "cuEventDestroy_v2");
  s.take(d.event_record, "cuEventRecord");
  s.take(d.event_query, "cuEventQuery");
  s.take(d.event_synchronize, "cuEventSynchronize");
  s.take(d.event_elapsed, "cuEventElapsedTime");
  s.take(d.module_load, "cuModuleLoadData");
  s.take(d.module_unload, "cuModuleUnload");
  s.take(d.module_function, "cuModuleGetFunction");
  s.take(d.module_global, "cuModuleGetGlobal_v2");
  s.take(d.function_attribute, "cuFuncGetAttribute");
  s.take(d.launch, "cuLaunchKernel");
  return s.missing();
}

const char* load_compiler(Compiler& c, void* library) {
  Symbols s(library);
  s.take(c.version, "nvrtcVersion");
  s.take(c.error_text, "nvrtcGetErrorString");
  s.take(c.create, "nvrtcCreateProgram");
  s.take(c.destroy, "nvrtcDestroyProgram");
  s.take(c.compile, "nvrtcCompileProgram");
  s.take(c.log_size, "nvrtcGetProgramLogSize");
  s.take(c.log, "nvrtcGetProgramLog");
  s.take(c.cubin_size, "nvrtcGetCUBINSize");
  s.take(c.cubin, "nvrtcGetCUBIN");
  s.take(c.ptx_size, "nvrtcGetPTXSize");
  s.take(c.ptx, "nvrtcGetPTX");
  s.take(c.arch_count, "nvrtcGetNumSupportedArchs");
  s.take(c.archs, "nvrtcGetSupportedArchs");
  return s.missing();
}

/// Open the first library that exists. It is never closed, because threads that it starts may outlive us.
void* open_first(const std::vector<std::string>& names, std::string& why) {
  for (const std::string& name : names) {
    std::string reason;
    if (void* library = open_library(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, reason)) return library;
    if (why.empty()) why = reason;
  }
  return nullptr;
}

struct LoadedDriver {
  Driver functions{};
  std::string why;
  bool absent = false;
  LoadedDriver() {
    void* library = open_first({"libcuda.so.1"}, why);
    if (library == nullptr) {
      absent = true;
      why = "no driver for CUDA: " + why;
    } else if (const char* missing = load_driver(functions, library)) {
      why = std::string("the driver for CUDA is too old: libcuda.so.1 lacks ") + missing;
    } else if (const CUresult result = functions.init(0); result != kSuccess) {
      const char* name = nullptr;
      functions.error_name(result, &name);
      absent = result == kNoDevice;
      why = std::string("the driver for CUDA does not start: ") + (name != nullptr ? name : std::to_string(result));
    }
  }
};

const LoadedDriver& loaded_driver() {
  static const auto* loaded = new LoadedDriver;
  return *loaded;
}

/// Candidate files of the compiler, best first.
std::vector<std::string> compiler_files() {
  constexpr int kFirst = 12, kNewest = 13;  // CUDA 11 has one file for all versions since 11.2
  if (const char* named = std::getenv("OCLSPKT_NVRTC"); named != nullptr && *named != '\0') return {named};
  int version = 0;
  if (const LoadedDriver& d = loaded_driver(); d.why.empty()) d.functions.version(&version);
  const int own = version > 0 ? version / 1000 : kNewest;
  std::vector<std::string> files;
  const auto add = [&](int major) { files.push_back("libnvrtc.so." + std::to_string(major)); };
  for (int major = own; major >= kFirst; --major) add(major);
  files.emplace_back("libnvrtc.so.11.2");
  for (int major = std::max(own + 1, kFirst); major <= kNewest; ++major) add(major);
  files.emplace_back("libnvrtc.so");
  return files;
}

std::string identity_of(const Compiler& c) {
  int major = 0, minor = 0;
  c.version(&major, &minor);
  std::string identity = std::to_string(major);
  identity.append(".").append(std::to_string(minor));
  Dl_info info;
  struct stat status {};
  if (dladdr(reinterpret_cast<void*>(c.version), &info) != 0 && info.dli_fname != nullptr &&
      stat(info.dli_fname, &status) == 0) {
    identity.append(" ").append(std::to_string(status.st_size)).append(" ").append(std::to_string(status.st_mtime));
  }
  return identity;
}

struct LoadedCompiler {
  Compiler functions{};
  std::string why;
  LoadedCompiler() {
    void* library = open_first(compiler_files(), why);
    if (library == nullptr) {
      why = "CUDA's run-time compiler is not there (" + why +
            "): install the package with libnvrtc.so of CUDA 11.2 or later, or name the file in OCLSPKT_NVRTC";
    } else if (const char* missing = load_compiler(functions, library)) {
      why = std::string("CUDA's run-time compiler is too old: libnvrtc.so lacks ") + missing +
            "; install that of CUDA 11.2 or later";
    } else {
      functions.identity = identity_of(functions);
    }
  }
};

}  // namespace

const Driver* driver(std::string* why) {
  const LoadedDriver& loaded = loaded_driver();
  if (loaded.why.empty()) return &loaded.functions;
  if (why != nullptr) *why = loaded.why;
  return nullptr;
}

bool is_absent() { return loaded_driver().absent; }

const Compiler* compiler(std::string* why) {
  static auto* loaded = new LoadedCompiler;
  if (loaded->why.empty()) return &loaded->functions;
  if (why != nullptr) *why = loaded->why;
  return nullptr;
}

}  // namespace oclspkt::cuda
