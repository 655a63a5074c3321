// SPDX-License-Identifier: BSD-2-Clause
// OpenCL drivers that throw: while they are loaded (THROW_AT_LOAD), or when they are asked for platforms.
#include <cstring>
#include <stdexcept>

#ifdef THROW_AT_LOAD
namespace {
const struct Thrower {
  Thrower() { throw std::runtime_error("no board in this machine"); }
} thrower;
}  // namespace
#endif

extern "C" {
int clIcdGetPlatformIDsKHR(unsigned /*entries*/, void** /*platforms*/, unsigned* /*count*/) {
  throw std::runtime_error("no licence");
}
void* clGetExtensionFunctionAddress(const char* name) {
  return std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0 ? reinterpret_cast<void*>(clIcdGetPlatformIDsKHR) : nullptr;
}
int clGetPlatformInfo() { return -6; }
}
