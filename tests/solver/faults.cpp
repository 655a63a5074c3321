// SPDX-License-Identifier: BSD-2-Clause
#include "faults.hpp"

#include <dlfcn.h>

#include <mutex>
#include <stdexcept>

namespace oclspkt::test {
namespace {

std::mutex mutex;  // calls come from several threads
Faults::Rule rule;
int counted = 0, failed = 0;
std::array<int, std::size(ocl::kPlaces)> calls{};

cl_int hook(ocl::Place place, int device, cl_command_queue /*queue*/) {
  const std::lock_guard lock(mutex);
  const auto at = static_cast<std::size_t>(place);
  ++calls[at];
  if ((rule.device >= 0 && rule.device != device) || !rule.places[at]) return CL_SUCCESS;
  const int number = counted++;
  if (number < rule.first || number >= rule.first + rule.times) return CL_SUCCESS;
  ++failed;
  return code_of(place);
}

}  // namespace

void set_fault_hook(ocl::FaultHook f) {
  if (device_module(nullptr) == nullptr) throw std::runtime_error("no OpenCL module");
  void* handle = dlopen(OCLSPKT_CL_MODULE, RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) throw std::runtime_error("the OpenCL module is not " OCLSPKT_CL_MODULE);
  const auto set = reinterpret_cast<ocl::SetFaultHook>(dlsym(handle, ocl::kSetFaultHookName));
  if (set == nullptr) throw std::runtime_error("the OpenCL module has no hook for faults");
  set(f);
  dlclose(handle);
}

cl_int code_of(ocl::Place place) {
  switch (place) {
    case ocl::Place::open:
      return CL_DEVICE_NOT_AVAILABLE;
    case ocl::Place::build:
      return CL_BUILD_PROGRAM_FAILURE;
    case ocl::Place::allocate:
      return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    case ocl::Place::wait:
      return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    default:
      return CL_OUT_OF_RESOURCES;
  }
}

Faults::Faults() {
  none();
  set_fault_hook(hook);
}

Faults::~Faults() { set_fault_hook(nullptr); }

void Faults::set(const Rule& to) {
  const std::lock_guard lock(mutex);
  rule = to;
  counted = failed = 0;
  calls.fill(0);
}

void Faults::anywhere(int device, int first, int times) {
  Rule all{device, first, times};
  all.places.fill(true);
  set(all);
}

void Faults::at(ocl::Place place, int device, int first, int times) {
  Rule one{device, first, times};
  one.places[static_cast<std::size_t>(place)] = true;
  set(one);
}

void Faults::none() { set({}); }

int Faults::fired() {
  const std::lock_guard lock(mutex);
  return failed;
}

int Faults::seen(ocl::Place place) {
  const std::lock_guard lock(mutex);
  return calls[static_cast<std::size_t>(place)];
}

int Faults::seen() {
  const std::lock_guard lock(mutex);
  int sum = 0;
  for (const int n : calls) sum += n;
  return sum;
}

}  // namespace oclspkt::test
