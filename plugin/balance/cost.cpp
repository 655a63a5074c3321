// SPDX-License-Identifier: BSD-2-Clause
#include "cost.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "host_solver.hpp"

namespace oclspkt {
namespace {

/// Words a row that DeviceProfile::rows_per_second was measured with.
constexpr double kProfileWords = 5;
/// Arrays that stored factors sweep: y, x, three of factors.
constexpr Index kFactoredArrays = 5;

template <typename T>
DeviceProfile measure_host(const LineSet& lines) {
  constexpr int kRepeats = 3;
  const Index rows = lines.rows();
  Bands<T> bands(lines);
  std::fill_n(bands.lower(), rows, T(-1));
  std::fill_n(bands.diag(), rows, T(4));
  std::fill_n(bands.upper(), rows, T(-1));
  bands.close_lines();
  HostSolver<T> solver;
  solver.factor(lines, bands.view());
  AlignedArray<T> y(rows), x(rows);
  std::fill_n(y.data(), rows, T(1));
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRepeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    solver.solve(y.data(), x.data());
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  // A clock that does not tick must not make the host free.
  return {.launch_seconds = 0,
          .rows_per_second = static_cast<double>(rows) / std::max(best, 1e-9),
          .copy_bytes_per_second = std::numeric_limits<double>::infinity()};
}

}  // namespace

double predict_seconds(const DeviceProfile& profile, Index rows, double words_per_row, int launches, int word) {
  const auto n = static_cast<double>(rows);
  return launches * profile.launch_seconds + n * (words_per_row / kProfileWords) / profile.rows_per_second +
         2 * n * word / profile.copy_bytes_per_second;
}

double predict_beside_seconds(const DeviceProfile& profile, const Plan& plan, int word) {
  return predict_seconds(profile, plan.n, plan.idle * plan.words_per_row(), 1, word);
}

double predict_host_seconds(const DeviceProfile& profile, Index rows) {
  return static_cast<double>(rows) / profile.rows_per_second;
}

template <typename T>
const DeviceProfile& host_profile() {
  // In cache: the sweeps are bound by their chain of operations, not by memory.
  static const DeviceProfile profile = measure_host<T>(LineSet::one(1 << 14));
  return profile;
}

template <typename T>
const DeviceProfile& host_profile_beside(bool in_memory) {
  // Rows that are no power of two apart.
  constexpr Index kInner = 208, kLength = 64, kBytes = kHostCacheBytes / 8;
  const auto measure = [](Index blocks) { return measure_host<T>(LineSet::grid_axis(1, kInner, kLength, blocks)); };
  if (in_memory) {
    static const DeviceProfile profile =
        measure(2 * kHostCacheBytes / (kFactoredArrays * kInner * kLength * static_cast<Index>(sizeof(T))));
    return profile;
  }
  static const DeviceProfile profile =
      measure(kBytes / (kFactoredArrays * kInner * kLength * static_cast<Index>(sizeof(T))));
  return profile;
}

template <typename T>
double predict_host_seconds(const LineSet& lines, Form form) {
  if (!lines.beside() || lines.block_lines() == 1) return predict_host_seconds(host_profile<T>(), lines.rows());
  const double words = make_factored_plan(lines, form, sizeof(T), kHostTraits).words_per_row();
  const bool in_memory = host_arrays_bytes<T>(lines) > kHostCacheBytes;
  return predict_host_seconds(host_profile_beside<T>(in_memory), lines.rows()) * words / kProfileWords;
}

template double predict_host_seconds<float>(const LineSet&, Form);
template double predict_host_seconds<double>(const LineSet&, Form);
template const DeviceProfile& host_profile_beside<float>(bool);
template const DeviceProfile& host_profile_beside<double>(bool);
template const DeviceProfile& host_profile<float>();
template const DeviceProfile& host_profile<double>();

}  // namespace oclspkt
