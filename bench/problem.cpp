// SPDX-License-Identifier: BSD-2-Clause
#include "problem.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>

#include "backward_error.hpp"
#include "oclspkt/error.hpp"
#include "parallel.hpp"

namespace oclspkt::bench {
namespace {

/// Bytes that can be taken without swapping; infinite where the system does not say.
double available_bytes() {
  std::ifstream meminfo("/proc/meminfo");
  std::string key;
  double kibibytes = 0;
  while (meminfo >> key >> kibibytes) {
    if (key == "MemAvailable:") return kibibytes * 1024;
    meminfo.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::numeric_limits<double>::infinity();
}

double usable_bytes() {
  constexpr double kUsable = 0.9;  // the rest is for page tables, run-times and compilers
  return kUsable * available_bytes();
}

}  // namespace

template <typename T>
Problem<T>::Problem(const MatrixSpec& spec, const LineSet& set)
    : lines(set), bands(lines), solution(lines.extent()), y(lines.extent()), x(lines.extent()) {
  const Index n = lines.extent();
  fill_bands(spec, bands);
  fill_solution(spec.seed, n, solution.data());
  const auto zero = [](Index) { return T(0); };
  fill(x.data(), n, zero);
  fill(y.data(), n, zero);
  multiply(lines, bands.view(), solution.data(), y.data());
}

template <typename T>
void Problem<T>::spoil() {
  fill(x.data(), n(), [](Index) { return std::numeric_limits<T>::quiet_NaN(); });
}

bool fits_memory(Index rows, double bytes_per_row) {
  return static_cast<double>(rows) * bytes_per_row <= usable_bytes();
}

void require_memory(Index rows, double bytes_per_row) {
  if (fits_memory(rows, bytes_per_row)) return;
  const double available = usable_bytes(), needed = static_cast<double>(rows) * bytes_per_row;
  const double fits = available / bytes_per_row;
  const double digit = std::pow(10, std::max(0.0, std::floor(std::log10(std::max(fits, 1.0))) - 1));
  char text[160];
  std::snprintf(text, sizeof text,
                "%.3g rows need %.1f GB, %.1f GB are free: use --rows %.2g, or fewer --methods, or --precision float",
                static_cast<double>(rows), needed / 1e9, available / 1e9, std::floor(fits / digit) * digit);
  throw InvalidInput(text);
}

template struct Problem<float>;
template struct Problem<double>;

}  // namespace oclspkt::bench
