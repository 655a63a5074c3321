// SPDX-License-Identifier: BSD-2-Clause
#include "sharing.hpp"

#include <bit>
#include <limits>
#include <utility>

#include "format.hpp"
#include "node.hpp"
#include "rounding.hpp"

namespace oclspkt {
namespace {

/// Largest grain of shares, in rows; a multiple of every scheme's tile.
constexpr Index kGrain = 4096;
/// Seconds that an apply spends on waking threads and waiting for the last one.
constexpr double kMeetingSeconds = 5e-5;
/// After this many failures, rows are not shared. For example, a line is singular or would be solved whole.
constexpr int kMostFailures = 6;
/// Measured power counts as power at work if applies take at least this share of the time.
constexpr double kWorking = 0.9;

int magnitude(double number) { return std::bit_width(static_cast<std::uint64_t>(number)); }

/// Predict the times of those processors that can solve the lines, each by its fastest way, transfers included.
template <typename T>
std::vector<Sharer> predict_sharers(const Processors& processors, const Outlook<T>& outlook) {
  const Processor host;
  std::vector<Way> ways = find_ways(processors, host, outlook);
  const auto rows = static_cast<double>(std::max<Index>(1, outlook.bands.lines().rows()));
  std::vector<Sharer> sharers;
  int cores = 0;  // of the host, in use by drivers for CPUs and by the host's own solver if it is a processor
  const auto add = [&](const Processor& processor) {
    const auto way = least_of(ways, &processor);
    if (way == ways.end()) return;
    Sharer s{.processor = processor,
             .meter = processor.host() ? PoweredDevice{} : powered(processor.info),
             .alone = {.predicted = outlook.applies < kManyEnough ? way->seconds : way->apply},
             .beside = {}};
    ShareModel& model = s.beside;
    model.latency = way->scheme->launches(way->plan) * processor.profile.launch_seconds;
    model.seconds_per_row = std::max(way->apply - model.latency, 0.01 * way->apply) / rows;
    const double copies = processor.host() ? 0 : processor.profile.copy_seconds(2 * rows * sizeof(T)) / rows;
    model.kernel_seconds_per_row = std::max(model.seconds_per_row - copies, 0.01 * model.seconds_per_row);
    model.watts = rated_watts(s.meter, parse_rated(outlook.options.rated_power));
    model.physical = s.meter.physical;
    if (model.physical == "cpu") cores += processor.info.cores;
    sharers.push_back(std::move(s));
  };
  for (const Processor& device : processors.devices) add(device);
  if (processors.host) add(host);
  // Drivers on the cores of the host hinder each other only if they use more cores than the process has.
  for (Sharer& s : sharers) {
    if (s.beside.physical == "cpu" && cores <= processor_share()) s.beside.physical.clear();
  }
  return sharers;
}

template <typename Seconds>
const Sharer& least_by(const std::vector<Sharer>& sharers, const Seconds& seconds) {
  return *std::min_element(sharers.begin(), sharers.end(),
                           [&](const Sharer& a, const Sharer& b) { return seconds(a) < seconds(b); });
}

double seconds_alone(const Sharer& s) { return s.alone.seconds(); }

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

/// Why each processor has its rows, for objectives other than time. @param one  a processor has all rows
std::string why_shared(Objective objective, const Options& options, const std::vector<Sharer>& sharers, bool one) {
  if (objective == Objective::kernel) return "shared by the time of kernels";
  if (objective == Objective::energy)
    return std::string(one ? "one processor" : "shared") + " for the least energy, by " + power_text(sharers);
  return objective == Objective::even ? "shared evenly" : "shared by weights " + options.balance;
}

}  // namespace

Sharing::~Sharing() {
  try {
    renew();
  } catch (const std::bad_alloc&) {
    // The measured figures are lost.
  }
}

/// Find the processors that can solve the lines, predict their times, and look up their measured figures.
/// @param shares  false: only the figures of processors that solve alone are needed
template <typename T>
void Sharing::find(const Processors& processors, const Outlook<T>& outlook, bool shares) {
  const LineSet& lines = outlook.bands.lines();
  const Survey& survey = outlook.survey;
  const double applies = std::max(1.0, outlook.applies);
  std::vector<int> asked{magnitude(applies), survey.shared, outlook.symmetric, survey.dominance > 1};
  for (const Processor& device : processors.devices) asked.push_back(device.index);
  if (processors.host) asked.push_back(Processor().index);
  // Predicting the figures of a processor takes as long as solving a few thousand rows, so they are kept.
  if (asked != asked_ || !(lines == lines_)) {
    sharers_ = predict_sharers(processors, outlook);
    names_.clear();
    for (const Sharer& s : sharers_) names_ += (names_.empty() ? "" : " + ") + s.processor.known_as();
    shares_ = {};
    kind_ = std::string(sizeof(T) == 8 ? "double" : "float") +
            (lines.contiguous() ? ", end to end" : ", side by side") + (survey.shared ? ", shared" : "") + ", 2^" +
            std::to_string(magnitude(static_cast<double>(lines.rows())));
    lines_ = lines;
    asked_ = std::move(asked);
  }
  if (!outlook.options.reproducible && !store_) store_.emplace(outlook.options.profile);
  for (Sharer& s : sharers_) {
    const std::string who = s.processor.figures_of();
    s.alone = estimate(who, "alone", s.alone.predicted, applies);
    if (!store_ || !shares) continue;
    if (const auto seconds = store_->find(key(who, "beside"))) {
      s.beside.latency = 0;
      s.beside.seconds_per_row = seconds->figure;
      // By itself a processor is no slower, even if its prediction was made while other programs ran.
      s.alone.predicted = std::min(s.alone.predicted, rows() * seconds->figure);
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

/// The profile's key of a figure. If few applies follow a set-up, the key has their number, because the figure then
/// includes a share of the set-up.
std::string Sharing::key(const std::string& who, const char* how, double applies) const {
  const std::string few = applies < kManyEnough ? ", 2^" + std::to_string(magnitude(applies)) + " applies" : "";
  return who + "|" + kind_ + few + "|" + how;
}

Estimate Sharing::estimate(const std::string& who, const char* how, double predicted, double applies) const {
  if (!store_) return {.predicted = predicted, .sure = true};
  // More than one set-up has to be measured: the first one builds kernels and touches new memory.
  const double enough = applies < kManyEnough ? 3 : 2;
  const std::optional<Measured> found = store_->find(key(who, how, applies));
  if (!found) return {.predicted = predicted};
  return {predicted, rows() * found->figure, found->set_ups >= enough};
}

/// Find the rows for each sharer. The shares of the last set-up stay unless others are clearly better, because moving
/// rows means moving their bands. Under `time`, processors on the host's memory get no rows if a card copies vectors,
/// because its copies need the cores.
/// @return the text for SharesReport::objectives
std::string Sharing::find_shares(const Options& options, const Balance& balance) {
  const bool any_copies = std::any_of(sharers_.begin(), sharers_.end(), [](const Sharer& s) { return s.copies(); });
  std::vector<ShareModel> models;
  for (const Sharer& s : sharers_) {
    models.push_back(s.beside);
    if (balance.objective == Objective::time && any_copies && !s.copies()) {
      models.back().seconds_per_row = std::numeric_limits<double>::infinity();
    }
  }
  const NodeModel node{.meeting_seconds = kMeetingSeconds};
  const Index all = lines_.rows();
  const auto share = [&](const Balance& by) {
    return share_rows(all, std::clamp<Index>(all / 64, 1, kGrain), models, node, by);
  };
  // Beside others a processor is slower than alone. The joules of one that solves all rows are those of its time alone.
  const auto share_or_not = [&](const Balance& by) {
    Shares least = share(by);
    const double Shares::*const cost = by.objective == Objective::energy ? &Shares::joules : &Shares::all_seconds;
    for (std::size_t k = 0; k < sharers_.size(); ++k) {
      std::vector<ShareModel> alone = models;
      alone[k].latency = 0;
      alone[k].seconds_per_row = sharers_[k].alone.seconds() / rows();
      Shares one = predict_single(k, all, alone, node);
      if (one.*cost <= least.*cost) least = std::move(one);
    }
    return least;
  };
  Shares shares = balance.objective == Objective::energy ? share_or_not(balance) : share(balance);
  if (!shares_.rows.empty()) {
    Shares kept = predict_shares(shares_.rows, models, node);
    const double Shares::*const cost = balance.objective == Objective::energy ? &Shares::joules : &Shares::all_seconds;
    if (kept.*cost <= kLeastGain * shares.*cost) shares = std::move(kept);
  }
  shares_ = std::move(shares);
  if (!options.energy && balance.objective != Objective::energy) return "";
  std::string text;
  for (const Objective objective : {Objective::time, Objective::energy}) {
    const Shares by = share_or_not({objective, {}});
    text += objective == Objective::time ? "time: " : "; energy: ";
    for (const Index part : by.rows) text += (text.ends_with(' ') ? "" : " + ") + std::to_string(part);
    text += format(" rows, %.3g s, ", by.all_seconds) + format("%.3g J", by.joules);
  }
  return text + "; by " + power_text(sharers_);
}

/// Share the rows, or leave them to one processor, whichever takes less time.
/// @param[out] only  the processor that solves by itself; unchanged if rows are shared, or nothing is measured
/// @return true if the rows are to be shared
bool Sharing::pays(bool few, std::string& why, const Sharer*& only) const {
  // The processor that solved last has an advantage, because a change makes the set-up longer.
  const auto hoped = [&](const Sharer& s) { return s.alone.hoped() / (s.processor.index == single_ ? kLeastGain : 1); };
  const Sharer& best = least_by(sharers_, seconds_alone);
  const Sharer& first = least_by(sharers_, hoped);
  why = "one processor " + seconds_text(best.alone);
  if (few) {
    why += ", and fewer than " + format("%.0f", kManyEnough) + " applies follow a set-up";
  } else if (std::count_if(shares_.rows.begin(), shares_.rows.end(), [](Index rows) { return rows > 0; }) < 2) {
    why += ", and no two are faster";
  } else if (failures_ < kMostFailures) {
    const Estimate together = estimate(names_, "together", shares_.all_seconds, kManyEnough);
    why = "several " + seconds_text(together) + ", " + why;
    // Sharing must gain at least the time of waking threads, because the next apply may find them asleep.
    const double needed = together.hoped();
    if (needed + std::max(kMeetingSeconds, (kLeastGain - 1) * needed) <= hoped(first)) return true;
  }
  const bool any_measured =
      std::any_of(sharers_.begin(), sharers_.end(), [](const Sharer& s) { return s.alone.measured > 0; });
  const bool for_once = any_measured && !first.alone.sure && &first != &best;
  why = (for_once ? first.processor.known_as() + " is measured, " + seconds_text(first.alone) + ": "
                  : "rows are not shared: ") +
        why;
  if (any_measured) only = &first;
  return false;
}

/// Find a processor whose power at work was not measured although its meter can; null if there is none. Rated power is
/// the power at full load: several times that of a card that mostly waits for copies.
const Sharer* Sharing::without_power() const {
  for (const Sharer& s : sharers_) {
    const bool can_tell = energy_ != nullptr && energy_->measures(s.meter.physical);
    if (!s.knows_watts && can_tell && !tried_.contains(s.processor.index)) return &s;
  }
  return nullptr;
}

template <typename T>
const Sharer* Sharing::decide(const Processors& processors, const Outlook<T>& outlook, SharesReport& report) {
  pieces_.clear();
  const Options& options = outlook.options;
  const Balance balance = parse_balance(options.balance);
  const bool weights = balance.objective == Objective::weights, time = balance.objective == Objective::time;
  const bool few = outlook.applies < kManyEnough, shares = !few || !time || options.energy;
  processors.count() > 1 || weights ? find(processors, outlook, shares) : forget();
  if (sharers_.size() < 2 && !weights) return nullptr;
  const Sharer* only = balance.objective == Objective::energy ? without_power() : nullptr;
  if (only != nullptr) {
    report.why = only->processor.known_as() + " works alone, to measure its power";
    return only;
  }
  if (shares) report.objectives = find_shares(options, balance);
  if (sharers_.size() < 2 || lines_.rows() == 0) return nullptr;
  if (time && !pays(few, report.why, only)) return only;
  std::vector<Piece> pieces = cut_into_pieces(lines_, shares_.rows);
  if (!time) report.why = why_shared(balance.objective, options, sharers_, pieces.size() < 2);
  if (pieces.size() < 2) return &sharers_[pieces.front().owner];
  for (Piece& piece : pieces) piece.predicted_seconds = shares_.seconds[piece.owner];
  report.predicted_seconds = shares_.all_seconds;
  report.single_seconds = least_by(sharers_, seconds_alone).alone.seconds();
  pieces_ = std::move(pieces);
  single_.reset();
  return nullptr;
}

/// A new window of the meter begins if another processor works than before.
void Sharing::watch_single(int device, double set_up_seconds) {
  set_up_seconds_ = set_up_seconds;
  if (energy_ != nullptr && single_ != device) energy_->forget();
  single_ = device;
}

void Sharing::renew() {
  learn();
  if (store_) store_->write();
  pieces_.clear();
  forget();
  store_.reset();
  single_.reset();
  failures_ = 0;
}

void Sharing::learn() {
  constexpr std::chrono::seconds kBetweenWrites{10};  // set-ups may follow each other within milliseconds
  const MedianSeconds measured = std::exchange(seconds_, {});
  const auto applies = static_cast<double>(measured.count());
  if (!store_) return;
  const auto single =
      std::find_if(sharers_.begin(), sharers_.end(), [&](const Sharer& s) { return s.processor.index == single_; });
  if (!pieces_.empty() && applies >= kManyEnough) {
    store_->put_seconds(key(names_, "together"), measured.value() / rows());
    for (const Piece& piece : pieces_) {
      const double seconds = piece.seconds.value() / static_cast<double>(piece.lines.rows());
      store_->put_seconds(key(sharers_[piece.owner].processor.figures_of(), "beside"), seconds);
    }
  } else if (single != sharers_.end() && applies > 0) {
    const double seconds = measured.value() + (applies < kManyEnough ? set_up_seconds_ / applies : 0);
    store_->put_seconds(key(single->processor.figures_of(), "alone", applies), seconds / rows());
    if (energy_ != nullptr) learn_power(*single);
  }
  store_->write(kBetweenWrites);
}

/// Keep the measured power of a processor that worked alone, and the idle power of the others.
void Sharing::learn_power(const Sharer& worker) {
  if (energy_->told()) tried_.insert(worker.processor.index);
  if (energy_->share() < kWorking) return;
  for (const Sharer& s : sharers_) {
    const bool works = s.processor.index == worker.processor.index;
    if (!works && s.meter.physical == worker.meter.physical) continue;  // their powers cannot be told apart
    const std::string figure = key(s.processor.figures_of(), works ? "power" : "idle power");
    store_->put(figure, {energy_->watts(s.meter.physical)});
  }
}

template const Sharer* Sharing::decide(const Processors&, const Outlook<float>&, SharesReport&);
template const Sharer* Sharing::decide(const Processors&, const Outlook<double>&, SharesReport&);

}  // namespace oclspkt
