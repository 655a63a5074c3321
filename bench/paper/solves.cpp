// SPDX-License-Identifier: BSD-2-Clause
// Figures 6, 7 and 10: one system with vectors in place; kernels and marshalling of each device, peers, joules.
#include <algorithm>
#include <memory>

#include "clock.hpp"
#include "fpga_model.hpp"
#include "in_place.hpp"
#include "measured.hpp"
#include "oclspkt/solver.hpp"
#include "peers_here.hpp"
#include "problem.hpp"
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

/// A solver of ours on the host, which has no kernels.
template <typename T>
void solve_here(const Plan& plan, const Processor& p, Problem<T>& problem, const Share& share, Json& record) {
  Options options;
  options.devices = "host";
  Solver<T> solver(options);
  const BandsView<T> bands = problem.bands.view();
  solver.set_up(problem.lines, bands.lower, bands.diag, bands.upper);
  record["method"] = name(solver.report().method);
  record["words_per_row"] = figure(solver.report().words_per_row);
  const auto solve = [&] { solver.apply(problem.y.data(), problem.x.data()); };
  problem.spoil();
  const double first = seconds_of(solve);
  if (!right(problem, record)) return;
  const auto seconds = times(
      plan.settings.rounds, share, [&] { return seconds_of(solve); }, first);
  // Unlike the others it keeps its factors: as much as theirs is a set-up with an apply.
  add_times(plan, p, median(seconds), solve, Windows::one, record);
  record["spread"] = figure(spread(seconds));
  record["marshalling_seconds"] = 0;
}

template <typename T>
void solve_by_peer(const Plan& plan, const Processor& p, const PeerFacts& facts, Problem<T>& problem,
                   const Share& share, Json& record) {
  Peer<T> peer = facts.make(problem);
  if (!peer.absent.empty()) throw Absent(peer.absent);
  problem.spoil();
  const double first = peer.run(1);
  if (!right(problem, record)) return;
  const auto seconds = times(
      plan.settings.rounds, share, [&] { return peer.run(1); }, first);
  add_times(
      plan, p, median(seconds), [&] { peer.run(1); }, Windows::one, record);
  record["spread"] = figure(spread(seconds));
}

/// The paper's board by the model; there is none here.
Piece board_piece(const Plan& plan, FpgaKernel kernel) {
  const Processor board = paper_board();
  Json record = record_of(board, "float", plan.rows, kernel == FpgaKernel::tdma ? "peer" : "paper");
  record["solver"] = name(kernel);
  return {"solves", std::string("model of the A10PL4, ") + name(kernel), 0,
          [=](Json& records, const Share&) {
            Json done = record;
            const FpgaTime time = predict_fpga({}, {kernel, Form::general, plan.rows, sizeof(float)});
            // Of tdma the paper measured what memory takes; what its rows wait for each other is left out there.
            add_times(plan, board, kernel == FpgaKernel::tdma ? time.memory : time.kernel, {}, Windows::one, done);
            done["marshalling_seconds"] = 0;
            done["transfer_seconds"] = figure(std::max(time.bus_in, time.bus_out));
            done["source"] = "modelled";
            records.push_back(done);
          },
          record};
}

/// @param hosts  the host and its peers, or else devices
template <typename T>
void add_scalar(const Plan& plan, bool hosts, const std::shared_ptr<Systems>& systems, std::vector<Piece>& pieces) {
  const std::string scalar = scalar_name<T>();
  const auto work = static_cast<double>(plan.rows) * sizeof(T);
  const auto add = [&](const Json& record, const std::string& words, double weight, const auto& solve) {
    pieces.push_back({"solves", words + ", " + scalar, weight * work,
                      [=](Json& records, const Share& share) {
                        Json done = record;
                        solve(systems->of<T>(plan.rows), share, done);
                        records.push_back(done);
                      },
                      record});
  };
  for (const Processor& p : unlike(plan.processors)) {
    if (p.info.emulated || p.host() != hosts) continue;  // an emulator's times are those of no board
    if (p.host()) {
      add(record_of(p, scalar, plan.rows, "ours"), p.info.name, 2,
          [=](Problem<T>& problem, const Share& share, Json& record) {
            record["solver"] = "oclspkt";
            solve_here(plan, p, problem, share, record);
          });
      for (const PeerFacts* facts : peers_here()) {
        Json record = record_of(p, scalar, plan.rows, "peer");
        record["solver"] = std::string(facts->solver) + " " + facts->variant;
        add(record, record["solver"], 4, [=](Problem<T>& problem, const Share& share, Json& done) {
          solve_by_peer(plan, p, *facts, problem, share, done);
        });
      }
      continue;
    }
    for (const bool paper : {true, false}) {
      Json record = record_of(p, scalar, plan.rows, paper ? "paper" : "ours");
      record["solver"] = "oclspkt";
      add(record, p.info.name + (paper ? ", the paper's form" : ", ours"), 3,
          [=](Problem<T>& problem, const Share& share, Json& done) {
            solve_in_place(plan, p, paper, Windows::one, problem, share, done);
          });
    }
    if (p.info.type != DeviceType::gpu) continue;
    for (const bool pivoting : {false, true}) {
      Json record = record_of(p, scalar, plan.rows, "peer");
      record["solver"] = pivoting ? "cuSPARSE gtsv2" : "cuSPARSE gtsv2_nopivot";
      add(record, record["solver"], 3, [=](Problem<T>& problem, const Share& share, Json& done) {
        solve_by_cusparse(plan, p, pivoting, Windows::one, {.dominance = kPaperDominance}, problem, share, done);
      });
    }
  }
}

}  // namespace

void add_solves(const Plan& plan, std::vector<Piece>& pieces) {
  const auto systems = std::make_shared<Systems>();
  // Peers of the host, by one thread, take longer than all devices and come last.
  for (const bool hosts : {false, true}) {
    for (const std::string& scalar : plan.settings.scalars) {
      (scalar == "float" ? add_scalar<float> : add_scalar<double>)(plan, hosts, systems, pieces);
    }
  }
  for (const FpgaKernel kernel : {FpgaKernel::spktrunc, FpgaKernel::tdma}) pieces.push_back(board_piece(plan, kernel));
}

}  // namespace oclspkt::bench::paper
