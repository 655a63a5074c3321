// SPDX-License-Identifier: BSD-2-Clause
#include "sharing.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "format.hpp"
#include "node.hpp"
#include "rounding.hpp"

namespace oclspkt {
namespace {

/// Rows that end where tiles of every scheme do.
constexpr Index kGrain = 4096;
/// Bytes of a vector that caches may hold.
constexpr double kInCaches = 8e6;
/// Shares stay where others are predicted to be faster by less than this.
constexpr double kWorthMoving = 1.05;
/// With fewer applies a set-up rows are not shared: to set shares up takes longer than these gain.
constexpr double kManyEnough = 16;
/// What was never measured may be so much faster than predicted.
constexpr double kHope = 2;
/// So many set-ups with few applies have to agree on a figure: the first one may be of a bad moment.
constexpr double kFewFigures = 3;
/// Set-ups that may begin what has no such figure: with few applies those in a row but the first leave one.
constexpr int kMostTries = 6;
/// Waking threads and waiting for the last one.
constexpr double kMeetingSeconds = 5e-5;

std::string microseconds_text(double seconds) { return format("%.3g us", 1e6 * seconds); }

int magnitude(double number) { return std::bit_width(static_cast<std::uint64_t>(number)); }

/// Of what solves figures of one processor are. Where few applies follow a set-up, they have a share of it.
std::string alone_kind(const std::string& kind, double applies) {
  return kind + (applies < kManyEnough ? ", 2^" + std::to_string(magnitude(applies)) + " applies" : "");
}

/// Whose power is measured, and whose is rated.
std::string power_text(const std::vector<Sharer>& sharers) {
  const auto measured = [](const Sharer& s) { return s.measured_watts; };
  if (std::all_of(sharers.begin(), sharers.end(), measured)) return "measured power";
  std::string names;
  for (const Sharer& s : sharers) {
    if (measured(s)) names += (names.empty() ? "" : ", ") + s.processor.known_as();
  }
  return names.empty() ? "rated power" : "measured power of " + names + " and rated power of the others";
}

/// Why rows are shared as they are, whatever time that takes.
std::string why_shared(Objective objective, const Options& options, const std::vector<Sharer>& sharers) {
  switch (objective) {
    case Objective::kernel:
      return "shared by the time of kernels";
    case Objective::energy:
      return "shared for the least energy, by " + power_text(sharers);
    case Objective::even:
      return "shared evenly";
    default:
      return "shared by weights " + options.balance;
  }
}

}  // namespace

template <typename T>
Sharing<T>::~Sharing() {
  try {
    learn();
    figures_.write();
  } catch (const std::bad_alloc&) {
    // What was measured is lost.
  }
}

/// Find the sharers, unless they are those of the last set-up, for the same lines: to predict a processor's figures
/// takes as long as a few thousand rows.
template <typename T>
void Sharing<T>::find(const Processors& processors, const Processor& host, const Outlook<T>& outlook) {
  const LineSet& lines = outlook.bands.lines();
  const double applies = std::max(1.0, outlook.applies);
  Found now{lines, {}, magnitude(applies), outlook.survey.shared, outlook.symmetric, outlook.survey.dominance > 1};
  for (const Processor& device : processors.devices) now.processors.push_back(device.index);
  if (processors.host) now.processors.push_back(host.index);
  sharers_.rows = static_cast<double>(lines.rows());
  if (found_ == now) return;
  found_.reset();
  sharers_.each = find_sharers(processors, host, outlook, applies < kManyEnough);
  sharers_.names.clear();
  for (const Sharer& s : sharers_.each) {
    sharers_.names += (sharers_.names.empty() ? "" : " + ") + s.processor.known_as();
  }
  found_ = std::move(now);
}

/// Select the figures measured for this kind of solve; use those that exist.
template <typename T>
void Sharing<T>::recall(const Outlook<T>& outlook) {
  const Options& options = outlook.options;
  kind_ = std::string(sizeof(T) == 8 ? "double" : "float") +
          (layout_.contiguous() ? ", end to end" : ", side by side") + (outlook.survey.shared ? ", shared" : "") +
          ", 2^" + std::to_string(magnitude(sharers_.rows));
  if (options.reproducible) {
    figures_.close();
  } else {
    figures_.open(options.profile);
  }
  sharers_.take(figures_, alone_kind(kind_, std::max(1.0, outlook.applies)), kind_);
}

/// Bytes a second of the host's memory that this process has; infinity where it is not what processors wait for.
template <typename T>
double Sharing<T>::host_rate(const Options& options) const {
  if (options.reproducible || sharers_.rows * sizeof(T) < kInCaches) return std::numeric_limits<double>::infinity();
  return host_memory_rate() / node_place().ranks;
}

/// The rows for each sharer; those of the last set-up where others are hardly better, as rows that move take their
/// bands along. Under `time` cores have none beside a card that copies: its copies need them, and cores and copies
/// together were slower than the card alone (16 cores), or faster by less than from one day to another (32 cores).
template <typename T>
Shares Sharing<T>::find_shares(const Options& options, const Balance& balance) {
  const bool any_copies =
      std::any_of(sharers_.each.begin(), sharers_.each.end(), [](const Sharer& s) { return s.copies(); });
  std::vector<ShareModel> models;
  for (const Sharer& s : sharers_.each) {
    models.push_back(s.beside);
    if (balance.objective == Objective::time && any_copies && !s.copies()) {
      models.back().seconds_per_row = std::numeric_limits<double>::infinity();
    }
  }
  const NodeModel node{host_rate(options), kMeetingSeconds};
  const Index grain = std::clamp<Index>(layout_.rows() / 64, 1, kGrain);
  Shares shares = share_rows(layout_.rows(), grain, models, node, balance);
  const std::string shared = sharers_.names + "|" + kind_ + "|" + options.balance;
  if (shared == kept_for_ && std::accumulate(kept_.begin(), kept_.end(), Index{0}) == layout_.rows()) {
    Shares kept = predict_shares(kept_, models, node, balance.objective);
    const bool cheap = balance.objective == Objective::energy ? kept.joules <= kWorthMoving * shares.joules
                                                              : kept.all_seconds <= kWorthMoving * shares.all_seconds;
    if (cheap) shares = std::move(kept);
  }
  objectives_.clear();
  if (options.energy || balance.objective == Objective::energy) compare_objectives(grain, models, node);
  kept_for_ = shared;
  kept_ = shares.rows;
  return shares;
}

/// Say which shares `time` and `energy` choose, and what both take.
template <typename T>
void Sharing<T>::compare_objectives(Index grain, const std::vector<ShareModel>& models, const NodeModel& node) {
  for (const Objective objective : {Objective::time, Objective::energy}) {
    const Shares shares = share_rows(layout_.rows(), grain, models, node, {objective, {}});
    objectives_ += objective == Objective::time ? "time: " : "; energy: ";
    for (std::size_t i = 0; i < shares.rows.size(); ++i) {
      objectives_ += (i == 0 ? "" : " + ") + std::to_string(shares.rows[i]);
    }
    objectives_ += format(" rows, %.3g s, ", shares.all_seconds) + format("%.3g J", shares.joules);
  }
  objectives_ += "; by " + power_text(sharers_.each);
}

/// The name of the figure of all together. Shares that differ by more than an eighth of the rows are others.
template <typename T>
std::string Sharing<T>::together_key(const std::vector<Index>& rows) const {
  std::string eighths;
  for (const Index r : rows) {
    eighths += (eighths.empty() ? " " : ":") + std::to_string(std::lround(8 * static_cast<double>(r) / sharers_.rows));
  }
  return ShareFigures::key(sharers_.names + eighths, kind_, "together");
}

/// True if a figure is missing, or is of too few applies, and set-ups have not tried in vain to get it.
template <typename T>
bool Sharing<T>::may_try(const std::string& who, double applies) const {
  const auto tries = tries_.find(who);
  const std::optional<Measured> found = figures_.find(who);
  const bool final = found && (applies >= kManyEnough || found->applies >= kFewFigures * applies);
  return figures_.kept() && !final && (tries == tries_.end() || tries->second < kMostTries);
}

/// Share the rows, or leave them to one, whichever takes less time. What was measured counts as it is. What was only
/// predicted counts kHope times as fast, so that whatever may be the best is measured once.
template <typename T>
ShareVerdict Sharing<T>::least_time(const Shares& shares, double applies) {
  const Sharer& best = sharers_.best_alone();
  const bool any_measured = sharers_.any_measured_alone();
  const auto alone_key = [&](const Sharer& s) {
    return ShareFigures::key(s.processor.figures_of(), alone_kind(kind_, applies), "alone");
  };
  const Sharer* first = &best;  // by what may be hoped for
  double hoped = std::numeric_limits<double>::infinity();
  for (const Sharer& s : sharers_.each) {
    double seconds = sharers_.alone_seconds(s) / (may_try(alone_key(s), applies) ? kHope : 1);
    // A set-up is longer where another processor had the one before.
    if (applies < kManyEnough && s.processor.figures_of() == last_) seconds /= kWorthMoving;
    if (seconds < hoped) first = &s, hoped = seconds;
  }
  const double single = sharers_.alone_seconds(best);
  std::string why = "one processor " + microseconds_text(single) + (best.measured_alone ? " measured" : " predicted");
  const auto leave_to_one = [&](const std::string& reason) {
    const bool tried = first != &best && any_measured;
    if (tried) ++tries_[alone_key(*first)];
    const std::string text = tried ? first->processor.known_as() + " is measured, " +
                                         microseconds_text(sharers_.alone_seconds(*first)) + " predicted: "
                                   : "rows are not shared: ";
    return ShareVerdict{false, any_measured ? first : nullptr, text + reason};
  };
  const auto several = std::count_if(shares.rows.begin(), shares.rows.end(), [](Index rows) { return rows > 0; });
  if (several < 2) return leave_to_one(why + ", and no two are faster");
  if (applies < kManyEnough) {
    return leave_to_one(why + ", and fewer than " + format("%.0f", kManyEnough) + " applies follow a set-up");
  }
  const std::string together_key = this->together_key(shares.rows);
  const std::optional<Measured> measured = figures_.find(together_key);
  const double together = measured ? sharers_.rows * measured->seconds_per_row : shares.all_seconds;
  const bool known =
      std::all_of(sharers_.each.begin(), sharers_.each.end(), [](const Sharer& s) { return s.measured_beside; });
  const bool hopes = !known && may_try(together_key, applies);
  why = "several " + microseconds_text(together) + (measured ? " measured, " : " predicted, ") + why;
  // By less than waking threads takes, one is not known to be slower: the next apply may find them asleep.
  const double needed = together / (hopes ? kHope : 1);
  if (needed + std::max(kMeetingSeconds, (kLeastGain - 1) * needed) > hoped) {
    return leave_to_one(why);
  }
  if (!measured) ++tries_[together_key];
  return {true, nullptr, why};
}

/// A processor whose power at work is not known although its meter can tell; null if there is none. Rated power is that
/// of the heaviest load, several times the power of a card that mostly waits for copies.
template <typename T>
const Sharer* Sharing<T>::without_power() {
  if (energy_ == nullptr) return nullptr;
  const std::vector<EnergySource>& sources = energy_->report().sources;
  for (const Sharer& s : sharers_.each) {
    const std::string who = ShareFigures::key(s.processor.figures_of(), kind_, "power");
    if (s.measured_watts || !may_try(who, kManyEnough)) continue;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (!sources[i].measured || energy_->devices()[i].physical != powered(s.processor).physical) continue;
      ++tries_[who];
      return &s;
    }
  }
  return nullptr;
}

template <typename T>
std::vector<PoweredDevice> Sharing<T>::powered_devices() const {
  std::vector<PoweredDevice> devices;
  for (const Sharer& s : sharers_.each) devices.push_back(powered(s.processor));
  return devices;
}

template <typename T>
ShareVerdict Sharing<T>::decide(const Processors& processors, const Processor& host, const Outlook<T>& outlook) {
  set_up_ = false;
  single_.clear();
  single_who_.clear();
  const Options& options = outlook.options;
  const Balance balance = parse_balance(options.balance);
  layout_ = outlook.bands.lines();
  if (processors.count() < 2 && balance.objective != Objective::weights) {
    sharers_.each.clear();
    found_.reset();
    return {};
  }
  find(processors, host, outlook);
  if (balance.objective == Objective::weights && balance.weights.size() != sharers_.each.size()) {
    throw InvalidInput("balance '" + options.balance + "' has " + std::to_string(balance.weights.size()) +
                       " weights, and '" + options.devices + "' names " + std::to_string(sharers_.each.size()) +
                       " processors that can solve here: give one weight for each");
  }
  if (sharers_.each.size() < 2 || layout_.rows() == 0) return {};
  recall(outlook);
  if (balance.objective == Objective::energy) {
    if (const Sharer* s = without_power()) {
      return {false, s, s->processor.known_as() + " works alone, to measure its power"};
    }
  }
  Shares shares = find_shares(options, balance);
  ShareVerdict verdict = balance.objective == Objective::time
                             ? least_time(shares, std::max(1.0, outlook.applies))
                             : ShareVerdict{true, nullptr, why_shared(balance.objective, options, sharers_.each)};
  if (!verdict.shared) return verdict;
  shares_ = std::move(shares);
  pieces_ = cut_into_pieces(layout_, shares_.rows);
  verdict.shared = pieces_.size() > 1;
  if (pieces_.size() == 1) verdict.only = &sharers_.each[pieces_.front().owner];
  return verdict;
}

template <typename T>
void Sharing<T>::set_up(const Outlook<T>& outlook, const Known& known) {
  std::vector<std::string> words, spares;
  std::string made_for;
  for (const Sharer& s : sharers_.each) {
    std::string others;
    for (const Sharer& other : sharers_.each) {
      if (&other != &s && !other.processor.host()) others += (others.empty() ? "" : ",") + other.word;
    }
    words.push_back(s.word);
    spares.push_back(others);
    made_for += s.word + ",";
  }
  if (!lines_ || made_for != made_for_) lines_ = std::make_unique<SharedLines<T>>(outlook.options, words, spares);
  made_for_ = made_for;
  try {
    lines_->set_up(outlook.bands, outlook.survey, pieces_, known);
  } catch (...) {
    drop();
    throw;
  }
  set_up_ = true;
}

template <typename T>
void Sharing<T>::watch_single(int device, double set_up_seconds) {
  single_who_.clear();
  if (sharers_.each.size() < 2) {
    last_.clear();
    return;
  }
  for (const Sharer& s : sharers_.each) {
    if (s.processor.index == device) single_who_ = s.processor.figures_of();
  }
  set_up_seconds_ = last_ == single_who_ ? set_up_seconds : 0;
  last_ = single_who_;
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
  found_.reset();
  sharers_.each.clear();
}

template <typename T>
void Sharing<T>::learn() {
  if (!figures_.kept() || sharers_.rows <= 0) return;
  const bool together = active();
  const std::int64_t count = together ? lines_->all_applies() : single_.count();
  const auto applies = static_cast<double>(count);
  const bool many = applies >= kManyEnough;
  if (together && many) {
    figures_.put_seconds(together_key(shares_.rows), lines_->all_seconds(), sharers_.rows, count);
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      const std::string who = sharers_.each[pieces_[p].owner].processor.figures_of();
      figures_.put_seconds(ShareFigures::key(who, kind_, "beside"), lines_->seconds(p),
                           static_cast<double>(pieces_[p].lines.rows()), count);
    }
  } else if (!together && !single_who_.empty() && count > 0 && (many || set_up_seconds_ > 0)) {
    const double seconds = single_.value() + (many ? 0 : set_up_seconds_ / applies);
    figures_.put_seconds(ShareFigures::key(single_who_, alone_kind(kind_, applies), "alone"), seconds, sharers_.rows,
                         count);
  }
  learn_power(together);
  figures_.write_now_and_then();
}

/// Keep the power of processors that worked, and of those that idled meanwhile.
template <typename T>
void Sharing<T>::learn_power(bool together) {
  constexpr double kOfTheTime = 0.9;  // what lies between applies is not theirs
  if (energy_ == nullptr) return;
  std::vector<bool> works(sharers_.each.size(), false);
  for (std::size_t i = 0; !together && i < works.size(); ++i) {
    works[i] = sharers_.each[i].processor.figures_of() == single_who_;
  }
  for (std::size_t p = 0; together && p < pieces_.size(); ++p) {
    works[pieces_[p].owner] = lines_->seconds(p) >= kOfTheTime * lines_->all_seconds();
  }
  for (std::size_t i = 0; energy_->share() >= kOfTheTime && i < works.size(); ++i) {
    const PoweredDevice device = powered(sharers_.each[i].processor);
    bool idles = !together;
    for (std::size_t k = 0; k < works.size(); ++k) {
      idles = idles && !(works[k] && powered(sharers_.each[k].processor).physical == device.physical);
    }
    if (!works[i] && !idles) continue;
    const std::string who = sharers_.each[i].processor.figures_of();
    figures_.put_watts(ShareFigures::key(who, kind_, works[i] ? "power" : "idle power"),
                       energy_->watts(device.physical), energy_->applies());
  }
  energy_->forget();
}

/// Take the bound on rounding of a piece into the report of all, and what is above its limits.
template <typename T>
void Sharing<T>::take_rounding(std::size_t piece, Report& report) const {
  const Report& own = lines_->report(piece);
  const CutReport& cut = lines_->cut_report(piece);
  report.rounding = larger(larger(report.rounding, own.rounding), cut.rounding);
  if (report.above_bound.empty()) report.above_bound = own.above_bound;
}

template <typename T>
void Sharing<T>::update_report(Report& report) const {
  report.sharing.seconds = lines_->all_seconds();
  for (std::size_t p = 0; p < report.sharing.shares.size(); ++p) {
    const Times times = lines_->times(p);
    report.sharing.shares[p].seconds = lines_->seconds(p);
    report.sharing.shares[p].bytes = times.bytes_to_device + times.bytes_from_device;
    take_rounding(p, report);
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
  merged.energy = report.energy;
  merged.groups.clear();
  merged.device.why = "they share the rows";
  merged.device.costs.clear();
  std::string names;
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    const Report& own = lines_->report(p);
    const CutReport& cut = lines_->cut_report(p);
    const ShareModel& model = sharers_.each[pieces_[p].owner].beside;
    const Index rows = pieces_[p].lines.rows();
    names += (p == 0 ? "" : " + ") + own.device.name;
    for (GroupReport group : own.groups) {
      group.first_line += pieces_[p].first_line;
      merged.groups.push_back(std::move(group));
    }
    const auto take = [](double& worst, double of_lines, double of_cuts) {
      worst = larger(larger(worst, of_lines), of_cuts);
    };
    take(merged.certificate, own.certificate, cut.truncated ? cut.bound : 0.0);
    merged.certificate_above_tolerance =
        merged.certificate_above_tolerance || own.certificate_above_tolerance || cut.above_tolerance;
    take_rounding(p, merged);
    merged.units = std::max(merged.units, own.units);
    if (own.promise == Promise::by_rows || cut.lines > 0) merged.promise = Promise::by_rows;
    take(merged.backward_error, own.backward_error, cut.backward_error);
    sharing.shares.push_back({own.device.name, own.device.type, own.device.platform, own.device.emulated, own.method,
                              own.shape, rows, model.latency + static_cast<double>(rows) * model.seconds_per_row, 0,
                              0});
  }
  merged.device.name = names;
  sharing.predicted_seconds = shares_.all_seconds;
  sharing.single_seconds = sharers_.alone_seconds(sharers_.best_alone());
  merged.sharing = std::move(sharing);
  merged.ready = true;
  report = std::move(merged);
}

template <typename T>
std::vector<LostDevice> Sharing<T>::lost() const {
  std::vector<LostDevice> lost;
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    for (const std::string& line : lines_->report(p).degraded) {
      lost.push_back({sharers_.each[pieces_[p].owner].processor.index, line});
    }
  }
  return lost;
}

template class Sharing<float>;
template class Sharing<double>;

}  // namespace oclspkt
