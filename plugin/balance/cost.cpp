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

template <typename T>
DeviceProfile measure_host() {
  constexpr Index kRows = 1 << 14;  // in cache: the sweeps are bound by their chain of operations, not by memory
  constexpr int kRepeats = 5;
  Bands<T> bands(LineSet::one(kRows));
  std::fill_n(bands.lower(), kRows, T(-1));
  std::fill_n(bands.diag(), kRows, T(4));
  std::fill_n(bands.upper(), kRows, T(-1));
  bands.close_lines();
  HostSolver<T> solver;
  solver.factor(bands.lines(), bands.view());
  AlignedArray<T> y(kRows), x(kRows);
  std::fill_n(y.data(), kRows, T(1));
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRepeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    solver.solve(y.data(), x.data());
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  // A clock that does not tick must not make the host free.
  return {.launch_seconds = 0,
          .rows_per_second = static_cast<double>(kRows) / std::max(best, 1e-9),
          .copy_bytes_per_second = std::numeric_limits<double>::infinity()};
}

}  // namespace

double predict_seconds(const DeviceProfile& profile, Index rows, double words_per_row, int launches, int word) {
  const auto n = static_cast<double>(rows);
  return launches * profile.launch_seconds + n * (words_per_row / kProfileWords) / profile.rows_per_second +
         2 * n * word / profile.copy_bytes_per_second;
}

double predict_host_seconds(const DeviceProfile& profile, Index rows) {
  return static_cast<double>(rows) / profile.rows_per_second;
}

template <typename T>
const DeviceProfile& host_profile() {
  static const DeviceProfile profile = measure_host<T>();
  return profile;
}
template const DeviceProfile& host_profile<float>();
template const DeviceProfile& host_profile<double>();

}  // namespace oclspkt
