// SPDX-License-Identifier: BSD-2-Clause
#include "sharers.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "cost.hpp"
#include "node.hpp"
#include "parallel.hpp"

namespace oclspkt {
namespace {

std::string word_of(const Processor& processor) {
  if (processor.host()) return "host";
  const DeviceInfo& info = processor.info;
  return info.whole < 0 ? std::to_string(processor.index)
                        : std::to_string(info.whole) + ":" + std::to_string(info.cores);
}

/// Ranks of the node that a device is shared among.
int ranks_on(const Processor& processor) {
  const int ranks = node_place().ranks;
  if (processor.host() || processor.info.host_unified) return 1;  // cores are divided among the ranks
  const auto& devices = processor.module->devices();
  const auto is_card = [](const DeviceInfo& d) { return d.type == DeviceType::gpu && !d.host_unified; };
  const auto cards =
      static_cast<int>(std::max<std::ptrdiff_t>(1, std::count_if(devices.begin(), devices.end(), is_card)));
  return std::max(1, (ranks + cards - 1) / cards);
}

/// Predict applies of a processor by the least of its ways, transfers included; its rate is divided by the ranks that
/// it is shared among. Figures by itself may have a share of the set-up; under Options::reproducible all follow from
/// its kind and its cores alone.
/// @return nothing where it has no way
template <typename T>
std::optional<Sharer> predict_sharer(const Processor& processor, const Processor& host, const Outlook<T>& outlook,
                                     bool whole) {
  Processors one;
  one.host = processor.host();
  if (!one.host) one.devices = {processor};
  std::vector<Way> ways = find_ways(one, host, outlook);
  std::erase_if(ways, [&](const Way& way) { return way.remedy || way.processor->host() != processor.host(); });
  if (ways.empty()) return std::nullopt;
  const Way& way = *least(ways);
  const auto rows = static_cast<double>(std::max<Index>(1, outlook.bands.lines().rows()));
  constexpr double kWord = sizeof(T);
  ShareModel model;
  model.latency = processor.host() ? 0 : way.scheme->launches(way.plan) * processor.profile.launch_seconds;
  const auto row_seconds = [&](double apply) {
    return ranks_on(processor) * std::max(apply - model.latency, 0.01 * apply) / rows;
  };
  model.seconds_per_row = row_seconds(way.apply);
  const double copies = processor.host() ? 0 : processor.profile.copy_seconds(2 * rows * kWord) / rows;
  model.kernel_seconds_per_row = std::max(model.seconds_per_row - copies, 0.01 * model.seconds_per_row);
  const bool on_host = processor.host() || processor.info.host_unified;
  model.host_bytes_per_row = kWord * (on_host ? way.scheme->words(way.plan) : 2);
  model.watts = rated_watts(powered(processor), parse_rated(outlook.options.rated_power));
  // An emulated device runs on the cores of the host.
  model.physical = processor.host() || processor.info.emulated ? "cpu" : processor.info.physical;
  if (outlook.options.reproducible) {
    model.latency = 0;
    model.seconds_per_row = 5 * kWord / (processor.host() ? kNominalCore : nominal_rate(processor.info));
    model.kernel_seconds_per_row = model.seconds_per_row;
  }
  Sharer s{.processor = processor, .word = word_of(processor), .alone = model, .beside = model};
  if (whole && !outlook.options.reproducible) s.alone.seconds_per_row = row_seconds(way.seconds);
  return s;
}

}  // namespace

PoweredDevice powered(const Processor& processor) {
  return processor.host() ? PoweredDevice{} : powered(processor.info);
}

double host_memory_rate() {
  static const double rate = [] {
    constexpr Index kWords = Index{1} << 24;  // 128 MB an array
    AlignedArray<double> from(kWords), to(kWords);
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 4; ++i) {
      const auto start = std::chrono::steady_clock::now();
      for_pieces(kWords, kPieceRows, [&](Index first, Index end) {
        for (Index k = first; k < end; ++k) to.data()[k] = 0.5 * from.data()[k];
      });
      if (i > 0) best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    // What is written is read before.
    return 3 * static_cast<double>(sizeof(double) * kWords) / std::max(best, 1e-9);
  }();
  return rate;
}

double Sharers::alone_seconds(const Sharer& sharer) const {
  return sharer.alone.latency + rows * sharer.alone.seconds_per_row;
}

const Sharer& Sharers::best_alone() const {
  return *std::min_element(each.begin(), each.end(),
                           [&](const Sharer& a, const Sharer& b) { return alone_seconds(a) < alone_seconds(b); });
}

bool Sharers::any_measured_alone() const {
  return std::any_of(each.begin(), each.end(), [](const Sharer& s) { return s.measured_alone; });
}

void Sharers::take(const ShareFigures& figures, const std::string& alone_kind, const std::string& kind) {
  for (Sharer& s : each) {
    const auto find = [&](const std::string& of, const char* how) {
      return figures.find(ShareFigures::key(s.processor.figures_of(), of, how));
    };
    const auto take_into = [](ShareModel& model, const std::optional<Measured>& measured) {
      if (!measured) return false;
      model.latency = 0;
      model.seconds_per_row = measured->seconds_per_row;
      return true;
    };
    s.measured_alone = take_into(s.alone, find(alone_kind, "alone"));
    s.measured_beside = take_into(s.beside, find(kind, "beside"));
    if (const auto power = find(kind, "power")) {
      s.alone.watts = s.beside.watts = power->watts;
      s.measured_watts = true;
    }
    // Where it does not tell, idling costs nothing: rated power is that of work.
    const std::optional<Measured> idle = find(kind, "idle power");
    s.beside.idle_watts = std::min(idle ? idle->watts : 0, s.beside.watts);
  }
}

template <typename T>
std::vector<Sharer> find_sharers(const Processors& processors, const Processor& host, const Outlook<T>& outlook,
                                 bool whole) {
  std::vector<Sharer> found;
  const auto add = [&](const Processor& processor) {
    if (std::optional<Sharer> s = predict_sharer(processor, host, outlook, whole)) found.push_back(std::move(*s));
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

template std::vector<Sharer> find_sharers(const Processors&, const Processor&, const Outlook<float>&, bool);
template std::vector<Sharer> find_sharers(const Processors&, const Processor&, const Outlook<double>&, bool);

}  // namespace oclspkt
