// SPDX-License-Identifier: BSD-2-Clause
#include "shares.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>

#include "oclspkt/error.hpp"
#include "rounding.hpp"
#include "selection.hpp"

namespace oclspkt {
namespace {

using Parts = std::vector<double>;  // rows of each processor before they are rounded
using Rows = std::vector<Index>;    // rounded rows of each processor

constexpr double kNever = std::numeric_limits<double>::infinity();

/// The arguments of a search for shares.
struct Task {
  Index rows;
  Index grain;
  std::span<const ShareModel> models;
  const NodeModel& node;
  bool joules;  ///< minimise joules, else seconds
};

bool knows_watts(std::span<const ShareModel> models) {
  return std::all_of(models.begin(), models.end(), [](const ShareModel& model) { return model.watts > 0; });
}

/// Give each member, in order, as many of the remaining rows as it can solve within `seconds`.
/// @return the number of rows that no member solves
double fill_parts(const Task& task, std::span<const std::size_t> members, double seconds, Parts& parts) {
  double left = static_cast<double>(task.rows);
  double bytes = task.node.host_bytes_per_second < kNever ? seconds * task.node.host_bytes_per_second : kNever;
  for (const std::size_t i : members) {
    const ShareModel& model = task.models[i];
    const double one = model.seconds_per_row, draws = model.host_bytes_per_row;
    double part = seconds >= model.latency && one >= 0 ? left : 0;  // no rows if a figure is NaN
    if (one > 0) part = std::min(part, std::max(0.0, (seconds - model.latency) / one));
    if (draws > 0 && bytes < kNever) part = std::min(part, bytes / draws);
    parts[i] = part;
    left -= part;
    bytes = std::max(0.0, bytes - part * draws);
  }
  return left;
}

/// Find the parts that take the least time if each member, in order, solves as many rows as it can in that time. The
/// result is empty if the members can never solve all rows.
Parts least_parts(const Task& task, std::span<const std::size_t> members) {
  constexpr double kLong = 1e18;  // seconds
  constexpr int kHalvings = 50;
  Parts parts(task.models.size(), 0);
  double above = 1e-9, below = 0;
  while (fill_parts(task, members, above, parts) > 0) {
    above *= 2;
    if (above > kLong) return {};
  }
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (below + above) / 2;
    (fill_parts(task, members, middle, parts) > 0 ? below : above) = middle;
  }
  fill_parts(task, members, above, parts);
  return parts;
}

/// Share the rows in proportion to parts, which need not add up to them. Boundaries are multiples of the grain.
Rows round_parts(const Task& task, Parts parts) {
  Rows rows(parts.size(), 0);
  const auto largest = std::max_element(parts.begin(), parts.end());
  auto last = static_cast<std::size_t>(largest - parts.begin());
  for (const double scale = *largest; double& part : parts) part /= scale;  // so that their sum does not overflow
  const double all = std::accumulate(parts.begin(), parts.end(), 0.0), grain = static_cast<double>(task.grain);
  double sum = 0;
  Index given = 0;
  for (std::size_t i = 0; i < parts.size() && task.rows >= task.grain; ++i) {
    sum += parts[i];
    const double joint = std::round(sum / all * static_cast<double>(task.rows) / grain) * grain;
    const Index end = std::clamp(static_cast<Index>(joint), given, task.rows);
    if (!(parts[i] > 0) || end == given) continue;
    rows[i] = end - given;
    given = end;
    last = i;
  }
  rows[last] += task.rows - given;
  return rows;
}

template <typename Cost>
void sort_by(std::vector<std::size_t>& members, const Cost& cost) {
  const auto known = [&](std::size_t i) { return std::isnan(cost(i)) ? kNever : cost(i); };
  std::stable_sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) { return known(a) < known(b); });
}

/// Find the shares of the least cost: the seconds of an apply, or its joules. If a device has two drivers, only the
/// cheaper one takes part. The candidates are the cheapest processor alone, and least_parts() of all processors in the
/// order of bytes of host memory a row. For joules they are the shares of the least time, and least_parts() of the
/// first 2, 3, ... processors in the order of joules a row.
Rows least_shares(const Task& task) {
  const double Shares::*const cost = task.joules ? &Shares::joules : &Shares::all_seconds;
  const auto single = [&](std::size_t i) { return predict_single(i, task.rows, task.models, task.node); };
  std::vector<std::size_t> members(task.models.size());  // indices into the models
  std::iota(members.begin(), members.end(), std::size_t(0));
  sort_by(members, [&](std::size_t i) { return single(i).*cost; });
  Shares best = single(members.front());
  double least = best.*cost / (task.joules ? 1 : kLeastGain);
  const auto attempt = [&](const Rows& rows) {
    Shares shares = predict_shares(rows, task.models, task.node);
    if (shares.*cost <= least) least = shares.*cost, best = std::move(shares);
  };
  if (task.joules) attempt(least_shares({task.rows, task.grain, task.models, task.node, false}));
  std::set<std::string> seen;
  std::erase_if(members, [&](std::size_t i) {
    const std::string& physical = task.models[i].physical;
    return !physical.empty() && !seen.insert(physical).second;
  });
  sort_by(members, [&](std::size_t i) {
    const ShareModel& m = task.models[i];
    return task.joules ? (m.watts - m.idle_watts) * m.seconds_per_row : m.host_bytes_per_row;
  });
  for (std::size_t count = task.joules ? 2 : members.size(); count <= members.size(); ++count) {
    const Parts parts = least_parts(task, std::span(members).first(count));
    if (!parts.empty()) attempt(round_parts(task, parts));
  }
  return best.rows;
}

}  // namespace

Balance parse_balance(const std::string& language) {
  const std::vector<std::string> words = split_words(language);
  for (const auto& [word, objective] : {std::pair("time", Objective::time), std::pair("kernel", Objective::kernel),
                                        std::pair("even", Objective::even), std::pair("energy", Objective::energy)}) {
    if (words == std::vector<std::string>{word}) return {objective, {}};
  }
  Balance balance{Objective::weights, {}};
  for (const std::string& word : words) {
    const char* const end = word.data() + word.size();
    double& weight = balance.weights.emplace_back();
    const auto [stop, error] = std::from_chars(word.data(), end, weight);
    if (stop == end && error == std::errc() && std::isfinite(weight) && weight >= 0) continue;
    throw InvalidInput("-pc_oclspkt_balance: '" + word + "'" + (word == language ? "" : " in '" + language + "'") +
                       " is none of time, kernel, even, energy, nor a weight: weights are finite numbers joined by "
                       "commas, 0 or more, one for each processor, such as 3,1");
  }
  if (std::all_of(balance.weights.begin(), balance.weights.end(), [](double weight) { return weight == 0; })) {
    throw InvalidInput("all weights of -pc_oclspkt_balance are 0: give to one processor at least more than 0");
  }
  return balance;
}

Shares predict_shares(std::span<const Index> rows, std::span<const ShareModel> models, const NodeModel& node) {
  Shares shares{.rows = {rows.begin(), rows.end()}, .seconds = {}};
  double bytes = 0, extra = 0, idle = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ShareModel& m = models[i];
    const auto part = static_cast<double>(rows[i]);
    shares.seconds.push_back(part > 0 ? m.latency + part * m.seconds_per_row : 0);
    shares.all_seconds = larger(shares.all_seconds, shares.seconds.back());
    bytes += part * m.host_bytes_per_row;
    extra += shares.seconds.back() * (m.watts - m.idle_watts);
    idle += m.idle_watts;
  }
  const bool several = std::count_if(rows.begin(), rows.end(), [](Index part) { return part > 0; }) > 1;
  shares.all_seconds =
      larger(shares.all_seconds, bytes / node.host_bytes_per_second) + (several ? node.meeting_seconds : 0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  shares.joules = knows_watts(models) ? extra + idle * shares.all_seconds : nan;
  return shares;
}

Shares predict_single(std::size_t one, Index rows, std::span<const ShareModel> models, const NodeModel& node) {
  Rows all(models.size(), 0);
  all[one] = rows;
  return predict_shares(all, models, node);
}

Shares share_rows(Index rows, Index grain, std::span<const ShareModel> models, const NodeModel& node,
                  const Balance& balance) {
  if (balance.objective == Objective::kernel) {  // the time without transfers
    std::vector<ShareModel> kernels(models.begin(), models.end());
    for (ShareModel& model : kernels) model.seconds_per_row = model.kernel_seconds_per_row;
    return share_rows(rows, grain, kernels, {.meeting_seconds = node.meeting_seconds}, {});
  }
  if (balance.objective == Objective::weights && balance.weights.size() != models.size()) {
    throw InvalidInput("there are " + std::to_string(balance.weights.size()) + " weights, but " +
                       std::to_string(models.size()) +
                       " processors that can solve here: give -pc_oclspkt_balance one weight for each processor, or "
                       "take time");
  }
  const bool joules = balance.objective == Objective::energy && knows_watts(models);
  const Task task{rows, std::max<Index>(grain, 1), models, node, joules};
  Parts equal(models.size(), 0);  // 1 for each processor that gets at least a grain
  std::fill_n(equal.begin(), std::min(std::max<Index>(1, rows / task.grain), std::ssize(models)), 1.0);
  const Rows parts = rows == 0                                 ? Rows(models.size(), 0)
                     : balance.objective == Objective::weights ? round_parts(task, balance.weights)
                     : balance.objective == Objective::even    ? round_parts(task, equal)
                                                               : least_shares(task);
  return predict_shares(parts, models, node);
}

}  // namespace oclspkt
