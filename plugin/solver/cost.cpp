// SPDX-License-Identifier: BSD-2-Clause
#include "cost.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "host_solver.hpp"
#include "schemes/scheme.hpp"
#include "tuning.hpp"

namespace oclspkt {
namespace {

/// Words a row in the solves that measure DeviceProfile::rows_per_second.
constexpr double kProfileWords = 5;
/// Nominal bytes a second that a core of the host streams.
constexpr double kNominalCore = 8e9;
/// Number of arrays that sweeps with stored factors stream: y, x, and three of factors.
constexpr Index kFactoredArrays = 5;

/// From this length on, lines that do not fit into the caches take as long a row as a single line.
constexpr Index kLongLine = 1024;

/// Lines of a shape that fill twice the cache if `in_memory`, else an eighth of it.
template <typename T>
LineSet sample(HostShape shape, bool in_memory) {
  constexpr Index kShort = 64, kInner = 208;  // kInner, the distance of rows, is no power of two
  constexpr Index kRowBytes = kFactoredArrays * static_cast<Index>(sizeof(T));
  const Index rows = (in_memory ? 2 * kHostCacheBytes : kHostCacheBytes / 8) / kRowBytes;
  switch (shape) {
    case HostShape::line:
      return LineSet::one(rows);
    case HostShape::lines:
      return LineSet::equal(rows / kShort, kShort);
    default:
      return LineSet::grid_axis(1, kInner, kShort, rows / (kInner * kShort));
  }
}

HostShape shape_of(const LineSet& lines, bool in_memory) {
  if (lines.beside() && lines.block_lines() > 1) return HostShape::beside;
  if (lines.count() <= 1 || (in_memory && lines.rows() / lines.count() >= kLongLine)) return HostShape::line;
  return HostShape::lines;
}

/// Rows a second of the host's sweeps.
template <typename T>
double measure_host(const LineSet& lines) {
  constexpr int kRepeats = 3, kMostRepeats = 100;
  constexpr double kSeconds = 1e-3;  // short sweeps are repeated until the branch predictor knows them
  const Index rows = lines.rows();
  Bands<T> bands(lines);
  std::fill_n(bands.lower(), rows, T(-1));
  std::fill_n(bands.diag(), rows, T(4));
  std::fill_n(bands.upper(), rows, T(-1));
  bands.close_lines();
  HostSolver<T> solver;
  solver.factor(lines, bands.view());
  // Vectors in small pages, like those of callers; an AlignedArray would be in large pages.
  std::vector<T> y(static_cast<std::size_t>(rows), T(1)), x(y.size());
  double best = std::numeric_limits<double>::infinity(), sum = 0;
  for (int i = 0; i < kRepeats || (sum < kSeconds && i < kMostRepeats); ++i) {
    const auto start = std::chrono::steady_clock::now();
    solver.solve(y.data(), x.data());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::min(best, seconds);
    sum += seconds;
  }
  return static_cast<double>(rows) / std::max(best, 1e-9);  // the clock may not tick
}

}  // namespace

double measured_words(const Scheme& scheme, const Plan& plan) {
  constexpr double kOfLanes = 7;
  const bool as_profile = scheme.nature().kernels == Kernels::groups || scheme.cut(plan).blocks > 0;
  return as_profile ? kProfileWords : kOfLanes;
}

double predict_seconds(const DeviceProfile& profile, const Scheme& scheme, const Plan& plan, int word) {
  const auto n = static_cast<double>(plan.n);
  return scheme.launches(plan) * profile.launch_seconds +
         n * (scheme.stream_words(plan, word) / measured_words(scheme, plan)) / profile.rows_per_second +
         profile.copy_seconds(2 * n * word);
}

double words_of_pass(const DeviceTraits& traits, int word) {
  const Tuning& figures = figures_of(traits);
  if (traits.group_items > 0) return figures.number("cost.pass_by_groups");
  const double of_floats = word == static_cast<int>(sizeof(float)) ? figures.number("cost.pass", 3) : 1;
  if (traits.host) return figures.number("cost.pass") * of_floats;
  return figures.number("cost.pass", 1) * of_floats *
         std::pow(std::max(1, traits.cores) / 2.0, figures.number("cost.pass", 2));
}

double stream_words(const Scheme& scheme, const Plan& plan, const Survey& survey, const DeviceTraits& traits, int word,
                    double applies) {
  const Tuning& figures = figures_of(traits);
  const double launch = traits.group_items > 0 ? figures.number("cost.launch_by_groups")
                                               : figures.number("cost.launch_of_core") * std::max(1, traits.cores);
  const double a_row =
      scheme.stream_words(plan, word) + scheme.passes(plan, survey) * words_of_pass(traits, word) / applies;
  return static_cast<double>(plan.n) * a_row + launch * scheme.launches(plan);
}

template <typename T>
double host_rate(HostShape shape, bool in_memory) {
  static std::mutex one_at_a_time;
  static std::map<std::pair<HostShape, bool>, double> rates;
  const std::lock_guard lock(one_at_a_time);
  double& rate = rates[{shape, in_memory}];
  if (rate == 0) rate = measure_host<T>(sample<T>(shape, in_memory));
  return rate;
}

template <typename T>
double predict_host_seconds(const LineSet& lines, Form form, bool nominal) {
  const bool in_memory = host_arrays_bytes<T>(lines) > kHostCacheBytes;
  const HostShape shape = shape_of(lines, in_memory);
  const double seconds = nominal ? static_cast<double>(lines.rows()) * kProfileWords * sizeof(T) / kNominalCore
                                 : static_cast<double>(lines.rows()) / host_rate<T>(shape, in_memory);
  if (shape != HostShape::beside) return seconds;
  const std::optional<Plan> plan = find_plan(
      {.method = Method::exact_factored, .lines = lines, .form = form, .word = sizeof(T), .traits = kHostTraits});
  return plan ? seconds * plan->words_per_row() / kProfileWords : seconds;
}

DeviceProfile nominal_profile(const DeviceInfo& device, bool is_double) {
  // Bytes a second. An emulated device is a kernel of one work-item on a core of the host, not a board.
  constexpr double kBus = 20e9, kBoard = 10e9, kEmulated = 2e9, kCardMemory = 1e12, kLaunch = 2e-5;
  const double word = is_double ? sizeof(double) : sizeof(float);
  const double rate = device.emulated                   ? kEmulated
                      : device.type == DeviceType::gpu  ? kBus
                      : device.type == DeviceType::fpga ? kBoard
                                                        : kNominalCore * device.cores;
  const bool card = device.type == DeviceType::gpu && !device.host_unified;
  DeviceProfile profile;
  profile.launch_seconds = kLaunch;
  profile.rows_per_second = (card ? kCardMemory : rate) / (kProfileWords * word);
  profile.copy_bytes_per_second = device.host_unified ? std::numeric_limits<double>::infinity() : rate;
  return profile;
}

DeviceProfile board_profile(bool is_double) {
  // The board's fuller bank moves 3 of the 5 words of a row, at 90 % of 2133 MHz times 8 bytes. Vectors go both ways at
  // once.
  constexpr double kBank = 0.9 * 8 * 2133.3333e6, kBankWords = 3;
  DeviceProfile profile;
  profile.launch_seconds = 100e-6;
  profile.rows_per_second = kBank / (kBankWords * (is_double ? sizeof(double) : sizeof(float)));
  profile.copy_bytes_per_second = 2 * 4.48e9;
  return profile;
}

#define OCLSPKT_INSTANTIATE(T)                                         \
  template double predict_host_seconds<T>(const LineSet&, Form, bool); \
  template double host_rate<T>(HostShape, bool);
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt
