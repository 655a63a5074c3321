// SPDX-License-Identifier: BSD-2-Clause
#include "sharing.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
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

std::string seconds_text(const Estimate& estimate) {
  return format("%.3g us", 1e6 * estimate.seconds()) + estimate.source();
}

/// In words, which processors have measured power, and which rated power.
std::string power_text(const std::vector<Sharer>& sharers) {
  std::string measured, rated;
  for (const Sharer& s : sharers) {
    std::string& names = s.knows_watts ? measured : rated;
    names += (names.empty() ? "" : ", ") + s.processor.known_as();
  }
  if (measured.empty() || rated.empty()) return rated.empty() ? "measured power" : "rated power";
  return "measured power of " + measured + " and rated power of " + rated;
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
    sharers_.write(true);
  } catch (const std::bad_alloc&) {
    // The measured figures are lost.
  }
}

/// Find the rows for each sharer. The shares of the last set-up stay unless others are clearly better, because moving
/// rows means moving their bands. Under `time`, processors on the host's memory get no rows if a card copies vectors,
/// because its copies need the cores. Measured, cores and card together were slower than the card alone (16 cores), or
/// faster by less than the variation from day to day (32 cores).
/// @return the text for ShareVerdict::objectives
template <typename T>
std::string Sharing<T>::find_shares(const Options& options, const Balance& balance) {
  const std::vector<Sharer>& sharers = sharers_.each();
  const bool any_copies = std::any_of(sharers.begin(), sharers.end(), [](const Sharer& s) { return s.copies(); });
  std::vector<ShareModel> models;
  for (const Sharer& s : sharers) {
    models.push_back(s.beside);
    if (balance.objective == Objective::time && any_copies && !s.copies()) {
      models.back().seconds_per_row = std::numeric_limits<double>::infinity();
    }
  }
  const NodeModel node{.meeting_seconds = kMeetingSeconds};
  const auto rows = static_cast<Index>(sharers_.rows());
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
  return objectives + "; by " + power_text(sharers);
}

/// Share the rows, or leave them to one processor, whichever takes less time.
template <typename T>
ShareVerdict Sharing<T>::least_time(bool few) const {
  const Sharer& best = sharers_.best_alone();
  const Sharer* first = &best;  // the sharer with the least Estimate::hoped()
  double hoped = std::numeric_limits<double>::infinity();
  bool any_measured = false;
  for (const Sharer& s : sharers()) {
    // The processor that solved last has an advantage, because a change makes the set-up longer.
    const double seconds = s.alone.hoped() / (s.who == single_ ? kWorthMoving : 1);
    if (seconds < hoped) first = &s, hoped = seconds;
    any_measured = any_measured || s.alone.measured > 0;
  }
  std::string why = "one processor " + seconds_text(best.alone);
  if (few) {
    why += ", and fewer than " + format("%.0f", kManyEnough) + " applies follow a set-up";
  } else if (std::count_if(shares_.rows.begin(), shares_.rows.end(), [](Index rows) { return rows > 0; }) < 2) {
    why += ", and no two are faster";
  } else if (failures_ < kMostFailures) {
    const Estimate together = sharers_.together(shares_.all_seconds);
    why = "several " + seconds_text(together) + ", " + why;
    // Sharing must gain at least the time of waking threads, because the next apply may find them asleep.
    const double needed = together.hoped();
    if (needed + std::max(kMeetingSeconds, (kLeastGain - 1) * needed) <= hoped) return {true, nullptr, why};
  }
  const bool for_once = any_measured && !first->alone.sure && first != &best;
  why = (for_once ? first->processor.known_as() + " is measured, " + seconds_text(first->alone) + ": "
                  : "rows are not shared: ") +
        why;
  return {false, any_measured ? first : nullptr, why};
}

/// Find a processor whose power at work was not measured although its meter can; null if there is none. Rated power is
/// the power at full load: several times that of a card that mostly waits for copies.
template <typename T>
const Sharer* Sharing<T>::without_power() const {
  for (const Sharer& s : sharers()) {
    const bool can_tell = energy_ != nullptr && energy_->measures(s.meter.physical);
    if (!s.knows_watts && can_tell && !tried_.contains(s.who)) return &s;
  }
  return nullptr;
}

template <typename T>
ShareVerdict Sharing<T>::decide(const Processors& processors, const Outlook<T>& outlook) {
  set_up_ = false;
  const Options& options = outlook.options;
  const Balance balance = parse_balance(options.balance);
  if (processors.count() < 2 && balance.objective != Objective::weights) {
    sharers_.forget();
    return {};
  }
  if (sharers_.find(processors, outlook)) shares_ = {};
  if (sharers().size() < 2 && balance.objective != Objective::weights) return {};
  if (balance.objective == Objective::energy) {
    if (const Sharer* s = without_power()) {
      return {false, s, s->processor.known_as() + " works alone, to measure its power"};
    }
  }
  const bool few = outlook.applies < kManyEnough, time = balance.objective == Objective::time;
  std::string objectives;
  if (!few || !time || options.energy) objectives = find_shares(options, balance);
  ShareVerdict verdict;
  if (sharers().size() >= 2 && sharers_.rows() > 0) {
    verdict = time ? least_time(few) : ShareVerdict{true, nullptr, why_shared(balance.objective, options, sharers())};
  }
  verdict.objectives = std::move(objectives);
  if (!verdict.shared) return verdict;
  pieces_ = cut_into_pieces(outlook.bands.lines(), shares_.rows);
  verdict.shared = pieces_.size() > 1;
  if (!verdict.shared) verdict.only = &sharers()[pieces_.front().owner];
  return verdict;
}

template <typename T>
void Sharing<T>::set_up(const Outlook<T>& outlook, const Known& known) {
  single_.clear();
  std::vector<std::string> words;
  std::string work;
  for (const Sharer& s : sharers()) {
    words.push_back(s.word);
    work += s.who + ": " + std::to_string(shares_.rows[words.size() - 1]) + "; ";
  }
  if (!lines_ || lines_->words() != words) lines_ = std::make_unique<SharedLines<T>>(outlook.options, words);
  try {
    lines_->set_up(outlook.bands, outlook.survey, std::move(pieces_), known);
  } catch (...) {
    drop();
    ++failures_;
    throw;
  }
  set_up_ = true;
  note_work(std::move(work));
}

template <typename T>
void Sharing<T>::watch_single(int device, double set_up_seconds) {
  single_.clear();
  set_up_seconds_ = set_up_seconds;
  for (const Sharer& s : sharers()) {
    if (s.processor.index == device) single_ = s.who;
  }
  note_work(single_);
}

/// Begin a new window of the meter if the work of processors changes. A set-up that changes nothing keeps the window.
template <typename T>
void Sharing<T>::note_work(std::string work) {
  if (energy_ != nullptr && work != work_) energy_->forget();
  work_ = std::move(work);
}

template <typename T>
void Sharing<T>::drop() {
  if (active()) work_.clear();  // other processors solve from now on
  lines_.reset();
  set_up_ = false;
}

template <typename T>
void Sharing<T>::renew() {
  learn();
  drop();
  single_.clear();
  failures_ = 0;
  sharers_.renew();
}

template <typename T>
void Sharing<T>::learn() {
  if (!sharers_.learns() || sharers().empty()) return;
  if (active() && static_cast<double>(lines_->seconds().count()) >= kManyEnough) {
    sharers_.put(sharers_.names(), "together", {.seconds_per_row = lines_->seconds().value() / sharers_.rows()});
    for (const auto& part : lines_->parts()) {
      const auto rows = static_cast<double>(part.piece.lines.rows());
      sharers_.put(owner(part).who, "beside", {.seconds_per_row = part.seconds.value() / rows});
    }
  } else if (!active() && single_seconds_.count() > 0) {
    const auto applies = static_cast<double>(single_seconds_.count());
    const double seconds = single_seconds_.value() + (applies < kManyEnough ? set_up_seconds_ / applies : 0);
    sharers_.put(single_, "alone", {.seconds_per_row = seconds / sharers_.rows()}, applies);
  }
  single_seconds_ = {};
  if (energy_ != nullptr) learn_power();
  sharers_.write(false);
}

/// Keep the measured power of processors that worked, and the idle power of the others.
template <typename T>
void Sharing<T>::learn_power() {
  const auto same = [&](const Sharer& s) { return s.who == single_; };
  const auto single = std::find_if(sharers().begin(), sharers().end(), same);
  if (!active() && single != sharers().end() && energy_->told()) tried_.insert(single_);
  if (energy_->share() < kWorking) return;
  const auto keep = [&](const Sharer& s, const char* how) {
    sharers_.put(s.who, how, {.watts = energy_->watts(s.meter.physical)});
  };
  if (active()) {
    for (const auto& part : lines_->parts()) {
      if (part.seconds.value() >= kWorking * lines_->seconds().value()) keep(owner(part), "power");
    }
  } else if (single != sharers().end()) {
    keep(*single, "power");
    for (const Sharer& s : sharers()) {
      if (s.meter.physical != single->meter.physical) keep(s, "idle power");
    }
  }
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
  merged.sharing.single_seconds = sharers_.best_alone().alone.seconds();
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
