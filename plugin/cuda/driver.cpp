// SPDX-License-Identifier: BSD-2-Clause
#include "driver.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <iterator>

namespace oclspkt::cuda {
namespace {

/// Looks functions of a library up, and remembers the first that is missing.
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

/// Open the first library that there is. They stay: what they start may outlive us.
void* open_first(const char* const* names, std::size_t count, std::string& why) {
  for (std::size_t i = 0; i < count; ++i) {
    if (names[i] == nullptr || *names[i] == '\0') continue;
    if (void* library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) return library;
    const char* reason = dlerror();
    if (why.empty() && reason != nullptr) why = reason;
  }
  return nullptr;
}

struct LoadedDriver {
  Driver functions{};
  std::string why;
  LoadedDriver() {
    const char* const names[] = {"libcuda.so.1"};
    void* library = open_first(names, std::size(names), why);
    if (library == nullptr) {
      why = "no driver for CUDA: " + why;
    } else if (const char* missing = load_driver(functions, library)) {
      why = std::string("the driver for CUDA is too old: libcuda.so.1 lacks ") + missing;
    } else if (const CUresult result = functions.init(0); result != kSuccess) {
      const char* name = nullptr;
      functions.error_name(result, &name);
      why = std::string("the driver for CUDA does not start: ") + (name != nullptr ? name : std::to_string(result));
    }
  }
};

struct LoadedCompiler {
  Compiler functions{};
  std::string why;
  LoadedCompiler() {
    const char* const names[] = {std::getenv("OCLSPKT_NVRTC"), "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                 "libnvrtc.so"};
    const bool named = names[0] != nullptr && *names[0] != '\0';
    void* library = open_first(names, named ? 1 : std::size(names), why);
    if (library == nullptr) {
      why = "CUDA's run-time compiler is not there (" + why +
            "): install the package with libnvrtc.so of CUDA 11.2 or later, or name the file in OCLSPKT_NVRTC";
    } else if (const char* missing = load_compiler(functions, library)) {
      why = std::string("CUDA's run-time compiler is too old: libnvrtc.so lacks ") + missing +
            "; install that of CUDA 11.2 or later";
    }
  }
};

}  // namespace

const Driver* driver(std::string* why) {
  static auto* loaded = new LoadedDriver;
  if (loaded->why.empty()) return &loaded->functions;
  if (why != nullptr) *why = loaded->why;
  return nullptr;
}

const Compiler* compiler(std::string* why) {
  static auto* loaded = new LoadedCompiler;
  if (loaded->why.empty()) return &loaded->functions;
  if (why != nullptr) *why = loaded->why;
  return nullptr;
}

}  // namespace oclspkt::cuda
