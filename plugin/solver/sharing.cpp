// SPDX-License-Identifier: BSD-2-Clause
#include "sharing.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "format.hpp"
#include "rounding.hpp"

namespace oclspkt {
namespace {

/// Largest grain of shares, in rows; a multiple of every scheme's tile.
constexpr Index kGrain = 4096;
/// A decision changes only if the predicted gain exceeds this factor.
constexpr double kWorthMoving = 1.05;
/// Seconds that an apply spends on waking threads and waiting for the last one.
constexpr double kMeetingSeconds = 5e-5;
/// After this many failed set-ups, rows are not shared. A set-up fails if a line is singular or would be solved whole.
constexpr int kMostFailures = 6;
/// Measured power counts as power at work if applies take at least this share of the time.
constexpr double kWorking = 0.9;

int magnitude(double number) { return std::bit_width(static_cast<std::uint64_t>(number)); }

const Sharer& best_alone(const std::vector<Sharer>& sharers) {
  return *std::min_element(sharers.begin(), sharers.end(),
                           [](const Sharer& a, const Sharer& b) { return a.alone.seconds() < b.alone.seconds(); });
}

std::string seconds_text(const Estimate& estimate) {
  return format("%.3g us ", 1e6 * estimate.seconds()) + (estimate.measured > 0 ? "measured" : "predicted");
}

/// In words, which processors have measured power, and which rated power.
std::string power_text(const std::vector<Sharer>& sharers) {
  std::string text;
  for (const Sharer& s : sharers) {
    const char* const power = s.knows_watts ? "measured power of " : "rated power of ";
    text += (text.empty() ? "" : ", ") + (power + s.processor.known_as());
  }
  return text;
}

/// Why rows are shared in this way, for objectives other than time.
std::string why_shared(Objective objective, const Options& options, const std::vector<Sharer>& sharers) {
  if (objective == Objective::kernel) return "shared by the time of kernels";
  if (objective == Objective::energy) return "shared for the least energy, by " + power_text(sharers);
  return objective == Objective::even ? "shared evenly" : "shared by weights " + options.balance;
}

}  // namespace

template <typename T>
Sharing<T>::~Sharing() {
  try {
    learn();
    write(true);
  } catch (const std::bad_alloc&) {
    // The measured figures are lost.
  }
}

/// Find the processors that can solve the lines, predict their times, and look up their measured figures.
template <typename T>
void Sharing<T>::find(const Processors& processors, const Outlook<T>& outlook) {
  const LineSet& lines = outlook.bands.lines();
  const Survey& survey = outlook.survey;
  const double applies = std::max(1.0, outlook.applies);
  Found now{lines, {}, magnitude(applies), survey.shared, outlook.symmetric, survey.dominance > 1};
  for (const Processor& device : processors.devices) now.processors.push_back(device.index);
  if (processors.host) now.processors.push_back(Processor().index);
  // Predicting the figures of a processor takes as long as solving a few thousand rows, so they are kept.
  if (found_ != now) {
    sharers_ = predict_sharers(processors, outlook);
    shares_ = {};
    kind_ = std::string(sizeof(T) == 8 ? "double" : "float") +
            (lines.contiguous() ? ", end to end" : ", side by side") + (survey.shared ? ", shared" : "") + ", 2^" +
            std::to_string(magnitude(static_cast<double>(lines.rows())));
    found_ = std::move(now);
  }
  if (!outlook.options.reproducible && !store_) {
    store_.emplace(outlook.options.profile);
    written_ = std::chrono::steady_clock::now();
  }
  for (Sharer& s : sharers_) {
    const std::string who = s.processor.figures_of();
    s.alone = estimate(who, "alone", s.alone.predicted, applies);
    if (!store_) continue;
    if (const auto seconds = store_->find(key(who, "beside"))) {
      s.beside.latency = 0;
      s.beside.seconds_per_row = seconds->figure;
      // By itself a processor is no slower, even if its prediction was made while other programs ran.
      s.alone.predicted = std::min(s.alone.predicted, static_cast<double>(lines.rows()) * seconds->figure);
    }
    if (const auto power = store_->find(key(who, "power"))) {
      s.beside.watts = power->figure;
      s.knows_watts = true;
    }
    // If idle power was not measured, it counts as 0: rated power is the power at work.
    const auto idle = store_->find(key(who, "idle power"));
    s.beside.idle_watts = std::min(idle ? idle->figure : 0, s.beside.watts);
  }
}

template <typename T>
void Sharing<T>::forget() {
  found_ = {};
  sharers_.clear();
}

/// All processors, as a part of the profile's keys.
template <typename T>
std::string Sharing<T>::names() const {
  std::string names;
  for (const Sharer& s : sharers_) names += (names.empty() ? "" : " + ") + s.processor.known_as();
  return names;
}

/// The profile's key of a figure. If few applies follow a set-up, the key has their number, because the figure then
/// includes a share of the set-up.
template <typename T>
std::string Sharing<T>::key(const std::string& who, const char* how, double applies) const {
  const std::string few = applies < kManyEnough ? ", 2^" + std::to_string(magnitude(applies)) + " applies" : "";
  return who + "|" + kind_ + few + "|" + how;
}

template <typename T>
Estimate Sharing<T>::estimate(const std::string& who, const char* how, double predicted, double applies) const {
  if (!store_) return {.predicted = predicted, .sure = true};
  // More than one set-up has to be measured: the first one builds kernels and touches new memory.
  const double enough = applies < kManyEnough ? 3 : 2;
  const std::optional<Measured> found = store_->find(key(who, how, applies));
  if (!found) return {.predicted = predicted};
  return {predicted, static_cast<double>(found_.lines.rows()) * found->figure, found->set_ups >= enough};
}

/// Find the rows for each sharer. The shares of the last set-up stay unless others are clearly better, because moving
/// rows means moving their bands. Under `time`, processors on the host's memory get no rows if a card copies vectors,
/// because its copies need the cores. Measured, cores and card together were slower than the card alone (16 cores), or
/// faster by less than the variation from day to day (32 cores).
/// @return the text for ShareVerdict::objectives
template <typename T>
std::string Sharing<T>::find_shares(const Options& options, const Balance& balance) {
  const bool any_copies = std::any_of(sharers_.begin(), sharers_.end(), [](const Sharer& s) { return s.copies(); });
  std::vector<ShareModel> models;
  for (const Sharer& s : sharers_) {
    models.push_back(s.beside);
    if (balance.objective == Objective::time && any_copies && !s.copies()) {
      models.back().seconds_per_row = std::numeric_limits<double>::infinity();
    }
  }
  const NodeModel node{.meeting_seconds = kMeetingSeconds};
  const Index rows = found_.lines.rows();
  const auto share = [&](const Balance& by) {
    return share_rows(rows, std::clamp<Index>(rows / 64, 1, kGrain), models, node, by);
  };
  Shares shares = share(balance);
  if (!shares_.rows.empty()) {
    Shares kept = predict_shares(shares_.rows, models, node);
    const double Shares::*const cost = balance.objective == Objective::energy ? &Shares::joules : &Shares::all_seconds;
    if (kept.*cost <= kWorthMoving * shares.*cost) shares = std::move(kept);
  }
  shares_ = std::move(shares);
  if (!options.energy && balance.objective != Objective::energy) return "";
  std::string objectives;
  for (const Objective objective : {Objective::time, Objective::energy}) {
    const Shares by = share({objective, {}});
    objectives += objective == Objective::time ? "time: " : "; energy: ";
    for (const Index part : by.rows) objectives += (objectives.ends_with(' ') ? "" : " + ") + std::to_string(part);
    objectives += format(" rows, %.3g s, ", by.all_seconds) + format("%.3g J", by.joules);
  }
  return objectives + "; by " + power_text(sharers_);
}

/// Share the rows, or leave them to one processor, whichever takes less time.
/// @param[out] verdict  the reason, and the processor that solves by itself
/// @return true if the rows are to be shared
template <typename T>
bool Sharing<T>::pays(bool few, ShareVerdict& verdict) const {
  const Sharer& best = best_alone(sharers_);
  const Sharer* first = &best;  // the sharer with the least Estimate::hoped()
  double hoped = std::numeric_limits<double>::infinity();
  bool any_measured = false;
  for (const Sharer& s : sharers_) {
    // The processor that solved last has an advantage, because a change makes the set-up longer.
    const double seconds = s.alone.hoped() / (s.processor.index == single_ ? kWorthMoving : 1);
    if (seconds < hoped) first = &s, hoped = seconds;
    any_measured = any_measured || s.alone.measured > 0;
  }
  std::string& why = verdict.why = "one processor " + seconds_text(best.alone);
  if (few) {
    why += ", and fewer than " + format("%.0f", kManyEnough) + " applies follow a set-up";
  } else if (std::count_if(shares_.rows.begin(), shares_.rows.end(), [](Index rows) { return rows > 0; }) < 2) {
    why += ", and no two are faster";
  } else if (failures_ < kMostFailures) {
    const Estimate together = estimate(names(), "together", shares_.all_seconds, kManyEnough);
    why = "several " + seconds_text(together) + ", " + why;
    // Sharing must gain at least the time of waking threads, because the next apply may find them asleep.
    const double needed = together.hoped();
    if (needed + std::max(kMeetingSeconds, (kLeastGain - 1) * needed) <= hoped) return true;
  }
  const bool for_once = any_measured && !first->alone.sure && first != &best;
  why = (for_once ? first->processor.known_as() + " is measured, " + seconds_text(first->alone) + ": "
                  : "rows are not shared: ") +
        why;
  if (any_measured) verdict.only = first;
  return false;
}

/// Find a processor whose power at work was not measured although its meter can; null if there is none. Rated power is
/// the power at full load: several times that of a card that mostly waits for copies.
template <typename T>
const Sharer* Sharing<T>::without_power() const {
  for (const Sharer& s : sharers_) {
    const bool can_tell = energy_ != nullptr && energy_->measures(s.meter.physical);
    if (!s.knows_watts && can_tell && !tried_.contains(s.processor.index)) return &s;
  }
  return nullptr;
}

template <typename T>
ShareVerdict Sharing<T>::decide(const Processors& processors, const Outlook<T>& outlook) {
  set_up_ = false;
  const Options& options = outlook.options;
  const Balance balance = parse_balance(options.balance);
  if (processors.count() < 2 && balance.objective != Objective::weights) {
    forget();
    return {};
  }
  find(processors, outlook);
  if (sharers_.size() < 2 && balance.objective != Objective::weights) return {};
  if (balance.objective == Objective::energy) {
    if (const Sharer* s = without_power()) {
      return {.only = s, .why = s->processor.known_as() + " works alone, to measure its power"};
    }
  }
  const bool few = outlook.applies < kManyEnough, time = balance.objective == Objective::time;
  ShareVerdict verdict;
  if (!few || !time || options.energy) verdict.objectives = find_shares(options, balance);
  if (sharers_.size() < 2 || found_.lines.rows() == 0) return verdict;
  if (!time) verdict.why = why_shared(balance.objective, options, sharers_);
  if (time && !pays(few, verdict)) return verdict;
  verdict.pieces = cut_into_pieces(found_.lines, shares_.rows);
  if (!verdict.shared()) verdict.only = &sharers_[verdict.pieces.front().owner];
  return verdict;
}

template <typename T>
void Sharing<T>::set_up(const Outlook<T>& outlook, const Known& known, std::vector<Piece> pieces) {
  single_.reset();
  std::vector<std::string> words;
  for (const Sharer& s : sharers_) words.push_back(s.processor.word());
  if (!lines_ || lines_->words() != words) lines_ = std::make_unique<SharedLines<T>>(outlook.options, words);
  try {
    lines_->set_up(outlook.bands, outlook.survey, std::move(pieces), known);
  } catch (...) {
    drop();
    ++failures_;
    throw;
  }
  set_up_ = true;
}

/// A new window of the meter begins if another processor works than before.
template <typename T>
void Sharing<T>::watch_single(int device, double set_up_seconds) {
  set_up_seconds_ = set_up_seconds;
  if (energy_ != nullptr && single_ != device) energy_->forget();
  single_ = device;
}

template <typename T>
void Sharing<T>::renew() {
  learn();
  write(true);
  drop();
  forget();
  store_.reset();
  single_.reset();
  failures_ = 0;
}

template <typename T>
void Sharing<T>::learn() {
  const MedianSeconds alone = std::exchange(single_seconds_, {});
  if (!store_) return;
  const auto rows = static_cast<double>(found_.lines.rows());
  const auto applies = static_cast<double>(active() ? lines_->seconds().count() : alone.count());
  const auto single =
      std::find_if(sharers_.begin(), sharers_.end(), [&](const Sharer& s) { return s.processor.index == single_; });
  if (active() && applies >= kManyEnough) {
    store_->put_seconds(key(names(), "together"), lines_->seconds().value() / rows);
    for (const auto& part : lines_->parts()) {
      const double seconds = part.seconds.value() / static_cast<double>(part.piece.lines.rows());
      store_->put_seconds(key(owner(part).processor.figures_of(), "beside"), seconds);
    }
  } else if (single != sharers_.end() && applies > 0) {
    const double seconds = alone.value() + (applies < kManyEnough ? set_up_seconds_ / applies : 0);
    store_->put_seconds(key(single->processor.figures_of(), "alone", applies), seconds / rows);
    if (energy_ != nullptr) learn_power(*single);
  }
  write(false);
}

/// Keep the measured power of a processor that worked alone, and the idle power of the others.
template <typename T>
void Sharing<T>::learn_power(const Sharer& worker) {
  if (energy_->told()) tried_.insert(worker.processor.index);
  if (energy_->share() < kWorking) return;
  for (const Sharer& s : sharers_) {
    const bool works = s.processor.index == worker.processor.index;
    if (!works && s.meter.physical == worker.meter.physical) continue;  // their powers cannot be told apart
    const std::string figure = key(s.processor.figures_of(), works ? "power" : "idle power");
    store_->put(figure, {energy_->watts(s.meter.physical)});
  }
}

/// Write the profile, unless that was done in the last seconds: set-ups may follow each other within milliseconds.
/// @param at_once  write in any case
template <typename T>
void Sharing<T>::write(bool at_once) {
  constexpr std::chrono::seconds kBetweenWrites{10};
  const auto now = std::chrono::steady_clock::now();
  if (!store_ || (!at_once && now - written_ <= kBetweenWrites)) return;
  store_->write();
  written_ = now;
}

template <typename T>
void Sharing<T>::update_report(Report& report) const {
  report.sharing.seconds = lines_->seconds().value();
  auto share = report.sharing.shares.begin();
  for (const auto& part : lines_->parts()) {
    const Report& own = part.solver->report();
    const Times times = part.solver->part_times();
    share->seconds = part.seconds.value();
    share++->bytes = times.bytes_to_device + times.bytes_from_device;
    report.rounding = larger(larger(report.rounding, own.rounding), part.solver->cut_report().rounding);
    if (report.above_bound.empty()) report.above_bound = own.above_bound;
  }
}

/// The report has the method and form of the largest share, and the largest bounds of all shares.
template <typename T>
void Sharing<T>::write_report(Report& report) const {
  const auto& parts = lines_->parts();
  const auto fewer = [](const auto& a, const auto& b) { return a.piece.lines.rows() < b.piece.lines.rows(); };
  Report merged = std::max_element(parts.begin(), parts.end(), fewer)->solver->report();
  merged.rows = report.rows;
  merged.lines = report.lines;
  merged.dominance = report.dominance;
  merged.degraded = report.degraded;
  merged.losses = report.losses;
  merged.energy = report.energy;
  merged.groups.clear();
  merged.device.why = "they share the rows";
  merged.device.costs.clear();
  merged.device.name.clear();
  merged.sharing = std::move(report.sharing);
  merged.sharing.predicted_seconds = shares_.all_seconds;
  merged.sharing.single_seconds = best_alone(sharers_).alone.seconds();
  const auto take = [](double& worst, double of_lines, double of_cuts) {
    worst = larger(larger(worst, of_lines), of_cuts);
  };
  for (const auto& part : parts) {
    const Report& own = part.solver->report();
    const CutReport& cut = part.solver->cut_report();
    merged.device.name += (merged.device.name.empty() ? "" : " + ") + own.device.name;
    for (GroupReport group : own.groups) {
      group.first_line += part.piece.first_line;
      merged.groups.push_back(std::move(group));
    }
    take(merged.certificate, own.certificate, cut.truncated ? cut.bound : 0.0);
    merged.certificate_above_tolerance |= own.certificate_above_tolerance || cut.above_tolerance;
    merged.units = std::max(merged.units, own.units);
    if (own.promise == Promise::by_rows || cut.lines > 0) merged.promise = Promise::by_rows;
    take(merged.backward_error, own.backward_error, cut.backward_error);
    merged.sharing.shares.push_back({own.device.name, own.device.type, own.device.platform, own.device.emulated,
                                     own.method, own.shape, part.piece.lines.rows(), shares_.seconds[part.piece.owner],
                                     0, 0});
  }
  merged.ready = true;
  report = std::move(merged);
  update_report(report);
}

template <typename T>
std::vector<LostDevice> Sharing<T>::lost() const {
  std::vector<LostDevice> lost;
  for (const auto& part : lines_->parts()) {
    for (const std::string& line : part.solver->report().degraded) lost.push_back({owner(part).processor.index, line});
  }
  return lost;
}

template class Sharing<float>;
template class Sharing<double>;

}  // namespace oclspkt
