// SPDX-License-Identifier: BSD-2-Clause
#include "sharers.hpp"

#include <bit>
#include <utility>

#include "cost.hpp"
#include "node.hpp"

namespace oclspkt {
namespace {

int magnitude(double number) { return std::bit_width(static_cast<std::uint64_t>(number)); }

std::string word_of(const Processor& processor) {
  if (processor.host()) return "host";
  const DeviceInfo& info = processor.info;
  return info.whole < 0 ? std::to_string(processor.index)
                        : std::to_string(info.whole) + ":" + std::to_string(info.cores);
}

/// Predict the times of a processor from its fastest way, transfers included. Under Options::reproducible, they depend
/// only on the kind of processor and its cores.
/// @param few  few applies are expected: Sharer::alone includes a share of the set-up
/// @return nothing if the processor has no way
template <typename T>
std::optional<Sharer> predict_sharer(const Processor& processor, const Outlook<T>& outlook, bool few) {
  const Processor host;
  Processors one;
  one.host = processor.host();
  if (!one.host) one.devices = {processor};
  std::vector<Way> ways = find_ways(one, host, outlook);
  std::erase_if(ways, [&](const Way& way) { return way.remedy || way.processor->host() != processor.host(); });
  if (ways.empty()) return std::nullopt;
  const Way& way = *least(ways);
  const auto rows = static_cast<double>(std::max<Index>(1, outlook.bands.lines().rows()));
  constexpr double kWord = sizeof(T);
  Sharer s{.processor = processor,
           .word = word_of(processor),
           .who = processor.figures_of(),
           .meter = processor.host() ? PoweredDevice{} : powered(processor.info),
           .alone = {.predicted = few ? way.seconds : way.apply},
           .beside = {}};
  ShareModel& model = s.beside;
  model.latency = processor.host() ? 0 : way.scheme->launches(way.plan) * processor.profile.launch_seconds;
  model.seconds_per_row = std::max(way.apply - model.latency, 0.01 * way.apply) / rows;
  const double copies = processor.host() ? 0 : processor.profile.copy_seconds(2 * rows * kWord) / rows;
  model.kernel_seconds_per_row = std::max(model.seconds_per_row - copies, 0.01 * model.seconds_per_row);
  model.watts = rated_watts(s.meter, parse_rated(outlook.options.rated_power));
  // An emulated device runs on the cores of the host.
  model.physical = processor.host() || processor.info.emulated ? "cpu" : processor.info.physical;
  if (outlook.options.reproducible) {
    model.latency = 0;
    model.seconds_per_row = 5 * kWord / (processor.host() ? kNominalCore : nominal_rate(processor.info));
    model.kernel_seconds_per_row = model.seconds_per_row;
    s.alone.predicted = rows * model.seconds_per_row;
  }
  return s;
}

}  // namespace

template <typename T>
bool Sharers::find(const Processors& processors, const Outlook<T>& outlook) {
  const Options& options = outlook.options;
  const LineSet& lines = outlook.bands.lines();
  const double applies = std::max(1.0, outlook.applies);
  std::vector<Processor> all = processors.devices;
  if (processors.host) all.emplace_back();
  std::vector<int> indices;
  indices.reserve(all.size());
  for (const Processor& processor : all) indices.push_back(processor.index);
  const Found now{
      lines, indices, magnitude(applies), outlook.survey.shared, outlook.symmetric, outlook.survey.dominance > 1};
  // Predicting the figures of a processor takes as long as solving a few thousand rows, so they are kept.
  const bool anew = found_ != now;
  if (anew) {
    forget();
    for (const Processor& processor : all) {
      std::optional<Sharer> s = predict_sharer(processor, outlook, applies < kManyEnough);
      if (s) each_.push_back(std::move(*s));
    }
    // Drivers on the cores of the host hinder each other only if they use more cores than the process has.
    int cores = 0;
    for (const Sharer& s : each_) {
      names_ += (names_.empty() ? "" : " + ") + s.processor.known_as();
      if (s.beside.physical == "cpu") cores += s.processor.info.cores;
    }
    for (Sharer& s : each_) {
      if (s.beside.physical == "cpu" && cores <= processor_share()) s.beside.physical.clear();
    }
    rows_ = static_cast<double>(lines.rows());
    kind_ = std::string(sizeof(T) == 8 ? "double" : "float") +
            (lines.contiguous() ? ", end to end" : ", side by side") + (outlook.survey.shared ? ", shared" : "") +
            ", 2^" + std::to_string(magnitude(rows_));
    found_ = now;
  }
  if (!options.reproducible && !store_) {
    store_.emplace(options.profile);
    written_ = std::chrono::steady_clock::now();
  }
  for (Sharer& s : each_) {
    s.alone = estimate(s.who, "alone", s.alone.predicted, applies);
    if (!store_ || (applies < kManyEnough && options.balance == "time")) continue;
    const auto find = [&](const char* how) { return store_->find(key(s.who, how, kManyEnough)); };
    if (const auto seconds = find("beside")) {
      s.beside.latency = 0;
      s.beside.seconds_per_row = seconds->seconds_per_row;
    }
    if (const auto power = find("power")) {
      s.beside.watts = power->watts;
      s.knows_watts = true;
    }
    // If idle power was not measured, it counts as 0: rated power is the power at work.
    const auto idle = find("idle power");
    s.beside.idle_watts = std::min(idle ? idle->watts : 0, s.beside.watts);
  }
  return anew;
}

void Sharers::forget() {
  found_.reset();
  each_.clear();
  names_.clear();
}

void Sharers::renew() {
  write(true);
  store_.reset();
  forget();
}

const Sharer& Sharers::best_alone() const {
  return *std::min_element(each_.begin(), each_.end(),
                           [](const Sharer& a, const Sharer& b) { return a.alone.seconds() < b.alone.seconds(); });
}

/// The profile's key of a figure. If few applies follow a set-up, the key has their number, because the figure then
/// includes a share of the set-up.
std::string Sharers::key(const std::string& who, const char* how, double applies) const {
  const std::string few = applies < kManyEnough ? ", 2^" + std::to_string(magnitude(applies)) + " applies" : "";
  return who + "|" + kind_ + few + "|" + how;
}

Estimate Sharers::estimate(const std::string& who, const char* how, double predicted, double applies) const {
  if (!store_) return {.predicted = predicted, .sure = true};
  // More than one set-up has to be measured: the first one builds kernels and touches new memory.
  const double enough = applies < kManyEnough ? 3 : 2;
  const std::optional<Measured> found = store_->find(key(who, how, applies));
  if (!found) return {.predicted = predicted};
  return {predicted, rows_ * found->seconds_per_row, found->set_ups >= enough};
}

void Sharers::put(const std::string& who, const char* how, Measured measured, double applies) {
  constexpr double kMostLonger = 1.1;
  if (!store_) return;
  const std::string name = key(who, how, applies);
  if (const std::optional<Measured> before = store_->find(name); before && measured.seconds_per_row > 0) {
    measured.seconds_per_row = std::min(measured.seconds_per_row, kMostLonger * before->seconds_per_row);
    measured.set_ups += before->set_ups;
  }
  store_->put(name, measured);
}

void Sharers::write(bool at_once) {
  constexpr std::chrono::seconds kBetweenWrites{10};
  const auto now = std::chrono::steady_clock::now();
  if (!store_ || node_place().rank != 0 || (!at_once && now - written_ <= kBetweenWrites)) return;
  store_->write();
  written_ = now;
}

template bool Sharers::find(const Processors&, const Outlook<float>&);
template bool Sharers::find(const Processors&, const Outlook<double>&);

}  // namespace oclspkt
