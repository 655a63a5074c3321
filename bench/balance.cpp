// SPDX-License-Identifier: BSD-2-Clause
#include "balance.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <limits>
#include <memory>
#include <random>
#include <string>

#include "backward_error.hpp"
#include "balance_simulate.hpp"
#include "clock.hpp"
#include "command_line.hpp"
#include "json_file.hpp"
#include "oclspkt/solver.hpp"
#include "problem.hpp"
#include "progress.hpp"
#include "provenance.hpp"
#include "split.hpp"
#include "statistics.hpp"

namespace oclspkt::bench {
namespace {

namespace po = boost::program_options;

/// Rows of all applies between two set-ups, if their number is not given.
constexpr double kAppliedRows = 2e9;
using Json = nlohmann::ordered_json;

struct BalanceSettings {
  std::string devices, rows = "1e5,1e6,1e7", balance = "time", precision = "double", profile = "none", simulate, json;
  double dominance = 3;
  int set_ups = 4, applies = 0, rounds = 15, one_shots = 3;
  std::int64_t device_memory = 0;
  bool allow_debug = false;
};

/// Some of the processors, with a solver of their own.
template <typename T>
struct Team {
  std::string devices;
  std::vector<std::size_t> members;
  std::unique_ptr<Solver<T>> solver;
  std::vector<double> seconds, one_shot;
  Report report;  ///< behind the applies
};

/// Every non-empty subset of processors.
template <typename T>
std::vector<Team<T>> make_teams(const std::vector<std::string>& words, const BalanceSettings& s) {
  std::vector<Team<T>> all;
  for (std::size_t set = 1; set < (std::size_t{1} << words.size()); ++set) {
    Team<T> c;
    for (std::size_t k = 0; k < words.size(); ++k) {
      if ((set >> k & 1U) == 0) continue;
      c.devices += (c.devices.empty() ? "" : ",") + words[k];
      c.members.push_back(k);
    }
    Options options;
    options.devices = c.devices;
    if (c.members.size() > 1) options.balance = s.balance;
    options.profile = s.profile;
    options.use.device_memory = s.device_memory;
    c.solver = std::make_unique<Solver<T>>(options);
    all.push_back(std::move(c));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.members.size() < b.members.size(); });
  return all;
}

template <typename T>
void set_up_team(Team<T>& c, const Problem<T>& problem) {
  const BandsView<T> view = problem.bands.view();
  c.solver->set_up(problem.lines, view.lower, view.diag, view.upper);
}

template <typename T>
void apply_team(Team<T>& c, Problem<T>& problem) {
  c.solver->apply(problem.y.data(), problem.x.data());
}

/// @throws Breakdown if the answer that stands in problem.x is wrong
template <typename T>
void check_team(const Team<T>& c, const Problem<T>& problem) {
  const double error =
      normwise_backward_error(problem.lines, problem.bands.view(), problem.x.data(), problem.y.data()) /
      static_cast<double>(std::numeric_limits<T>::epsilon());
  if (!(error <= 10))
    throw Breakdown("devices " + c.devices + ": the answer is wrong, " + std::to_string(error) + " eps");
}

template <typename T>
void solve_team(Team<T>& c, Problem<T>& problem) {
  set_up_team(c, problem);
  apply_team(c, problem);
}

/// Seconds of some work among many times in a row, as a program has it and as solvers have learned from.
/// @param before  times that are not counted, as the first ones are behind the work of another solver
template <typename Work>
double seconds_in_a_row(int before, int counted, const Work& work) {
  std::vector<double> seconds;
  for (int k = 0; k < before; ++k) work();
  for (int k = 0; k < counted; ++k) seconds.push_back(seconds_of(work));
  return median(seconds);
}

/// Set-ups that learn from the applies between them, then some applies of each in turn, then whole solves.
template <typename T>
void measure_teams(std::vector<Team<T>>& all, Problem<T>& problem, const BalanceSettings& s) {
  const int applies = s.applies > 0
                          ? s.applies
                          : static_cast<int>(std::clamp(kAppliedRows / static_cast<double>(problem.n()), 20.0, 200.0));
  Progress progress;
  for (Team<T>& c : all) {
    progress.step(std::to_string(problem.n()) + " rows, devices " + c.devices);
    for (int i = 0; i < s.set_ups; ++i) {
      set_up_team(c, problem);
      for (int k = 0; k < applies; ++k) apply_team(c, problem);
      check_team(c, problem);
    }
  }
  // In another order each time: threads of a processor's driver may still spin when the next one begins.
  std::mt19937 order(1);
  std::vector<Team<T>*> teams;
  for (Team<T>& c : all) teams.push_back(&c);
  for (int round = 0; round < s.rounds; ++round) {
    std::shuffle(teams.begin(), teams.end(), order);
    for (Team<T>* team : teams) {
      team->seconds.push_back(seconds_in_a_row(5, 15, [&] { apply_team(*team, problem); }));
    }
  }
  for (Team<T>& c : all) c.report = c.solver->report();
  constexpr int kLearning = 8;  // whole solves from which solvers learn that one apply follows a set-up
  for (Team<T>& c : all) {
    for (int i = 0; s.one_shots > 0 && i < kLearning; ++i) solve_team(c, problem);
  }
  for (int round = 0; round < s.one_shots; ++round) {
    std::shuffle(teams.begin(), teams.end(), order);
    for (Team<T>* team : teams) {
      team->one_shot.push_back(seconds_in_a_row(1, 3, [&] { solve_team(*team, problem); }));
      check_team(*team, problem);
    }
  }
}

/// The least median of the members by themselves, and the sum of their rates.
template <typename T>
struct Alone {
  double best = std::numeric_limits<double>::infinity(), rate = 0;
  Alone(const std::vector<Team<T>>& all, const Team<T>& of, std::vector<double> Team<T>::*times) {
    for (const Team<T>& c : all) {
      const bool member = c.members.size() == 1 &&
                          std::find(of.members.begin(), of.members.end(), c.members.front()) != of.members.end();
      if (!member || (c.*times).empty()) continue;
      best = std::min(best, median(c.*times));
      rate += 1 / median(c.*times);
    }
  }
};

Json shares_of(const Report& report) {
  Json shares = Json::array();
  for (const ShareReport& share : report.sharing.shares) {
    shares.push_back({{"device", share.device},
                      {"method", name(share.method)},
                      {"shape", share.shape},
                      {"rows", share.rows},
                      {"predicted seconds", share.predicted_seconds},
                      {"seconds", share.seconds},
                      {"bytes", share.bytes}});
  }
  return shares;
}

template <typename T>
void run_teams(Index rows, const std::vector<std::string>& words, const BalanceSettings& s, Json& results) {
  require_memory(rows, (kProblemArrays + 10.0 * static_cast<double>(std::size_t{1} << words.size())) * sizeof(T));
  Problem<T> problem({.matrix = Matrix::random, .dominance = s.dominance}, rows);
  std::vector<Team<T>> all = make_teams<T>(words, s);
  measure_teams(all, problem, s);
  std::printf("\n%lld rows\n%-24s %12s %9s %9s %9s %12s %9s  %s\n", static_cast<long long>(rows), "devices", "apply ms",
              "speed", "of sum", "predicted", "set-up+1 ms", "speed", "shares");
  for (const Team<T>& c : all) {
    const Alone<T> alone(all, c, &Team<T>::seconds), whole(all, c, &Team<T>::one_shot);
    const double seconds = median(c.seconds), one_shot = c.one_shot.empty() ? 0 : median(c.one_shot);
    const Report& report = c.report;
    const double predicted = report.sharing.predicted_seconds;
    std::string shares;
    for (const ShareReport& share : report.sharing.shares) {
      char text[32];
      std::snprintf(text, sizeof text, "%s%.3f", shares.empty() ? "" : " ",
                    static_cast<double>(share.rows) / static_cast<double>(rows));
      shares += text;
    }
    if (shares.empty()) shares = report.device.name;
    std::printf("%-24s %12.4f %9.3f %9.3f %9.3f %12.3f %9.3f  %s\n", c.devices.c_str(), 1e3 * seconds,
                alone.best / seconds, 1 / seconds / alone.rate, predicted / seconds, 1e3 * one_shot,
                whole.best / one_shot, shares.c_str());
    results.push_back({{"rows", rows},
                       {"devices", c.devices},
                       {"members", c.members.size()},
                       {"device", report.device.name},
                       {"method", name(report.method)},
                       {"seconds", c.seconds},
                       {"one shot seconds", c.one_shot},
                       {"one shot why", c.one_shot.empty() ? "" : c.solver->report().sharing.why},
                       {"against best single", alone.best / seconds},
                       {"share of the sum", 1 / seconds / alone.rate},
                       {"one shot against best single", whole.best / one_shot},
                       {"predicted seconds", predicted},
                       {"why", report.sharing.why},
                       {"shares", shares_of(report)}});
  }
  std::fflush(stdout);
}

}  // namespace

int balance_command(const std::vector<std::string>& arguments, const std::string& command) {
  BalanceSettings s;
  po::options_description all("oclspkt-bench balance [options]", 120);
  auto add = all.add_options();
  add("help", "print this text");
  add("simulate", po::value(&s.simulate), "print what the balancer does on a machine that a JSON file describes");
  add("devices", po::value(&s.devices)->default_value("host,cpu"),
      "processors joined by commas, each a word as -pc_oclspkt_devices takes it: all subsets are timed");
  add("rows", po::value(&s.rows)->default_value(s.rows), "rows of the systems, joined by commas");
  add("balance", po::value(&s.balance)->default_value(s.balance), "as -pc_oclspkt_balance takes it");
  add("dominance", po::value(&s.dominance)->default_value(s.dominance), "of the rows");
  add("precision", po::value(&s.precision)->default_value(s.precision), "float or double");
  add("profile", po::value(&s.profile)->default_value(s.profile), "as -pc_oclspkt_profile takes it");
  add("set-ups", po::value(&s.set_ups)->default_value(s.set_ups), "before anything is timed");
  add("applies", po::value(&s.applies)->default_value(s.applies),
      "between two of them, as many as solvers then expect; 0: by the number of rows");
  add("rounds", po::value(&s.rounds)->default_value(s.rounds), "times that some applies of each are timed");
  add("device-memory", po::value(&s.device_memory)->default_value(s.device_memory),
      "bytes that a device may use, as -pc_oclspkt_device_memory; 0: all");
  add("one-shots", po::value(&s.one_shots)->default_value(s.one_shots),
      "times that some set-ups with one apply each are timed");
  add("json", po::value(&s.json), "file for the results");
  add_allow_debug(all, s.allow_debug);
  if (read_command_line(arguments, "balance", all).empty()) return 0;
  if (!s.simulate.empty()) return simulate_balance(s.simulate, std::cout);
  check_precision(s.precision);
  if (s.set_ups < 1 || s.rounds < 1 || s.applies < 0 || s.one_shots < 0) {
    throw InvalidInput("--set-ups and --rounds are 1 or more, --applies and --one-shots 0 or more");
  }
  if (!s.allow_debug) require_release();
  JsonFile json(s.json);
  const std::vector<std::string> words = split(s.devices, ',');
  if (words.empty() || words.size() > 6) throw InvalidInput("--devices takes 1 to 6 processors joined by commas");
  Json document{{"provenance", provenance({}, command)}, {"results", Json::array()}};
  for (const std::string& text : split(s.rows, ',')) {
    const Index rows = parse_rows(text);
    if (s.precision == "double") {
      run_teams<double>(rows, words, s, document["results"]);
    } else {
      run_teams<float>(rows, words, s, document["results"]);
    }
  }
  json.write(document);
  return 0;
}

}  // namespace oclspkt::bench
