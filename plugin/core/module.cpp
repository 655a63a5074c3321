// SPDX-License-Identifier: BSD-2-Clause
#include <dlfcn.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "device.hpp"
#include "own_library.hpp"

namespace oclspkt {
namespace {

/// A module in a file of its own, opened once.
class ModuleFile {
 public:
  /// @param what  name of the module in messages
  ModuleFile(const char* file, const char* what) : file_(file), what_(what) {}

  /// @return null if the module does not open; why() then has the reason. After bad_alloc, the next call tries again.
  DeviceModule* open() {
    if (!tried_) module_ = load();
    tried_ = true;
    return module_;
  }
  DeviceModule* opened() const { return module_; }
  const std::string& why() const { return why_; }

 private:
  DeviceModule* load() {
    void* handle = open_library(beside_own_file(file_), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, why_);
    if (handle == nullptr) {
      why_ = std::string("the ") + what_ + " module does not open: " + why_;
      return nullptr;
    }
    const auto entry = reinterpret_cast<DeviceModuleEntry>(dlsym(handle, kDeviceModuleEntryName));
    if (entry == nullptr) {
      why_ = std::string(file_) + " has no entry " + kDeviceModuleEntryName + ": install libraries of one version";
      return nullptr;
    }
    return entry(kDeviceModuleAbi, &why_);
  }

  const char *file_, *what_;
  bool tried_ = false;
  DeviceModule* module_ = nullptr;
  std::string why_;
};

/// The devices of both modules as one list. A card that both modules see is listed once, as a device of OpenCL. A solve
/// uses it as a device of CUDA if only CUDA reaches the vectors.
class AllDevices final : public DeviceModule {
 public:
  const std::string& why_no_opencl() const { return opencl_.why(); }
  bool opened() const { return opencl_.opened() != nullptr || cuda_.opened() != nullptr; }
  DeviceModule* open_cuda(std::string* why) {
    const std::lock_guard lock(mutex_);
    DeviceModule* const module = cuda_.open();
    if (module == nullptr && why != nullptr) *why = cuda_.why();
    return module;
  }

  /// Fill the list. @return false if no module opens
  bool look() {
    const std::lock_guard lock(mutex_);
    if (listed_) return !none_;
    infos_.clear();  // an earlier call may have ended by bad_alloc before the list was complete
    places_.clear();
    DeviceModule* const opencl = opencl_.open();
    if (opencl != nullptr) {
      take(*opencl);
      problems_ = opencl->problems();
    }
    const bool sees_nvidia = std::any_of(infos_.begin(), infos_.end(), [](const DeviceInfo& info) {
      return info.type == DeviceType::gpu && info.platform.find("NVIDIA") != std::string::npos;
    });
    DeviceModule* const cuda = sees_nvidia ? nullptr : cuda_.open();
    if (cuda != nullptr) {
      take(*cuda);
      problems_.insert(problems_.end(), cuda->problems().begin(), cuda->problems().end());
    }
    none_ = opencl == nullptr && infos_.empty();
    listed_ = true;
    return !none_;
  }

  const std::vector<DeviceInfo>& devices() override { return infos_; }
  const DeviceInfo& info(int device) override {
    find(device);  // throws if the device does not exist
    const std::lock_guard lock(mutex_);
    return listed(device) ? infos_[static_cast<std::size_t>(device)] : more_[place(device)].info;
  }
  int part_of(int device, int cores) override {
    const Place at = find(device);
    const int part = at.module->part_of(at.index, cores);
    return part == at.index ? device : add({at.module, part}, device);
  }
  int device_of(const DeviceQueue& queue) override {
    DeviceModule& module = module_of(queue);
    return add({&module, module.device_of(queue)}, -1);
  }
  int device_beside(const DeviceQueue& queue) override {
    DeviceModule& own = module_of(queue);
    const std::string place = own.place_of(queue);
    look();
    std::string why = "no other run-time sees the card of the vectors, " + place;
    for (std::size_t i = 0; i < infos_.size(); ++i) {
      const Place& at = places_[i];
      if (infos_[i].physical != place || at.module == &own) continue;
      const std::string missing = at.module->why_no_import(at.index);
      if (missing.empty()) return add({at.module, at.index, &own}, -1);
      why.assign(infos_[i].name).append(": ").append(missing);
    }
    throw InvalidInput(why);
  }
  const std::vector<std::string>& problems() override { return problems_; }
  DeviceProfile profile(int device, bool is_double) override {
    const Place at = find(device);
    return at.module->profile(at.index, is_double);
  }
  DeviceProfile profile_beside(int device, bool is_double) override {
    const Place at = find(device);
    return at.module->profile_beside(at.index, is_double);
  }
  DeviceTraits traits(int device, bool is_double, const DeviceSettings& settings) override {
    const Place at = find(device);
    return at.module->traits(at.index, is_double, settings);
  }
  std::unique_ptr<DeviceSolver<float>> make_float(int device, const DeviceSettings& settings) override {
    const Place at = find(device);
    return at.module->make_float(at.index, settings_at(at, settings));
  }
  std::unique_ptr<DeviceSolver<double>> make_double(int device, const DeviceSettings& settings) override {
    const Place at = find(device);
    return at.module->make_double(at.index, settings_at(at, settings));
  }
  std::shared_ptr<Space<float>> space_float(int device, const DeviceSettings& settings) override {
    const Place at = find(device);
    return at.module->space_float(at.index, settings);
  }
  std::shared_ptr<Space<double>> space_double(int device, const DeviceSettings& settings) override {
    const Place at = find(device);
    return at.module->space_double(at.index, settings);
  }
  double stream(int device, const StreamArrays<float>& arrays) override {
    const Place at = find(device);
    return at.module->stream(at.index, arrays);
  }
  double stream(int device, const StreamArrays<double>& arrays) override {
    const Place at = find(device);
    return at.module->stream(at.index, arrays);
  }
  std::unique_ptr<DeviceStream> make_stream(int device, Index n, int reads, bool is_double) override {
    const Place at = find(device);
    return at.module->make_stream(at.index, n, reads, is_double);
  }
  ProgramMaker* programs() override { return opencl_.opened() != nullptr ? opencl_.opened()->programs() : nullptr; }
  void release() override {
    for (ModuleFile* file : {&opencl_, &cuda_}) {
      if (file->opened() != nullptr) file->opened()->release();
    }
  }

 private:
  struct Place {
    DeviceModule* module;
    int index;
    DeviceModule* queues_of = nullptr;  ///< the module of the callers' queues, see DeviceSettings
    bool operator==(const Place&) const = default;
  };
  struct More {
    Place place;
    DeviceInfo info;
  };
  /// The number of the first device that is not listed. Later numbers follow in the order of requests.
  static constexpr int kFirstOfMore = 1 << 16;

  bool listed(int device) const { return device < kFirstOfMore; }
  static std::size_t place(int device) { return static_cast<std::size_t>(device - kFirstOfMore); }

  static DeviceSettings settings_at(const Place& at, DeviceSettings settings) {
    settings.queues_of = at.queues_of;
    return settings;
  }

  /// The module of a queue's run-time.
  /// @throws DeviceError if the module does not open
  DeviceModule& module_of(const DeviceQueue& queue) {
    ModuleFile& file = queue.kind == DeviceQueue::Kind::cuda ? cuda_ : opencl_;
    const std::lock_guard lock(mutex_);
    DeviceModule* const module = file.open();
    if (module == nullptr) throw DeviceError(file.why());
    return *module;
  }

  void take(DeviceModule& module) {
    for (DeviceInfo info : module.devices()) {
      places_.push_back({&module, info.index});
      info.index = static_cast<int>(infos_.size());
      infos_.push_back(std::move(info));
    }
  }

  Place find(int device) {
    const std::lock_guard lock(mutex_);
    if (!listed(device)) return more_.at(place(device)).place;
    if (device < 0 || device >= static_cast<int>(places_.size())) {
      throw InvalidInput("there is no device " + std::to_string(device) + "; " + std::to_string(places_.size()) +
                         " devices were found, counted from 0: oclspkt-devices lists them");
    }
    return places_[static_cast<std::size_t>(device)];
  }

  /// Number a device that is not listed. Equal places get the same number.
  int add(const Place& place, int whole) {
    const std::lock_guard lock(mutex_);
    const auto known = std::find_if(more_.begin(), more_.end(), [&](const More& m) { return m.place == place; });
    if (known != more_.end()) return kFirstOfMore + static_cast<int>(known - more_.begin());
    More more{place, place.module->info(place.index)};
    more.info.index = kFirstOfMore + static_cast<int>(more_.size());
    more.info.whole = whole;
    more.info.copies = place.queues_of != nullptr;
    more_.push_back(std::move(more));
    return more_.back().info.index;
  }

  std::mutex mutex_;  ///< guards the members below; their elements keep their addresses
  ModuleFile opencl_{"liboclspkt-cl.so", "OpenCL"}, cuda_{"liboclspkt-cuda.so", "CUDA"};
  bool listed_ = false, none_ = true;
  std::vector<DeviceInfo> infos_;
  std::vector<Place> places_;  ///< shape [infos_]
  std::vector<std::string> problems_;
  std::deque<More> more_;
};

/// The only AllDevices. It is never destroyed, because static destructors may still use it.
AllDevices& all_devices() {
  static auto* all = new AllDevices;
  return *all;
}

}  // namespace

DeviceModule* device_module(std::string* why) {
  AllDevices& all = all_devices();
  if (all.look()) return &all;
  if (why != nullptr) *why = all.why_no_opencl();
  return nullptr;
}

DeviceModule& devices_of_queues() { return all_devices(); }

DeviceModule* open_device_module() { return all_devices().opened() ? &all_devices() : nullptr; }

DeviceModule* cuda_module(std::string* why) { return all_devices().open_cuda(why); }

}  // namespace oclspkt
