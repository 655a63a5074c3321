// SPDX-License-Identifier: BSD-2-Clause
// Figure 9: the largest error of an unknown against dominance.
#include <algorithm>
#include <cmath>
#include <memory>

#include "fpga_operations.hpp"
#include "measured.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/solver.hpp"
#include "problem.hpp"
#include "run.hpp"
#include "thomas.hpp"

namespace oclspkt::bench::paper {
namespace {

using Json = nlohmann::ordered_json;

/// Rows of a partition on the paper's GPU and FPGA, and what its CPU sweeps both ways at least, for floats.
constexpr Index kPaperRows = 32;
constexpr Index kRows = 1 << 18;
/// An emulator takes milliseconds a block.
constexpr Index kEmulatedRows = 1 << 13;
constexpr double kDominances[] = {1.05, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.4, 2.8, 3.2, 3.6, 4};

/// max |x - x_known| / max |x_known| of the answer in problem.x.
template <typename T>
double error_of(const Problem<T>& problem) {
  double difference = 0, scale = 0;
  for (Index i = 0; i < problem.n(); ++i) {
    const double known = problem.solution[i], miss = std::abs(static_cast<double>(problem.x[i]) - known);
    if (!(miss <= difference)) difference = miss;
    scale = std::max(scale, std::abs(known));
  }
  return difference / scale;
}

/// Options for the paper's form with its partitions, however large the error is that the library foresees: the bound
/// of kPaperRows rows is asked for, so that none is longer.
void ask_for_paper(const Processor& p, double d, Options& options) {
  const bool board = p.info.type == DeviceType::fpga, cpu = p.info.type == DeviceType::cpu;
  constexpr double kMost = 0.99, m = kPaperRows;
  const double bound = 1.1 * (std::pow(d, -m / 2 - 1) + 2 * std::pow(d, 1 - m) / (d - 1));
  if (cpu && bound > kMost) throw Absent(text("the bound is %.2g: nothing to choose m_min by", bound));
  options.rtol = std::min(kMost, bound);
  options.variant = board ? "fpga-spktrunc" : "paper";
  options.method = board ? MethodChoice::truncated_streamed : MethodChoice::truncated_halo;
  options.partition = cpu ? 2 * kPaperRows : kPaperRows;
}

template <typename T>
void solve_by(const Processor& p, bool paper, double d, Problem<T>& problem, Json& record) {
  Options options;
  options.devices = p.word;
  options.on_device_failure = OnDeviceFailure::error;
  options.profile = "none";
  if (paper) ask_for_paper(p, d, options);
  Solver<T> solver(options);
  const BandsView<T> bands = problem.bands.view();
  solver.set_up(problem.lines, bands.lower, bands.diag, bands.upper);
  const Report& report = solver.report();
  if (!p.host() && report.device.type == name(DeviceType::host))
    throw DeviceError("the host solves instead: " + report.device.why);
  record["method"] = name(report.method);
  record["shape"] = report.shape;
  solver.apply(problem.y.data(), problem.x.data());
}

/// The paper's kernel for FPGAs, operation by operation on the host.
template <typename T>
void solve_as_board(Problem<T>& problem) {
  const Index n = problem.n();
  const BandsView<T> bands = problem.bands.view();
  FpgaRows<T> rows{{bands.lower, bands.lower + n},
                   {bands.diag, bands.diag + n},
                   {bands.upper, bands.upper + n},
                   {problem.y.data(), problem.y.data() + n}};
  rows.lower.front() = rows.upper.back() = 0;
  const std::vector<T> x = run_fpga_kernel(FpgaKernel::spktrunc, rows, kPaperRows);
  std::copy(x.begin(), x.end(), problem.x.data());
}

template <typename T>
void add_dominance(const Plan& plan, double d, std::vector<Piece>& pieces) {
  const std::string scalar = scalar_name<T>();
  using Solve = std::function<void(Problem<T>&, Json&)>;
  const auto add = [&](const std::string& who, const std::string& device, Index rows, const Solve& solve) {
    const Json record{{"dominance", d}, {"scalar", scalar}, {"who", who}, {"device", device}, {"rows", rows}};
    pieces.push_back({"accuracy", text("dominance %.2f, ", d) + scalar + ", " + device,
                      static_cast<double>(rows) * sizeof(T),
                      [=](Json& records, const Share&) {
                        Problem<T> problem({.dominance = d}, rows);
                        problem.spoil();
                        Json done = record;
                        solve(problem, done);
                        done["error"] = figure(error_of(problem));
                        records.push_back(done);
                      },
                      record});
  };
  add("Thomas", "host", kRows, [](Problem<T>& problem, Json&) { make_thomas(problem).run(1); });
  add("paper", "FPGA", kRows, [](Problem<T>& problem, Json& record) {
    record["source"] = "the kernel's operations on the host";
    solve_as_board(problem);
  });
  for (const Processor& p : unlike(plan.processors)) {
    const Index rows = p.info.emulated ? kEmulatedRows : kRows;
    if (p.info.emulated && sizeof(T) == 8) continue;  // boards have operators of floats
    const std::string device = (p.info.emulated ? "emulated " : "") + p.info.name;
    if (!p.host()) add("paper", device, rows, [=](Problem<T>& problem, Json& r) { solve_by(p, true, d, problem, r); });
    add("ours", device, rows, [=](Problem<T>& problem, Json& r) { solve_by(p, false, d, problem, r); });
  }
}

}  // namespace

void add_accuracy(const Plan& plan, std::vector<Piece>& pieces) {
  for (const double d : kDominances) {
    for (const std::string& scalar : plan.settings.scalars) {
      scalar == "float" ? add_dominance<float>(plan, d, pieces) : add_dominance<double>(plan, d, pieces);
    }
  }
}

}  // namespace oclspkt::bench::paper
