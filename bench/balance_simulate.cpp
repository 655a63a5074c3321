// SPDX-License-Identifier: BSD-2-Clause
#include "balance_simulate.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "oclspkt/error.hpp"

namespace oclspkt::bench {
namespace {

using nlohmann::json;
using Members = std::vector<std::size_t>;

constexpr std::size_t kMostSets = 4;  ///< processors of which every set is printed
constexpr double kNumberBytes = 8;
constexpr double kNear = 1e-3;  ///< processors and memory end together but for rounding

double positive(const json& object, const char* key) {
  const double value = object.at(key).get<double>();
  if (!(value > 0)) throw InvalidInput(std::string(key) + " must be more than 0");
  return value;
}

/// Read processors of one kind.
void read_processor(const json& object, Machine& machine) {
  ShareModel model;
  model.seconds_per_row = 1 / positive(object, "rows_per_second");
  model.kernel_seconds_per_row = 1 / positive(object, "kernel_rows_per_second");
  model.latency = object.value("latency_seconds", 0.0);
  model.host_bytes_per_row = positive(object, "host_bytes_per_row");
  model.watts = object.value("watts", 0.0);
  model.physical = object.value("physical", "");
  const int count = object.value("count", 1);
  for (int i = 0; i < count; ++i) {
    machine.names.push_back(object.at("name"));
    machine.models.push_back(model);
  }
}

Cluster read_cluster(const json& object) {
  Cluster cluster;
  cluster.nodes = static_cast<Index>(positive(object, "nodes"));
  cluster.latency_seconds = positive(object, "latency_seconds");
  cluster.bytes_per_second = positive(object, "bytes_per_second");
  cluster.numbers_per_neighbour = positive(object, "numbers_per_neighbour");
  cluster.root_seconds_per_number = positive(object, "root_seconds_per_number");
  return cluster;
}

Machine read_document(const json& document) {
  Machine machine;
  machine.name = document.at("name");
  machine.source = document.at("source");
  machine.fitted = document.value("fitted", std::vector<std::string>());
  machine.assumptions = document.value("assumptions", std::vector<std::string>());
  for (const json& processor : document.at("processors")) read_processor(processor, machine);
  if (machine.models.empty()) throw InvalidInput("there are no processors");
  const json& node = document.at("node");
  machine.alone.host_bytes_per_second = positive(node, "host_bytes_per_second");
  machine.together.host_bytes_per_second =
      node.value("host_bytes_per_second_together", machine.alone.host_bytes_per_second);
  machine.together.meeting_seconds = node.value("meeting_seconds", 0.0);
  for (const double rows : document.at("rows").get<std::vector<double>>()) {
    machine.rows.push_back(static_cast<Index>(rows));
  }
  machine.grain = document.value("grain", Index(1));
  for (const json& measured : document.value("measured", json::array())) {
    machine.measured.push_back({measured.at("processors"), positive(measured, "rows_per_second")});
  }
  if (document.contains("cluster")) machine.cluster = read_cluster(document.at("cluster"));
  return machine;
}

/// Find what takes most of an apply's time: latency with the meeting, the host's memory, or the slowest processor.
Limit find_limit(const Machine& machine, const Members& members, const Shares& shares, const NodeModel& node) {
  const bool several = std::count_if(shares.rows.begin(), shares.rows.end(), [](Index rows) { return rows > 0; }) > 1;
  double bytes = 0;
  std::size_t slowest = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    bytes += static_cast<double>(shares.rows[i]) * machine.models[members[i]].host_bytes_per_row;
    if (shares.seconds[i] > shares.seconds[slowest]) slowest = i;
  }
  const double idle = machine.models[members[slowest]].latency, latency = idle + (several ? node.meeting_seconds : 0);
  const double memory = bytes / node.host_bytes_per_second, part = shares.seconds[slowest];
  const bool bound = memory >= part * (1 - kNear);
  const double work = bound ? memory : part - idle;
  if (latency > work) return {"latency", latency};
  return {bound ? "host memory" : several ? "processors" : machine.names[members[slowest]], work};
}

std::vector<std::string> names_of(const Machine& machine, const Members& members) {
  std::vector<std::string> names;
  for (const std::size_t i : members) names.push_back(machine.names[i]);
  return names;
}

/// Join names; of a kind only one is written, with the number of them.
std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size();) {
    const auto next = std::find_if(names.begin() + static_cast<std::ptrdiff_t>(i), names.end(),
                                   [&](const std::string& name) { return name != names[i]; });
    const std::size_t end = static_cast<std::size_t>(next - names.begin());
    text += (i ? " + " : "") + (end - i > 1 ? std::to_string(end - i) + " " : "") + names[i];
    i = end;
  }
  return text;
}

std::string number(double value, int decimals) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(decimals) << value;
  return text.str();
}

/// Write the shares in percent, those of a kind together.
std::string percents(const Machine& machine, const Members& members, const Shares& shares) {
  const double all = static_cast<double>(std::accumulate(shares.rows.begin(), shares.rows.end(), Index(0)));
  std::string text;
  for (std::size_t i = 0; i < members.size();) {
    const std::string& name = machine.names[members[i]];
    Index rows = 0;
    for (; i < members.size() && machine.names[members[i]] == name; ++i) rows += shares.rows[i];
    text += (text.empty() ? "" : ", ") + name + " " + number(100 * static_cast<double>(rows) / all, 1) + " %";
  }
  return text;
}

std::string million_rows(Index rows, double seconds) { return number(static_cast<double>(rows) / seconds * 1e-6, 0); }

std::string microseconds(double seconds) { return number(seconds * 1e6, 1); }

/// List every set of processors, or only all of them if they are many.
std::vector<Members> sets_of(const Machine& machine) {
  const std::size_t count = machine.models.size();
  Members all(count);
  std::iota(all.begin(), all.end(), std::size_t(0));
  if (count > kMostSets) return {all};
  std::vector<Members> sets;
  for (unsigned mask = 1; mask < 1U << count; ++mask) {
    Members set;
    std::copy_if(all.begin(), all.end(), std::back_inserter(set), [&](std::size_t i) { return mask >> i & 1U; });
    sets.push_back(set);
  }
  std::stable_sort(sets.begin(), sets.end(), [](const Members& a, const Members& b) { return a.size() < b.size(); });
  return sets;
}

void print_head(const Machine& machine, std::ostream& out) {
  out << "# " << machine.name << "\n\nSource: " << machine.source << '\n';
  for (const std::string& text : machine.fitted) out << "Fitted: " << text << '\n';
  for (const std::string& text : machine.assumptions) out << "Assumption: " << text << '\n';
}

void print_set(const Machine& machine, Index rows, const Simulated& set, std::ostream& out) {
  out << "| " << join(names_of(machine, set.members)) << " | " << percents(machine, set.members, set.ours) << " | "
      << million_rows(rows, set.ours.all_seconds) << " | " << million_rows(rows, set.best_single) << " | "
      << number(set.best_single / set.ours.all_seconds, 2) << " | " << set.limit.name << " | "
      << million_rows(rows, set.by_rate) << " | " << million_rows(rows, set.by_kernel) << " | ";
  if (set.measured) {
    out << million_rows(rows, *set.measured) << " | " << std::showpos
        << number(100 * (*set.measured / set.by_rate - 1), 1) << std::noshowpos << " % |\n";
  } else {
    out << "| |\n";
  }
}

/// Print how far what was measured with several processors is from what is predicted of shares by rate.
/// @return whether the order is the same
bool print_residual(const std::vector<Simulated>& sets, std::ostream& out) {
  std::vector<std::pair<double, double>> times;
  double worst = 0;
  for (const Simulated& set : sets) {
    if (!set.measured || set.members.size() < 2) continue;
    times.emplace_back(*set.measured, set.by_rate);
    worst = std::max(worst, std::abs(*set.measured / set.by_rate - 1));
  }
  if (times.empty()) return true;
  std::sort(times.begin(), times.end());
  const bool right =
      std::is_sorted(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  out << "Largest residual of the " << times.size() << " combinations: " << number(100 * worst, 1)
      << " %. Their order is " << (right ? "right" : "wrong") << ".\n";
  return right;
}

/// Print which processors take the fewest joules, if that is known.
void print_joules(const Machine& machine, const Members& all, Index rows, std::ostream& out) {
  const auto& models = machine.models;
  if (std::any_of(models.begin(), models.end(), [](const ShareModel& model) { return model.watts <= 0; })) return;
  const Shares shares = share_rows(rows, machine.grain, models, machine.together, {Objective::energy, {}});
  out << "The fewest joules: " << percents(machine, all, shares) << ".\n";
}

/// Print what every set does. @return whether it is as it ought to be
bool print_sets(const Machine& machine, Index rows, std::ostream& out) {
  out << "\n## " << rows
      << " rows\n\nMillion rows a second, transfers included:\n\n"
         "| processors | our shares | ours | best alone | gain | limited by | by rate | by kernel | measured | by rate "
         "is "
         "off by |\n|---|---|--:|--:|--:|---|--:|--:|--:|--:|\n";
  std::vector<Simulated> sets;
  for (const Members& members : sets_of(machine)) {
    sets.push_back(simulate(machine, members, rows));
    print_set(machine, rows, sets.back(), out);
  }
  out << '\n';
  print_joules(machine, sets.back().members, rows, out);
  const bool right = print_residual(sets, out);
  const bool never_below = std::all_of(sets.begin(), sets.end(), [](const Simulated& set) {
    return set.ours.all_seconds <= set.best_single * (1 + 1e-12);
  });
  out << "Ours is " << (never_below ? "nowhere" : "somewhere") << " slower than the best processor alone.\n";
  return right && never_below;
}

/// Print an apply of all nodes. @return whether it is as it ought to be
bool print_cluster(const Machine& machine, Index rows, std::ostream& out) {
  const Cluster& cluster = *machine.cluster;
  Members all(machine.models.size());
  std::iota(all.begin(), all.end(), std::size_t(0));
  const Simulated node = simulate(machine, all, (rows + cluster.nodes - 1) / cluster.nodes);
  const MessageSeconds messages = predict_messages(cluster);
  const double truncated = node.ours.all_seconds + messages.neighbours, exact = truncated + messages.root;
  const auto limit = [&](double sent) { return sent > node.limit.seconds ? "messages" : node.limit.name; };
  out << "| " << rows << " | " << percents(machine, all, node.ours) << " | " << microseconds(node.ours.all_seconds)
      << " | " << microseconds(node.best_single) << " | " << microseconds(messages.neighbours) << " | "
      << microseconds(messages.root) << " | " << million_rows(rows, truncated) << " | " << million_rows(rows, exact)
      << " | " << limit(messages.neighbours) << " | " << limit(messages.neighbours + messages.root) << " |\n";
  return node.ours.all_seconds <= node.best_single * (1 + 1e-12);
}

}  // namespace

Machine read_machine(const std::string& file) {
  std::ifstream stream(file);
  if (!stream)
    throw InvalidInput("cannot read the machine " + file + ": name a file such as bench/machines/paper.json");
  try {
    return read_document(json::parse(stream, nullptr, true, true));
  } catch (const json::exception& wrong) {
    throw InvalidInput("the machine " + file + " is not described as bench/machines/paper.json is: " + wrong.what());
  } catch (const InvalidInput& wrong) {
    throw InvalidInput("the machine " + file + ": " + wrong.what());
  }
}

Simulated simulate(const Machine& machine, const std::vector<std::size_t>& members, Index rows) {
  Simulated set;
  set.members = members;
  std::vector<ShareModel> models;
  Balance by_rate{Objective::weights, {}};
  for (const std::size_t i : members) {
    models.push_back(machine.models[i]);
    by_rate.weights.push_back(1 / models.back().seconds_per_row);
  }
  const auto node = [&](const std::vector<Index>& parts) {
    const bool several = std::count_if(parts.begin(), parts.end(), [](Index part) { return part > 0; }) > 1;
    return several ? machine.together : machine.alone;
  };
  const auto predict = [&](const Balance& balance) {
    const Shares shares = share_rows(rows, machine.grain, models, machine.together, balance);
    return predict_shares(shares.rows, models, node(shares.rows));
  };
  set.ours = predict({});
  set.best_single = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < models.size(); ++i) {
    set.best_single = std::min(set.best_single, predict_single(i, rows, models, machine.alone).all_seconds);
  }
  set.by_rate = predict(by_rate).all_seconds;
  set.by_kernel = predict({Objective::kernel, {}}).all_seconds;
  set.limit = find_limit(machine, members, set.ours, node(set.ours.rows));
  std::vector<std::string> names = names_of(machine, members);
  std::sort(names.begin(), names.end());
  for (MeasuredRate measured : machine.measured) {
    std::sort(measured.processors.begin(), measured.processors.end());
    if (measured.processors == names) set.measured = static_cast<double>(rows) / measured.rows_per_second;
  }
  return set;
}

MessageSeconds predict_messages(const Cluster& cluster) {
  MessageSeconds seconds;
  if (cluster.nodes < 2) return seconds;
  const double nodes = static_cast<double>(cluster.nodes), levels = std::ceil(std::log2(nodes));
  const double each = cluster.numbers_per_neighbour * kNumberBytes / cluster.bytes_per_second;
  seconds.neighbours = cluster.latency_seconds + 2 * each;
  // The root's link carries the numbers of every cut, in and out again.
  seconds.root = 2 * (levels * cluster.latency_seconds + (nodes - 1) * each) +
                 (nodes - 1) * cluster.numbers_per_neighbour * cluster.root_seconds_per_number;
  return seconds;
}

int simulate_balance(const std::string& file, std::ostream& out) {
  const Machine machine = read_machine(file);
  print_head(machine, out);
  bool right = true;
  if (machine.cluster) {
    out << "\n## " << machine.cluster->nodes
        << " nodes\n\nMicroseconds of an apply, million rows a second of all nodes:\n\n"
           "| rows | shares of a node | node | best alone | neighbours | root | truncated | exact | truncated limited "
           "by | "
           "exact limited by |\n|--:|---|--:|--:|--:|--:|--:|--:|---|---|\n";
    for (const Index rows : machine.rows) right = print_cluster(machine, rows, out) && right;
    return right ? 0 : 1;
  }
  for (const Index rows : machine.rows) right = print_sets(machine, rows, out) && right;
  return right ? 0 : 1;
}

}  // namespace oclspkt::bench
