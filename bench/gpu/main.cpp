// SPDX-License-Identifier: BSD-2-Clause
// oclspkt-bench-gpu FILE [REPETITIONS]: one long system on the first GPU, data resident: device time of an apply as a
// share of a stream of four arrays read and one written, timed in turn with it. Every answer is checked before its time
// is kept. Needs neither PETSc nor Boost, so it builds where the GPUs are.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "device.hpp"
#include "json_file.hpp"
#include "matrices.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/solver.hpp"
#include "provenance.hpp"
#include "residual.hpp"
#include "statistics.hpp"

namespace oclspkt::bench {
namespace {

const MatrixSpec kMatrices[] = {{.matrix = Matrix::random, .dominance = 3},
                                {.matrix = Matrix::random, .dominance = 1.2},
                                {.matrix = Matrix::random, .dominance = 1.01},
                                {.matrix = Matrix::diffusion, .lambda = 10}};
constexpr Index kRows[] = {1'000'000, 10'000'000, 100'000'000};

template <typename T>
nlohmann::ordered_json measure(DeviceModule& module, int device, const MatrixSpec& matrix, Index n, int repetitions) {
  Options options;
  options.devices = std::to_string(device);
  options.on_device_failure = OnDeviceFailure::error;
  Solver<T> solver(options);
  Bands<T>& bands = solver.bands(LineSet::one(n));
  Bands<T> kept(LineSet::one(n));
  std::vector<T> y(static_cast<std::size_t>(n)), x(y.size());
  fill_bands(matrix, bands);
  fill_bands(matrix, kept);
  fill_solution(matrix.seed, n, x.data());
  multiply(kept.lines(), kept.view(), x.data(), y.data());
  solver.set_up();
  std::vector<double> streams, applies, ends;
  for (int r = 0; r <= repetitions; ++r) {
    const double stream =
        module.stream(device, StreamArrays<T>{kept.lower(), kept.diag(), kept.upper(), y.data(), x.data(), n});
    const Times before = solver.times();
    solver.apply(y.data(), x.data());
    const Times spent = solver.times() - before;
    if (r == 0) continue;  // warm
    streams.push_back(stream);
    applies.push_back(spent.kernel_seconds);
    ends.push_back(spent.total_seconds);
  }
  const double error = normwise_backward_error(kept.lines(), kept.view(), x.data(), y.data()) /
                       static_cast<double>(std::numeric_limits<T>::epsilon());
  const Report& report = solver.report();
  nlohmann::ordered_json record;
  record["matrix"] = matrix.describe();
  record["precision"] = sizeof(T) == 8 ? "double" : "float";
  record["rows"] = n;
  record["method"] = name(report.method);
  record["shape"] = report.shape;
  record["backward_error_eps"] = error;
  record["stream_seconds"] = streams;
  record["kernel_seconds"] = applies;
  record["share_of_stream"] = median(streams) / median(applies);
  record["rows_per_second"] = static_cast<double>(n) / median(applies);
  record["end_to_end_seconds"] = median(ends);
  if (!(error <= 10)) throw Breakdown(matrix.describe() + ": the answer is wrong, " + std::to_string(error) + " eps");
  std::printf("%-30s %-6s %9lld rows  %-18s %-40s %.3f of stream, %6.1f Grows/s, error %.1f eps\n",
              matrix.describe().c_str(), sizeof(T) == 8 ? "double" : "float", static_cast<long long>(n),
              name(report.method), report.shape.c_str(), median(streams) / median(applies),
              1e-9 * static_cast<double>(n) / median(applies), error);
  std::fflush(stdout);
  return record;
}

int run(const std::string& file, int repetitions, const std::string& command) {
  JsonFile json(file);
  std::string why;
  DeviceModule* module = device_module(&why);
  if (module == nullptr) throw DeviceError(why);
  const auto& devices = module->devices();
  const auto gpu =
      std::find_if(devices.begin(), devices.end(), [](const DeviceInfo& d) { return d.type == DeviceType::gpu; });
  if (gpu == devices.end()) throw DeviceError("there is no GPU; oclspkt-devices lists what was found");
  nlohmann::ordered_json results;
  results["provenance"] = provenance(*gpu, command);
  results["records"] = nlohmann::ordered_json::array();
  for (const MatrixSpec& matrix : kMatrices) {
    for (const Index n : kRows) {
      results["records"].push_back(measure<float>(*module, gpu->index, matrix, n, repetitions));
      results["records"].push_back(measure<double>(*module, gpu->index, matrix, n, repetitions));
    }
  }
  json.write(results);
  return 0;
}

}  // namespace
}  // namespace oclspkt::bench

int main(int argc, char** argv) {
  const int repetitions = argc == 3 ? std::atoi(argv[2]) : 7;
  if (argc < 2 || argc > 3 || repetitions < 1) {
    std::fputs("usage: oclspkt-bench-gpu FILE [REPETITIONS]\n", stderr);
    return 2;
  }
  try {
    oclspkt::bench::require_release();
    return oclspkt::bench::run(argv[1], repetitions, "oclspkt-bench-gpu FILE " + std::to_string(repetitions));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
