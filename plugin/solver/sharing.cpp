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

#include "node.hpp"
#include "second_look.hpp"
#include "share_models.hpp"

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

std::string word_of(const Processor& processor) {
  if (processor.host()) return "host";
  const DeviceInfo& info = processor.info;
  return info.whole < 0 ? std::to_string(processor.index)
                        : std::to_string(info.whole) + ":" + std::to_string(info.cores);
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
  return who + "|" + kind_ + (once_ ? ", once|" : "|") + how;
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
bool Sharing<T>::any_measured_alone() const {
  return std::any_of(sharers_.begin(), sharers_.end(), [](const Sharer& s) { return s.measured_alone; });
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

/// Share if that takes less time, by what is known; now and then measure anew what was left out by a little.
template <typename T>
auto Sharing<T>::judge_time(const Shares& shares) -> Verdict {
  Verdict decided = least_time(shares);
  if (!store_) return decided;
  // Those that were measured: each processor by itself, and at last all together.
  std::vector<double> seconds;
  for (const Sharer& s : sharers_) {
    seconds.push_back(s.measured_alone ? alone_seconds(s) : std::numeric_limits<double>::quiet_NaN());
  }
  seconds.push_back(together_seconds().value_or(std::numeric_limits<double>::quiet_NaN()));
  std::size_t chosen = sharers_.size();
  for (std::size_t k = 0; !decided.shared && k < sharers_.size(); ++k) {
    if (sharers_[k].word == decided.only) chosen = k;
  }
  const std::optional<std::size_t> again = second_look(seconds, chosen, ++judged_[key(all_, "judged")]);
  if (!again) return decided;
  const std::string why = "measured anew for once, after " + microseconds_text(seconds[*again]) + " against " +
                          microseconds_text(seconds[chosen]);
  if (*again == sharers_.size()) return share_as(shares, why);
  return {false, sharers_[*again].word, why};
}

/// What an apply has of a set-up of all together, in seconds: of one by itself, as long as that was not measured.
template <typename T>
double Sharing<T>::together_set_up() const {
  const std::optional<Measured> set_up = store_ ? store_->find(key(all_, "together, set-up")) : std::nullopt;
  return rows_ * (set_up ? set_up->seconds_per_row : best_alone().set_up) / applies_;
}

/// Seconds of an apply of all together as measured, with a share of its set-up.
template <typename T>
std::optional<double> Sharing<T>::together_seconds() const {
  const std::optional<Measured> together = store_ ? store_->find(key(all_, "together")) : std::nullopt;
  if (!together) return std::nullopt;
  return rows_ * together->seconds_per_row + together_set_up();
}

/// Measure a processor by itself that never was, the fastest by prediction, if it is predicted to take less than
/// kCloseCall times as long as what is known.
/// @return nothing if there is none, or none was measured by itself: then it is the turn of the one that is chosen
template <typename T>
auto Sharing<T>::measure_untried(double known, const std::string& texts) -> std::optional<Verdict> {
  const Sharer* found = nullptr;
  for (const Sharer& s : sharers_) {
    if (s.measured_alone || !(alone_seconds(s) < kCloseCall * known)) continue;
    if (!found || alone_seconds(s) < alone_seconds(*found)) found = &s;
  }
  if (!store_ || !any_measured_alone() || !found || !is_first_try(found->word)) return std::nullopt;
  return Verdict{false, found->word,
                 "measured alone for once, " + microseconds_text(alone_seconds(*found)) + " predicted: " + texts};
}

/// Measure what was only predicted, all together or one by itself, where predictions are close.
template <typename T>
auto Sharing<T>::measure_for_once(const Shares& shares, const Prospects& of, const std::string& texts)
    -> std::optional<Verdict> {
  if (!store_) return std::nullopt;
  const bool close = of.several() < kCloseCall * of.single && of.single < kCloseCall * of.several();
  if (close && of.together && !any_measured_alone() && is_first_try(best_alone().word)) {
    return Verdict{false, best_alone().word, "measured alone for once: " + texts};
  }
  if (close && !of.together && any_measured_alone() && is_first_try(all_)) {
    return share_as(shares, "measured together for once: " + texts);
  }
  if (std::optional<Verdict> once = measure_untried(std::min(of.single, of.several()), texts)) return once;
  // All together were measured with other rows each, for which rates were only predicted.
  if (of.together && *of.together > of.single && kLeastGain * of.shares <= of.single &&
      is_first_try(all_ + ", other rows")) {
    return share_as(
        shares, "measured together for once with other rows, " + microseconds_text(of.shares) + " predicted: " + texts);
  }
  return std::nullopt;
}

/// Share if that takes less time. What was measured of all together, and of one by itself, counts more than what is
/// predicted.
template <typename T>
auto Sharing<T>::least_time(const Shares& shares) -> Verdict {
  const Sharer& best = best_alone();
  const double single = alone_seconds(best);
  const bool measured = any_measured_alone();
  const std::string only = measured ? best.word : "";
  const std::string alone_text = "one processor " + microseconds_text(single) + (measured ? " measured" : " predicted");
  const auto several = std::count_if(shares.rows.begin(), shares.rows.end(), [](Index rows) { return rows > 0; });
  if (several < 2) {
    if (const std::optional<Verdict> once = measure_untried(single, alone_text)) return *once;
    return {false, only, "rows are not shared: " + alone_text + ", and no two are faster"};
  }
  const Prospects of{single, shares.all_seconds + together_set_up(), together_seconds()};
  const double seconds = of.several();
  const std::string texts =
      "several " + microseconds_text(seconds) + (of.together ? " measured" : " predicted") + ", " + alone_text;
  if (const std::optional<Verdict> once = measure_for_once(shares, of, texts)) return *once;
  // By less than waking threads takes, one is not known to be slower: the next apply may find them asleep.
  if (seconds + std::max(kMeetingSeconds, (kLeastGain - 1) * seconds) <= single) return share_as(shares, texts);
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
  once_ = applies_ < 2;
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

/// True if these processors did not solve such lines to be measured before: what an apply never followed, or more of
/// them than one where one was expected, leaves no figure.
template <typename T>
bool Sharing<T>::is_first_try(const std::string& who) {
  return tried_.insert(key(who, "tried")).second;
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
  if (!store_ || rows_ <= 0) return;
  const std::int64_t count = active() ? lines_->all_applies() : single_.count();
  // One apply is not like many, and says nothing of them.
  if (once_ ? count != 1 : count < 2) return;
  const auto put = [&](const std::string& who, const char* how, double seconds, double rows) {
    if (!(seconds > 0 && rows > 0)) return;
    store_->put(key(who, how),
                {.latency = 0, .seconds_per_row = seconds / rows, .applies = static_cast<double>(count)});
  };
  if (active()) {
    put(all_, "together", lines_->all_seconds(), rows_);
    put(all_, "together, set-up", set_up_seconds_, rows_);
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      const Processor& processor = sharers_[pieces_[p].owner].processor;
      put(processor.figures_of(), "beside", lines_->seconds(p), static_cast<double>(pieces_[p].lines.rows()));
    }
  } else if (!single_who_.empty()) {
    put(single_who_, "alone", single_.value(), rows_);
    put(single_who_, "alone, set-up", set_up_seconds_, rows_);
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
