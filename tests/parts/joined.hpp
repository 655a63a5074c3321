// SPDX-License-Identifier: BSD-2-Clause
// What tests of joined parts share: matrices that jump where parts meet, and right-hand sides.
#pragma once

#include "matrix_algebra.hpp"
#include "row_error.hpp"

namespace oclspkt::test {

/// Matrices by name. Row sums are 0 to the bit where the name says so.
enum class JoinedMatrix { sums_zero, scaled_sums_zero, jumps, jumps_over_mass, diffusion, poisson, random };
inline const char* name(JoinedMatrix m) {
  constexpr const char* kNames[] = {
      "row sums 0",   "row sums 0, rows scaled", "jumps, row sums 0", "jumps, a mass", "diffusion", "Poisson",
      "random, d 1.5"};
  return kNames[static_cast<int>(m)];
}

/// Row of its line, for every place.
inline std::vector<Index> rows_of_lines(const LineSet& lines) {
  std::vector<Index> row(static_cast<std::size_t>(lines.extent()), -1);
  for (Index l = 0; l < lines.count(); ++l) {
    for (Index i = 0; i < lines.length(l); ++i) {
      row[static_cast<std::size_t>(lines.first(l) + i * lines.row_stride())] = i;
    }
  }
  return row;
}

/// Diffusion whose conductivity jumps by 1e3 and 1e6 between a part and the next. Sums and differences of the
/// conductivities are exact in float, too.
/// @param part  shape [extent]: the part that holds a row
/// @param mass  0: row sums are 0, of whole numbers; 1: conductivities are at most 1, so that unknowns decay
template <typename T>
Bands<T> jumping(const LineSet& lines, const std::vector<int>& part, int mass) {
  constexpr double kLarge[] = {1, 1e3, 1e6}, kSmall[] = {1, 1e-3, 1e-6};
  const auto conductivity = [&](Index at) {
    const int p = part[static_cast<std::size_t>(at)] % 3;
    return static_cast<double>(static_cast<T>(mass > 0 ? kSmall[p] : kLarge[p]));
  };
  Bands<T> bands(lines);
  for (Index l = 0; l < lines.count(); ++l) {
    for (Index i = 0; i < lines.length(l); ++i) {
      const Index at = lines.first(l) + i * lines.row_stride();
      const double above = conductivity(at),
                   below = conductivity(i + 1 < lines.length(l) ? at + lines.row_stride() : at);
      bands.lower()[at] = static_cast<T>(-above);
      bands.diag()[at] = static_cast<T>(mass + above + below);
      bands.upper()[at] = static_cast<T>(-below);
    }
  }
  return bands;
}

/// Every row times a power of two, which rounds nothing.
template <typename T>
Bands<T> with_scaled_rows(Bands<T> bands) {
  std::mt19937 generator(kSeed);
  std::uniform_int_distribution<int> exponent(-6, 6);
  for (Index i = 0; i < bands.lines().extent(); ++i) {
    const T scale = static_cast<T>(std::ldexp(1.0, exponent(generator)));
    bands.lower()[i] *= scale;
    bands.diag()[i] *= scale;
    bands.upper()[i] *= scale;
  }
  return bands;
}

/// A closed matrix.
template <typename T>
Bands<T> joined_matrix(JoinedMatrix m, const LineSet& lines, const std::vector<int>& part) {
  const auto made = [&] {
    switch (m) {
      case JoinedMatrix::sums_zero:
        return conductivities<T>(lines);
      case JoinedMatrix::scaled_sums_zero:
        return with_scaled_rows(conductivities<T>(lines));
      case JoinedMatrix::jumps:
        return jumping<T>(lines, part, 0);
      case JoinedMatrix::jumps_over_mass:
        return jumping<T>(lines, part, 1);
      case JoinedMatrix::diffusion:
        return diffusion<T>(lines, 10);
      case JoinedMatrix::poisson:
        return constant<T>(lines, -1, 2, -1);
      case JoinedMatrix::random:
        return random_dominant<T>(lines, 1.5);
    }
    return Bands<T>{};
  };
  return closed(made());
}

/// Right-hand sides: A x of alternating, constant and random x, and a random one, whose x may be large.
inline constexpr const char* kJoinedSides[] = {"alternating x", "constant x", "random x", "random y"};

template <typename T>
std::vector<T> joined_side(int side, const Bands<T>& bands) {
  const LineSet& lines = bands.lines();
  std::vector<T> x = random_vector<T>(lines.extent());
  if (side == 3) return x;
  for (Index i = 0; i < lines.extent() && side < 2; ++i) {
    x[static_cast<std::size_t>(i)] = static_cast<T>(side == 0 && i % 2 != 0 ? -1 : 1);
  }
  return product(bands, x);
}

}  // namespace oclspkt::test
