// SPDX-License-Identifier: BSD-2-Clause
#include "sharing.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <utility>

#include "cost.hpp"
#include "node.hpp"
#include "parallel.hpp"

namespace oclspkt {
namespace {

/// Rows that end where tiles of every scheme do.
constexpr Index kGrain = 4096;
/// Waking threads and waiting for the last one.
constexpr double kMeetingSeconds = 5e-5;
/// Where predictions of one processor and of several are nearer to each other than this, both are tried.
constexpr double kCloseCall = 2;
/// Bytes of a vector that caches may hold.
constexpr double kInCaches = 8e6;
/// Shares stay where others are predicted to be faster by less than this.
constexpr double kWorthMoving = 1.05;
/// By so much measurements differ from run to run.
constexpr double kNoise = 1.02;

/// Bytes a second that the processors of this process read and write together, measured once.
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

/// Figures that no measurement enters: by the kind of device and its cores. An emulated device is a kernel of one
/// work-item on a core of the host, which does not pass for a board.
double nominal_bytes_per_second(const Processor& processor) {
  constexpr double kCore = 8e9, kBus = 20e9, kBoard = 10e9, kEmulated = 2e9;
  if (processor.host()) return kCore;
  if (processor.info.emulated) return kEmulated;
  switch (processor.info.type) {
    case DeviceType::gpu:
      return kBus;
    case DeviceType::fpga:
      return kBoard;
    default:
      return kCore * processor.info.cores;
  }
}

/// Watts while it works, as data sheets have them.
double nominal_watts(const Processor& processor) {
  constexpr double kCore = 8, kGpu = 400, kBoard = 60;
  if (processor.host() || processor.info.emulated) return kCore;
  switch (processor.info.type) {
    case DeviceType::gpu:
      return kGpu;
    case DeviceType::fpga:
      return kBoard;
    default:
      return kCore * processor.info.cores;
  }
}

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

/// What a way of a processor is predicted to take; nothing where it has none.
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
  model.latency = processor.host() ? 0 : way.owner->launches() * processor.profile.launch_seconds;
  model.seconds_per_row = ranks_on(processor) * std::max(way.apply - model.latency, 0.01 * way.apply) / rows;
  const double copies = processor.host() ? 0 : processor.profile.copy_seconds(2 * rows * kWord) / rows;
  model.kernel_seconds_per_row = std::max(model.seconds_per_row - copies, 0.01 * model.seconds_per_row);
  const bool on_host = processor.host() || processor.info.host_unified;
  model.host_bytes_per_row = kWord * (on_host ? way.owner->words(way.plan) : 2);
  model.watts = nominal_watts(processor);
  // An emulated device runs on the cores of the host.
  model.physical = processor.host() || processor.info.emulated ? "cpu" : processor.info.physical;
  return model;
}

std::string microseconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g us", 1e6 * seconds);
  return text;
}

}  // namespace

template <typename T>
Sharing<T>::~Sharing() {
  try {
    learn();
    write_profile();
  } catch (const std::bad_alloc&) {
    // What was measured is lost.
  }
}

template <typename T>
std::string Sharing<T>::key(const std::string& who, const char* how) const {
  return who + "|" + kind_ + "|" + how;
}

/// Leave cores of the host to the threads that copy for other devices: with all of them at work an H200 and 32 cores
/// took 1.05 to 1.2 times what the H200 took alone, with 8 of them 0.83 to 0.92 times (3e7 rows, double). From locked
/// vectors cards copy by themselves, and one core conducts.
template <typename T>
void Sharing<T>::leave_cores(const Options& options, const Processor& host, const Outlook<T>& outlook, Sharer& s) {
  constexpr int kFewest = 8, kUsed = 3, kOf = 8;
  const DeviceInfo& info = s.processor.info;
  if (!info.host_unified || info.whole >= 0 || info.cores < kFewest) return;
  const int cores = options.lock_vectors ? info.cores - 1 : info.cores * kUsed / kOf;
  DeviceModule& module = *s.processor.module;
  Processor part = s.processor;
  try {
    part.index = module.part_of(info.index, cores);
    part.info = module.info(part.index);
    part.profile = outlook.bands.lines().contiguous() ? module.profile(part.index, sizeof(T) == 8)
                                                      : module.profile_beside(part.index, sizeof(T) == 8);
  } catch (const DeviceError&) {
    if (options.on_device_failure == OnDeviceFailure::error) throw;
    return;  // it cannot be divided, and is used as a whole
  }
  if (const std::optional<ShareModel> model = predicted_model(part, host, outlook)) {
    s.beside = *model;
    s.share = word_of(part);
  }
}

/// The processors named, with what is known of them.
template <typename T>
auto Sharing<T>::find_sharers(const Options& options, const Processors& processors, const Processor& host,
                              const Outlook<T>& outlook) -> std::vector<Sharer> {
  std::vector<Sharer> found;
  const auto copies = [](const Processor& device) { return !device.info.host_unified; };
  const bool any_copies = std::any_of(processors.devices.begin(), processors.devices.end(), copies);
  const auto add = [&](const Processor& processor) {
    const std::optional<ShareModel> model = predicted_model(processor, host, outlook);
    if (!model) return;
    Sharer s{processor, word_of(processor), word_of(processor), *model, *model, false, 0};
    if (any_copies && !processor.host()) leave_cores(options, host, outlook, s);
    if (options.reproducible) {
      s.alone.latency = 0;
      s.alone.seconds_per_row = 5 * sizeof(T) / nominal_bytes_per_second(processor);
      s.alone.kernel_seconds_per_row = s.alone.seconds_per_row;
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

/// Seconds of an apply of a processor by itself, with a share of its set-up.
template <typename T>
double Sharing<T>::alone_seconds(const Sharer& sharer) const {
  return sharer.alone.latency + rows_ * (sharer.alone.seconds_per_row + sharer.set_up / applies_);
}

template <typename T>
auto Sharing<T>::best_alone() const -> const Sharer& {
  return *std::min_element(sharers_.begin(), sharers_.end(),
                           [&](const Sharer& a, const Sharer& b) { return alone_seconds(a) < alone_seconds(b); });
}

template <typename T>
auto Sharing<T>::share_as(const Shares& shares, const std::string& why) -> Verdict {
  shares_ = shares;
  Verdict verdict;
  verdict.why = why;
  pieces_ = cut_into_pieces(layout_, shares_.rows);
  if (pieces_.size() == 1) verdict.only = sharers_[pieces_.front().owner].word;
  verdict.shared = pieces_.size() > 1;
  return verdict;
}

/// Share if that takes less time. What was measured of all together, and of one by itself, counts more than what is
/// predicted; where predictions are close, each is measured once.
template <typename T>
auto Sharing<T>::judge_time(const Shares& shares) -> Verdict {
  const Sharer& best = best_alone();
  const double single = alone_seconds(best);
  const auto known = [](const Sharer& s) { return s.measured_alone; };
  const bool measured_alone = std::any_of(sharers_.begin(), sharers_.end(), known);
  const std::string only = measured_alone ? best.word : "";
  const std::string alone_text =
      "one processor " + microseconds_text(single) + (measured_alone ? " measured" : " predicted");
  const auto several = std::count_if(shares.rows.begin(), shares.rows.end(), [](Index rows) { return rows > 0; });
  if (several < 2) return {false, only, "rows are not shared: " + alone_text + ", and no two are faster"};
  const auto measured = [&](const char* how) { return store_ ? store_->find(key(all_, how)) : std::nullopt; };
  const std::optional<Measured> together = measured("together"), set_up = measured("together, set-up");
  const double an_apply = together ? rows_ * together->seconds_per_row : shares.all_seconds;
  const double predicted = an_apply + (set_up ? rows_ * set_up->seconds_per_row : 0) / applies_;
  const std::string texts =
      "several " + microseconds_text(predicted) + (together ? " measured" : " predicted") + ", " + alone_text;
  const bool close = predicted < kCloseCall * single && single < kCloseCall * predicted;
  if (store_ && close && together && !measured_alone) return {false, best.word, "measured alone for once: " + texts};
  if (store_ && close && !together && measured_alone) return share_as(shares, "measured together for once: " + texts);
  if (predicted * (together ? kNoise : kLeastGain) <= single) return share_as(shares, texts);
  return {false, only, "rows are not shared: " + texts};
}

template <typename T>
auto Sharing<T>::decide(const Options& options, const Processors& processors, const Processor& host,
                        const Outlook<T>& outlook) -> Verdict {
  set_up_ = false;
  single_.clear();
  single_who_.clear();
  const Balance balance = parse_balance(options.balance);
  layout_ = outlook.bands.lines();
  rows_ = static_cast<double>(layout_.rows());
  applies_ = std::max(1.0, outlook.applies);
  sharers_ = find_sharers(options, processors, host, outlook);
  if (balance.objective == Objective::weights && balance.weights.size() != sharers_.size()) {
    throw InvalidInput("balance '" + options.balance + "' has " + std::to_string(balance.weights.size()) +
                       " weights, and '" + options.devices + "' names " + std::to_string(sharers_.size()) +
                       " processors that can solve here: give one weight for each");
  }
  if (sharers_.size() < 2 || layout_.rows() == 0) return {};
  kind_ = std::string(sizeof(T) == 8 ? "double" : "float") +
          (layout_.contiguous() ? ", end to end" : ", side by side") + (outlook.survey.shared ? ", shared" : "") +
          (options.lock_vectors ? ", locked" : "") + ", 2^" +
          std::to_string(std::bit_width(static_cast<std::uint64_t>(layout_.rows())));
  all_.clear();
  for (const Sharer& s : sharers_) all_ += (all_.empty() ? "" : " + ") + s.processor.known_as();
  const bool measured = !options.reproducible;
  if (measured && (!store_ || profile_ != options.profile)) {
    profile_ = options.profile;
    store_.emplace(profile_);
    store_->read();
    written_ = std::chrono::steady_clock::now();
  }
  if (!measured) store_.reset();
  for (Sharer& s : sharers_) {
    if (!store_) break;
    const std::string who = s.processor.figures_of();
    if (const auto m = store_->find(key(who, "alone"))) {
      s.alone.latency = 0;
      s.alone.seconds_per_row = m->seconds_per_row;
      s.measured_alone = true;
    }
    if (const auto m = store_->find(key(who, "beside"))) {
      s.beside.latency = 0;
      s.beside.seconds_per_row = m->seconds_per_row;
    }
    if (const auto m = store_->find(key(who, "alone, set-up"))) s.set_up = m->seconds_per_row;
  }
  std::vector<ShareModel> models;
  for (const Sharer& s : sharers_) models.push_back(s.beside);
  const bool in_caches = rows_ * sizeof(T) < kInCaches;  // the host's memory is not what they wait for
  const NodeModel node{options.reproducible || in_caches ? std::numeric_limits<double>::infinity()
                                                         : host_memory_rate() / node_place().ranks,
                       kMeetingSeconds};
  const Index grain = std::clamp<Index>(layout_.rows() / 64, 1, kGrain);
  Shares shares = share_rows(layout_.rows(), grain, models, node, balance);
  // Rows that move take their bands along.
  const std::string shared = all_ + "|" + kind_ + "|" + options.balance;
  if (shared == kept_for_ && std::accumulate(kept_.begin(), kept_.end(), Index{0}) == layout_.rows()) {
    Shares kept = predict_shares(kept_, models, node, balance.objective);
    if (kept.all_seconds <= kWorthMoving * shares.all_seconds) shares = std::move(kept);
  }
  kept_for_ = shared;
  kept_ = shares.rows;
  switch (balance.objective) {
    case Objective::time:
      return judge_time(shares);
    case Objective::kernel:
      return share_as(shares, "shared by the time of kernels");
    case Objective::energy:
      return share_as(shares, "shared for the least energy");
    case Objective::even:
      return share_as(shares, "shared evenly");
    case Objective::weights:
      return share_as(shares, "shared by weights " + options.balance);
  }
  return {};
}

template <typename T>
void Sharing<T>::set_up(const Options& options, const Bands<T>& bands, const Known& known) {
  std::vector<std::string> words, spares;
  std::string made_for;
  for (const Sharer& s : sharers_) {
    std::string others;
    for (const Sharer& other : sharers_) {
      if (&other != &s && !other.processor.host()) others += (others.empty() ? "" : ",") + other.share;
    }
    words.push_back(s.share);
    spares.push_back(others);
    made_for += s.share + ",";
  }
  if (!lines_ || made_for != made_for_) lines_ = std::make_unique<SharedLines<T>>(options, words, spares);
  made_for_ = made_for;
  try {
    lines_->set_up(bands, pieces_, known);
  } catch (...) {
    drop();
    throw;
  }
  set_up_ = true;
}

template <typename T>
int Sharing<T>::copying_device() const {
  for (const Piece& piece : pieces_) {
    const Processor& processor = sharers_[piece.owner].processor;
    if (!processor.host() && !processor.info.host_unified) return processor.index;
  }
  return -1;
}

/// True if there was no set-up by the same processors for such lines before.
template <typename T>
bool Sharing<T>::is_first(const std::string& who) {
  return set_ups_.insert(who + "|" + kind_).second;
}

template <typename T>
void Sharing<T>::watch_single(int device, double set_up_seconds) {
  single_who_.clear();
  set_up_seconds_ = is_first(std::to_string(device)) ? 0 : set_up_seconds;
  if (sharers_.size() < 2) return;
  for (const Sharer& s : sharers_) {
    if (s.processor.index == device) single_who_ = s.processor.figures_of();
  }
}

template <typename T>
void Sharing<T>::drop() {
  lines_.reset();
  set_up_ = false;
}

template <typename T>
void Sharing<T>::learn() {
  constexpr std::int64_t kEnough = 2;
  if (!store_ || rows_ <= 0) return;
  const auto put = [&](const std::string& who, const char* how, double seconds, double rows, std::int64_t count) {
    if (count >= kEnough && seconds > 0 && rows > 0) {
      store_->put(key(who, how),
                  {.latency = 0, .seconds_per_row = seconds / rows, .applies = static_cast<double>(count)});
    }
  };
  if (active()) {
    const std::int64_t count = lines_->all_applies();
    put(all_, "together", lines_->all_seconds(), rows_, count);
    put(all_, "together, set-up", set_up_seconds_, rows_, kEnough);
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      const Processor& processor = sharers_[pieces_[p].owner].processor;
      put(processor.figures_of(), "beside", lines_->seconds(p), static_cast<double>(pieces_[p].lines.rows()), count);
    }
  } else if (!single_who_.empty()) {
    put(single_who_, "alone", single_.value(), rows_, single_.count());
    put(single_who_, "alone, set-up", set_up_seconds_, rows_, kEnough);
  }
  // Set-ups may follow each other within milliseconds, and a file takes one.
  constexpr std::chrono::seconds kBetweenWrites{10};
  if (std::chrono::steady_clock::now() - written_ > kBetweenWrites) write_profile();
}

template <typename T>
void Sharing<T>::write_profile() {
  if (!store_ || node_place().rank != 0) return;
  store_->write();
  written_ = std::chrono::steady_clock::now();
}

template <typename T>
void Sharing<T>::update_report(SharesReport& report) const {
  report.seconds = lines_->all_seconds();
  for (std::size_t p = 0; p < report.shares.size(); ++p) {
    const Times times = lines_->times(p);
    report.shares[p].seconds = lines_->seconds(p);
    report.shares[p].bytes = times.bytes_to_device + times.bytes_from_device;
  }
}

/// The report of the largest share, with the largest bounds of all.
template <typename T>
void Sharing<T>::write_report(Report& report) const {
  SharesReport sharing = std::move(report.sharing);
  std::size_t largest = 0;
  for (std::size_t p = 1; p < pieces_.size(); ++p) {
    if (pieces_[p].lines.rows() > pieces_[largest].lines.rows()) largest = p;
  }
  Report merged = lines_->report(largest);
  merged.rows = report.rows;
  merged.lines = report.lines;
  merged.dominance = report.dominance;
  merged.degraded = report.degraded;
  merged.losses = report.losses;
  merged.groups.clear();
  merged.device.why = "they share the rows";
  merged.device.costs.clear();
  std::string names;
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    const Report& own = lines_->report(p);
    const CutReport& cut = lines_->cut_report(p);
    const ShareModel& model = sharers_[pieces_[p].owner].beside;
    const Index rows = pieces_[p].lines.rows();
    names += (p == 0 ? "" : " + ") + own.device.name;
    for (GroupReport group : own.groups) {
      group.first_line += pieces_[p].first_line;
      merged.groups.push_back(std::move(group));
    }
    merged.certificate = std::max({merged.certificate, own.certificate, cut.truncated ? cut.bound : 0.0});
    merged.certificate_above_tolerance =
        merged.certificate_above_tolerance || own.certificate_above_tolerance || cut.above_tolerance;
    merged.rounding = std::max({merged.rounding, own.rounding, cut.rounding});
    merged.backward_error = std::max({merged.backward_error, own.backward_error, cut.backward_error});
    merged.growth = std::max(merged.growth, own.growth);
    sharing.shares.push_back({own.device.name, own.device.type, own.device.platform, own.device.emulated, own.method,
                              own.shape, rows, model.latency + static_cast<double>(rows) * model.seconds_per_row, 0,
                              0});
  }
  merged.device.name = names;
  sharing.predicted_seconds = shares_.all_seconds;
  sharing.single_seconds = alone_seconds(best_alone());
  merged.sharing = std::move(sharing);
  merged.ready = true;
  report = std::move(merged);
}

template <typename T>
std::vector<LostDevice> Sharing<T>::lost() const {
  std::vector<LostDevice> lost;
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    for (const std::string& line : lines_->report(p).degraded) {
      lost.push_back({sharers_[pieces_[p].owner].processor.index, line});
    }
  }
  return lost;
}

template class Sharing<float>;
template class Sharing<double>;

}  // namespace oclspkt
