// SPDX-License-Identifier: BSD-2-Clause
// Takes the place of core/module.cpp: the solver's dealings with devices are fuzzed without a driver.
#include "model_device.hpp"

#include <limits>

#include "device.hpp"
#include "geometry.hpp"
#include "host_solver.hpp"
#include "model.hpp"
#include "oclspkt/error.hpp"

namespace oclspkt {
namespace {

int calls_left = 0;
bool failed = false;

void call() {
  if (calls_left > 0 && --calls_left == 0) {
    failed = true;
    throw DeviceError("a model device fails as it was told to");
  }
}

template <typename T>
class ModelDeviceSolver final : public DeviceSolver<T> {
 public:
  void set_up(const Plan& plan, const Bands<T>& bands) override {
    call();
    // The model truncates, and sweeps plainly: what is exact is the host's, what is corrected is solved as one sweep
    // would.
    const bool corrects = plan.has<StoredFactors>() && plan.as<StoredFactors>().corrects;
    const bool twopass = plan.method == Method::exact_twopass;
    factored_ = corrects || twopass || plan.method == Method::exact_factored;
    at_work().set_up(
        corrects || twopass ? make_factored_plan(bands.lines(), Form::general, sizeof(T), kHostTraits) : plan, bands);
  }
  void apply(const Place& place, Columns<const T> y, Columns<T> x, Index count) override {
    call();
    at_work().apply(place, y, x, count);
  }
  Times times() const override { return model_.times() + host_.times(); }
  std::int64_t bytes() const override { return model_.bytes() + host_.bytes(); }
  const Factors<T>* factors() const override { return factored_ ? host_.factors() : model_.factors(); }

 private:
  DeviceSolver<T>& at_work() { return factored_ ? static_cast<DeviceSolver<T>&>(host_) : model_; }

  bool factored_ = false;
  ModelSolver<T> model_;
  HostSolver<T> host_;
};

DeviceInfo model_info(int index, DeviceType type) {
  DeviceInfo info;
  info.index = index;
  info.type = type;
  info.name = std::string("model ") + name(type);
  info.platform = "models";
  info.fp64 = type != DeviceType::gpu;
  info.emulated = type == DeviceType::fpga;
  return info;
}

class ModelModule final : public DeviceModule {
 public:
  const std::vector<DeviceInfo>& devices() override { return devices_; }
  const std::vector<std::string>& problems() override { return problems_; }
  DeviceProfile profile(int /*device*/, bool /*is_double*/) override {
    call();
    // Free: cheaper than the host at every size, so that nothing depends on a clock.
    constexpr double kFree = std::numeric_limits<double>::infinity();
    return {.launch_seconds = 0, .rows_per_second = kFree, .copy_bytes_per_second = kFree};
  }
  DeviceProfile profile_beside(int device, bool is_double) override { return profile(device, is_double); }
  DeviceTraits traits(int /*device*/, bool /*is_double*/, const DeviceSettings& settings) override {
    DeviceTraits traits{.lanes = 4, .cores = 2};
    if (settings.use.device_memory > 0) traits.memory_bytes = settings.use.device_memory;
    return traits;
  }
  std::unique_ptr<DeviceSolver<float>> make_float(int /*device*/, const DeviceSettings& /*settings*/) override {
    call();
    return std::make_unique<ModelDeviceSolver<float>>();
  }
  std::unique_ptr<DeviceSolver<double>> make_double(int /*device*/, const DeviceSettings& /*settings*/) override {
    call();
    return std::make_unique<ModelDeviceSolver<double>>();
  }
  double stream(int /*device*/, const StreamArrays<float>& /*arrays*/) override { return 0; }
  double stream(int /*device*/, const StreamArrays<double>& /*arrays*/) override { return 0; }
  std::unique_ptr<DeviceStream> make_stream(int /*device*/, Index /*n*/, int /*reads*/, bool /*is_double*/) override {
    throw DeviceError("a model has no memory to stream");
  }
  void release() override {}

 private:
  std::vector<DeviceInfo> devices_{model_info(0, DeviceType::cpu), model_info(1, DeviceType::gpu),
                                   model_info(2, DeviceType::fpga)};
  std::vector<std::string> problems_{"a model that is broken"};
};

}  // namespace

DeviceModule* device_module(std::string* /*why*/) {
  static ModelModule module;
  return &module;
}

DeviceModule& devices_of_queues() { return *device_module(nullptr); }

DeviceModule* open_device_module() { return device_module(nullptr); }

namespace fuzz {

void fail_device_call(int count) {
  calls_left = count;
  failed = false;
}

bool device_failed() { return failed; }

}  // namespace fuzz
}  // namespace oclspkt
