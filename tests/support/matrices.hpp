// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "oclspkt/bands.hpp"
#include "scalars.hpp"

namespace oclspkt::test {

/// The seed of every random test; print_seed.cpp prints it.
inline constexpr std::uint32_t kSeed = 20261121;

/// Fill bands row by row from f(i) -> {lower, diag, upper}. The unread entries are NaN, so that reading them shows.
template <typename T, typename F>
Bands<T> fill(const LineSet& lines, const F& f) {
  Bands<T> bands(lines);
  for (Index l = 0; l < lines.count(); ++l) {
    for (Index i = 0; i < lines.length(l); ++i) {
      const Index at = lines.first(l) + i * lines.row_stride();
      const auto [a, b, c] = f(i);
      bands.lower()[at] = i > 0 ? static_cast<T>(a) : std::numeric_limits<T>::quiet_NaN();
      bands.diag()[at] = static_cast<T>(b);
      bands.upper()[at] = i + 1 < lines.length(l) ? static_cast<T>(c) : std::numeric_limits<T>::quiet_NaN();
    }
  }
  return bands;
}

/// As a solver hands a matrix to a scheme: no coupling leads out of a line.
template <typename T>
Bands<T> closed(Bands<T> bands) {
  bands.close_lines();
  return bands;
}

/// A copy, as the bands themselves have none.
template <typename T>
Bands<T> copy_of(const Bands<T>& bands) {
  Bands<T> copy(bands.lines());
  copy.copy_from(bands.view());
  return copy;
}

/// The numbers that float has for those of the bands.
template <typename T>
Bands<T> rounded(const Bands<T>& bands) {
  Bands<T> floats = copy_of(bands);
  for (T* band : {floats.lower(), floats.diag(), floats.upper()}) {
    for (Index i = 0; i < bands.lines().extent(); ++i) band[i] = static_cast<T>(static_cast<float>(band[i]));
  }
  return floats;
}

/// Whether two matrices have the same numbers, those between lines included.
template <typename T>
bool same_bands(const Bands<T>& one, const Bands<T>& other) {
  const BandsView<T> a = one.view(), b = other.view();
  const auto same = [n = one.lines().extent()](const T* x, const T* y) { return std::equal(x, x + n, y); };
  return same(a.lower, b.lower) && same(a.diag, b.diag) && same(a.upper, b.upper);
}

/// A function that fills bands with those of a matrix, which outlives it.
template <typename T>
BandsFill<T> fill_from(const Bands<T>& bands) {
  return [from = bands.view()](const BandsPart<T>& to, Index first, Index end) {
    std::copy(from.lower + first, from.lower + end, to.lower);
    std::copy(from.diag + first, from.diag + end, to.diag);
    std::copy(from.upper + first, from.upper + end, to.upper);
  };
}

/// A line of a set, by itself.
template <typename T>
Bands<T> alone(const Bands<T>& bands, Index line) {
  const LineSet& lines = bands.lines();
  Bands<T> one(LineSet::one(lines.length(line)));
  for (Index i = 0, at = lines.first(line); i < lines.length(line); ++i, at += lines.row_stride()) {
    one.lower()[i] = bands.view().lower[at];
    one.diag()[i] = bands.view().diag[at];
    one.upper()[i] = bands.view().upper[at];
  }
  return one;
}

struct Row {
  double lower, diag, upper;
};

/// The same row everywhere.
template <typename T>
Bands<T> constant(const LineSet& lines, double a, double b, double c) {
  return fill<T>(lines, [=](Index) { return Row{a, b, c}; });
}

/// Poisson's matrix with free ends: singular, constants are its null space.
template <typename T>
Bands<T> neumann(const LineSet& lines) {
  Bands<T> bands = constant<T>(lines, -1, 2, -1);
  for (Index l = 0; l < lines.count(); ++l) {
    bands.diag()[lines.first(l)] = bands.diag()[lines.first(l) + (lines.length(l) - 1) * lines.row_stride()] = 1;
  }
  return bands;
}

/// Give a line the same row everywhere.
template <typename T>
void replace_line(Bands<T>& bands, Index line, double a, double b, double c) {
  const LineSet& lines = bands.lines();
  for (Index i = 0, at = lines.first(line); i < lines.length(line); ++i, at += lines.row_stride()) {
    bands.lower()[at] = static_cast<T>(a);
    bands.diag()[at] = static_cast<T>(b);
    bands.upper()[at] = static_cast<T>(c);
  }
}

/// Random off-diagonals of either sign in (0.1, 1), |diag| = d (|lower| + |upper|) of random sign.
template <typename T>
Bands<T> random_dominant(const LineSet& lines, double d, std::uint32_t seed = kSeed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> magnitude(0.1, 1.0);
  std::bernoulli_distribution sign;
  const auto number = [&] { return sign(generator) ? magnitude(generator) : -magnitude(generator); };
  return fill<T>(lines, [&](Index) {
    // Rounded first, so that the dominance holds for the numbers stored.
    const double a = static_cast<T>(number()), c = static_cast<T>(number());
    const double b = d * (std::abs(a) + std::abs(c));
    return Row{a, sign(generator) ? b : -b, c};
  });
}

/// The same, symmetric: each coupling is the same both ways, the diagonal of random sign.
template <typename T>
Bands<T> random_symmetric(const LineSet& lines, double d, std::uint32_t seed = kSeed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> magnitude(0.1, 1.0);
  std::bernoulli_distribution sign;
  double next = static_cast<T>(magnitude(generator));
  return fill<T>(lines, [&](Index) {
    const double a = next, b_sign = sign(generator) ? 1 : -1;
    next = static_cast<T>(sign(generator) ? magnitude(generator) : -magnitude(generator));
    return Row{a, b_sign * d * (std::abs(a) + std::abs(next)), next};
  });
}

/// Random M-matrix with row sums 0 (but for the first and last row, whose outer coupling is not read): d = 1.
template <typename T>
Bands<T> row_sums_zero(const LineSet& lines, std::uint32_t seed = kSeed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> magnitude(0.0, 1.0);
  return fill<T>(lines, [&](Index) {
    const double a = static_cast<T>(-magnitude(generator)), c = static_cast<T>(-magnitude(generator));
    return Row{a, -a - c, c};
  });
}

/// Diffusion through conductivities from 2^-20 to 1, in steps of 2^-20: symmetric, and in T, too, no row's sum is
/// anything but 0. Of row_sums_zero() some sums are a little less than 0 by rounding, and over thousands of rows a
/// pivot may come near 0; unsymmetric ones have solutions as large as e^sqrt(rows).
template <typename T>
Bands<T> conductivities(const LineSet& lines, std::uint32_t seed = kSeed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> steps(1, 1 << 20);
  double below = -std::ldexp(steps(generator), -20);
  return fill<T>(lines, [&](Index) {
    const double above = below;
    below = -std::ldexp(steps(generator), -20);
    return Row{above, -above - below, below};
  });
}

/// The transpose of a random M-matrix with row sums 0: dominant by columns with d = 1, not by rows.
/// @param least of the couplings. A pivot is about as large as the coupling below it: where that comes near eps,
///              elimination without pivoting may meet a zero, and no exact method can promise anything.
template <typename T>
Bands<T> column_sums_zero(const LineSet& lines, double least = 0.01, std::uint32_t seed = kSeed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> magnitude(least, 1.0);
  const auto number = [&] { return static_cast<double>(static_cast<T>(-magnitude(generator))); };
  double above_next = number(), below_next = number();  // what column i + 1 holds above and below its diagonal
  double below_previous = 0;
  return fill<T>(lines, [&](Index) {
    const double above = above_next, below = below_next;
    above_next = number();
    below_next = number();
    return Row{std::exchange(below_previous, below), -above - below, above_next};
  });
}

/// Implicit diffusion tridiag(-lambda, 1 + 2 lambda, -lambda).
template <typename T>
Bands<T> diffusion(const LineSet& lines, double lambda) {
  return constant<T>(lines, -lambda, 1 + 2 * lambda, -lambda);
}

/// Conductivities over `decades`, drawn for each row anew or falling over `rows`, again and again.
struct Decades {
  const char* what;
  double lambda, decades;
  Index rows = 0;  ///< 0: drawn
  bool signs = false;
};

/// Implicit diffusion with conductivities of a wide range, each row scaled to a diagonal of 1: what its neighbours take
/// for large it takes for small. Whatever agrees to rounding only is multiplied by how far they fall.
template <typename T>
Bands<T> wide_conduction(const LineSet& lines, const Decades& range, std::uint32_t seed = kSeed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const auto draw = [&](Index i) {
    const double share =
        range.rows > 0 ? static_cast<double>(i % range.rows) / static_cast<double>(range.rows) : uniform(generator);
    return range.lambda * std::pow(10, -range.decades * share);
  };
  double below = draw(0);
  return fill<T>(lines, [&](Index i) {
    const double above = std::exchange(below, draw(i + 1)), diag = 1 + above + below;
    const bool turn_lower = range.signs && uniform(generator) < 0.5,
               turn_upper = range.signs && uniform(generator) < 0.5;
    return Row{(turn_lower ? above : -above) / diag, 1, (turn_upper ? below : -below) / diag};
  });
}

/// Ranges whose interface systems multiply rounding by 1e4 and more, or what is solved for twice: a segment of 128 rows
/// that falls, and then none.
inline constexpr Decades kWideRanges[] = {{"drawn over 6 decades", 1e6, 6},
                                          {"drawn over 6 decades, weaker", 1e3, 6},
                                          {"falling over 4 decades in 128 rows", 1e6, 4, 128},
                                          {"falling over 6 decades in 117 rows", 1e8, 6, 117},
                                          {"drawn over 6 decades, signs", 1e6, 6, 0, true}};

/// Upwind advection and diffusion; the wind blows from the first row to the last, or against it.
template <typename T>
Bands<T> upwind(const LineSet& lines, double peclet, bool against = false) {
  const double strong = -(1 + peclet), weak = -1;
  return constant<T>(lines, against ? weak : strong, 2 + peclet, against ? strong : weak);
}

/// Rows of lines that are long enough for rounding to add up; fewer in builds that are slow and see nothing new in
/// more.
#ifdef NDEBUG
inline constexpr Index kLongLines[] = {1 << 12, 1 << 18};
#else
inline constexpr Index kLongLines[] = {1 << 12, 1 << 16};
#endif

/// Call f(name, bands) for one line of n rows of every kind that nothing but a stable exact method solves.
template <typename T, typename F>
void at_dominance_one(Index n, const F& f) {
  const LineSet lines = LineSet::one(n);
  f("Poisson", constant<T>(lines, -1, 2, -1));
  f("lambda 1e8", diffusion<T>(lines, 1e8));
  f("row sums 0", row_sums_zero<T>(lines));
  f("upwind Pe 10", upwind<T>(lines, 10));
  f("downwind Pe 10", upwind<T>(lines, 10, true));
  f("column sums 0", column_sums_zero<T>(lines));
}

/// Numbers around 3, as in the published tests of tridiagonal solvers; for complex T, both parts.
template <typename T>
std::vector<T> random_vector(Index size, std::uint32_t seed = kSeed) {
  std::mt19937 generator(seed + 1);
  std::normal_distribution<double> normal(3, 1);
  std::vector<T> v(static_cast<std::size_t>(size));
  for (T& value : v) {
    value = static_cast<T>(normal(generator));
    if constexpr (kIsComplex<T>) value.imag(static_cast<Real<T>>(normal(generator)));
  }
  return v;
}

/// A complex matrix from a real one: rows and columns are multiplied by numbers of modulus 1, which changes no modulus.
template <typename T>
Bands<T> with_phases(const Bands<Real<T>>& real, std::uint32_t seed = kSeed) {
  std::mt19937 generator(seed + 2);
  std::uniform_real_distribution<double> angle(0, 6.283185307179586);
  const LineSet& lines = real.lines();
  const auto phase = [&] { return std::polar(1.0, angle(generator)); };
  std::vector<std::complex<double>> of_row, of_column;
  for (Index i = 0; i < lines.extent(); ++i) {
    of_row.push_back(phase());
    of_column.push_back(phase());
  }
  Bands<T> bands(lines);
  const BandsView<Real<T>> from = real.view();
  const auto times = [&](Real<T> number, Index row, Index column) {
    const auto at = [](const auto& all, Index i) { return all[static_cast<std::size_t>(i)]; };
    return static_cast<T>(at(of_row, row) * at(of_column, column) * static_cast<double>(number));
  };
  for (Index l = 0; l < lines.count(); ++l) {
    const Index stride = lines.row_stride();
    for (Index i = 0, at = lines.first(l); i < lines.length(l); ++i, at += stride) {
      const bool first = i == 0, last = i + 1 == lines.length(l);
      bands.lower()[at] = first ? T(from.lower[at]) : times(from.lower[at], at, at - stride);
      bands.diag()[at] = times(from.diag[at], at, at);
      bands.upper()[at] = last ? T(from.upper[at]) : times(from.upper[at], at, at + stride);
    }
  }
  return bands;
}

}  // namespace oclspkt::test
