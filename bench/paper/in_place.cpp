// SPDX-License-Identifier: BSD-2-Clause
#include "in_place.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "gtsv2.hpp"
#include "kernel_clock.hpp"
#include "measured.hpp"
#include "oclspkt/error.hpp"
#include "resident.hpp"
#include "row_flops.hpp"
#include "statistics.hpp"

namespace oclspkt::bench::paper {

using Json = nlohmann::ordered_json;

/// Systems of cuSPARSE are not halved below.
constexpr Index kLeastRows = 1 << 20;

void add_times(const Plan& plan, const Processor& p, double seconds, const std::function<void()>& solve,
               Windows windows, Json& record, int each) {
  record["seconds"] = figure(seconds);
  add_joules({p.info}, plan.settings.rated, solve, windows, record, each);
  record["source"] = "measured";
}

namespace {

/// Solves between two looks at the meter. A look takes 4 ms, in which the device has nothing to do: the solves take
/// fifty times as long, and still there are the four samples a second that a window wants.
int solves_of_round(double seconds) { return std::max(1, static_cast<int>(std::ceil(0.2 / seconds))); }

/// Vectors in memory of a device, and solves that a caller's queue holds, so that the device waits for nobody between
/// two of them.
template <typename T>
class Queued {
 public:
  Queued(const Processor& p, const Options& options, DeviceModule& module, const Problem<T>& problem)
      : setting_(gpu::make_setting({module, p.info, options.variant, true})), solver_(options) {
    const BandsView<T> bands = problem.bands.view();
    solver_.set_up(problem.lines, bands.lower, bands.diag, bands.upper, setting_->known());
    vectors_ = setting_->resident(solver_, static_cast<std::size_t>(problem.n()) * sizeof(T));
    vectors_->write(problem.y.data());
  }
  void solve(int count) { vectors_->batch(count); }

 private:
  std::unique_ptr<gpu::Setting> setting_;
  Solver<T> solver_;
  std::unique_ptr<gpu::Resident> vectors_;
};

}  // namespace

template <typename T>
void solve_in_place(const Plan& plan, const Processor& p, bool paper, Windows windows, Problem<T>& problem,
                    const Share& share, Json& record) {
  Options options;
  options.devices = p.word;
  options.variant = paper ? "paper" : "default";
  options.method = paper ? MethodChoice::truncated_halo : MethodChoice::automatic;
  options.on_device_failure = OnDeviceFailure::error;
  options.profile = "none";
  options.use.kernel_times = true;
  std::string why;
  DeviceModule* const module = device_module(&why);
  if (module == nullptr) throw DeviceError(why);
  const auto setting = gpu::make_setting({*module, p.info, options.variant});
  Solver<T> solver(options);
  const BandsView<T> bands = problem.bands.view();
  solver.set_up(problem.lines, bands.lower, bands.diag, bands.upper, setting->known());
  const Report& report = solver.report();
  if (report.device.type == name(DeviceType::host)) throw DeviceError("the host solves instead: " + report.device.why);
  record["method"] = name(report.method);
  record["shape"] = report.shape;
  record["words_per_row"] = figure(report.words_per_row);
  record["flops_per_row"] = flops_of(report.method).apply;
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
    seconds = times(plan.settings.rounds, share, [&] {
      clock.take();
      return vectors->apply();
    });
    kernels = clock.take();
  }
  if (windows == Windows::with_idle && p.info.type == DeviceType::gpu) {
    options.use.kernel_times = false;
    Queued<T> queued(p, options, *module, problem);
    const int each = solves_of_round(median(seconds));
    add_times(
        plan, p, median(seconds), [&] { queued.solve(each); }, windows, record, each);
  } else {
    add_times(
        plan, p, median(seconds), [&] { vectors->apply(); }, windows, record);
  }
  record["spread"] = figure(spread(seconds));
  record["marshalling_seconds"] = figure(median(seconds) * marshalling_share(kernels));
  for (const auto& [kernel, time] : kernels) {
    record["kernels"][kernel] = figure(time.seconds);
  }
}

namespace {

template <typename T>
void try_cusparse(const Plan& plan, const Processor& p, bool pivoting, Windows windows, Problem<T>& problem,
                  const Share& share, Json& record) {
  std::string why;
  const auto peer = Gtsv2<T>::open(problem, pivoting, p.info.physical, &why);
  if (!peer) throw Absent(why);
  problem.spoil();
  peer->run();
  peer->read(problem.x.data());
  if (!right(problem, record)) return;
  const auto seconds = times(plan.settings.rounds, share, [&] { return peer->run(); });
  const int each = solves_of_round(median(seconds));
  const auto solve = [&] {
    for (int i = 0; i < each; ++i) peer->run();
  };
  add_times(plan, p, median(seconds), solve, windows, record, each);
  record["spread"] = figure(spread(seconds));
}

}  // namespace

template <typename T>
void solve_by_cusparse(const Plan& plan, const Processor& p, bool pivoting, Windows windows, const MatrixSpec& spec,
                       Problem<T>& problem, const Share& share, Json& record) {
  const Json before = record;
  try {
    try_cusparse(plan, p, pivoting, windows, problem, share, record);
  } catch (const DeviceError& error) {
    if (problem.n() < kLeastRows) throw;
    Problem<T> half(spec, problem.n() / 2);
    record = before;
    record["rows"] = half.n();
    solve_by_cusparse(plan, p, pivoting, windows, spec, half, share, record);
    record["note"] = error.what();
  }
}

#define OCLSPKT_INSTANTIATE(T)                                                                                  \
  template void solve_in_place(const Plan&, const Processor&, bool, Windows, Problem<T>&, const Share&, Json&); \
  template void solve_by_cusparse(const Plan&, const Processor&, bool, Windows, const MatrixSpec&, Problem<T>&, \
                                  const Share&, Json&)
OCLSPKT_INSTANTIATE(float);
OCLSPKT_INSTANTIATE(double);

}  // namespace oclspkt::bench::paper
