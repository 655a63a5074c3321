// SPDX-License-Identifier: BSD-2-Clause
#include "sharers.hpp"

#include <iterator>

#include "node.hpp"

namespace oclspkt {
namespace {

/// Predict the times of a processor from its fastest way.
template <typename T>
Sharer predict_sharer(const Way& way, const Outlook<T>& outlook) {
  const Processor& processor = *way.processor;
  const auto rows = static_cast<double>(std::max<Index>(1, outlook.bands.lines().rows()));
  const double bytes = 2 * rows * sizeof(T);
  Sharer s{.processor = processor,
           .meter = processor.host() ? PoweredDevice{} : powered(processor.info),
           .alone = {.predicted = outlook.applies < kManyEnough ? way.seconds : way.apply},
           .beside = {}};
  ShareModel& model = s.beside;
  model.latency = way.scheme->launches(way.plan) * processor.profile.launch_seconds;
  model.seconds_per_row = std::max(way.apply - model.latency, 0.01 * way.apply) / rows;
  const double copies = processor.host() ? 0 : processor.profile.copy_seconds(bytes) / rows;
  model.kernel_seconds_per_row = std::max(model.seconds_per_row - copies, 0.01 * model.seconds_per_row);
  model.watts = rated_watts(s.meter, parse_rated(outlook.options.rated_power));
  model.physical = s.meter.physical;
  return s;
}

}  // namespace

template <typename T>
std::vector<Sharer> predict_sharers(const Processors& processors, const Outlook<T>& outlook) {
  const Processor host;
  const std::vector<Way> ways = find_ways(processors, host, outlook);
  std::vector<Sharer> sharers;
  int cores = 0;  // of the host, in use by drivers for CPUs and by the host's own solver if it is a processor
  const auto add = [&](const Processor& processor) {
    std::vector<Way> own;
    std::copy_if(ways.begin(), ways.end(), std::back_inserter(own),
                 [&](const Way& way) { return way.processor == &processor && !way.remedy; });
    if (own.empty()) return;
    sharers.push_back(predict_sharer(*least(own), outlook));
    if (sharers.back().beside.physical == "cpu") cores += processor.info.cores;
  };
  for (const Processor& device : processors.devices) add(device);
  if (processors.host) add(host);
  // Drivers on the cores of the host hinder each other only if they use more cores than the process has.
  for (Sharer& s : sharers) {
    if (s.beside.physical == "cpu" && cores <= processor_share()) s.beside.physical.clear();
  }
  return sharers;
}

template std::vector<Sharer> predict_sharers(const Processors&, const Outlook<float>&);
template std::vector<Sharer> predict_sharers(const Processors&, const Outlook<double>&);

}  // namespace oclspkt
