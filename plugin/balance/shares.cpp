// SPDX-License-Identifier: BSD-2-Clause
#include "shares.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>

#include "oclspkt/error.hpp"

namespace oclspkt {
namespace {

using Members = std::vector<std::size_t>;  // places in the list of models
using Parts = std::vector<double>;         // rows of each processor before they are rounded

constexpr double kNever = std::numeric_limits<double>::infinity();

/// What every search below looks at.
struct Task {
  Index rows;
  Index grain;
  std::span<const ShareModel> models;
  const NodeModel& node;
  Objective objective;
};

double row_seconds(const ShareModel& model, Objective objective) {
  return objective == Objective::kernel ? model.kernel_seconds_per_row : model.seconds_per_row;
}

/// Predict seconds of one processor, its host's memory left out.
double part_seconds(const ShareModel& model, double rows, Objective objective) {
  return rows > 0 ? model.latency + rows * row_seconds(model, objective) : 0;
}

bool knows_watts(std::span<const ShareModel> models) {
  return std::all_of(models.begin(), models.end(), [](const ShareModel& model) { return model.watts > 0; });
}

/// Predict seconds that `bytes` take in the host's memory.
double memory_seconds(double bytes, const NodeModel& node, Objective objective) {
  return objective == Objective::kernel ? 0 : bytes / node.host_bytes_per_second;
}

/// What an apply by all takes.
struct Taken {
  double seconds, joules;
};

/// Predict an apply. @param rows  shape [models], whole or not
template <typename Rows>
Taken predict(const Rows& rows, std::span<const ShareModel> models, const NodeModel& node, Objective objective) {
  double slowest = 0, bytes = 0, extra = 0, idle = 0;
  int used = 0;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto part = static_cast<double>(rows[i]);
    const double seconds = part_seconds(models[i], part, objective);
    slowest = std::max(slowest, seconds);
    bytes += part * models[i].host_bytes_per_row;
    extra += seconds * (models[i].watts - models[i].idle_watts);
    idle += models[i].idle_watts;
    used += part > 0;
  }
  const double all = std::max(slowest, memory_seconds(bytes, node, objective)) + (used > 1 ? node.meeting_seconds : 0);
  return {all, knows_watts(models) ? extra + idle * all : std::numeric_limits<double>::quiet_NaN()};
}

/// Predict an apply by one processor alone.
double single_seconds(const ShareModel& model, Index rows, const NodeModel& node, Objective objective) {
  const double bytes = static_cast<double>(rows) * model.host_bytes_per_row;
  return std::max(part_seconds(model, static_cast<double>(rows), objective), memory_seconds(bytes, node, objective));
}

/// Give each member the rows that it manages within `seconds`, those first that stand first.
/// @return the sum, at most task.rows
double fill_parts(const Task& task, const Members& members, double seconds, Parts& parts) {
  double left = static_cast<double>(task.rows);
  const bool bound = task.objective != Objective::kernel && task.node.host_bytes_per_second < kNever;
  double bytes = bound ? seconds * task.node.host_bytes_per_second : kNever;
  for (const std::size_t i : members) {
    const ShareModel& model = task.models[i];
    const double one = row_seconds(model, task.objective), draws = model.host_bytes_per_row;
    double part = seconds >= model.latency && one >= 0 ? left : 0;  // nothing where figures are no numbers
    if (one > 0) part = std::min(part, std::max(0.0, (seconds - model.latency) / one));
    if (draws > 0 && bytes < kNever) part = std::min(part, bytes / draws);
    parts[i] = part;
    left -= part;
    bytes = std::max(0.0, bytes - part * draws);
  }
  return static_cast<double>(task.rows) - left;
}

/// Find seconds within which one member manages all rows, whichever it is.
double enough_seconds(const Task& task, const Members& members) {
  double slowest = 0;
  for (const std::size_t i : members) {
    slowest = std::max(slowest, single_seconds(task.models[i], task.rows, task.node, task.objective));
  }
  return 2 * slowest;
}

/// Find the least seconds within which members manage all rows, each in its turn as much as it can.
double least_seconds(const Task& task, const Members& members, Parts& parts) {
  double above = enough_seconds(task, members), below = 0;
  while (above - below > 1e-13 * above) {
    const double middle = below + (above - below) / 2;
    if (middle <= below || middle >= above) break;
    (fill_parts(task, members, middle, parts) < static_cast<double>(task.rows) ? below : above) = middle;
  }
  return above;
}

/// Round the joints between parts to multiples of the grain.
std::vector<Index> round_parts(const Task& task, const Parts& parts) {
  std::vector<Index> rows(parts.size(), 0);
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

/// List one driver of each physical device, that of the least cost, in the order of `cost`.
template <typename Cost>
Members one_of_each(const Task& task, const Cost& cost) {
  Members order(task.models.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  const auto known = [&](std::size_t i) { return std::isnan(cost(i)) ? kNever : cost(i); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return known(a) < known(b); });
  std::set<std::string> seen;
  std::erase_if(order, [&](std::size_t i) {
    const std::string& physical = task.models[i].physical;
    return !physical.empty() && !seen.insert(physical).second;
  });
  return order;
}

/// All rows for one.
std::vector<Index> alone(const Task& task, std::size_t who) {
  std::vector<Index> rows(task.models.size(), 0);
  rows[who] = task.rows;
  return rows;
}

/// Find the shares of the shortest apply. To let all take part is the best: whoever does not begin within the seconds
/// that the others need has no rows, and those that need the host's memory least are served first.
std::vector<Index> shortest(const Task& task) {
  const auto seconds = [&](std::size_t i) {
    return single_seconds(task.models[i], task.rows, task.node, task.objective);
  };
  Members members = one_of_each(task, seconds);
  const std::size_t best = members.front();
  const auto draws = [&](std::size_t i) { return task.models[i].host_bytes_per_row; };
  std::stable_sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) { return draws(a) < draws(b); });
  Parts parts(task.models.size(), 0);
  fill_parts(task, members, least_seconds(task, members, parts), parts);
  if (!(std::accumulate(parts.begin(), parts.end(), 0.0) > 0)) return alone(task, best);
  std::vector<Index> rows = round_parts(task, parts);
  const double together = predict(rows, task.models, task.node, task.objective).seconds;
  return together * kLeastGain <= seconds(best) ? rows : alone(task, best);
}

/// Share the rows among all for the fewest joules, those first whose rows take the least. Beyond the least time,
/// joules of rows fall with the seconds that are allowed and joules of idling rise: the sum has one minimum.
Parts cheapest_parts(const Task& task, const Members& members) {
  Parts parts(task.models.size(), 0);
  const auto joules = [&](double seconds) {
    fill_parts(task, members, seconds, parts);
    return predict(parts, task.models, task.node, task.objective).joules;
  };
  double below = least_seconds(task, members, parts), above = std::max(below, enough_seconds(task, members));
  while (above - below > 1e-4 * above) {
    const double left = below + (above - below) / 3, right = above - (above - below) / 3;
    const bool falls = joules(left) >= joules(right);
    (falls ? below : above) = falls ? left : right;
  }
  const double best = joules(above) <= joules(below) ? above : below;
  joules(best);
  return parts;
}

/// Find the shares that take the fewest joules: those of the shortest apply, of one alone, or of all.
std::vector<Index> cheapest(const Task& task) {
  const auto joules_per_row = [&](std::size_t i) {
    return (task.models[i].watts - task.models[i].idle_watts) * task.models[i].seconds_per_row;
  };
  std::vector<Index> best = shortest(task);
  double least = predict(best, task.models, task.node, task.objective).joules;
  const auto try_rows = [&](std::vector<Index> rows) {
    const double joules = predict(rows, task.models, task.node, task.objective).joules;
    if (joules < least) best = std::move(rows), least = joules;
  };
  for (std::size_t i = 0; i < task.models.size(); ++i) try_rows(alone(task, i));
  try_rows(round_parts(task, cheapest_parts(task, one_of_each(task, joules_per_row))));
  return best;
}

/// Share the rows in proportion to weights.
std::vector<Index> in_proportion(const Task& task, Parts weights) {
  const double largest = *std::max_element(weights.begin(), weights.end());
  for (double& weight : weights) weight /= largest;  // their sum is a number
  return round_parts(task, weights);
}

/// Share the rows equally among as many processors as get a grain.
std::vector<Index> in_equal_parts(const Task& task) {
  const Index wanted = std::max<Index>(1, task.rows / task.grain), most = static_cast<Index>(task.models.size());
  Parts parts(task.models.size(), 0);
  std::fill_n(parts.begin(), std::min(wanted, most), 1.0);
  return round_parts(task, parts);
}

void check_weights(const std::vector<double>& weights, std::size_t processors) {
  if (weights.size() != processors) {
    throw InvalidInput("there are " + std::to_string(weights.size()) + " weights, but " + std::to_string(processors) +
                       " processors: give -pc_oclspkt_balance one weight for each processor, or take time");
  }
  const auto wrong = [](double weight) { return !std::isfinite(weight) || weight < 0; };
  if (std::any_of(weights.begin(), weights.end(), wrong)) {
    throw InvalidInput("a weight of -pc_oclspkt_balance is negative or not finite: give 0 or more for each processor");
  }
  if (std::none_of(weights.begin(), weights.end(), [](double weight) { return weight > 0; })) {
    throw InvalidInput("all weights of -pc_oclspkt_balance are 0: at least one processor must get rows");
  }
}

/// Drop blanks at both ends.
std::string without_blanks(const std::string& text) {
  const auto first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/// Read one weight of the language.
double parse_weight(const std::string& word, const std::string& language) {
  double weight = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), weight);
  const bool number = end == word.data() + word.size() && error != std::errc::invalid_argument;
  if (number && error == std::errc() && std::isfinite(weight) && weight >= 0) return weight;
  std::string text = "-pc_oclspkt_balance: '" + word + "'" + (word == language ? "" : " in '" + language + "'");
  text += !number      ? " is none of time, kernel, even, energy, nor a weight"
          : weight < 0 ? " is negative"
                       : " is not a finite number";
  throw InvalidInput(text + ": weights are numbers joined by commas, 0 or more, one for each processor, such as 3,1");
}

}  // namespace

Balance parse_balance(const std::string& given) {
  const std::string language = without_blanks(given);
  if (language == "time") return {Objective::time, {}};
  if (language == "kernel") return {Objective::kernel, {}};
  if (language == "even") return {Objective::even, {}};
  if (language == "energy") return {Objective::energy, {}};
  Balance balance{Objective::weights, {}};
  for (std::size_t begin = 0; begin <= language.size();) {
    const std::size_t end = std::min(language.find(',', begin), language.size());
    balance.weights.push_back(parse_weight(without_blanks(language.substr(begin, end - begin)), language));
    begin = end + 1;
  }
  check_weights(balance.weights, balance.weights.size());
  return balance;
}

Shares predict_shares(std::span<const Index> rows, std::span<const ShareModel> models, const NodeModel& node,
                      Objective objective) {
  Shares shares;
  shares.rows.assign(rows.begin(), rows.end());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    shares.seconds.push_back(part_seconds(models[i], static_cast<double>(rows[i]), objective));
  }
  const Taken taken = predict(rows, models, node, objective);
  shares.all_seconds = taken.seconds;
  shares.joules = taken.joules;
  const Index all = std::accumulate(rows.begin(), rows.end(), Index(0));
  shares.best_single = all > 0 ? kNever : 0;
  for (const ShareModel& model : models) {
    if (all > 0) shares.best_single = std::min(shares.best_single, single_seconds(model, all, node, objective));
  }
  return shares;
}

Shares share_rows(Index rows, Index grain, std::span<const ShareModel> models, const NodeModel& node,
                  const Balance& balance) {
  if (balance.objective == Objective::weights) check_weights(balance.weights, models.size());
  std::vector<Index> parts(models.size(), 0);
  if (rows <= 0) return predict_shares(parts, models, node, balance.objective);
  const Task task{rows, std::max<Index>(grain, 1), models, node, balance.objective};
  switch (balance.objective) {
    case Objective::even:
      parts = in_equal_parts(task);
      break;
    case Objective::weights:
      parts = in_proportion(task, balance.weights);
      break;
    case Objective::energy:
      parts = knows_watts(models) ? cheapest(task) : shortest(task);
      break;
    case Objective::time:
    case Objective::kernel:
      parts = shortest(task);
      break;
  }
  return predict_shares(parts, models, node, balance.objective);
}

}  // namespace oclspkt
