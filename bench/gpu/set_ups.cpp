// SPDX-License-Identifier: BSD-2-Clause
// oclspkt-bench-set-ups FILE [options of oclspkt-bench-gpu]: seconds of a first set-up, of two later ones with other
// values, each after one apply, and of an apply, with vectors on the host; --device host measures the host. The second
// one learns that few applies are expected, and may change the method. Kernels are built before anything is timed.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>

#include "backward_error.hpp"
#include "cases.hpp"
#include "clock.hpp"
#include "find_device.hpp"
#include "json_file.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/solver.hpp"
#include "problem.hpp"
#include "provenance.hpp"
#include "report.hpp"
#include "settings.hpp"
#include "statistics.hpp"

namespace oclspkt::bench::gpu {
namespace {

template <typename T>
void set_up(Solver<T>& solver, const Problem<T>& problem, T factor) {
  const BandsView<T> bands = problem.bands.view();
  solver.fill(problem.lines, [&](const BandsPart<T>& to, Index first, Index end) {
    for (Index i = first; i < end; ++i) {
      to.lower[i - first] = factor * bands.lower[i];
      to.diag[i - first] = factor * bands.diag[i];
      to.upper[i - first] = factor * bands.upper[i];
    }
  });
  solver.set_up();
}

/// Times of one case, or what was wrong.
template <typename T>
nlohmann::ordered_json measure(const Case& c, const DeviceInfo* device, const std::string& variant) {
  const auto problem = std::make_unique<Problem<T>>(c.matrix, c.lines);
  Options options;
  options.devices = device != nullptr ? std::to_string(device->index) : "host";
  options.variant = variant;
  options.method = c.methods.front();
  options.on_device_failure = OnDeviceFailure::error;
  std::vector<double> first, later, third, apply;
  Report report;  // of the first set-up
  Method later_method = Method::pivot;
  double error = 0;
  for (int round = -1; round < c.repetitions; ++round) {  // the first one builds kernels
    Solver<T> solver(options);
    const double seconds = seconds_of([&] { set_up(solver, *problem, T(1)); });
    report = solver.report();
    const double applied = seconds_of([&] { solver.apply(problem->y.data(), problem->x.data()); });
    error = normwise_backward_error(problem->lines, problem->bands.view(), problem->x.data(), problem->y.data());
    if (!(error <= kWrongEps * static_cast<double>(std::numeric_limits<T>::epsilon()))) {
      throw DeviceError(c.describe() + ": the answer is wrong, backward error " + std::to_string(error));
    }
    // A power of two changes no decision, and every number.
    const double again = seconds_of([&] { set_up(solver, *problem, T(round % 2 == 0 ? 2 : 4)); });
    solver.apply(problem->y.data(), problem->x.data());
    later_method = solver.report().method;
    const double once_more = seconds_of([&] { set_up(solver, *problem, T(round % 2 == 0 ? 8 : 16)); });
    if (round < 0) continue;
    third.push_back(once_more);
    first.push_back(seconds);
    later.push_back(again);
    apply.push_back(applied);
  }
  return {{"matrix", c.matrix.describe()},
          {"scalar", c.is_double ? "double" : "float"},
          {"rows", c.lines.rows()},
          {"device", report.device.name},
          {"method", name(report.method)},
          {"shape", report.shape},
          {"backward_error_eps", error / static_cast<double>(std::numeric_limits<T>::epsilon())},
          {"later_method", name(later_method)},
          {"first_set_up_seconds", median(first)},
          {"later_set_up_seconds", median(later)},
          {"third_set_up_seconds", median(third)},
          {"apply_seconds", median(apply)},
          {"least_first_set_up_seconds", *std::min_element(first.begin(), first.end())},
          {"least_later_set_up_seconds", *std::min_element(later.begin(), later.end())}};
}

void run(const Settings& settings, const std::string& command) {
  JsonFile json(settings.file);
  const DeviceInfo* device = find_device(settings.device);
  DeviceInfo host;
  host.name = "host";
  nlohmann::ordered_json document{{"provenance", provenance(device != nullptr ? *device : host, command)},
                                  {"results", nlohmann::ordered_json::array()}};
  for (const Case& c : make_cases(settings)) {
    auto record =
        c.is_double ? measure<double>(c, device, settings.variant) : measure<float>(c, device, settings.variant);
    std::printf("%-60s %-20s first %.3e s, later %.3e s, third %.3e s, apply %.3e s\n", c.describe().c_str(),
                record["method"].get<std::string>().c_str(), record["first_set_up_seconds"].get<double>(),
                record["later_set_up_seconds"].get<double>(), record["third_set_up_seconds"].get<double>(),
                record["apply_seconds"].get<double>());
    std::fflush(stdout);
    document["results"].push_back(std::move(record));
  }
  json.write(document);
}

}  // namespace
}  // namespace oclspkt::bench::gpu

int main(int argc, char** argv) {
  using namespace oclspkt::bench;
  return gpu::run_program([&] {
    const auto settings = gpu::parse_settings(argc, argv);
    if (!settings) return 0;
    if (!settings->allow_debug) require_release();
    gpu::run(*settings, gpu::command_of(argc, argv, settings->file));
    return 0;
  });
}
