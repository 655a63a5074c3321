// SPDX-License-Identifier: BSD-2-Clause
// Joules by the whole protocol of the meter: ours beside cuSPARSE with vectors in place, and what a card and the cores
// of the host take for vectors on the host, balanced by time and by joules.
#include <algorithm>
#include <memory>

#include "clock.hpp"
#include "in_place.hpp"
#include "measured.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/solver.hpp"
#include "run.hpp"
#include "statistics.hpp"

namespace oclspkt::bench::paper {
namespace {

using Json = nlohmann::ordered_json;

constexpr Index kMeteredRows = 100'000'000;
constexpr int kBalanceSetUps = 6;  ///< set-ups of a balanced solver, from which it learns rates and watts

/// A system that several pieces in a row solve, made by the first.
template <typename T>
using Shared = std::shared_ptr<std::unique_ptr<Problem<T>>>;

template <typename T, typename Solve>
Piece piece_of(const MatrixSpec& spec, Index rows, const Shared<T>& problem, bool last, double work, Json record,
               const std::string& words, const Solve& solve) {
  record["scalar"] = scalar_name<T>();
  record["rows"] = rows;
  return {"energy", words + ", " + name(spec.matrix) + ", " + scalar_name<T>(), work,
          [=](Json& records, const Share& share) {
            if (!*problem) *problem = std::make_unique<Problem<T>>(spec, rows);
            Json done = record;
            solve(**problem, share, done);
            records.push_back(done);
            if (last) problem->reset();
          },
          record};
}

/// Ours and cuSPARSE's on the first card, or on the first device where there is none.
template <typename T>
void add_in_place(const Plan& plan, const Processor& p, const MatrixSpec& spec, std::vector<Piece>& pieces) {
  const auto problem = std::make_shared<std::unique_ptr<Problem<T>>>();
  const Index rows = std::min(kMeteredRows, plan.rows);
  const bool card = p.info.type == DeviceType::gpu;
  const auto add = [&](const char* who, const char* solver, bool last, double work, const auto& solve) {
    const Json record{{"device", p.info.name}, {"who", who}, {"solver", solver}, {"matrix", name(spec.matrix)}};
    pieces.push_back(piece_of<T>(spec, rows, problem, last, work, record, solver, solve));
  };
  add("ours", "oclspkt", !card, 4, [=](Problem<T>& system, const Share& share, Json& done) {
    solve_in_place(plan, p, false, Windows::with_idle, system, share, done);
  });
  if (!card) return;
  for (const bool pivoting : {false, true}) {
    const Windows windows = pivoting ? Windows::one : Windows::several;
    add("peer", pivoting ? "cuSPARSE gtsv2" : "cuSPARSE gtsv2_nopivot", pivoting, pivoting ? 1 : 3,
        [=](Problem<T>& system, const Share& share, Json& done) {
          solve_by_cusparse(plan, p, pivoting, windows, spec, system, share, done);
        });
  }
}

/// Vectors on the host, shares by time or by joules, of which the solver learns in windows of the meter.
void solve_balanced(const Plan& plan, const std::vector<Processor>& team, const std::string& balance,
                    Problem<float>& problem, const Share& share, Json& record) {
  Options options;
  std::vector<DeviceInfo> devices;
  for (const Processor& p : team) {
    options.devices = devices.empty() ? p.word : options.devices + "," + p.word;
    devices.push_back(p.info);
  }
  options.balance = balance;
  options.energy = true;
  options.profile = "none";
  options.on_device_failure = OnDeviceFailure::error;
  Solver<float> solver(options);
  const BandsView<float> bands = problem.bands.view();
  const auto apply = [&] { solver.apply(problem.y.data(), problem.x.data()); };
  problem.spoil();
  const auto set_up = [&] { solver.set_up(problem.lines, bands.lower, bands.diag, bands.upper); };
  for (int i = 0; i < kBalanceSetUps; ++i) {
    set_up();
    // A set-up after which others work than before ends the window that is open.
    for (double spent = 0; spent < 1.2 * kLeastWindow;) spent += seconds_of(apply);
  }
  set_up();
  apply();
  if (!right(problem, record)) return;
  record["seconds"] = figure(median(times(plan.settings.rounds, share, [&] { return seconds_of(apply); })));
  record["shares"] = Json::array();
  for (const ShareReport& part : solver.report().sharing.shares)
    record["shares"].push_back(figure(static_cast<double>(part.rows) / static_cast<double>(problem.n())));
  record["why"] = solver.report().sharing.why;
  record["objectives"] = solver.report().sharing.objectives;
  if (record["shares"].empty()) devices = that_count(devices, solver.report().device.name);
  add_joules(devices, plan.settings.rated, apply, Windows::several, record);
  record["source"] = "measured";
}

void add_balanced(const Plan& plan, const std::vector<Processor>& team, std::vector<Piece>& pieces) {
  const auto problem = std::make_shared<std::unique_ptr<Problem<float>>>();
  for (const char* balance : {"time", "energy"}) {
    const Json record{{"device", team[0].info.name + " + " + team[1].info.name},
                      {"who", "balance"},
                      {"solver", balance},
                      {"matrix", name(Matrix::random)}};
    pieces.push_back(piece_of<float>({.dominance = kPaperDominance}, std::min(kMeteredRows, plan.rows), problem,
                                     std::string(balance) == "energy", 6, record, std::string("balanced by ") + balance,
                                     [=](Problem<float>& system, const Share& share, Json& done) {
                                       solve_balanced(plan, team, balance, system, share, done);
                                     }));
  }
}

}  // namespace

void add_energy(const Plan& plan, std::vector<Piece>& pieces) {
  std::vector<Processor> devices = plan.processors;
  std::erase_if(devices, [](const Processor& p) { return p.host() || p.info.emulated; });
  if (devices.empty()) return;
  const auto first = [&](DeviceType type) {
    return std::find_if(devices.begin(), devices.end(), [&](const Processor& p) { return p.info.type == type; });
  };
  const auto card = first(DeviceType::gpu), cores = first(DeviceType::cpu);
  const Processor& p = card != devices.end() ? *card : devices.front();
  const MatrixSpec random{.dominance = kPaperDominance}, poisson{.matrix = Matrix::poisson};
  for (const std::string& scalar : plan.settings.scalars) {
    if (scalar == "float") {
      add_in_place<float>(plan, p, random, pieces);
    } else {
      for (const MatrixSpec& spec : {random, poisson}) add_in_place<double>(plan, p, spec, pieces);
    }
  }
  if (card == devices.end()) return;
  const Processor processor = cores != devices.end() ? *cores : plan.processors.front();
  if (processor.info.type != DeviceType::gpu) add_balanced(plan, {*card, processor}, pieces);
}

}  // namespace oclspkt::bench::paper
