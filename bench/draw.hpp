// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

/// Numbers that depend on seed and row alone. All is constexpr and C++17, so that CUDA code draws the same on a device
/// (nvcc --expt-relaxed-constexpr).
namespace oclspkt::bench {

// Sequences of uniform() that one row may draw from; at most 8.
enum : std::uint64_t { kLower, kUpper, kSign, kRadius, kAngle, kScale };

/// A number in (0, 1) for each (seed, sequence, row), so that threads need not share a generator.
/// @source Steele, Lea, Flood 2014 (SplitMix64)
constexpr double uniform(std::uint64_t seed, std::uint64_t sequence, std::int64_t row) {
  std::uint64_t z = seed * 0xd1342543de82ef95 + (static_cast<std::uint64_t>(row) * 8 + sequence) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  z ^= z >> 31;
  return (static_cast<double>(z >> 11) + 0.5) * 0x1p-53;
}

/// Magnitude in (0.1, 1), sign by the half of (0, 1) that u lies in.
constexpr double signed_coupling(double u) {
  const double far = 2 * u - 1, magnitude = 0.1 + 0.9 * (far < 0 ? -far : far);
  return u < 0.5 ? -magnitude : magnitude;
}

struct Row {
  double lower, diag, upper;
};

/// A row of Matrix::random that draws couplings from uniforms u and v and the sign of its diagonal from its own
/// sequence. Couplings are rounded to T before the diagonal is formed, so that the dominance holds for what is stored.
template <typename T>
constexpr Row random_row(double u, double v, bool negative, double dominance) {
  const double a = static_cast<T>(signed_coupling(u)), c = static_cast<T>(signed_coupling(v));
  const double b = dominance * ((a < 0 ? -a : a) + (c < 0 ? -c : c));
  return {a, negative ? -b : b, c};
}

}  // namespace oclspkt::bench
