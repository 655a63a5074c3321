// SPDX-License-Identifier: BSD-2-Clause
// An OpenCL driver that loads and then offers no platform.
#include <string.h>

int clIcdGetPlatformIDsKHR(unsigned int entries, void** platforms, unsigned int* count) {
  (void)entries;
  (void)platforms;
  if (count != 0) *count = 0;
  return -6;  // CL_OUT_OF_HOST_MEMORY
}

void* clGetExtensionFunctionAddress(const char* name) {
  return strcmp(name, "clIcdGetPlatformIDsKHR") == 0 ? (void*)clIcdGetPlatformIDsKHR : 0;
}

int clGetPlatformInfo(void) { return -6; }
