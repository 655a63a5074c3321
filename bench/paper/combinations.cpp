// SPDX-License-Identifier: BSD-2-Clause
// Figures 8 and 11, table 5: every set of processors that share a system, vectors on the host, transfers included.
#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "balance_simulate.hpp"
#include "clock.hpp"
#include "fpga_model.hpp"
#include "measured.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/solver.hpp"
#include "problem.hpp"
#include "run.hpp"
#include "statistics.hpp"

namespace oclspkt::bench::paper {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostProcessors = 4;  ///< of which every set is timed
constexpr int kLearning = 8;                ///< set-ups after which shares stay as they are, at most
constexpr int kLeastLearning = 5;           ///< set-ups of a set, however little time it has
constexpr int kApplies = 16;                ///< between two of them, as with fewer rows are not shared
constexpr int kWhole = 2;                   ///< whole solves that are timed
constexpr int kSizes = 5;                   ///< the paper's, multiples of the first
struct Size {
  const char* scalar;
  int multiple;
};
/// In the order that they are measured in, those first that a line between the others needs most. The paper has floats.
constexpr Size kOrder[] = {{"float", 1},  {"float", kSizes}, {"double", 1}, {"float", 3},
                           {"double", 2}, {"float", 2},      {"float", 4}};
/// Words a row that problem and solvers hold in the host's memory at most.
constexpr double kWordsPerRow = 15;
/// Bytes of the host's memory that a row costs: four numbers in, one out, as in the paper; where bands stay on the
/// device y and x alone.
constexpr double kAllBytes = 5 * sizeof(float), kVectorBytes = 2 * sizeof(float);

using Team = std::vector<Processor>;

/// True if no two of them are drivers of one processor, which would not be two processors to share rows.
bool apart(const Team& team) {
  std::set<std::string> places;
  for (const Processor& p : team) {
    const bool unknown = p.info.physical.empty();
    if (!places.insert(unknown ? p.info.name : p.info.physical).second) return false;
  }
  return true;
}

bool is_cpu(const Processor& p) { return p.info.type == DeviceType::cpu; }

/// True if some driver has the cores of the host.
bool drivers_have_cores(const std::vector<Team>& teams) {
  return std::any_of(teams.begin(), teams.end(),
                     [](const Team& team) { return std::any_of(team.begin(), team.end(), is_cpu); });
}

/// Every set. The host without OpenCL solves by itself only, where a driver has its cores; of sets of equal cards with
/// others the first is taken.
std::vector<Team> teams_of(std::vector<Processor> all) {
  std::erase_if(all, [](const Processor& p) { return p.info.emulated; });
  if (all.size() > kMostProcessors) all.resize(kMostProcessors);
  const bool driven = drivers_have_cores({all});
  std::set<std::string> names;
  std::vector<Team> teams;
  for (unsigned mask = 1; mask < 1U << all.size(); ++mask) {
    Team team;
    std::string named;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!(mask >> i & 1U)) continue;
      team.push_back(all[i]);
      named += all[i].info.name + "\n";
    }
    const bool with_host = std::any_of(team.begin(), team.end(), [](const Processor& p) { return p.host(); });
    if (!apart(team) || (with_host && driven && team.size() > 1)) continue;
    const bool again = !names.insert(named).second;
    if (again && team.size() > 1) continue;
    if (again) team.front().info.name += ", another";
    teams.push_back(team);
  }
  std::stable_sort(teams.begin(), teams.end(), [](const Team& a, const Team& b) { return a.size() < b.size(); });
  return teams;
}

template <typename Of>
std::string joined(const Team& team, const char* between, const Of& of) {
  std::string text;
  for (const Processor& p : team) text += (text.empty() ? "" : between) + of(p);
  return text;
}

Json record_of(const Team& team, const std::string& scalar, Index rows) {
  return {{"devices", joined(team, " + ", [](const Processor& p) { return p.info.name; })},
          {"kinds", joined(team, " + ", [](const Processor& p) { return p.kind(); })},
          {"scalar", scalar},
          {"rows", rows}};
}

void add_joules_of(const Team& team, const Plan& plan, const std::function<void()>& solve, Json& record) {
  std::vector<DeviceInfo> devices;
  for (const Processor& p : team) devices.push_back(p.info);
  add_joules(devices, plan.settings.rated, solve, Windows::one, record);
}

/// Set up and apply, until shares stay as they are or half of the time is spent.
void learn(const std::function<void()>& set_up, const std::function<void()>& apply, bool several, const Share& share,
           Json& record) {
  const int most = several ? kLearning : 1, applies = several ? kApplies : 1;
  const double half = share.seconds() / 2;
  int set_ups = 0;
  while (set_ups < most && (set_ups < kLeastLearning || share.left() > half)) {
    set_up();
    ++set_ups;
    for (int k = 0; k < applies; ++k) apply();
  }
  record["set_ups"] = set_ups;
}

template <typename T>
void solve_together(const Plan& plan, const Team& team, bool metered, Problem<T>& problem, const Share& share,
                    Json& record) {
  Options options;
  options.devices = joined(team, ",", [](const Processor& p) { return p.word; });
  options.profile = "none";
  options.on_device_failure = OnDeviceFailure::error;
  Solver<T> solver(options);
  const BandsView<T> bands = problem.bands.view();
  const auto set_up = [&] { solver.set_up(problem.lines, bands.lower, bands.diag, bands.upper); };
  const auto apply = [&] { solver.apply(problem.y.data(), problem.x.data()); };
  problem.spoil();
  learn(set_up, apply, team.size() > 1, share, record);
  if (!right(problem, record)) return;
  std::vector<double> seconds = times(plan.settings.rounds, share, [&] { return seconds_of(apply); }), whole;
  for (int i = 0; i < (share.left() > 0 ? kWhole : 1); ++i) {
    whole.push_back(seconds_of([&] {
      set_up();
      apply();
    }));
  }
  record["seconds"] = figure(median(seconds));
  record["spread"] = figure(spread(seconds));
  record["whole_seconds"] = figure(median(whole));
  record["source"] = "measured";
  const SharesReport& sharing = solver.report().sharing;
  Json shares = Json::array();
  for (const ShareReport& part : sharing.shares) {
    shares.push_back(figure(static_cast<double>(part.rows) / static_cast<double>(problem.n())));
  }
  record["shares"] = shares;
  record["why"] = sharing.why;
  record["rows_per_second"] = figure(static_cast<double>(problem.n()) / median(seconds));
  if (metered) add_joules_of(team, plan, apply, record);
}

/// What a processor moves at least through the host's memory, bytes a row.
double bytes_of(const Processor& p) { return p.info.type == DeviceType::gpu ? kVectorBytes : kAllBytes; }

/// Find a set among what was measured in floats.
const Json* find_measured(const Team& team, Index rows, const Json& records) {
  const Json wanted = record_of(team, "float", rows);
  for (const Json& r : records) {
    const bool same = r["devices"] == wanted["devices"] && r["scalar"] == "float" && r["rows"] == rows;
    if (same && r.value("source", "") == "measured") return &r;
  }
  return nullptr;
}

/// Bytes a row that a measured set moved through the host's memory; of a set of which one solved, those of the one that
/// moves the least.
double bytes_of(const Team& team, const Json& measured) {
  const Json& shares = measured["shares"];
  double bytes = kAllBytes, sum = 0;
  for (std::size_t i = 0; i < team.size(); ++i) {
    bytes = std::min(bytes, bytes_of(team[i]));
    if (shares.size() == team.size()) sum += shares[i].get<double>() * bytes_of(team[i]);
  }
  return sum > 0 ? sum : bytes;
}

/// The sets with the paper's board, by the model of it and what the others were measured to take together. What the
/// host's memory gave some set, at least, all of them share.
void add_board(const Plan& plan, const std::vector<Team>& teams, Index rows, Json& records) {
  const Processor board = paper_board();
  const auto all_rows = static_cast<double>(rows);
  const double by_board = predict_fpga({}, {FpgaKernel::spktrunc, Form::general, rows, sizeof(float)}).solve;
  double rate = kAllBytes * all_rows / by_board;
  for (const Team& team : teams) {
    const Json* const measured = find_measured(team, rows, records);
    if (measured != nullptr)
      rate = std::max(rate, bytes_of(team, *measured) * all_rows / (*measured)["seconds"].get<double>());
  }
  for (std::size_t at = 0; at <= teams.size(); ++at) {
    Team team = at == 0 ? Team{} : teams[at - 1];
    const Json* const others = find_measured(team, rows, records);
    if (at > 0 && others == nullptr) continue;
    Machine machine;
    machine.alone.host_bytes_per_second = machine.together.host_bytes_per_second = rate;
    const auto add = [&](const std::string& name, double seconds, double bytes) {
      ShareModel model;
      model.seconds_per_row = model.kernel_seconds_per_row = seconds / all_rows;
      model.host_bytes_per_row = bytes;
      machine.models.push_back(model);
      machine.names.push_back(name);
    };
    if (others != nullptr) add((*others)["devices"], (*others)["seconds"], bytes_of(team, *others));
    add(board.info.name, by_board, kAllBytes);
    const Simulated set =
        simulate(machine, others != nullptr ? std::vector<std::size_t>{0, 1} : std::vector<std::size_t>{0}, rows);
    const auto part = [&](Index some) { return static_cast<double>(some) / all_rows; };
    Json shares = Json::array();
    Json own = others != nullptr ? (*others)["shares"] : Json::array();
    if (own.empty() && team.size() == 1) own.push_back(1);  // of several of which one solved, nobody knows which
    for (const Json& share : own) shares.push_back(figure(share.get<double>() * part(set.ours.rows.front())));
    if (shares.size() == team.size()) shares.push_back(figure(part(set.ours.rows.back())));
    team.push_back(board);
    Json record = record_of(team, "float", rows);
    record["seconds"] = figure(set.ours.all_seconds);
    record["source"] = "modelled";
    record["shares"] = shares;
    add_joules_of(team, plan, {}, record);
    records.push_back(record);
  }
}

template <typename T>
void add_size(const Plan& plan, const std::vector<Team>& all, Index rows, bool first, bool metered,
              std::vector<Piece>& pieces) {
  const std::string scalar = scalar_name<T>();
  const auto problem = std::make_shared<std::unique_ptr<Problem<T>>>();
  std::vector<Team> teams = all;
  // The host's own sweeps go through long lines by one thread, at one rate whatever the size.
  if (!first) std::erase_if(teams, [&](const Team& team) { return team.front().host() && drivers_have_cores(all); });
  for (std::size_t at = 0; at < teams.size(); ++at) {
    const Team& team = teams[at];
    Json record = record_of(team, scalar, rows);
    const bool last = at + 1 == teams.size();
    // One word of work for each set-up with its applies, and one for the system; the host's own sweeps take longer.
    const double work = (at == 0 ? 2 : 0) + (team.size() > 1 ? 4 : team.front().host() ? 6 : 2);
    pieces.push_back({"combinations",
                      record["devices"].get<std::string>() + ", " + std::to_string(rows) + " rows, " + scalar,
                      work * static_cast<double>(rows) * sizeof(T),
                      [=](Json& records, const Share& share) {
                        if (!*problem)
                          *problem = std::make_unique<Problem<T>>(MatrixSpec{.dominance = kPaperDominance}, rows);
                        Json done = record;
                        solve_together(plan, team, metered, **problem, share, done);
                        records.push_back(done);
                        if (last) problem->reset();
                      },
                      record});
  }
}

/// Rows of the first size: the paper's, halved until the host's memory holds the largest; twice the first in doubles is
/// less than that.
Index first_size(const Plan& plan) {
  if (plan.settings.together > 0) return plan.settings.together;
  Index rows = std::min(kPaperSize, std::max<Index>(1, plan.rows));
  while (rows > 1 && !fits_memory(kSizes * rows, kWordsPerRow * sizeof(float))) rows /= 2;
  return rows;
}

}  // namespace

void add_combinations(const Plan& plan, std::vector<Piece>& pieces) {
  const std::vector<Team> teams = teams_of(plan.processors);
  const auto has = [&](const char* scalar) {
    return std::count(plan.settings.scalars.begin(), plan.settings.scalars.end(), scalar) > 0;
  };
  const Index first = first_size(plan);
  for (const Size& size : kOrder) {
    if (!has(size.scalar)) continue;
    const Index rows = first * size.multiple;
    if (std::string(size.scalar) == "double") {
      add_size<double>(plan, teams, rows, size.multiple == 1, true, pieces);
      continue;
    }
    add_size<float>(plan, teams, rows, size.multiple == 1, size.multiple == kSizes, pieces);
    pieces.push_back({"combinations",
                      "sets with a board, by the model",
                      0,
                      [=](Json& records, const Share&) { add_board(plan, teams, rows, records); },
                      {}});
  }
}

}  // namespace oclspkt::bench::paper
