/* SPDX-License-Identifier: BSD-2-Clause */
/* Preloaded in front of OpenCL: three of four questions for the status of a command that has ended are answered with
   "running". A time limit of a nanosecond has then passed, whichever of the device and the program is quicker. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdatomic.h>

CL_API_ENTRY cl_int CL_API_CALL clGetEventInfo(cl_event event, cl_event_info what, size_t room, void* to,
                                               size_t* size) {
  static atomic_uint questions;
  cl_int (*real)(cl_event, cl_event_info, size_t, void*, size_t*);

  *(void**)&real = dlsym(dlopen("libOpenCL.so.1", RTLD_LAZY), "clGetEventInfo");
  const cl_int code = real(event, what, room, to, size);
  if (what == CL_EVENT_COMMAND_EXECUTION_STATUS && code == CL_SUCCESS && to != NULL && *(cl_int*)to == CL_COMPLETE &&
      atomic_fetch_add(&questions, 1) % 4 != 3)
    *(cl_int*)to = CL_RUNNING;
  return code;
}
