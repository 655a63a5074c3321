// SPDX-License-Identifier: BSD-2-Clause
#include "discovery.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "error_name.hpp"
#include "split.hpp"

namespace oclspkt::ocl {
namespace {

// Queries of cl_nv_device_attribute_query. Some of Debian's headers for OpenCL 1.2 lack these constants.
constexpr cl_device_info kNvPciBus = 0x4008, kNvPciSlot = 0x4009, kNvPciDomain = 0x400A;
// The query of cl_khr_pci_bus_info. Its result is domain, bus, device and function.
constexpr cl_device_info kKhrPciBusInfo = 0x410F;

constexpr int kCacheLine = 64;
constexpr std::int64_t kUsualCache = 1 << 20;

/// Returns a driver's text without surrounding blanks. Unprintable characters become '?', as in escape sequences.
std::string printable(std::string text) {
  while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) text.pop_back();
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; }, '?');
  const auto first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first);
}

template <typename V>
bool raw_info(const cl::Device& device, cl_device_info what, V& value) {
  return clGetDeviceInfo(device(), what, sizeof(V), &value, nullptr) == CL_SUCCESS;
}

/// Lanes of the native vector if transpositions support it, else lanes of a vector as long as a cache line.
int choose_lanes(cl_uint native, int word) {
  const bool carries = native == 4 || native == 8 || native == 16;
  return carries && static_cast<int>(native) * word <= kCacheLine ? static_cast<int>(native) : kCacheLine / word;
}

/// False if the host's processor cannot fuse a product and a sum. Kernels by lanes then round both. What drivers tell
/// in CL_DEVICE_SINGLE_FP_CONFIG is no answer: Intel's denies CL_FP_FMA and fuses.
bool host_fuses() {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_cpu_supports("fma") != 0;
#else
  return true;
#endif
}

DeviceType device_type(cl_device_type bits) {
  if ((bits & CL_DEVICE_TYPE_CPU) != 0) return DeviceType::cpu;
  if ((bits & CL_DEVICE_TYPE_GPU) != 0) return DeviceType::gpu;
  return DeviceType::fpga;
}

/// Bytes of cache of a core. On the host, the system gives the figure, because run-times report their last-level cache,
/// or none.
std::int64_t core_cache_bytes(const DeviceInfo& info, const cl::Device& device) {
  const long second_level = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (info.host_unified) return second_level > 0 ? second_level : kUsualCache;
  return std::max<std::int64_t>(
      kUsualCache,
      static_cast<std::int64_t>(device.getInfo<CL_DEVICE_GLOBAL_MEM_CACHE_SIZE>()) / std::max(1, info.cores));
}

FoundDevice look_at(const cl::Device& device, const std::string& platform, int index) {
  FoundDevice found;
  DeviceInfo& info = found.info;
  const cl_device_type bits = device.getInfo<CL_DEVICE_TYPE>();
  info.index = index;
  info.type = device_type(bits);
  info.name = printable(device.getInfo<CL_DEVICE_NAME>());
  info.platform = platform;
  info.driver_version = printable(device.getInfo<CL_DRIVER_VERSION>());
  info.cores = static_cast<int>(device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>());
  info.memory = static_cast<std::int64_t>(device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>());
  info.max_allocation = static_cast<std::int64_t>(device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>());
  cl_device_fp_config fp64 = 0;
  info.fp64 = raw_info(device, CL_DEVICE_DOUBLE_FP_CONFIG, fp64) && fp64 != 0;
  info.compiler = device.getInfo<CL_DEVICE_COMPILER_AVAILABLE>() != CL_FALSE;
  info.emulated = platform.find("Emulation") != std::string::npos;
  // Only run-times on the host work in the user's memory. A card may be lost, even if it shares the host's memory.
  info.host_unified =
      device.getInfo<CL_DEVICE_HOST_UNIFIED_MEMORY>() != CL_FALSE && (info.type == DeviceType::cpu || info.emulated);
  info.physical = info.type == DeviceType::cpu ? "cpu" : pci_address(device);
  if (info.physical.empty()) info.physical = platform + ":" + std::to_string(index);
  found.handle = device;
  found.lanes_float = choose_lanes(device.getInfo<CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT>(), sizeof(float));
  found.lanes_double = choose_lanes(device.getInfo<CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE>(), sizeof(double));
  found.cache_bytes = core_cache_bytes(info, device);
  found.base_alignment = device.getInfo<CL_DEVICE_MEM_BASE_ADDR_ALIGN>() / 8;
  found.local_bytes = device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>();
  found.max_group_items = device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>();
  return found;
}

/// Returns the reason why a device that answers cannot be used; null if it can be used. A board with an FPGA needs no
/// compiler, because its programs come from files.
const char* unusable(const cl::Device& device) {
  if (device.getInfo<CL_DEVICE_AVAILABLE>() == CL_FALSE) return "is not available";
  const bool board = device_type(device.getInfo<CL_DEVICE_TYPE>()) == DeviceType::fpga;
  if (!board && device.getInfo<CL_DEVICE_COMPILER_AVAILABLE>() == CL_FALSE) return "has no compiler for kernels";
  return nullptr;
}

void look_at_platform(const cl::Platform& platform, Discovery& result) {
  std::string name = "unnamed platform";
  try {
    name = printable(platform.getInfo<CL_PLATFORM_NAME>());
    std::vector<cl::Device> devices;
    platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    if (devices.empty()) result.problems.push_back("platform " + name + ": has no devices");
    for (const cl::Device& device : devices) {
      try {
        if (const char* why = unusable(device)) {
          result.problems.push_back("platform " + name + ": device " + printable(device.getInfo<CL_DEVICE_NAME>()) +
                                    " " + why);
          continue;
        }
        result.devices.push_back(look_at(device, name, static_cast<int>(result.devices.size())));
      } catch (const cl::Error& error) {
        result.problems.push_back("platform " + name + ": a device does not describe itself: " + error.what() +
                                  " gave " + error_name(error.err()));
      }
    }
  } catch (const cl::Error& error) {
    result.problems.push_back("platform " + name + ": " + error.what() + " gave " + error_name(error.err()));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    result.problems.push_back("platform " + name + ": its driver throws: " + error.what());
  }
}

}  // namespace

bool has_extension(const cl::Device& device, const char* name) {
  const std::vector<std::string> names = split(device.getInfo<CL_DEVICE_EXTENSIONS>());
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string pci_address(const cl::Device& device) {
  cl_uint at[4] = {};
  bool known = false;
  if (has_extension(device, "cl_khr_pci_bus_info")) known = raw_info(device, kKhrPciBusInfo, at);
  if (!known && has_extension(device, "cl_nv_device_attribute_query")) {
    // NVIDIA's slot is the PCI device number, and the function is 0: card 00:06.0 of a virtual machine has slot 6.
    known = raw_info(device, kNvPciBus, at[1]) && raw_info(device, kNvPciSlot, at[2]);
    raw_info(device, kNvPciDomain, at[0]);
  }
  if (!known) return "";
  char text[32];
  std::snprintf(text, sizeof text, "pci:%04x:%02x:%02x.%x", at[0], at[1], at[2], at[3]);
  return text;
}

int FoundDevice::tile_lanes(bool is_double) const {
  return kCacheLine / static_cast<int>(is_double ? sizeof(double) : sizeof(float));
}

bool FoundDevice::by_groups(Variant variant) const {
  const bool by_type = variant == Variant::by_type || variant == Variant::no_task || variant == Variant::paper;
  return by_type ? info.type == DeviceType::gpu : variant == Variant::gpu || variant == Variant::paper_gpu;
}

bool FoundDevice::by_task(Variant variant) const {
  const bool by_type = variant == Variant::by_type || variant == Variant::paper;
  return by_type ? info.type == DeviceType::fpga : variant == Variant::fpga;
}

DeviceTraits FoundDevice::traits(bool is_double, Variant variant) const {
  DeviceTraits traits;
  traits.lanes = lanes(is_double);
  traits.tile_lanes = tile_lanes(is_double);
  traits.cores = info.cores;
  traits.cache_bytes = cache_bytes;
  traits.chunk_bytes = info.max_allocation;
  traits.paper = variant == Variant::paper || variant == Variant::paper_gpu;
  traits.task = by_task(variant);
  if (traits.task) traits.local_bytes = static_cast<std::int64_t>(local_bytes);
  const bool by_lanes = !traits.task && !by_groups(variant), on_host = info.type == DeviceType::cpu || info.emulated;
  traits.fuses = !by_lanes || !on_host || host_fuses();
  if (by_groups(variant)) {
    traits.group_items = static_cast<int>(max_group_items);
    traits.local_bytes = static_cast<std::int64_t>(local_bytes);
    traits.unproven = info.type != DeviceType::gpu;
  }
  return traits;
}

Discovery look_at_platforms() {
  Discovery result;
  std::vector<cl::Platform> platforms;
  try {
    cl::Platform::get(&platforms);
  } catch (const cl::Error& error) {
    result.problems.push_back("no OpenCL platform: " + error_name(error.err()) +
                              "; install a driver (for the CPU: pocl-opencl-icd)");
  }
  result.platforms = platforms.size();
  for (const cl::Platform& platform : platforms) look_at_platform(platform, result);
  return result;
}

}  // namespace oclspkt::ocl
