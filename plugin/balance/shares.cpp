// SPDX-License-Identifier: BSD-2-Clause
#include "shares.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>

#include "oclspkt/error.hpp"

namespace oclspkt {
namespace {

using Members = std::vector<std::size_t>;  // places in the list of models
using Parts = std::vector<double>;         // rows of each processor before they are rounded

/// Up to so many processors every set of them is tried.
constexpr std::size_t kMostEnumerated = 12;
/// A larger set must be better by this; what is less is rounding.
constexpr double kNoise = 1e-9;
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

/// Predict an apply by one processor alone; kNever where its memory does not hold the rows.
double single_seconds(const ShareModel& model, Index rows, const NodeModel& node, Objective objective) {
  if (rows > model.most_rows) return kNever;
  const double bytes = static_cast<double>(rows) * model.host_bytes_per_row;
  return std::max(part_seconds(model, static_cast<double>(rows), objective), memory_seconds(bytes, node, objective));
}

/// Find the processor that is fastest alone, the first one that holds the rows if no figures tell.
/// @return nothing if none holds the rows
std::optional<std::size_t> best_alone(const Task& task) {
  std::optional<std::size_t> best;
  double least = kNever;
  for (std::size_t i = 0; i < task.models.size(); ++i) {
    const double seconds = single_seconds(task.models[i], task.rows, task.node, task.objective);
    if (seconds < least || (!best && task.rows <= task.models[i].most_rows))
      best = i, least = std::min(kNever, seconds);
  }
  return best;
}

[[noreturn]] void refuse_rows(Index rows, std::span<const ShareModel> models) {
  std::string text = std::to_string(rows) + " rows do not fit into the processors, which hold at most";
  for (const ShareModel& model : models) {
    const bool any = model.most_rows == std::numeric_limits<Index>::max();
    text += (&model == models.data() ? " " : ", ") + (any ? "any number of" : std::to_string(model.most_rows));
  }
  throw InvalidInput(text + " rows: take more processors, or ones with more memory, or fewer rows at a time");
}

/// Give each member the rows that it manages within `seconds`, those first that need the host's memory least.
/// @param members in the order of host_bytes_per_row
/// @return the sum, at most task.rows
double fill_parts(const Task& task, const Members& members, double seconds, Parts& parts) {
  double left = static_cast<double>(task.rows);
  const bool bound = task.objective != Objective::kernel && task.node.host_bytes_per_second < kNever;
  double bytes = bound ? seconds * task.node.host_bytes_per_second : kNever;
  for (const std::size_t i : members) {
    const ShareModel& model = task.models[i];
    const double one = row_seconds(model, task.objective), draws = model.host_bytes_per_row;
    double part = std::min(left, static_cast<double>(model.most_rows));
    if (!(seconds >= model.latency && one >= 0)) part = 0;  // nothing where figures are no numbers
    if (one > 0) part = std::min(part, std::max(0.0, (seconds - model.latency) / one));
    if (draws > 0 && bytes < kNever) part = std::min(part, bytes / draws);
    parts[i] = part;
    left -= part;
    bytes = std::max(0.0, bytes - part * draws);
  }
  return static_cast<double>(task.rows) - left;
}

/// Find seconds within which members hold and manage all rows, however slow they are.
double enough_seconds(const Task& task, const Members& members) {
  double slowest = 0, bytes = 0;
  for (const std::size_t i : members) {
    const ShareModel& model = task.models[i];
    const auto rows = static_cast<double>(std::min(task.rows, model.most_rows));
    slowest = std::max(slowest, part_seconds(model, rows, task.objective));
    bytes += rows * model.host_bytes_per_row;
  }
  return 2 * (slowest + memory_seconds(bytes, task.node, task.objective));
}

/// Find the least seconds within which members manage all rows, each in its turn as much as it can.
/// @param within seconds that are not to be exceeded
/// @param[out] parts  shape [models], 0
/// @return nothing if that cannot be done
std::optional<double> least_seconds(const Task& task, const Members& members, double within, Parts& parts) {
  const double rows = static_cast<double>(task.rows);
  double above = std::min(within, enough_seconds(task, members)), below = 0;
  if (!(above >= 0) || fill_parts(task, members, above, parts) < rows) return std::nullopt;
  while (above - below > 1e-13 * above) {
    const double middle = below + (above - below) / 2;
    if (middle <= below || middle >= above) break;
    (fill_parts(task, members, middle, parts) < rows ? below : above) = middle;
  }
  return above;
}

/// Share the rows among members in the least time, as least_seconds().
std::optional<Parts> shortest_parts(const Task& task, const Members& members, double within) {
  Parts parts(task.models.size(), 0);
  const std::optional<double> seconds = least_seconds(task, members, within, parts);
  if (!seconds) return std::nullopt;
  fill_parts(task, members, *seconds, parts);
  return parts;
}

/// Find who takes the rows that are left when shares are multiples of the grain: the last one with room for them, and
/// the one with the largest part if there is no whole grain.
std::size_t taker_of_rest(const Task& task, const Parts& parts) {
  const Index rest = task.rows % task.grain;
  std::size_t taker = parts.size(), last = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!(parts[i] > 0)) continue;
    last = i;
    if (task.models[i].most_rows < rest) continue;
    if (rest < task.rows || taker == parts.size() || parts[i] > parts[taker]) taker = i;
  }
  return taker < parts.size() ? taker : last;
}

/// Give `left` grains to those who lost most by rounding down and have room; if nobody has, room is made.
void give_grains(Index left, std::vector<Index>& grains, std::vector<Index> room, std::vector<double> lost) {
  while (left > 0) {
    std::size_t best = lost.size();
    for (std::size_t i = 0; i < lost.size(); ++i) {
      if (grains[i] < room[i] && (best == lost.size() || lost[i] > lost[best])) best = i;
    }
    if (best == lost.size()) {
      for (std::size_t i = 0; i < lost.size(); ++i) room[i] += lost[i] > -kNever;
      continue;
    }
    ++grains[best];
    lost[best] -= 1;
    --left;
  }
}

/// Round parts to multiples of the grain, but for the last one, with the sum that is asked for. A limit is
/// exceeded, by about one grain, only if grains fit in no other way.
std::vector<Index> round_parts(const Task& task, const Parts& parts) {
  const std::size_t taker = taker_of_rest(task, parts);
  std::vector<Index> grains(parts.size(), 0), room(parts.size(), 0);
  std::vector<double> lost(parts.size(), -kNever);  // in grains
  Index left = task.rows / task.grain;
  for (std::size_t i = 0; i <= taker; ++i) {
    if (!(parts[i] > 0)) continue;
    const Index rest = i == taker ? task.rows % task.grain : 0;
    const double wanted = (parts[i] - static_cast<double>(rest)) / static_cast<double>(task.grain);
    room[i] = std::max<Index>(0, task.models[i].most_rows - rest) / task.grain;
    grains[i] = std::min({left, room[i], static_cast<Index>(std::max(0.0, wanted))});
    lost[i] = wanted - static_cast<double>(grains[i]);
    left -= grains[i];
  }
  give_grains(left, grains, std::move(room), std::move(lost));
  for (Index& share : grains) share *= task.grain;
  grains[taker] += task.rows % task.grain;
  return grains;
}

bool exceeds_limits(const Task& task, const std::vector<Index>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] > task.models[i].most_rows) return true;
  }
  return false;
}

/// Tell whether two members are drivers of one physical device.
bool share_a_device(std::span<const ShareModel> models, const Members& members) {
  std::set<std::string> seen;
  return std::any_of(members.begin(), members.end(), [&](std::size_t i) {
    return !models[i].physical.empty() && !seen.insert(models[i].physical).second;
  });
}

/// List every set of processors, small sets first, members in the given order.
std::vector<Members> every_set(const Members& order) {
  std::vector<std::uint32_t> masks((std::size_t(1) << order.size()) - 1);
  std::iota(masks.begin(), masks.end(), 1U);
  std::stable_sort(masks.begin(), masks.end(),
                   [](std::uint32_t a, std::uint32_t b) { return std::popcount(a) < std::popcount(b); });
  std::vector<Members> sets(masks.size());
  for (std::size_t s = 0; s < masks.size(); ++s) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (masks[s] >> i & 1U) sets[s].push_back(order[i]);
    }
  }
  return sets;
}

/// List the fastest processor, the two fastest and so on; then the same by what they hold. One a physical device.
std::vector<Members> prefixes(const Task& task, const Members& order) {
  const double equal = static_cast<double>(task.rows) / static_cast<double>(order.size());
  const auto seconds = [&](std::size_t i) {
    return task.models[i].latency + equal * row_seconds(task.models[i], task.objective);
  };
  const auto faster = [&](std::size_t a, std::size_t b) { return seconds(a) < seconds(b); };
  const auto larger = [&](std::size_t a, std::size_t b) { return task.models[a].most_rows > task.models[b].most_rows; };
  const auto place = [&](std::size_t i) { return std::find(order.begin(), order.end(), i); };
  std::vector<Members> sets;
  for (const bool by_rate : {true, false}) {
    Members all = order, set;
    by_rate ? std::stable_sort(all.begin(), all.end(), faster) : std::stable_sort(all.begin(), all.end(), larger);
    for (const std::size_t i : all) {
      set.push_back(i);
      if (share_a_device(task.models, set)) {
        set.pop_back();
        continue;
      }
      sets.push_back(set);
      std::sort(sets.back().begin(), sets.back().end(), [&](auto a, auto b) { return place(a) < place(b); });
    }
  }
  return sets;
}

/// List the sets of processors to try, members in the order of `cost`, no two of one physical device.
template <typename Cost>
std::vector<Members> sets_to_try(const Task& task, const Cost& cost) {
  Members order(task.models.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return cost(a) < cost(b); });
  if (order.size() > kMostEnumerated) return prefixes(task, order);
  std::vector<Members> sets = every_set(order);
  std::erase_if(sets, [&](const Members& set) { return share_a_device(task.models, set); });
  return sets;
}

/// What a search has found so far.
struct BestSoFar {
  std::vector<Index> rows;  // empty: nothing
  double least = kNever;    // seconds or joules
};

/// Try several processors. @param exceed  grains may exceed limits
void try_together(const Task& task, const std::vector<Members>& sets, bool exceed, BestSoFar& found) {
  for (const Members& set : sets) {
    if (set.size() < 2 && !exceed) continue;
    const double within = found.least * (1 - kNoise) - (set.size() > 1 ? task.node.meeting_seconds : 0);
    const std::optional<Parts> parts = shortest_parts(task, set, within);
    if (!parts) continue;
    std::vector<Index> rows = round_parts(task, *parts);
    if (!exceed && exceeds_limits(task, rows)) continue;
    const double seconds = predict_shares(rows, task.models, task.node, task.objective).all_seconds;
    if (found.rows.empty() || seconds < found.least) found = {std::move(rows), seconds};
  }
}

/// Find the shares of the shortest apply.
std::vector<Index> shortest(const Task& task) {
  BestSoFar found;
  if (const std::optional<std::size_t> alone = best_alone(task)) {
    found.rows.assign(task.models.size(), 0);
    found.rows[*alone] = task.rows;
    found.least = single_seconds(task.models[*alone], task.rows, task.node, task.objective) / kLeastGain;
  }
  const auto draws = [&](std::size_t i) { return task.models[i].host_bytes_per_row; };
  const std::vector<Members> sets = sets_to_try(task, draws);
  try_together(task, sets, false, found);
  if (found.rows.empty()) try_together(task, sets, true, found);
  if (found.rows.empty()) refuse_rows(task.rows, task.models);
  return found.rows;
}

/// Share the rows among members for the fewest joules, those first whose rows take the least. Beyond the least time,
/// joules of rows fall with the seconds that are allowed and joules of idling rise: the sum has one minimum.
std::optional<Parts> cheapest_parts(const Task& task, const Members& members) {
  Parts parts(task.models.size(), 0);
  const std::optional<double> least = least_seconds(task, members, kNever, parts);
  if (!least) return std::nullopt;
  const auto joules = [&](double seconds) {
    fill_parts(task, members, seconds, parts);
    return predict(parts, task.models, task.node, task.objective).joules;
  };
  double below = *least, above = std::max(*least, enough_seconds(task, members));
  while (above - below > 1e-4 * above) {
    const double left = below + (above - below) / 3, right = above - (above - below) / 3;
    const bool falls = joules(left) >= joules(right);
    (falls ? below : above) = falls ? left : right;
  }
  const double best = joules(above) <= joules(below) ? above : below;
  joules(best);
  return parts;
}

/// Find the shares that take the fewest joules, those of the shortest apply among them.
std::vector<Index> cheapest(const Task& task) {
  std::vector<Index> rows = shortest(task);
  const bool exceed = exceeds_limits(task, rows);
  BestSoFar found{rows, predict(rows, task.models, task.node, task.objective).joules};
  const auto joules_per_row = [&](std::size_t i) {
    return (task.models[i].watts - task.models[i].idle_watts) * task.models[i].seconds_per_row;
  };
  for (const Members& set : sets_to_try(task, joules_per_row)) {
    const std::optional<Parts> parts = cheapest_parts(task, set);
    if (!parts) continue;
    rows = round_parts(task, *parts);
    if (!exceed && exceeds_limits(task, rows)) continue;
    const double joules = predict(rows, task.models, task.node, task.objective).joules;
    if (joules < found.least * (1 - kNoise)) found = {rows, joules};
  }
  return found.rows;
}

/// Share the rows in proportion to weights; what a memory does not hold goes to the others, in proportion again.
std::vector<Index> in_proportion(const Task& task, std::vector<double> weights) {
  Index need = task.rows;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] > 0) need -= std::min(need, task.models[i].most_rows);
  }
  if (need > 0) refuse_rows(task.rows, task.models);
  Parts parts(weights.size(), 0);
  double left = static_cast<double>(task.rows);
  for (bool full = true; full;) {
    full = false;
    const double largest = *std::max_element(weights.begin(), weights.end());
    if (!(largest > 0)) break;
    double sum = 0;
    for (double& weight : weights) sum += weight /= largest;
    const double each = left / sum;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] > 0) parts[i] = each * weights[i];
      const double most = static_cast<double>(task.models[i].most_rows);
      if (weights[i] <= 0 || parts[i] <= most) continue;
      full = true;
      parts[i] = most;
      left -= most;
      weights[i] = 0;
    }
  }
  return round_parts(task, parts);
}

/// Share the rows equally among as many processors as get a grain, and more if those do not hold them.
std::vector<Index> in_equal_parts(const Task& task) {
  const Index wanted = std::max<Index>(1, task.rows / task.grain);
  std::vector<double> weights(task.models.size(), 0);
  std::vector<Index> rows;
  Index taken = 0, lack = task.rows;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Index most = task.models[i].most_rows;
    if (most <= 0) continue;
    weights[i] = 1;
    lack -= std::min(most, lack);
    ++taken;
    if (lack > 0 || (taken < wanted && i + 1 < weights.size())) continue;
    rows = in_proportion(task, weights);
    if (!exceeds_limits(task, rows)) return rows;
  }
  return rows.empty() ? in_proportion(task, weights) : rows;
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
