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

using Members = std::vector<std::size_t>;  // indices into the models
using Parts = std::vector<double>;         // rows of each processor before they are rounded
using Rows = std::vector<Index>;           // rounded rows of each processor

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

/// Predicted seconds of an apply by one processor alone.
double single_seconds(const ShareModel& model, Index all, const NodeModel& node) {
  const auto rows = static_cast<double>(all);
  const double memory = rows * model.host_bytes_per_row / node.host_bytes_per_second;
  return larger(memory, model.latency + rows * model.seconds_per_row);
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

/// Find the parts that take the least time if each member, in order, solves as many rows as it can in that time. All
/// parts are empty if the members can never solve all rows.
Parts least_parts(const Task& task, std::span<const std::size_t> members) {
  Parts parts(task.models.size(), 0);
  double above = kNever, below = 0;
  for (const std::size_t i : members) {
    const double seconds = single_seconds(task.models[i], task.rows, task.node);
    if (seconds < above) above = seconds;
  }
  if (above == kNever) return parts;
  while (fill_parts(task, members, above, parts) > 0) above *= 2;  // rounding, or others need more of the memory
  while (above - below > 1e-13 * above) {
    const double middle = below + (above - below) / 2;
    if (middle <= below || middle >= above) break;
    (fill_parts(task, members, middle, parts) > 0 ? below : above) = middle;
  }
  fill_parts(task, members, above, parts);
  return parts;
}

/// Round the boundaries between parts to multiples of the grain.
Rows round_parts(const Task& task, const Parts& parts) {
  Rows rows(parts.size(), 0);
  if (task.rows < task.grain) {
    rows[static_cast<std::size_t>(std::max_element(parts.begin(), parts.end()) - parts.begin())] = task.rows;
    return rows;
  }
  const double all = std::accumulate(parts.begin(), parts.end(), 0.0), grain = static_cast<double>(task.grain);
  double sum = 0;
  Index given = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!(parts[i] > 0)) continue;
    sum += parts[i];
    const double joint = std::round(sum / all * static_cast<double>(task.rows) / grain) * grain;
    const Index end = std::clamp(static_cast<Index>(joint), given, task.rows);
    if (end == given) continue;
    rows[i] = end - given;
    given = end;
    last = i;
  }
  rows[last] += task.rows - given;
  return rows;
}

template <typename Cost>
void sort_by(Members& members, const Cost& cost) {
  const auto known = [&](std::size_t i) { return std::isnan(cost(i)) ? kNever : cost(i); };
  std::stable_sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) { return known(a) < known(b); });
}

/// Find the shares of the least cost: the seconds of an apply, or its joules. If a device has two drivers, only the
/// cheaper one takes part. The candidates are the cheapest processor alone, and least_parts() of the first 2, 3, ...
/// processors in the order of bytes of host memory a row; for joules, also in the order of joules a row, and the shares
/// of the least time.
Rows least_shares(const Task& task) {
  const auto cost = [&](const Rows& rows) {
    const Shares shares = predict_shares(rows, task.models, task.node);
    return task.joules ? shares.joules : shares.all_seconds;
  };
  const auto all_by = [&](std::size_t i) {
    Rows rows(task.models.size(), 0);
    rows[i] = task.rows;
    return rows;
  };
  Members members(task.models.size());
  std::iota(members.begin(), members.end(), std::size_t(0));
  sort_by(members, [&](std::size_t i) { return cost(all_by(i)); });
  Rows best = all_by(members.front());
  double least = cost(best) / (task.joules ? 1 : kLeastGain);
  const auto attempt = [&](Rows rows) {
    if (const double now = cost(rows); now <= least) best = std::move(rows), least = now;
  };
  if (task.joules) attempt(least_shares({task.rows, task.grain, task.models, task.node, false}));
  std::set<std::string> seen;
  std::erase_if(members, [&](std::size_t i) {
    const std::string& physical = task.models[i].physical;
    return !physical.empty() && !seen.insert(physical).second;
  });
  for (const bool by_watts : {false, true}) {
    if (by_watts && !task.joules) break;
    sort_by(members, [&](std::size_t i) {
      const ShareModel& m = task.models[i];
      return by_watts ? (m.watts - m.idle_watts) * m.seconds_per_row : m.host_bytes_per_row;
    });
    for (std::size_t count = 2; count <= members.size(); ++count) {
      const Parts parts = least_parts(task, std::span(members).first(count));
      if (*std::max_element(parts.begin(), parts.end()) > 0) attempt(round_parts(task, parts));
    }
  }
  return best;
}

/// Share the rows in proportion to weights.
Rows in_proportion(const Task& task, Parts weights) {
  const double largest = *std::max_element(weights.begin(), weights.end());
  for (double& weight : weights) weight /= largest;  // so that their sum does not overflow
  return round_parts(task, weights);
}

void check_weights(const std::vector<double>& weights) {
  const auto wrong = [](double weight) { return !std::isfinite(weight) || weight < 0; };
  const auto none = [](double weight) { return !(weight > 0); };
  if (std::any_of(weights.begin(), weights.end(), wrong) || std::all_of(weights.begin(), weights.end(), none)) {
    throw InvalidInput(
        "a weight of -pc_oclspkt_balance is negative or not finite, or all are 0: give 0 or more for each "
        "processor, and to one at least more than 0");
  }
}

}  // namespace

Balance parse_balance(const std::string& language) {
  const std::vector<std::string> words = split_words(language);
  if (words.size() == 1) {
    for (const auto& [word, objective] : {std::pair("time", Objective::time), std::pair("kernel", Objective::kernel),
                                          std::pair("even", Objective::even), std::pair("energy", Objective::energy)}) {
      if (words.front() == word) return {objective, {}};
    }
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
  check_weights(balance.weights);
  return balance;
}

Shares predict_shares(std::span<const Index> rows, std::span<const ShareModel> models, const NodeModel& node) {
  Shares shares{.rows = {rows.begin(), rows.end()}, .seconds = {}};
  const Index all = std::accumulate(rows.begin(), rows.end(), Index(0));
  shares.best_single = all > 0 ? kNever : 0;
  double slowest = 0, bytes = 0, extra = 0, idle = 0;
  int used = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto part = static_cast<double>(rows[i]);
    const double seconds = part > 0 ? models[i].latency + part * models[i].seconds_per_row : 0;
    shares.seconds.push_back(seconds);
    slowest = larger(slowest, seconds);
    bytes += part * models[i].host_bytes_per_row;
    extra += seconds * (models[i].watts - models[i].idle_watts);
    idle += models[i].idle_watts;
    used += part > 0;
    if (all > 0) shares.best_single = std::min(shares.best_single, single_seconds(models[i], all, node));
  }
  shares.all_seconds = larger(slowest, bytes / node.host_bytes_per_second) + (used > 1 ? node.meeting_seconds : 0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  shares.joules = knows_watts(models) ? extra + idle * shares.all_seconds : nan;
  return shares;
}

Shares share_rows(Index rows, Index grain, std::span<const ShareModel> models, const NodeModel& node,
                  const Balance& balance) {
  if (balance.objective == Objective::kernel) {  // the time without transfers
    std::vector<ShareModel> kernels(models.begin(), models.end());
    for (ShareModel& model : kernels) model.seconds_per_row = model.kernel_seconds_per_row;
    return share_rows(rows, grain, kernels, {.meeting_seconds = node.meeting_seconds}, {});
  }
  Rows parts(models.size(), 0);
  const Task task{rows, std::max<Index>(grain, 1), models, node,
                  balance.objective == Objective::energy && knows_watts(models)};
  if (balance.objective == Objective::weights) {
    if (balance.weights.size() != models.size()) {
      throw InvalidInput("there are " + std::to_string(balance.weights.size()) + " weights, but " +
                         std::to_string(models.size()) +
                         " processors that can solve here: give -pc_oclspkt_balance one weight for each processor, or "
                         "take time");
    }
    check_weights(balance.weights);
    if (rows > 0) parts = in_proportion(task, balance.weights);
  } else if (rows > 0 && balance.objective == Objective::even) {
    Parts equal(models.size(), 0);  // 1 for each processor that gets at least a grain
    std::fill_n(equal.begin(), std::min(std::max<Index>(1, rows / task.grain), std::ssize(models)), 1.0);
    parts = in_proportion(task, equal);
  } else if (rows > 0) {
    parts = least_shares(task);
  }
  return predict_shares(parts, models, node);
}

}  // namespace oclspkt
