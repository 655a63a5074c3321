// SPDX-License-Identifier: BSD-2-Clause
#include "error_name.hpp"

namespace oclspkt::ocl {
namespace {

struct Name {
  cl_int code;
  const char* text;
};

constexpr Name kNames[] = {
    {0, "CL_SUCCESS"},
    {-1, "CL_DEVICE_NOT_FOUND"},
    {-2, "CL_DEVICE_NOT_AVAILABLE"},
    {-3, "CL_COMPILER_NOT_AVAILABLE"},
    {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {-5, "CL_OUT_OF_RESOURCES"},
    {-6, "CL_OUT_OF_HOST_MEMORY"},
    {-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    {-8, "CL_MEM_COPY_OVERLAP"},
    {-9, "CL_IMAGE_FORMAT_MISMATCH"},
    {-10, "CL_IMAGE_FORMAT_NOT_SUPPORTED"},
    {-11, "CL_BUILD_PROGRAM_FAILURE"},
    {-12, "CL_MAP_FAILURE"},
    {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
    {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {-15, "CL_COMPILE_PROGRAM_FAILURE"},
    {-16, "CL_LINKER_NOT_AVAILABLE"},
    {-17, "CL_LINK_PROGRAM_FAILURE"},
    {-18, "CL_DEVICE_PARTITION_FAILED"},
    {-19, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE"},
    {-30, "CL_INVALID_VALUE"},
    {-31, "CL_INVALID_DEVICE_TYPE"},
    {-32, "CL_INVALID_PLATFORM"},
    {-33, "CL_INVALID_DEVICE"},
    {-34, "CL_INVALID_CONTEXT"},
    {-35, "CL_INVALID_QUEUE_PROPERTIES"},
    {-36, "CL_INVALID_COMMAND_QUEUE"},
    {-37, "CL_INVALID_HOST_PTR"},
    {-38, "CL_INVALID_MEM_OBJECT"},
    {-39, "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR"},
    {-40, "CL_INVALID_IMAGE_SIZE"},
    {-41, "CL_INVALID_SAMPLER"},
    {-42, "CL_INVALID_BINARY"},
    {-43, "CL_INVALID_BUILD_OPTIONS"},
    {-44, "CL_INVALID_PROGRAM"},
    {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
    {-46, "CL_INVALID_KERNEL_NAME"},
    {-47, "CL_INVALID_KERNEL_DEFINITION"},
    {-48, "CL_INVALID_KERNEL"},
    {-49, "CL_INVALID_ARG_INDEX"},
    {-50, "CL_INVALID_ARG_VALUE"},
    {-51, "CL_INVALID_ARG_SIZE"},
    {-52, "CL_INVALID_KERNEL_ARGS"},
    {-53, "CL_INVALID_WORK_DIMENSION"},
    {-54, "CL_INVALID_WORK_GROUP_SIZE"},
    {-55, "CL_INVALID_WORK_ITEM_SIZE"},
    {-56, "CL_INVALID_GLOBAL_OFFSET"},
    {-57, "CL_INVALID_EVENT_WAIT_LIST"},
    {-58, "CL_INVALID_EVENT"},
    {-59, "CL_INVALID_OPERATION"},
    {-61, "CL_INVALID_BUFFER_SIZE"},
    {-62, "CL_INVALID_MIP_LEVEL"},
    {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
    {-64, "CL_INVALID_PROPERTY"},
    {-66, "CL_INVALID_COMPILER_OPTIONS"},
    {-67, "CL_INVALID_LINKER_OPTIONS"},
    {-68, "CL_INVALID_DEVICE_PARTITION_COUNT"},
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
    {-9999, "illegal read or write by a kernel (NVIDIA)"},
    // Results of CUDA, as plugin/cuda passes them on: -20000 minus the number.
    {-20001, "CUDA_ERROR_INVALID_VALUE"},
    {-20002, "CUDA_ERROR_OUT_OF_MEMORY"},
    {-20003, "CUDA_ERROR_NOT_INITIALIZED"},
    {-20004, "CUDA_ERROR_DEINITIALIZED"},
    {-20046, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {-20100, "CUDA_ERROR_NO_DEVICE"},
    {-20101, "CUDA_ERROR_INVALID_DEVICE"},
    {-20200, "CUDA_ERROR_INVALID_IMAGE"},
    {-20201, "CUDA_ERROR_INVALID_CONTEXT"},
    {-20209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {-20214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
    {-20218, "CUDA_ERROR_INVALID_PTX"},
    {-20222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
    {-20304, "CUDA_ERROR_OPERATING_SYSTEM"},
    {-20400, "CUDA_ERROR_INVALID_HANDLE"},
    {-20500, "CUDA_ERROR_NOT_FOUND"},
    {-20700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {-20701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    {-20702, "CUDA_ERROR_LAUNCH_TIMEOUT"},
    {-20709, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
    {-20710, "CUDA_ERROR_ASSERT"},
    {-20712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"},
    {-20715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
    {-20716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
    {-20719, "CUDA_ERROR_LAUNCH_FAILED"},
    {-20802, "CUDA_ERROR_SYSTEM_NOT_READY"},
    {-20803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
    {-20999, "CUDA_ERROR_UNKNOWN"},
};

}  // namespace

std::string error_name(cl_int code) {
  constexpr cl_int kCuda = -20000;
  const bool of_cuda = code < kCuda;
  const cl_int shown = of_cuda ? kCuda - code : code;
  for (const Name& name : kNames) {
    if (name.code == code) return std::string(name.text) + " (" + std::to_string(shown) + ")";
  }
  return (of_cuda ? "CUDA error " : "OpenCL error ") + std::to_string(shown);
}

std::string describe(const DeviceInfo& device) { return "device '" + device.name + "' (" + device.platform + ")"; }

DeviceError device_error(const DeviceInfo& device, const std::string& what, const cl::Error& error) {
  const std::string limit = error.err() == CL_INVALID_BUFFER_SIZE
                                ? "; it allocates " + std::to_string(device.max_allocation) + " bytes at once, at most"
                                : "";
  return DeviceError(describe(device) + ": " + what + " failed: " + error.what() + " gave " + error_name(error.err()) +
                     limit + "; choose another device, or host");
}

}  // namespace oclspkt::ocl
