// SPDX-License-Identifier: BSD-2-Clause
#include "processors.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "cost.hpp"
#include "node.hpp"
#include "oclspkt/error.hpp"
#include "selection.hpp"

namespace oclspkt {
namespace {

/// To open drivers, build a kernel and measure it takes about kProbeSeconds. A device saves at most the host's time of
/// an apply. If kProbeApplies applies do not win the time back, no driver is opened.
constexpr double kProbeSeconds = 0.1, kProbeApplies = 1000;

constexpr const char* kNoComplex = "device kernels solve no complex numbers yet";

Processors only_host(std::string why) {
  Processors found;
  found.host = true;
  found.why_host = std::move(why);
  return found;
}

/// Why the module lists no device: the first cause, and the number of further causes.
std::string no_device_text(const std::vector<std::string>& problems) {
  if (problems.empty()) return "no OpenCL device";
  const std::string more = std::to_string(problems.size() - 1);
  return "no OpenCL device: " + problems.front() +
         (problems.size() > 1 ? " (oclspkt-devices lists " + more + " more)" : "");
}

/// Remove lost devices from a selection.
void leave_out(std::vector<int>& indices, const std::vector<LostDevice>& lost) {
  std::erase_if(indices, [&](int index) {
    return std::any_of(lost.begin(), lost.end(), [&](const LostDevice& l) { return l.index == index; });
  });
}

/// True for a board without a compiler for which the options name no program.
bool is_blank(const DeviceInfo& info, const Options& options) {
  return !info.compiler && options.use.fpga_binary.empty();
}

/// The rates of a device: nominal under Options::reproducible, else measured. A board without a compiler cannot be
/// measured before its program is loaded, which takes seconds: until then, a model of the paper's board rates it.
/// @throws DeviceError
DeviceProfile profile_of(DeviceModule& module, const DeviceInfo& info, const Options& options, const Demand& demand) {
  if (is_blank(info, options)) throw DeviceError(info.name + " " + kNoCompiler);
  if (!info.compiler) return board_profile(demand.is_double);
  if (options.reproducible) return nominal_profile(info, demand.is_double);
  return demand.lines.contiguous() ? module.profile(info.index, demand.is_double)
                                   : module.profile_beside(info.index, demand.is_double);
}

/// Find the rates of the devices that have the precision needed; devices that fail join found.lost.
void measure(DeviceModule& module, const std::vector<int>& indices, const Options& options, const Demand& demand,
             Processors& found) {
  for (const int index : indices) {
    const DeviceInfo& info = module.info(index);
    if (demand.is_double && !info.fp64) {
      found.remarks.push_back(info.name + " has no double precision and is left out");
      continue;
    }
    if (found.automatic && is_blank(info, options)) {
      found.remarks.push_back(info.name + " " + kNoCompiler);
      continue;
    }
    try {
      found.devices.push_back({&module, index, info, profile_of(module, info, options, demand)});
    } catch (const DeviceError& error) {
      if (options.on_device_failure == OnDeviceFailure::error) throw;
      found.lost.push_back({index, info.name + ": " + error.what()});
    }
  }
}

/// True if the options name the device of a queue. A card counts as one device, even if a word means its other driver.
/// @throws InvalidInput like select_devices()
bool names(const std::string& devices, const DeviceInfo& info) {
  if (needs_no_device(devices)) return false;
  if (devices == "auto" || devices == "all" || devices == name(info.type)) return true;
  DeviceModule* const all = device_module(nullptr);
  if (all == nullptr) return true;  // without other devices, the device of CUDA is meant
  const Selection selection = select_devices(devices, all->devices(), all->problems());
  return selection.automatic || std::any_of(selection.devices.begin(), selection.devices.end(),
                                            [&](int index) { return all->info(index).physical == info.physical; });
}

/// Why a device must not solve for a queue, whichever run-time drives the device; empty if it may.
/// @throws InvalidInput like select_devices()
std::string why_left_out(const Options& options, const Demand& demand, const DeviceInfo& info) {
  if (!names(options.devices, info)) return "the devices '" + options.devices + "' do not include " + info.name;
  if (demand.lines.contiguous() || demand.lines.beside()) return "";
  return "device kernels solve lines end to end or side by side, not with gaps between them";
}

/// Make a device the only processor. If it failed or fails, found.why_not_of_queue has the reason.
void use_only(DeviceModule& module, int index, const Options& options, const Demand& demand,
              const std::vector<LostDevice>& lost, Processors& found) {
  const auto failed = std::find_if(lost.begin(), lost.end(), [&](const LostDevice& l) { return l.index == index; });
  if (failed != lost.end()) {
    found.why_not_of_queue = failed->line;
    return;
  }
  measure(module, {index}, options, demand, found);
  if (found.devices.empty()) {
    found.why_not_of_queue = !found.lost.empty() ? found.lost.back().line : found.remarks.back();
    return;
  }
  found.of_queue = index;
  found.devices.front().profile.copy_bytes_per_second = std::numeric_limits<double>::infinity();
}

/// The device of the queue as the only processor, driven by the queue's run-time, or else by another run-time on the
/// same card. If neither can be used, why_not_of_queue has the reason.
Processors find_of_queue(const Options& options, const Demand& demand, const std::vector<LostDevice>& lost) {
  Processors found;
  std::string& why = found.why_not_of_queue;
  if (demand.is_complex) {
    why = kNoComplex;
    return found;
  }
  DeviceModule& module = devices_of_queues();
  const auto number = [&](int (DeviceModule::*find)(const DeviceQueue&)) {
    why.clear();
    try {
      return (module.*find)(demand.queue);
    } catch (const InvalidInput& error) {
      why = error.what();
    } catch (const DeviceError& error) {
      why = error.what();
    }
    return -1;
  };
  const int own = number(&DeviceModule::device_of);
  if (own >= 0) {
    why = why_left_out(options, demand, module.info(own));
    if (!why.empty()) return found;
    use_only(module, own, options, demand, lost, found);
  }
  if (found.of_queue >= 0 || demand.queue.kind != DeviceQueue::Kind::cuda || needs_no_device(options.devices)) {
    return found;
  }
  const std::string why_not_own = why;
  const int beside = number(&DeviceModule::device_beside);
  if (beside >= 0) why = why_left_out(options, demand, module.info(beside));
  if (beside >= 0 && why.empty()) use_only(module, beside, options, demand, lost, found);
  if (found.of_queue >= 0) {
    found.why_copied = why_not_own;
  } else {
    why = why_not_own + (why != why_not_own ? "; by OpenCL: " + why : "");
  }
  return found;
}

Processors find_for_host(const Options& options, const Demand& demand, const std::vector<LostDevice>& lost);

/// The processors that take over for devices that failed.
Processors find_spares(Options options, const Demand& demand, std::vector<LostDevice> lost, Processors found) {
  options.devices = std::exchange(options.spare_devices, {});
  lost.insert(lost.end(), found.lost.begin(), found.lost.end());
  Processors spares = find_for_host(options, demand, lost);
  spares.lost.insert(spares.lost.begin(), found.lost.begin(), found.lost.end());
  return spares;
}

/// The processors that the options name, if vectors lie on the host.
Processors find_for_host(const Options& options, const Demand& demand, const std::vector<LostDevice>& lost) {
  if (needs_no_device(options.devices)) return only_host("asked for");
  const bool only_auto = options.devices == "auto";
  if (demand.is_complex && only_auto) return only_host(kNoComplex);
  if (only_auto && demand.host_seconds * kProbeApplies < kProbeSeconds) {
    return only_host(std::to_string(demand.lines.rows()) + " rows: too few for a device to pay off");
  }
  std::string problem;
  DeviceModule* module = device_module(&problem);
  if (module == nullptr) {
    if (only_auto) return only_host(problem);
    throw InvalidInput("devices '" + options.devices + "': " + problem + "; `host` needs no OpenCL");
  }
  Selection selection = select_devices(options.devices, module->devices(), module->problems());
  if (selection.devices.empty()) return only_host(no_device_text(module->problems()));
  if (demand.is_complex) {
    if (selection.host || selection.automatic) return only_host(kNoComplex);
    throw InvalidInput("devices '" + options.devices + "': " + kNoComplex + ": name `host` or `auto`");
  }
  for (std::size_t k = 0; k < selection.devices.size(); ++k) {
    if (selection.cores[k] > 0) selection.devices[k] = module->part_of(selection.devices[k], selection.cores[k]);
  }
  selection.devices = devices_of_rank(selection.devices, module->devices(), node_place());
  if (!demand.lines.contiguous() && !demand.lines.beside()) {
    return only_host("device kernels solve lines end to end or side by side, not with gaps between them");
  }
  Processors found;
  found.host = selection.host;
  found.automatic = selection.automatic;
  if (selection.repeated) found.remarks.push_back("a device that is named twice is used once");
  found.several = selection.devices.size() > 1;
  leave_out(selection.devices, lost);
  measure(*module, selection.devices, options, demand, found);
  if (!found.devices.empty()) return found;
  if (!options.spare_devices.empty() && (!lost.empty() || !found.lost.empty())) {
    return find_spares(options, demand, lost, std::move(found));
  }
  const bool failed = !lost.empty() || !found.lost.empty();
  if (!selection.host && !failed) {
    throw InvalidInput("the devices '" + options.devices +
                       "' have no double precision: use float vectors, or name a device that does (oclspkt-devices "
                       "lists them)");
  }
  found.why_host = selection.host ? "no device of '" + options.devices + "' can be used"
                                  : "every device of '" + options.devices + "' failed";
  return found;
}

}  // namespace

void Processors::keep_only(int index) {
  if (index < 0) {
    *this = only_host("asked for");
    return;
  }
  std::erase_if(devices, [&](const Processor& device) { return device.index != index; });
  host = several = false;
}

Processors find_processors(const Options& options, const Demand& demand, const std::vector<LostDevice>& lost) {
  if (!demand.queue) return find_for_host(options, demand, lost);
  Processors of_queue = find_of_queue(options, demand, lost);
  if (of_queue.of_queue >= 0) return of_queue;
  std::vector<LostDevice> all = lost;
  all.insert(all.end(), of_queue.lost.begin(), of_queue.lost.end());
  Processors found = find_for_host(options, demand, all);
  found.why_not_of_queue = std::move(of_queue.why_not_of_queue);
  found.lost.insert(found.lost.begin(), of_queue.lost.begin(), of_queue.lost.end());
  return found;
}

}  // namespace oclspkt
