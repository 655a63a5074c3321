// SPDX-License-Identifier: BSD-2-Clause
// oclspkt-driver-check: the child process that tries a driver (drivers.hpp). If the driver ends this process, the
// process writes no token.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "discovery.hpp"
#include "drivers.hpp"
#include "error_name.hpp"

namespace {

using oclspkt::ocl::error_name;

/// Load the driver as an ICD loader does. ICD loaders do not report failures; this function describes them.
std::string fault_at_load(const char* library) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    return std::string("does not load: ") + (why != nullptr ? why : "unknown reason");
  }
  using Address = void* (*)(const char*);
  using Platforms = cl_int (*)(cl_uint, cl_platform_id*, cl_uint*);
  const auto address = reinterpret_cast<Address>(dlsym(handle, "clGetExtensionFunctionAddress"));
  const auto platforms = address != nullptr ? reinterpret_cast<Platforms>(address("clIcdGetPlatformIDsKHR")) : nullptr;
  if (platforms == nullptr) return "is no OpenCL driver: it does not give clIcdGetPlatformIDsKHR";
  cl_uint count = 0;
  const cl_int code = platforms(0, nullptr, &count);
  if (code != CL_SUCCESS) return "offers no platform, " + error_name(code);
  return count == 0 ? "offers no platform" : "";
}

/// List the devices that the program will use, and open the devices of the host. Other devices stay closed, because a
/// context on a GPU takes a fraction of a second, and memory that other programs may need.
std::string fault_in_use() {
  const oclspkt::ocl::Discovery found = oclspkt::ocl::look_at_platforms();
  if (found.platforms == 0) return "offers no platform that the OpenCL loader takes";
  for (const oclspkt::ocl::FoundDevice& device : found.devices) {
    if (!device.info.host_unified) continue;
    try {
      const cl::Context context(device.handle);
      const cl::CommandQueue queue(context, device.handle, CL_QUEUE_PROFILING_ENABLE);
    } catch (const cl::Error&) {
      // The program will meet this error as well, and handle it.
    }
  }
  return "";
}

/// Make this process end soon after its parent, without a core file.
void bind_to_parent() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("oclspkt-driver-check is run by liboclspkt-cl.so; oclspkt-devices lists devices and faulty drivers.\n",
               stderr);
    return 2;
  }
  bind_to_parent();
  // Redirect the output of drivers, which must not look like an answer.
  const int answer = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (answer < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 1;
  std::string fault = fault_at_load(argv[2]);
  if (fault.empty()) fault = fault_in_use();
  const std::string text = std::string(argv[1]) + "\n" + fault.substr(0, oclspkt::ocl::kLongestAnswer);
  const bool told = write(answer, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  _exit(told ? 0 : 1);  // skip the drivers' exit handlers, which are not tested
}
