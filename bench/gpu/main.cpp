// SPDX-License-Identifier: BSD-2-Clause
// oclspkt-bench-gpu FILE [REPETITIONS]: one long system on the first GPU, data resident: device time of an apply as a
// share of a stream of four arrays read and one written, timed in turn with it. Every answer is checked before its time
// is kept. Needs neither PETSc nor Boost, so it builds where the GPUs are.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "device.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/solver.hpp"
#include "parallel.hpp"
#include "provenance.hpp"
#include "residual.hpp"

namespace oclspkt::bench {
namespace {

/// A matrix: random rows of some dominance, or an implicit step of diffusion.
struct Matrix {
  const char* name;
  double dominance, lambda;
};
constexpr Matrix kMatrices[] = {{"random rows, dominance 3", 3, 0},
                                {"random rows, dominance 1.2", 1.2, 0},
                                {"random rows, dominance 1.01", 1.01, 0},
                                {"implicit diffusion, lambda 10", 0, 10}};
constexpr Index kRows[] = {1'000'000, 10'000'000, 100'000'000};

/// A number of [-1, 1) that depends on nothing but its place and the array.
double noise(Index place, unsigned array) {
  std::uint64_t z = (static_cast<std::uint64_t>(place) + 1) * 0x9E3779B97F4A7C15U + array * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
}

template <typename T>
void fill(Index begin, Index end, const Matrix& matrix, Bands<T>& bands, std::vector<T>& y) {
  for (Index i = begin; i < end; ++i) {
    const bool random = matrix.dominance > 0;
    const T l = static_cast<T>(random ? noise(i, 1) : -matrix.lambda);
    const T u = static_cast<T>(random ? noise(i, 2) : -matrix.lambda);
    const double d = random ? matrix.dominance * (std::abs(l) + std::abs(u)) : 1 + 2 * matrix.lambda;
    bands.lower()[i] = l;
    bands.upper()[i] = u;
    bands.diag()[i] = static_cast<T>(random && noise(i, 3) < 0 ? -d : d);
    y[static_cast<std::size_t>(i)] = static_cast<T>(noise(i, 4));
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <typename T>
nlohmann::ordered_json measure(DeviceModule& module, int device, const Matrix& matrix, Index n, int repetitions) {
  Options options;
  options.devices = std::to_string(device);
  options.on_device_failure = OnDeviceFailure::error;
  Solver<T> solver(options);
  Bands<T>& bands = solver.bands(LineSet::one(n));
  Bands<T> kept(LineSet::one(n));
  std::vector<T> y(static_cast<std::size_t>(n)), x(y.size());
  for_each_share(n, [&](Index begin, Index end) {
    fill(begin, end, matrix, bands, y);
    fill(begin, end, matrix, kept, y);
  });
  kept.close_lines();
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
  record["matrix"] = matrix.name;
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
  if (!(error <= 10))
    throw Breakdown(std::string(matrix.name) + ": the answer is wrong, " + std::to_string(error) + " eps");
  std::printf("%-30s %-6s %9lld rows  %-18s %-40s %.3f of stream, %6.1f Grows/s, error %.1f eps\n", matrix.name,
              sizeof(T) == 8 ? "double" : "float", static_cast<long long>(n), name(report.method), report.shape.c_str(),
              median(streams) / median(applies), 1e-9 * static_cast<double>(n) / median(applies), error);
  std::fflush(stdout);
  return record;
}

int run(const std::string& file, int repetitions, const std::string& command) {
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
  for (const Matrix& matrix : kMatrices) {
    for (const Index n : kRows) {
      results["records"].push_back(measure<float>(*module, gpu->index, matrix, n, repetitions));
      results["records"].push_back(measure<double>(*module, gpu->index, matrix, n, repetitions));
    }
  }
  std::ofstream stream(file);
  stream << results.dump(1) << '\n';
  if (!stream.flush()) throw InvalidInput("cannot write " + file);
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
