// SPDX-License-Identifier: BSD-2-Clause
#include <dlfcn.h>

#include <mutex>
#include <string>

#include "device.hpp"

namespace oclspkt {
namespace {

constexpr const char* kModuleFile = "liboclspkt-cl.so";

/// The folder of the library that holds this function, with a slash at its end.
std::string own_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return "";
  const std::string path = info.dli_fname;
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

DeviceModule* open_module(std::string& why) {
  // RTLD_NODELETE: drivers leave threads behind that must not lose their code.
  void* handle = dlopen((own_folder() + kModuleFile).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* reason = dlerror();
    why = std::string("the OpenCL module does not open: ") + (reason != nullptr ? reason : "unknown reason");
    return nullptr;
  }
  const auto entry = reinterpret_cast<DeviceModuleEntry>(dlsym(handle, kDeviceModuleEntryName));
  if (entry == nullptr) {
    why = std::string(kModuleFile) + " has no entry " + kDeviceModuleEntryName + ": install libraries of one version";
    return nullptr;
  }
  return entry(kDeviceModuleAbi, &why);
}

std::mutex mutex;
bool tried = false;
DeviceModule* module = nullptr;

}  // namespace

DeviceModule* device_module(std::string* why) {
  static auto* reason = new std::string;  // outlives static destructors: objects may be destroyed at exit
  const std::lock_guard lock(mutex);
  if (!tried) {
    module = open_module(*reason);  // where memory runs out, the next call tries again
    tried = true;
  }
  if (module == nullptr && why != nullptr) *why = *reason;
  return module;
}

DeviceModule* open_device_module() {
  const std::lock_guard lock(mutex);
  return module;
}

}  // namespace oclspkt
