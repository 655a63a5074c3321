// SPDX-License-Identifier: BSD-2-Clause
#include "error_name.hpp"

#include <string_view>

namespace oclspkt::ocl {
namespace {

/// Codes and their names, each between blanks.
constexpr std::string_view kOfOpenCL =
    " 0 CL_SUCCESS -1 CL_DEVICE_NOT_FOUND -2 CL_DEVICE_NOT_AVAILABLE -3 CL_COMPILER_NOT_AVAILABLE"
    " -4 CL_MEM_OBJECT_ALLOCATION_FAILURE -5 CL_OUT_OF_RESOURCES -6 CL_OUT_OF_HOST_MEMORY"
    " -7 CL_PROFILING_INFO_NOT_AVAILABLE -8 CL_MEM_COPY_OVERLAP -9 CL_IMAGE_FORMAT_MISMATCH"
    " -10 CL_IMAGE_FORMAT_NOT_SUPPORTED -11 CL_BUILD_PROGRAM_FAILURE -12 CL_MAP_FAILURE"
    " -13 CL_MISALIGNED_SUB_BUFFER_OFFSET -14 CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"
    " -15 CL_COMPILE_PROGRAM_FAILURE -16 CL_LINKER_NOT_AVAILABLE -17 CL_LINK_PROGRAM_FAILURE"
    " -18 CL_DEVICE_PARTITION_FAILED -19 CL_KERNEL_ARG_INFO_NOT_AVAILABLE -30 CL_INVALID_VALUE"
    " -31 CL_INVALID_DEVICE_TYPE -32 CL_INVALID_PLATFORM -33 CL_INVALID_DEVICE -34 CL_INVALID_CONTEXT"
    " -35 CL_INVALID_QUEUE_PROPERTIES -36 CL_INVALID_COMMAND_QUEUE -37 CL_INVALID_HOST_PTR -38 CL_INVALID_MEM_OBJECT"
    " -39 CL_INVALID_IMAGE_FORMAT_DESCRIPTOR -40 CL_INVALID_IMAGE_SIZE -41 CL_INVALID_SAMPLER -42 CL_INVALID_BINARY"
    " -43 CL_INVALID_BUILD_OPTIONS -44 CL_INVALID_PROGRAM -45 CL_INVALID_PROGRAM_EXECUTABLE"
    " -46 CL_INVALID_KERNEL_NAME -47 CL_INVALID_KERNEL_DEFINITION -48 CL_INVALID_KERNEL -49 CL_INVALID_ARG_INDEX"
    " -50 CL_INVALID_ARG_VALUE -51 CL_INVALID_ARG_SIZE -52 CL_INVALID_KERNEL_ARGS -53 CL_INVALID_WORK_DIMENSION"
    " -54 CL_INVALID_WORK_GROUP_SIZE -55 CL_INVALID_WORK_ITEM_SIZE -56 CL_INVALID_GLOBAL_OFFSET"
    " -57 CL_INVALID_EVENT_WAIT_LIST -58 CL_INVALID_EVENT -59 CL_INVALID_OPERATION -61 CL_INVALID_BUFFER_SIZE"
    " -62 CL_INVALID_MIP_LEVEL -63 CL_INVALID_GLOBAL_WORK_SIZE -64 CL_INVALID_PROPERTY"
    " -66 CL_INVALID_COMPILER_OPTIONS -67 CL_INVALID_LINKER_OPTIONS -68 CL_INVALID_DEVICE_PARTITION_COUNT"
    " -1001 CL_PLATFORM_NOT_FOUND_KHR ";
constexpr std::string_view kOfCuda =
    " 1 CUDA_ERROR_INVALID_VALUE 2 CUDA_ERROR_OUT_OF_MEMORY 3 CUDA_ERROR_NOT_INITIALIZED 4 CUDA_ERROR_DEINITIALIZED"
    " 46 CUDA_ERROR_DEVICE_UNAVAILABLE 100 CUDA_ERROR_NO_DEVICE 101 CUDA_ERROR_INVALID_DEVICE"
    " 200 CUDA_ERROR_INVALID_IMAGE 201 CUDA_ERROR_INVALID_CONTEXT 209 CUDA_ERROR_NO_BINARY_FOR_GPU"
    " 214 CUDA_ERROR_ECC_UNCORRECTABLE 218 CUDA_ERROR_INVALID_PTX 222 CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
    " 304 CUDA_ERROR_OPERATING_SYSTEM 400 CUDA_ERROR_INVALID_HANDLE 500 CUDA_ERROR_NOT_FOUND"
    " 700 CUDA_ERROR_ILLEGAL_ADDRESS 701 CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES 702 CUDA_ERROR_LAUNCH_TIMEOUT"
    " 709 CUDA_ERROR_CONTEXT_IS_DESTROYED 710 CUDA_ERROR_ASSERT 712 CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"
    " 715 CUDA_ERROR_ILLEGAL_INSTRUCTION 716 CUDA_ERROR_MISALIGNED_ADDRESS 719 CUDA_ERROR_LAUNCH_FAILED"
    " 802 CUDA_ERROR_SYSTEM_NOT_READY 803 CUDA_ERROR_SYSTEM_DRIVER_MISMATCH 999 CUDA_ERROR_UNKNOWN ";

/// plugin/cuda passes CUDA's result number r on as the code kCuda - r.
constexpr cl_int kCuda = -20000;

}  // namespace

std::string error_name(cl_int code) {
  if (code == -9999) return "illegal read or write by a kernel (NVIDIA) (-9999)";
  const bool of_cuda = code < kCuda;
  const std::string_view names = of_cuda ? kOfCuda : kOfOpenCL;
  const std::string shown = std::to_string(of_cuda ? kCuda - code : code);
  const std::size_t at = names.find(" " + shown + " ");
  if (at == std::string_view::npos) return (of_cuda ? "CUDA error " : "OpenCL error ") + shown;
  const std::size_t begin = at + shown.size() + 2;
  return std::string(names.substr(begin, names.find(' ', begin) - begin)) + " (" + shown + ")";
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
