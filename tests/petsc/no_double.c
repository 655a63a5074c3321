/* SPDX-License-Identifier: BSD-2-Clause */
/* Stands in front of OpenCL: no device has double precision. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <string.h>

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void* to,
                                                size_t* size) {
  cl_int (*real)(cl_device_id, cl_device_info, size_t, void*, size_t*);

  *(void**)&real = dlsym(dlopen("libOpenCL.so.1", RTLD_LAZY), "clGetDeviceInfo");
  const cl_int code = real(device, what, room, to, size);
  if (what == CL_DEVICE_DOUBLE_FP_CONFIG && code == CL_SUCCESS && to != NULL)
    memset(to, 0, sizeof(cl_device_fp_config));
  return code;
}
