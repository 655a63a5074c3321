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

/// Rows that end where tiles of every scheme do.
constexpr Index kGrain = 4096;
/// What is decided stays where something else is predicted to be faster by less than this.
constexpr double kWorthMoving = 1.05;
/// Seconds of waking threads and waiting for the last one.
constexpr double kMeetingSeconds = 5e-5;
/// A processor works alone at most so often to have its power measured.
constexpr int kMostAlone = 3;
/// Set-ups of shares that may fail, as lines may be singular or would be solved whole.
constexpr int kMostFailures = 6;
/// The share of the time from which on power is that of work: what lies between applies is not theirs.
constexpr double kWorking = 0.9;

std::string seconds_text(const Estimate& estimate) {
  return format("%.3g us", 1e6 * estimate.seconds()) + estimate.source();
}

/// Whose power is measured, and whose is rated.
std::string power_text(const std::vector<Sharer>& sharers) {
  std::string measured, rated;
  for (const Sharer& s : sharers) {
    std::string& names = s.knows_watts ? measured : rated;
    names += (names.empty() ? "" : ", ") + s.processor.known_as();
  }
  if (measured.empty() || rated.empty()) return rated.empty() ? "measured power" : "rated power";
  return "measured power of " + measured + " and rated power of " + rated;
}

/// Why rows are shared as they are, whatever time that takes.
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
    // What was measured is lost.
  }
}

/// The rows for each sharer; those of the last set-up where others are hardly better, as rows that move take their
/// bands along. Under `time` cores have none beside a card that copies: its copies need them, and cores and copies
/// together were slower than the card alone (16 cores), or faster by less than from one day to another (32 cores).
template <typename T>
void Sharing<T>::find_shares(const Options& options, const Balance& balance) {
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
  const std::string of = sharers_.names() + "|" + sharers_.kind() + "|" + options.balance;
  if (shares_of_ == of && std::accumulate(shares_.rows.begin(), shares_.rows.end(), Index{0}) == rows) {
    Shares kept = predict_shares(shares_.rows, models, node);
    const auto cost = [&](const Shares& s) {
      return balance.objective == Objective::energy ? s.joules : s.all_seconds;
    };
    if (cost(kept) <= kWorthMoving * cost(shares)) shares = std::move(kept);
  }
  shares_ = std::move(shares);
  shares_of_ = of;
  objectives_.clear();
  for (const Objective objective : {Objective::time, Objective::energy}) {
    if (!options.energy && balance.objective != Objective::energy) continue;
    const Shares by = share({objective, {}});
    objectives_ += objective == Objective::time ? "time: " : "; energy: ";
    for (const Index part : by.rows) objectives_ += (objectives_.ends_with(' ') ? "" : " + ") + std::to_string(part);
    objectives_ += format(" rows, %.3g s, ", by.all_seconds) + format("%.3g J", by.joules);
    if (objective == Objective::energy) objectives_ += "; by " + power_text(sharers);
  }
}

/// Share the rows, or leave them to one, whichever takes less time.
template <typename T>
ShareVerdict Sharing<T>::least_time(bool few) const {
  const Sharer& best = sharers_.best_alone();
  const Sharer* first = &best;  // by the least time that it may reach
  double hoped = std::numeric_limits<double>::infinity();
  bool any_measured = false;
  for (const Sharer& s : sharers()) {
    // A set-up is longer where another processor had the one before.
    const double seconds = s.alone.hoped() / (s.who == last_single_ ? kWorthMoving : 1);
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
    // By less than waking threads takes, one is not known to be slower: the next apply may find them asleep.
    const double needed = together.hoped();
    if (needed + std::max(kMeetingSeconds, (kLeastGain - 1) * needed) <= hoped) return {true, nullptr, why};
  }
  const bool for_once = any_measured && !first->alone.sure && first != &best;
  why = (for_once ? first->processor.known_as() + " is measured, " + seconds_text(first->alone) + ": "
                  : "rows are not shared: ") +
        why;
  return {false, any_measured ? first : nullptr, why};
}

/// A processor whose power at work is not known although its meter can tell; null if there is none. Rated power is that
/// of the heaviest load, several times the power of a card that mostly waits for copies. Applies behind one set-up may
/// be too few to fill a window of the meter.
template <typename T>
const Sharer* Sharing<T>::without_power() {
  for (const Sharer& s : sharers()) {
    const bool can_tell = energy_ != nullptr && energy_->measures(s.meter.physical);
    if (!s.knows_watts && can_tell && worked_alone_[s.who]++ < kMostAlone) return &s;
  }
  return nullptr;
}

template <typename T>
ShareVerdict Sharing<T>::decide(const Processors& processors, const Outlook<T>& outlook) {
  set_up_ = false;
  single_ = nullptr;
  const Options& options = outlook.options;
  const Balance balance = parse_balance(options.balance);
  if (processors.count() < 2 && balance.objective != Objective::weights) {
    sharers_.forget();
    return {};
  }
  sharers_.find(processors, outlook);
  if (sharers().size() < 2 && balance.objective != Objective::weights) return {};
  if (balance.objective == Objective::energy) {
    if (const Sharer* s = without_power()) {
      return {false, s, s->processor.known_as() + " works alone, to measure its power"};
    }
  }
  const bool few = outlook.applies < kManyEnough, time = balance.objective == Objective::time;
  if (!few || !time || options.energy) find_shares(options, balance);
  if (sharers().size() < 2 || sharers_.rows() == 0) return {};
  ShareVerdict verdict =
      time ? least_time(few) : ShareVerdict{true, nullptr, why_shared(balance.objective, options, sharers())};
  if (!verdict.shared) return verdict;
  pieces_ = cut_into_pieces(outlook.bands.lines(), shares_.rows);
  verdict.shared = pieces_.size() > 1;
  if (!verdict.shared) verdict.only = &sharers()[pieces_.front().owner];
  return verdict;
}

template <typename T>
void Sharing<T>::set_up(const Outlook<T>& outlook, const Known& known) {
  last_single_.clear();
  std::vector<std::string> words;
  for (const Sharer& s : sharers()) words.push_back(s.word);
  if (!lines_ || lines_->words() != words) lines_ = std::make_unique<SharedLines<T>>(outlook.options, words);
  try {
    lines_->set_up(outlook.bands, outlook.survey, std::move(pieces_), known);
  } catch (...) {
    drop();
    ++failures_;
    throw;
  }
  set_up_ = true;
}

template <typename T>
void Sharing<T>::watch_single(int device, double set_up_seconds) {
  single_seconds_.clear();
  set_up_seconds_ = set_up_seconds;
  for (const Sharer& s : sharers()) {
    if (s.processor.index == device) single_ = &s;
  }
  last_single_ = single_ != nullptr ? single_->who : "";
}

template <typename T>
void Sharing<T>::drop() {
  lines_.reset();
  set_up_ = false;
}

template <typename T>
void Sharing<T>::renew() {
  learn();
  drop();
  single_ = nullptr;
  failures_ = 0;
  sharers_.forget();
}

template <typename T>
void Sharing<T>::learn() {
  if (!sharers_.learns() || sharers().empty()) return;
  if (active() && static_cast<double>(lines_->all_applies()) >= kManyEnough) {
    sharers_.put(sharers_.names(), "together", {.seconds_per_row = lines_->all_seconds() / sharers_.rows()});
    for (std::size_t p = 0; p < lines_->pieces().size(); ++p) {
      const auto rows = static_cast<double>(lines_->pieces()[p].lines.rows());
      sharers_.put(owner(p).who, "beside", {.seconds_per_row = lines_->seconds(p) / rows});
    }
  } else if (!active() && single_ != nullptr && single_seconds_.count() > 0) {
    const auto applies = static_cast<double>(single_seconds_.count());
    const double seconds = single_seconds_.value() + (applies < kManyEnough ? set_up_seconds_ / applies : 0);
    sharers_.put(single_->who, "alone", {.seconds_per_row = seconds / sharers_.rows()}, applies);
  }
  learn_power();
  sharers_.write(false);
}

/// Keep the power of processors that worked, and of those that idled meanwhile.
template <typename T>
void Sharing<T>::learn_power() {
  if (energy_ == nullptr) return;
  const auto keep = [&](const Sharer& s, const char* how) {
    sharers_.put(s.who, how, {.watts = energy_->watts(s.meter.physical)});
  };
  const bool together = active(), known = energy_->share() >= kWorking;
  for (std::size_t p = 0; known && together && p < lines_->pieces().size(); ++p) {
    if (lines_->seconds(p) >= kWorking * lines_->all_seconds()) keep(owner(p), "power");
  }
  for (const Sharer& s : sharers()) {
    if (!known || together || single_ == nullptr) break;
    const bool works = s.meter.physical == single_->meter.physical;
    if (!works || &s == single_) keep(s, works ? "power" : "idle power");
  }
  energy_->forget();
}

template <typename T>
void Sharing<T>::update_report(Report& report) const {
  report.sharing.seconds = lines_->all_seconds();
  for (std::size_t p = 0; p < report.sharing.shares.size(); ++p) {
    const Report& own = lines_->report(p);
    const Times times = lines_->times(p);
    report.sharing.shares[p].seconds = lines_->seconds(p);
    report.sharing.shares[p].bytes = times.bytes_to_device + times.bytes_from_device;
    report.rounding = larger(larger(report.rounding, own.rounding), lines_->cut_report(p).rounding);
    if (report.above_bound.empty()) report.above_bound = own.above_bound;
  }
}

/// The report of the largest share, with the largest bounds of all.
template <typename T>
void Sharing<T>::write_report(Report& report) const {
  const std::vector<Piece>& pieces = lines_->pieces();
  const auto fewer = [](const Piece& a, const Piece& b) { return a.lines.rows() < b.lines.rows(); };
  const auto largest = std::max_element(pieces.begin(), pieces.end(), fewer) - pieces.begin();
  Report merged = lines_->report(static_cast<std::size_t>(largest));
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
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const Report& own = lines_->report(p);
    const CutReport& cut = lines_->cut_report(p);
    merged.device.name += (p == 0 ? "" : " + ") + own.device.name;
    for (GroupReport group : own.groups) {
      group.first_line += pieces[p].first_line;
      merged.groups.push_back(std::move(group));
    }
    take(merged.certificate, own.certificate, cut.truncated ? cut.bound : 0.0);
    merged.certificate_above_tolerance |= own.certificate_above_tolerance || cut.above_tolerance;
    merged.units = std::max(merged.units, own.units);
    if (own.promise == Promise::by_rows || cut.lines > 0) merged.promise = Promise::by_rows;
    take(merged.backward_error, own.backward_error, cut.backward_error);
    merged.sharing.shares.push_back({own.device.name, own.device.type, own.device.platform, own.device.emulated,
                                     own.method, own.shape, pieces[p].lines.rows(), shares_.seconds[pieces[p].owner], 0,
                                     0});
  }
  merged.ready = true;
  report = std::move(merged);
  update_report(report);
}

template <typename T>
std::vector<LostDevice> Sharing<T>::lost() const {
  std::vector<LostDevice> lost;
  for (std::size_t p = 0; p < lines_->pieces().size(); ++p) {
    for (const std::string& line : lines_->report(p).degraded) lost.push_back({owner(p).processor.index, line});
  }
  return lost;
}

template class Sharing<float>;
template class Sharing<double>;

}  // namespace oclspkt
