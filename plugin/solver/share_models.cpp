// SPDX-License-Identifier: BSD-2-Clause
#include "share_models.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>
#include <vector>

#include "cost.hpp"
#include "node.hpp"
#include "parallel.hpp"

namespace oclspkt {
namespace {

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

template <typename T>
std::optional<ShareModel> predicted_model(const Processor& processor, const Processor& host,
                                          const Outlook<T>& outlook) {
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
  model.seconds_per_row = ranks_on(processor) * std::max(way.apply - model.latency, 0.01 * way.apply) / rows;
  const double copies = processor.host() ? 0 : processor.profile.copy_seconds(2 * rows * kWord) / rows;
  model.kernel_seconds_per_row = std::max(model.seconds_per_row - copies, 0.01 * model.seconds_per_row);
  const bool on_host = processor.host() || processor.info.host_unified;
  model.host_bytes_per_row = kWord * (on_host ? way.scheme->words(way.plan) : 2);
  model.watts = rated_watts(powered(processor), parse_rated(outlook.options.rated_power));
  // An emulated device runs on the cores of the host.
  model.physical = processor.host() || processor.info.emulated ? "cpu" : processor.info.physical;
  return model;
}

ShareModel nominal_model(const Processor& processor, ShareModel model, double word) {
  model.latency = 0;
  const double rate = processor.host() ? kNominalCore : nominal_rate(processor.info);
  model.seconds_per_row = 5 * word / rate;
  model.kernel_seconds_per_row = model.seconds_per_row;
  return model;
}

template std::optional<ShareModel> predicted_model(const Processor&, const Processor&, const Outlook<float>&);
template std::optional<ShareModel> predicted_model(const Processor&, const Processor&, const Outlook<double>&);

}  // namespace oclspkt
