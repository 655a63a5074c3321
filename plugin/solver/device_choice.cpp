// SPDX-License-Identifier: BSD-2-Clause
#include "device_choice.hpp"
#include "geometry.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "cost.hpp"
#include "grid_plan.hpp"
#include "oclspkt/error.hpp"
#include "selection.hpp"

namespace oclspkt {
namespace {

/// Opening drivers, building a kernel and measuring it takes about so long, and a device spares an apply at most what
/// the host takes for it. Solves for which that is not won back in so many applies open no driver at all.
constexpr double kProbeSeconds = 0.1, kProbeApplies = 1000;

/// What an apply costs on the host where its factors are made anew for a few, in applies: at least twice as much.
constexpr double kWithFactors = 2;

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

/// Why the module lists no device: the first cause, and how many more there are.
std::string no_device_text(const std::vector<std::string>& problems) {
  if (problems.empty()) return "no OpenCL device";
  const std::string more = std::to_string(problems.size() - 1);
  return "no OpenCL device: " + problems.front() +
         (problems.size() > 1 ? " (oclspkt-devices lists " + more + " more)" : "");
}

/// Seconds on the host, whose vectors and bands are where they are.
double host_seconds(const Demand& demand) {
  const double apply = demand.is_double ? predict_host_seconds<double>(demand.lines, demand.form)
                                        : predict_host_seconds<float>(demand.lines, demand.form);
  return demand.few_applies && demand.form != Form::shared ? kWithFactors * apply : apply;
}

/// Take devices that were lost out of a selection.
void leave_out(std::vector<int>& indices, const std::vector<LostDevice>& lost) {
  std::erase_if(indices, [&](int index) {
    return std::any_of(lost.begin(), lost.end(), [&](const LostDevice& l) { return l.index == index; });
  });
}

/// Seconds on a device; nothing if its memory does not hold what has to be there at once.
std::optional<double> device_seconds(DeviceModule& module, int index, const DeviceProfile& profile,
                                     const Options& options, const Demand& demand) {
  const int word = demand.is_double ? 8 : 4;
  if (demand.lines.contiguous()) {  // cut anywhere
    return predict_seconds(profile, demand.lines.rows(), demand.words_per_row, demand.launches, word);
  }
  const DeviceSettings settings{.variant = variant_of(options.variant),
                                .copy_vectors = options.transfer == Transfer::copy,
                                .device_memory = options.device_memory};
  const DeviceTraits traits = module.traits(index, demand.is_double, settings);
  const bool grid = traits.group_items > 0 && demand.lines.rows() > 0;
  const Plan whole = grid ? make_exact_grid_plans(demand.lines, {.form = demand.form}, word, traits).front()
                          : make_factored_plan(demand.lines, demand.form, word, traits);
  if (whole.as<Beside>().chunk_blocks == 0) return std::nullopt;
  const double seconds = predict_beside_seconds(profile, whole, word);
  if (demand.halo < 0 || demand.lines.rows() == 0) return seconds;
  if (traits.group_items > 0) {
    return predict_beside_seconds(profile, make_grid_plan(demand.lines, {.form = demand.form}, word, traits), word);
  }
  const Plan cut = make_strided_halo_plan(demand.lines, demand.halo, options.partition, word, traits);
  const bool taken =
      options.method == MethodChoice::automatic ? cutting_pays(cut, whole) : cut.as<Beside>().chunk_blocks > 0;
  return taken ? predict_beside_seconds(profile, cut, word) : seconds;
}

/// The cheapest device of a selection that can take the demand; index -1 if none can.
DeviceChoice cheapest(DeviceModule& module, const std::vector<int>& indices, const Options& options,
                      const Demand& demand, double& seconds) {
  DeviceChoice best;
  std::vector<LostDevice> lost;
  for (const int index : indices) {
    const DeviceInfo& info = module.devices()[static_cast<std::size_t>(index)];
    if (demand.is_double && !info.fp64) continue;
    try {
      const DeviceProfile profile = demand.lines.contiguous() ? module.profile(index, demand.is_double)
                                                              : module.profile_beside(index, demand.is_double);
      const std::optional<double> cost = device_seconds(module, index, profile, options, demand);
      if (!cost || (best.module != nullptr && !(*cost < seconds))) continue;
      seconds = *cost;
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

bool capable(DeviceModule& module, const std::vector<int>& indices, bool is_double) {
  return std::any_of(indices.begin(), indices.end(),
                     [&](int index) { return !is_double || module.devices()[static_cast<std::size_t>(index)].fp64; });
}

/// Named devices of which none is usable.
/// @param failed  some of them did, now or before
DeviceChoice none_usable(const Options& options, DeviceChoice found, bool failed) {
  if (!failed) {
    throw InvalidInput("the devices '" + options.devices +
                       "' have no double precision: use float vectors, or name a device that does (oclspkt-devices "
                       "lists them)");
  }
  found.why = "every device of '" + options.devices + "' failed";
  return found;
}

}  // namespace

DeviceChoice choose_device(const Options& options, const Demand& demand, const std::vector<LostDevice>& lost) {
  if (needs_no_device(options.devices)) return host_because("asked for");
  const bool only_auto = options.devices == "auto";
  if (only_auto && host_seconds(demand) * kProbeApplies < kProbeSeconds) {
    return host_because("the host solves " + std::to_string(demand.lines.rows()) +
                        " rows too fast to measure devices for");
  }

  std::string problem;
  DeviceModule* module = device_module(&problem);
  if (module == nullptr) {
    if (only_auto) return host_because(problem);
    throw InvalidInput("devices '" + options.devices + "': " + problem + "; `host` needs no OpenCL");
  }
  Selection selection = select_devices(options.devices, module->devices(), module->problems());
  if (selection.devices.empty()) return host_because(no_device_text(module->problems()));
  selection.devices = devices_of_rank(selection.devices, module->devices(), node_place());
  if (!demand.lines.contiguous() && !demand.lines.beside()) {
    return host_because("device kernels solve lines end to end or side by side, not with gaps between them");
  }

  const bool many = selection.devices.size() > 1;
  leave_out(selection.devices, lost);
  double seconds = 0;
  DeviceChoice best = cheapest(*module, selection.devices, options, demand, seconds);
  const double on_host = selection.host ? host_seconds(demand) : 0;
  if (best.module == nullptr) {
    const bool failed = !lost.empty() || !best.lost.empty();
    if (!demand.lines.contiguous() && !failed && capable(*module, selection.devices, demand.is_double)) {
      return host_because("the memory of '" + options.devices + "' does not hold a block of " +
                          std::to_string(demand.lines.block_extent()) + " places at once");
    }
    if (!selection.host) return none_usable(options, std::move(best), failed);
    best.why = "no device of '" + options.devices + "' can be used";
    return best;
  }
  best.costs = "predicted " + microseconds(seconds) + " an apply";
  if (selection.host) best.costs += ", host " + microseconds(on_host);
  if (selection.host && on_host <= seconds) {
    DeviceChoice host = host_because("predicted to be faster than " + best.info.name);
    host.costs = best.info.name + " " + best.costs;
    host.lost = std::move(best.lost);
    return host;
  }
  if (selection.host) {
    best.why = "predicted to be faster than the host";
  } else {
    best.why = many ? "the cheapest of those named" : "asked for";
  }
  return best;
}

}  // namespace oclspkt
