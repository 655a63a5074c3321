// SPDX-License-Identifier: BSD-2-Clause
// Platform and devices. The devices are the driver's cards, with the properties that OpenCL defines.
#include "objects.hpp"

namespace oclspkt::cuda {
namespace {

_cl_platform_id platform;

struct Cards {
  std::vector<cl_device_id> found;
  std::vector<std::string> problems;
  Cards() {
    if (const Driver* d = driver()) look(*d);
  }

 private:
  void look(const Driver& d) {
    int count = 0;
    if (!good("the driver for CUDA lists no card", "cuDeviceGetCount", d.device_count(&count))) return;
    for (int i = 0; i < count; ++i) {
      auto card = std::make_unique<_cl_device_id>();
      const std::string which = "card " + std::to_string(i) + " by CUDA does not describe itself";
      char name[256] = {};
      card->ordinal = i;
      if (!good(which, "cuDeviceGet", d.device_get(&card->handle, i)) ||
          !good(which, "cuDeviceGetName", d.device_name(name, sizeof name - 1, card->handle)) ||
          !good(which, "cuDeviceTotalMem", d.device_memory(&card->memory, card->handle))) {
        continue;
      }
      card->name = name;
      found.push_back(card.release());
    }
  }

  bool good(const std::string& what, const char* function, CUresult result) {
    if (result != kSuccess) problems.push_back(what + ": " + failure(function, result));
    return result == kSuccess;
  }
};

const Cards& all_cards() {
  static const auto* all = new Cards;
  return *all;
}

/// Returns the versions in words: "CUDA 13.0, compiler 13.0".
std::string versions() {
  int version = 0, major = 0, minor = 0;
  driver()->version(&version);
  std::string text = "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  if (const Compiler* c = compiler(); c != nullptr && c->version(&major, &minor) == 0) {
    text += ", compiler " + std::to_string(major) + "." + std::to_string(minor);
  }
  return text;
}

}  // namespace

const std::vector<cl_device_id>& cards() { return all_cards().found; }
const std::vector<std::string>& problems_of_cards() { return all_cards().problems; }

}  // namespace oclspkt::cuda

using namespace oclspkt::cuda;

cl_int clGetPlatformIDs(cl_uint entries, cl_platform_id* platforms, cl_uint* count) {
  const cl_uint found = cards().empty() ? 0 : 1;
  if (count != nullptr) *count = found;
  if (platforms != nullptr && entries > 0 && found > 0) platforms[0] = &platform;
  return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id, cl_platform_info what, size_t size, void* value, size_t* size_ret) {
  const Answer give(size, value, size_ret);
  if (what == CL_PLATFORM_NAME) return give(std::string("CUDA by NVRTC"));
  if (what == CL_PLATFORM_VERSION) return give("OpenCL 1.2 by " + versions());
  return what == CL_PLATFORM_EXTENSIONS ? give(std::string()) : CL_INVALID_VALUE;
}

cl_int clGetDeviceIDs(cl_platform_id, cl_device_type type, cl_uint entries, cl_device_id* devices, cl_uint* count) {
  const auto found =
      (type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)) != 0 ? cards() : std::vector<cl_device_id>{};
  if (count != nullptr) *count = static_cast<cl_uint>(found.size());
  for (cl_uint i = 0; devices != nullptr && i < entries && i < found.size(); ++i) devices[i] = found[i];
  return found.empty() ? CL_DEVICE_NOT_FOUND : CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id card, cl_device_info what, size_t size, void* value, size_t* size_ret) {
  // The card's place on the PCI bus, as defined by cl_nv_device_attribute_query.
  constexpr cl_device_info kNvPciBus = 0x4008, kNvPciSlot = 0x4009, kNvPciDomain = 0x400A;
  constexpr cl_ulong kAllOfDouble = 63;
  constexpr cl_uint kAddressBits = 4096;  // CUDA aligns allocations to 512 bytes
  const Answer give(size, value, size_ret);
  const auto attribute = [card](int which) {
    return [card, which](int* number) { return card->attribute(which, number); };
  };
  if (what == CL_DEVICE_TYPE) return give(cl_device_type{CL_DEVICE_TYPE_GPU});
  if (what == CL_DEVICE_NAME) return give(card->name);
  if (what == CL_DRIVER_VERSION) return give(versions());
  if (what == CL_DEVICE_VERSION) return give(std::string("OpenCL 1.2 CUDA"));
  if (what == CL_DEVICE_PLATFORM) return give(&platform);
  if (what == CL_DEVICE_EXTENSIONS) return give(std::string("cl_nv_device_attribute_query"));
  if (what == CL_DEVICE_GLOBAL_MEM_SIZE || what == CL_DEVICE_MAX_MEM_ALLOC_SIZE) return give(cl_ulong{card->memory});
  if (what == CL_DEVICE_DOUBLE_FP_CONFIG) return give(kAllOfDouble);
  if (what == CL_DEVICE_AVAILABLE) return give(cl_bool{CL_TRUE});
  if (what == CL_DEVICE_COMPILER_AVAILABLE) return give(cl_bool{compiler() != nullptr});
  if (what == CL_DEVICE_HOST_UNIFIED_MEMORY) return give(cl_bool{CL_FALSE});
  if (what == CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT || what == CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE)
    return give(cl_uint{1});
  if (what == CL_DEVICE_MEM_BASE_ADDR_ALIGN) return give(kAddressBits);
  if (what == CL_DEVICE_MAX_COMPUTE_UNITS) return give.number<cl_uint>(attribute(kMultiprocessors));
  if (what == CL_DEVICE_GLOBAL_MEM_CACHE_SIZE) return give.number<cl_ulong>(attribute(kL2CacheBytes));
  if (what == CL_DEVICE_LOCAL_MEM_SIZE) return give.number<cl_ulong>(attribute(kMaxSharedMemoryPerBlock));
  if (what == CL_DEVICE_MAX_WORK_GROUP_SIZE) return give.number<std::size_t>(attribute(kMaxThreadsPerBlock));
  if (what == kNvPciBus) return give.number<cl_uint>(attribute(kPciBus));
  if (what == kNvPciSlot) return give.number<cl_uint>(attribute(kPciDevice));
  return what == kNvPciDomain ? give.number<cl_uint>(attribute(kPciDomain)) : CL_INVALID_VALUE;
}

cl_int clRetainDevice(cl_device_id) { return CL_SUCCESS; }
cl_int clReleaseDevice(cl_device_id) { return CL_SUCCESS; }

cl_int clCreateSubDevices(cl_device_id, const cl_device_partition_property*, cl_uint, cl_device_id*, cl_uint*) {
  return CL_DEVICE_PARTITION_FAILED;
}
