// SPDX-License-Identifier: BSD-2-Clause
#include "device_choice.hpp"

#include <algorithm>
#include <cstdio>

#include "cost.hpp"
#include "oclspkt/error.hpp"
#include "selection.hpp"

namespace oclspkt {
namespace {

/// No OpenCL driver starts a kernel and waits for it in less; solves that the host ends sooner open no driver at all.
constexpr double kCheapestLaunch = 2e-6;

std::string microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g us", seconds * 1e6);
  return text;
}

DeviceChoice host_because(std::string why) {
  DeviceChoice choice;
  choice.why = std::move(why);
  return choice;
}

/// Seconds on the host, whose vectors and bands are where they are.
double host_seconds(const Demand& demand) {
  const DeviceProfile& profile = demand.is_double ? host_profile<double>() : host_profile<float>();
  return predict_host_seconds(profile, demand.lines.rows());
}

/// Take devices that were lost out of a selection.
void leave_out(std::vector<int>& indices, const std::vector<LostDevice>& lost) {
  std::erase_if(indices, [&](int index) {
    return std::any_of(lost.begin(), lost.end(), [&](const LostDevice& l) { return l.index == index; });
  });
}

/// The cheapest device of a selection that can take the demand; index -1 if none can.
DeviceChoice cheapest(DeviceModule& module, const std::vector<int>& indices, const Options& options,
                      const Demand& demand, double& seconds) {
  DeviceChoice best;
  std::vector<LostDevice> lost;
  const int word = demand.is_double ? 8 : 4;
  for (const int index : indices) {
    const DeviceInfo& info = module.devices()[static_cast<std::size_t>(index)];
    if (demand.is_double && !info.fp64) continue;
    try {
      const DeviceProfile profile = module.profile(index, options.precision, demand.is_double);
      const double cost = predict_seconds(profile, demand.lines.rows(), demand.words_per_row, demand.launches, word);
      if (best.module != nullptr && !(cost < seconds)) continue;
      seconds = cost;
      best.module = &module;
      best.index = index;
      best.info = info;
      best.profile = profile;
    } catch (const DeviceError& error) {
      if (options.on_device_failure == OnDeviceFailure::error) throw;
      lost.push_back({index, info.name + ": " + error.what()});
    }
  }
  best.lost = std::move(lost);
  return best;
}

/// Named devices of which none is usable.
/// @param failed  some of them did, now or before
DeviceChoice none_usable(const Options& options, DeviceChoice found, bool failed) {
  if (!failed) {
    throw InvalidInput("the devices '" + options.devices +
                       "' do not compute in double: use float vectors, or name a device that does (oclspkt-devices "
                       "lists them)");
  }
  found.why = "every device of '" + options.devices + "' failed";
  return found;
}

}  // namespace

DeviceChoice choose_device(const Options& options, const Demand& demand, const std::vector<LostDevice>& lost) {
  if (needs_no_device(options.devices)) return host_because("asked for");
  const bool only_auto = options.devices == "auto";
  if (only_auto && host_seconds(demand) < kCheapestLaunch) {
    return host_because("no launch is worth " + std::to_string(demand.lines.rows()) + " rows");
  }

  std::string problem;
  DeviceModule* module = device_module(&problem);
  if (module == nullptr) {
    if (only_auto) return host_because(problem);
    throw InvalidInput("devices '" + options.devices + "': " + problem + "; `host` needs no OpenCL");
  }
  Selection selection = select_devices(options.devices, module->devices(), module->problems());
  if (selection.devices.empty()) return host_because("no OpenCL device");
  if (!demand.lines.contiguous()) return host_because("the devices' kernels take lines laid end to end");

  const bool many = selection.devices.size() > 1;
  leave_out(selection.devices, lost);
  double seconds = 0;
  DeviceChoice best = cheapest(*module, selection.devices, options, demand, seconds);
  const double on_host = selection.host ? host_seconds(demand) : 0;
  if (best.module == nullptr) {
    const bool failed = !lost.empty() || !best.lost.empty();
    if (!selection.host) return none_usable(options, std::move(best), failed);
    best.why = "no device of '" + options.devices + "' can be used";
    return best;
  }
  const std::string predicted = microseconds(seconds);
  if (selection.host && on_host <= seconds) {
    DeviceChoice host = host_because("predicted " + microseconds(on_host) + ", " + best.info.name + " " + predicted);
    host.lost = std::move(best.lost);
    return host;
  }
  if (selection.host) {
    best.why = "predicted " + predicted + ", host " + microseconds(on_host);
  } else {
    best.why = many ? "the cheapest of those named, predicted " + predicted : "asked for";
  }
  return best;
}

}  // namespace oclspkt
