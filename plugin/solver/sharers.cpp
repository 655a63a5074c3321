// SPDX-License-Identifier: BSD-2-Clause
#include "sharers.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "cost.hpp"
#include "node.hpp"
#include "share_models.hpp"

namespace oclspkt {
namespace {

std::string word_of(const Processor& processor) {
  if (processor.host()) return "host";
  const DeviceInfo& info = processor.info;
  return info.whole < 0 ? std::to_string(processor.index)
                        : std::to_string(info.whole) + ":" + std::to_string(info.cores);
}

/// Leave cores of the host to the threads that copy for other devices: with all of them at work an H200 and 32 cores
/// took 1.05 to 1.2 times what the H200 took alone, with 8 of them 0.83 to 0.92 times (3e7 rows, double). From locked
/// vectors cards copy by themselves, and one core conducts.
template <typename T>
void leave_cores(const Processor& host, const Outlook<T>& outlook, Sharer& s) {
  constexpr int kFewest = 8, kUsed = 3, kOf = 8;
  const DeviceInfo& info = s.processor.info;
  if (!info.host_unified || info.whole >= 0 || info.cores < kFewest) return;
  const int cores = outlook.options.lock_vectors ? info.cores - 1 : info.cores * kUsed / kOf;
  DeviceModule& module = *s.processor.module;
  Processor part = s.processor;
  try {
    part.index = module.part_of(info.index, cores);
    part.info = module.info(part.index);
    part.profile = outlook.options.reproducible         ? nominal_profile(part.info, sizeof(T) == 8)
                   : outlook.bands.lines().contiguous() ? module.profile(part.index, sizeof(T) == 8)
                                                        : module.profile_beside(part.index, sizeof(T) == 8);
  } catch (const DeviceError&) {
    if (outlook.options.on_device_failure == OnDeviceFailure::error) throw;
    return;  // it cannot be divided, and is used as a whole
  }
  if (const std::optional<ShareModel> model = predicted_model(part, host, outlook)) {
    s.beside = *model;
    s.share = word_of(part);
  }
}

}  // namespace

double Sharers::alone_seconds(const Sharer& sharer) const {
  return sharer.alone.latency + rows * (sharer.alone.seconds_per_row + sharer.set_up / applies);
}

const Sharer& Sharers::best_alone() const {
  return *std::min_element(each.begin(), each.end(),
                           [&](const Sharer& a, const Sharer& b) { return alone_seconds(a) < alone_seconds(b); });
}

bool Sharers::any_measured_alone() const {
  return std::any_of(each.begin(), each.end(), [](const Sharer& s) { return s.measured_alone; });
}

void Sharers::take(const ShareFigures& figures) {
  for (Sharer& s : each) {
    const std::string who = s.processor.figures_of();
    if (const auto seconds = figures.find(who, "alone")) {
      s.alone.latency = 0;
      s.alone.seconds_per_row = *seconds;
      s.measured_alone = true;
    }
    if (const auto seconds = figures.find(who, "beside")) {
      s.beside.latency = 0;
      s.beside.seconds_per_row = *seconds;
    }
    if (const auto seconds = figures.find(who, "alone, set-up")) s.set_up = *seconds;
    if (const auto watts = figures.find(who, "watts")) {
      s.alone.watts = s.beside.watts = *watts;
      s.measured_watts = true;
    }
    // Where it does not tell, idling costs nothing: rated power is that of work.
    s.beside.idle_watts = std::min(figures.find(who, "idle watts").value_or(0), s.beside.watts);
  }
}

template <typename T>
std::vector<Sharer> find_sharers(const Processors& processors, const Processor& host, const Outlook<T>& outlook) {
  std::vector<Sharer> found;
  const auto copies = [](const Processor& device) { return !device.info.host_unified; };
  const bool any_copies = std::any_of(processors.devices.begin(), processors.devices.end(), copies);
  const auto add = [&](const Processor& processor) {
    const std::optional<ShareModel> model = predicted_model(processor, host, outlook);
    if (!model) return;
    Sharer s{processor, word_of(processor), word_of(processor), *model, *model, false, 0};
    if (any_copies && !processor.host()) leave_cores(host, outlook, s);
    if (outlook.options.reproducible) {
      s.alone = nominal_model(processor, s.alone, sizeof(T));
      s.beside = s.alone;
    }
    found.push_back(std::move(s));
  };
  for (const Processor& device : processors.devices) add(device);
  if (processors.host) add(host);
  // Drivers on the cores of the host hinder each other only where there are fewer cores than they use.
  int cores = 0;
  for (const Sharer& s : found) {
    if (s.beside.physical == "cpu") cores += s.processor.host() ? 1 : s.processor.info.cores;
  }
  for (Sharer& s : found) {
    if (s.beside.physical == "cpu" && cores <= processor_share()) s.beside.physical.clear();
  }
  return found;
}

template std::vector<Sharer> find_sharers(const Processors&, const Processor&, const Outlook<float>&);
template std::vector<Sharer> find_sharers(const Processors&, const Processor&, const Outlook<double>&);

}  // namespace oclspkt
