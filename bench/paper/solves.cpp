// SPDX-License-Identifier: BSD-2-Clause
// Figures 6, 7 and 10: one system with vectors in place; kernels and marshalling of each device, peers, joules.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "clock.hpp"
#include "fpga_model.hpp"
#include "gtsv2.hpp"
#include "kernel_clock.hpp"
#include "measured.hpp"
#include "oclspkt/error.hpp"
#include "peers_here.hpp"
#include "problem.hpp"
#include "resident.hpp"
#include "residual.hpp"
#include "run.hpp"
#include "statistics.hpp"

namespace oclspkt::bench::paper {
namespace {

using Json = nlohmann::ordered_json;

/// The system of a scalar, made when the first piece needs it, in the place of that of another scalar.
struct Systems {
  template <typename T>
  Problem<T>& of(Index rows) {
    auto& mine = std::get<std::unique_ptr<Problem<T>>>(problems);
    if (!mine || mine->n() != rows) {
      problems = {};
      mine = std::make_unique<Problem<T>>(MatrixSpec{.dominance = kPaperDominance}, rows);
    }
    return *mine;
  }
  std::tuple<std::unique_ptr<Problem<float>>, std::unique_ptr<Problem<double>>> problems;
};

Json record_of(const Processor& p, const std::string& scalar, Index rows, const std::string& who) {
  return {{"device", p.info.name}, {"kind", p.kind()}, {"scalar", scalar}, {"rows", rows}, {"who", who}};
}

/// Times of a record, and its joules.
void add_times(const Plan& plan, const Processor& p, double seconds, const std::function<void()>& solve, Json& record) {
  record["seconds"] = figure(seconds);
  add_joules({p.info}, plan.settings.rated, solve, Windows::several, record);
  record["source"] = "measured";
}

/// A solver of ours on a device with vectors in its memory, in the paper's form or as the library chooses.
template <typename T>
void solve_there(const Plan& plan, const Processor& p, bool paper, Problem<T>& problem, Json& record) {
  Options options;
  options.devices = p.word;
  options.variant = paper ? "paper" : "default";
  options.method = paper ? MethodChoice::truncated_halo : MethodChoice::automatic;
  options.on_device_failure = OnDeviceFailure::error;
  options.profile = "none";
  options.kernel_times = true;
  std::string why;
  DeviceModule* const module = device_module(&why);
  if (module == nullptr) throw DeviceError(why);
  const auto setting = gpu::make_setting({*module, p.info, options.variant});
  Solver<T> solver(options);
  const BandsView<T> bands = problem.bands.view();
  solver.set_up(problem.lines, bands.lower, bands.diag, bands.upper);
  const Report& report = solver.report();
  if (report.device.type == name(DeviceType::host)) throw DeviceError("the host solves instead: " + report.device.why);
  record["method"] = name(report.method);
  record["shape"] = report.shape;
  record["words_per_row"] = figure(report.words_per_row);
  const auto vectors = setting->resident(solver, static_cast<std::size_t>(problem.n()) * sizeof(T));
  vectors->write(problem.y.data());
  problem.spoil();
  vectors->apply();
  vectors->read(problem.x.data());
  if (!right(problem, record)) return;
  std::vector<double> seconds;
  std::map<std::string, KernelTime> kernels;
  {
    KernelClock clock;
    for (int round = 0; round < plan.settings.rounds; ++round) seconds.push_back(vectors->apply());
    kernels = clock.take();
  }
  add_times(
      plan, p, median(seconds), [&] { vectors->apply(); }, record);
  record["spread"] = figure(spread(seconds));
  record["marshalling_seconds"] = figure(median(seconds) * marshalling_share(kernels));
  for (const auto& [kernel, time] : kernels) {
    record["kernels"][kernel] = figure(time.seconds / plan.settings.rounds);
  }
}

/// The same on the host, which has no kernels.
template <typename T>
void solve_here(const Plan& plan, const Processor& p, Problem<T>& problem, Json& record) {
  Options options;
  options.devices = "host";
  Solver<T> solver(options);
  const BandsView<T> bands = problem.bands.view();
  solver.set_up(problem.lines, bands.lower, bands.diag, bands.upper);
  record["method"] = name(solver.report().method);
  record["words_per_row"] = figure(solver.report().words_per_row);
  const auto solve = [&] { solver.apply(problem.y.data(), problem.x.data()); };
  problem.spoil();
  solve();
  if (!right(problem, record)) return;
  const auto seconds = times(plan.settings.rounds, [&] { return seconds_of(solve); });
  // Unlike the others it keeps its factors: as much as theirs is a set-up with an apply.
  add_times(plan, p, median(seconds), solve, record);
  record["spread"] = figure(spread(seconds));
  record["marshalling_seconds"] = 0;
}

template <typename T>
void solve_by_peer(const Plan& plan, const Processor& p, const PeerFacts& facts, Problem<T>& problem, Json& record) {
  Peer<T> peer = facts.make(problem);
  if (!peer.absent.empty()) throw Absent(peer.absent);
  problem.spoil();
  peer.run(1);
  if (!right(problem, record)) return;
  const auto seconds = times(plan.settings.rounds, [&] { return peer.run(1); });
  add_times(
      plan, p, median(seconds), [&] { peer.run(1); }, record);
  record["spread"] = figure(spread(seconds));
}

template <typename T>
void solve_by_cusparse(const Plan& plan, const Processor& p, bool pivoting, Problem<T>& problem, Json& record) {
  std::string why;
  const auto peer = Gtsv2<T>::open(problem, pivoting, &why);
  if (!peer) throw Absent(why);
  problem.spoil();
  peer->run();
  peer->read(problem.x.data());
  if (!right(problem, record)) return;
  const auto seconds = times(plan.settings.rounds, [&] { return peer->run(); });
  add_times(
      plan, p, median(seconds), [&] { peer->run(); }, record);
  record["spread"] = figure(spread(seconds));
}

/// The paper's board by the model; there is none here.
Piece board_piece(const Plan& plan, FpgaKernel kernel) {
  const Processor board = paper_board();
  Json record = record_of(board, "float", plan.rows, kernel == FpgaKernel::tdma ? "peer" : "paper");
  record["solver"] = name(kernel);
  return {"solves", std::string("model of the A10PL4, ") + name(kernel), 0,
          [=](Json& records) {
            Json done = record;
            const FpgaTime time = predict_fpga({}, {kernel, Form::general, plan.rows, sizeof(float)});
            // Of tdma the paper measured what memory takes; what its rows wait for each other is left out there.
            add_times(plan, board, kernel == FpgaKernel::tdma ? time.memory : time.kernel, {}, done);
            done["marshalling_seconds"] = 0;
            done["transfer_seconds"] = figure(std::max(time.bus_in, time.bus_out));
            done["source"] = "modelled";
            records.push_back(done);
          },
          record};
}

template <typename T>
void add_scalar(const Plan& plan, const std::shared_ptr<Systems>& systems, std::vector<Piece>& pieces) {
  const std::string scalar = scalar_name<T>();
  const auto work = static_cast<double>(plan.rows) * sizeof(T);
  const auto add = [&](const Json& record, const std::string& words, double weight, const auto& solve) {
    pieces.push_back({"solves", words + ", " + scalar, weight * work,
                      [=](Json& records) {
                        Json done = record;
                        solve(systems->of<T>(plan.rows), done);
                        records.push_back(done);
                      },
                      record});
  };
  for (const Processor& p : plan.processors) {
    if (p.info.emulated) continue;  // its times are those of no board
    if (p.host()) {
      add(record_of(p, scalar, plan.rows, "ours"), p.info.name, 2, [=](Problem<T>& problem, Json& record) {
        record["solver"] = "oclspkt";
        solve_here(plan, p, problem, record);
      });
      for (const PeerFacts* facts : peers_here()) {
        Json record = record_of(p, scalar, plan.rows, "peer");
        record["solver"] = std::string(facts->solver) + " " + facts->variant;
        add(record, record["solver"], 4,
            [=](Problem<T>& problem, Json& done) { solve_by_peer(plan, p, *facts, problem, done); });
      }
      continue;
    }
    for (const bool paper : {true, false}) {
      Json record = record_of(p, scalar, plan.rows, paper ? "paper" : "ours");
      record["solver"] = "oclspkt";
      add(record, p.info.name + (paper ? ", the paper's form" : ", ours"), 3,
          [=](Problem<T>& problem, Json& done) { solve_there(plan, p, paper, problem, done); });
    }
    if (p.info.type != DeviceType::gpu) continue;
    for (const bool pivoting : {false, true}) {
      Json record = record_of(p, scalar, plan.rows, "peer");
      record["solver"] = pivoting ? "cuSPARSE gtsv2" : "cuSPARSE gtsv2_nopivot";
      add(record, record["solver"], 2,
          [=](Problem<T>& problem, Json& done) { solve_by_cusparse(plan, p, pivoting, problem, done); });
    }
  }
}

}  // namespace

void add_solves(const Plan& plan, std::vector<Piece>& pieces) {
  const auto systems = std::make_shared<Systems>();
  for (const std::string& scalar : plan.settings.scalars) {
    scalar == "float" ? add_scalar<float>(plan, systems, pieces) : add_scalar<double>(plan, systems, pieces);
  }
  for (const FpgaKernel kernel : {FpgaKernel::spktrunc, FpgaKernel::tdma}) pieces.push_back(board_piece(plan, kernel));
}

}  // namespace oclspkt::bench::paper
