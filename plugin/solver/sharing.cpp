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
#include "share_models.hpp"

namespace oclspkt {
namespace {

/// Rows that end where tiles of every scheme do.
constexpr Index kGrain = 4096;
/// Bytes of a vector that caches may hold.
constexpr double kInCaches = 8e6;
/// Shares stay where others are predicted to be faster by less than this.
constexpr double kWorthMoving = 1.05;

int magnitude(double number) { return std::bit_width(static_cast<std::uint64_t>(number)); }

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
  sharers_.applies = applies;
  if (found_ == now) return;
  found_.reset();
  sharers_.each = find_sharers(processors, host, outlook);
  sharers_.names.clear();
  for (const Sharer& s : sharers_.each) {
    sharers_.names += (sharers_.names.empty() ? "" : " + ") + s.processor.known_as();
  }
  found_ = std::move(now);
}

/// Say of what solves figures are, and take those that there are.
template <typename T>
void Sharing<T>::recall(const Outlook<T>& outlook) {
  const Options& options = outlook.options;
  kind_ = std::string(sizeof(T) == 8 ? "double" : "float") +
          (layout_.contiguous() ? ", end to end" : ", side by side") + (outlook.survey.shared ? ", shared" : "") +
          (options.lock_vectors ? ", locked" : "") + ", 2^" + std::to_string(magnitude(sharers_.rows));
  once_ = sharers_.applies < 2;
  figures_.expect(kind_ + (once_ ? ", once" : ""));
  if (options.reproducible) {
    figures_.close();
  } else {
    figures_.open(options.profile);
  }
  sharers_.take(figures_);
  constexpr double kWords = 6;  // three are read, three are written
  sharers_.copying = kWords * sizeof(T) / host_rate(options);
}

/// Bytes a second of the host's memory that this process has; infinity where it is not what processors wait for.
template <typename T>
double Sharing<T>::host_rate(const Options& options) const {
  if (options.reproducible || sharers_.rows * sizeof(T) < kInCaches) return std::numeric_limits<double>::infinity();
  return host_memory_rate() / node_place().ranks;
}

/// The rows for each sharer; those of the last set-up where others are hardly better, as rows that move take their
/// bands along.
template <typename T>
Shares Sharing<T>::find_shares(const Options& options, const Balance& balance) {
  std::vector<ShareModel> models;
  for (const Sharer& s : sharers_.each) models.push_back(s.beside);
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
  Shares shares = find_shares(options, balance);
  ShareVerdict verdict = balance.objective == Objective::time
                             ? ShareJudge(sharers_, figures_, trials_).judge(shares)
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
      if (&other != &s && !other.processor.host()) others += (others.empty() ? "" : ",") + other.share;
    }
    words.push_back(s.share);
    spares.push_back(others);
    made_for += s.share + ",";
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
int Sharing<T>::copying_device() const {
  for (const Piece& piece : pieces_) {
    const Processor& processor = sharers_.each[piece.owner].processor;
    if (!processor.host() && !processor.info.host_unified) return processor.index;
  }
  return -1;
}

/// True if the same processors had the last set-up, too, and for such solves.
template <typename T>
bool Sharing<T>::is_again(const std::string& who) {
  std::string now = figures_.key(who, "set-up");
  const bool again = now == last_;
  last_ = std::move(now);
  return again;
}

template <typename T>
void Sharing<T>::watch_single(int device, double set_up_seconds) {
  single_who_.clear();
  if (sharers_.each.size() < 2) {
    last_.clear();
    return;
  }
  set_up_seconds_ = is_again(std::to_string(device)) ? set_up_seconds : 0;
  for (const Sharer& s : sharers_.each) {
    if (s.processor.index == device) single_who_ = s.processor.figures_of();
  }
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
  const std::int64_t count = active() ? lines_->all_applies() : single_.count();
  // One apply is not like many, and says nothing of them.
  if (once_ ? count != 1 : count < 2) return;
  const bool together = active();
  const std::string& who = together ? sharers_.names : single_who_;
  if (who.empty()) return;
  const double seconds = together ? lines_->all_seconds() : single_.value();
  figures_.put(who, together ? "together" : "alone", seconds, sharers_.rows, count);
  figures_.put(who, together ? "together, set-up" : "alone, set-up", set_up_seconds_, sharers_.rows, 1);
  for (std::size_t p = 0; together && p < pieces_.size(); ++p) {
    const Processor& processor = sharers_.each[pieces_[p].owner].processor;
    const auto rows = static_cast<double>(pieces_[p].lines.rows());
    figures_.put(processor.figures_of(), "beside", lines_->seconds(p), rows, count);
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
    figures_.put(sharers_.each[i].processor.figures_of(), works[i] ? "watts" : "idle watts",
                 energy_->watts(device.physical), 1, energy_->applies());
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
