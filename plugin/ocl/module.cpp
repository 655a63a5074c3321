// SPDX-License-Identifier: BSD-2-Clause
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "cl_solver.hpp"
#include "device.hpp"
#include "fault.hpp"
#include "native.hpp"
#include "probe.hpp"
#include "program_file.hpp"
#include "registry.hpp"
#include "space_state.hpp"

namespace oclspkt::ocl {
namespace {

class ClModule final : public DeviceModule {
 public:
  ClModule() {
    for (const FoundDevice& found : registry().devices()) infos_.push_back(found.info);
  }

  const std::vector<DeviceInfo>& devices() override { return infos_; }
  const DeviceInfo& info(int device) override { return registry().device(device).info; }
  int part_of(int device, int cores) override { return registry().part_of(device, cores); }
  int device_of(const DeviceQueue& queue) override { return registry().device_of(queue); }
  std::string place_of(const DeviceQueue& queue) override { return registry().place_of(queue); }
  std::string why_no_import(int device) override {
    std::string why;
    external_memory(registry().device(device).handle, why);
    return why;
  }
  std::unique_ptr<CardVectors> make_card_vectors(const std::string& place, std::int64_t bytes) override {
    return ocl::make_card_vectors(place, bytes);
  }
  const std::vector<std::string>& problems() override { return registry().problems(); }

  DeviceProfile profile(int device, bool is_double) override {
    registry().require_usable(registry().device(device).info.index);
    return measured(profiles_, device, is_double,
                    [&] { return is_double ? measure_profile<double>(device) : measure_profile<float>(device); });
  }

  DeviceProfile profile_beside(int device, bool is_double) override {
    DeviceProfile profile = this->profile(device, is_double);
    if (registry().device(device).by_task(Variant::by_type)) return profile;  // no kernels for lines side by side
    const double launch = profile.launch_seconds;
    profile.rows_per_second = measured(rates_beside_, device, is_double, [&] {
      return is_double ? measure_beside<double>(device, launch) : measure_beside<float>(device, launch);
    });
    return profile;
  }

  DeviceTraits traits(int device, bool is_double, const DeviceSettings& settings) override {
    const FoundDevice& found = registry().device(device);
    DeviceTraits traits = tuned_traits(found, is_double, settings.variant);
    const bool shared = works_in_place(found, settings);
    if (settings.use.device_memory > 0) {
      traits.memory_bytes = settings.use.device_memory;
    } else if (!shared) {
      traits.memory_bytes = found.info.memory;
    }
    return traits;
  }

  std::unique_ptr<DeviceSolver<float>> make_float(int device, const DeviceSettings& settings) override {
    return make_solver<float>(device, settings);
  }
  std::unique_ptr<DeviceSolver<double>> make_double(int device, const DeviceSettings& settings) override {
    return make_solver<double>(device, settings);
  }

  std::shared_ptr<Space<float>> space_float(int device, const DeviceSettings& settings) override {
    return space(spaces_float_, device, settings);
  }
  std::shared_ptr<Space<double>> space_double(int device, const DeviceSettings& settings) override {
    return space(spaces_double_, device, settings);
  }

  double stream(int device, const StreamArrays<float>& arrays) override { return run_stream(device, arrays); }
  double stream(int device, const StreamArrays<double>& arrays) override { return run_stream(device, arrays); }
  std::unique_ptr<DeviceStream> make_stream(int device, Index n, int reads, bool is_double) override {
    return make_resident_stream(device, n, reads, is_double);
  }

  ProgramMaker* programs() override { return &program_maker(); }

  void release() override { registry().release(); }

 private:
  static Registry& registry() { return Registry::instance(); }
  template <typename V>
  using Measured = std::map<std::pair<int, bool>, V>;
  /// Returns a figure that is measured once in a process. Measurements never run at once, so none disturbs another.
  template <typename V, typename Measure>
  V measured(Measured<V>& known, int device, bool is_double, const Measure& measure) {
    const int listed = registry().device(device).listed_as;  // a device is as fast in a caller's context as in ours
    const std::pair key(listed >= 0 ? listed : device, is_double);
    const std::lock_guard lock(mutex_);
    auto at = known.find(key);
    if (at == known.end()) at = known.emplace(key, measure()).first;
    return at->second;
  }

  template <typename T>
  using Spaces = std::map<std::tuple<int, Variant, Transfer, double>, std::weak_ptr<Space<T>>>;
  template <typename T>
  std::shared_ptr<Space<T>> space(Spaces<T>& spaces, int device, const DeviceSettings& settings) {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<Space<T>>& known = spaces[{device, settings.variant, settings.use.transfer, settings.use.timeout}];
    auto space = known.lock();
    if (!space || !space->usable()) known = space = make_space<T>(device, settings);
    return space;
  }

  Spaces<float> spaces_float_;
  Spaces<double> spaces_double_;
  std::vector<DeviceInfo> infos_;
  std::mutex mutex_;
  Measured<DeviceProfile> profiles_;
  Measured<double> rates_beside_;  ///< rows per second for lines side by side
};

}  // namespace
}  // namespace oclspkt::ocl

/// The module's entry (DeviceModuleEntry). The module object is never destroyed: calls may come until the process ends.
extern "C" OCLSPKT_API oclspkt::DeviceModule* oclspkt_cl_module(const char* abi, std::string* error) {
  if (std::strcmp(abi, oclspkt::kDeviceModuleAbi) != 0) {
    if (error != nullptr) {
      *error = std::string("the OpenCL module speaks '") + oclspkt::kDeviceModuleAbi + "', the solver library '" + abi +
               "': install libraries of one version";
    }
    return nullptr;
  }
  try {
    static auto* module = new oclspkt::ocl::ClModule;
    return module;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    if (error != nullptr) *error = std::string("the OpenCL module does not start: ") + e.what();
    return nullptr;
  }
}

extern "C" OCLSPKT_API void oclspkt_cl_set_fault_hook(oclspkt::ocl::FaultHook hook) {
  oclspkt::ocl::fault_hook.store(hook);
}
