// SPDX-License-Identifier: BSD-2-Clause
#include "matrices.hpp"

#include <cmath>
#include <cstdio>
#include <iterator>
#include <numbers>

#include "draw.hpp"
#include "oclspkt/error.hpp"
#include "parallel.hpp"

namespace oclspkt::bench {
namespace {

/// Conductivity in (0.1, 1) between row i and the next one of its line.
double conductivity(std::uint64_t seed, Index i) { return 0.1 + 0.9 * uniform(seed, kUpper, i); }

Row conduction(const MatrixSpec& spec, Index i, Index row_above) {
  const double scale = spec.scaled ? 0.5 + 0.5 * uniform(spec.seed, kScale, i) : 1;
  const double above = scale * spec.lambda * conductivity(spec.seed, row_above);
  const double below = scale * spec.lambda * conductivity(spec.seed, i);
  return {-above, scale + (above + below), -below};
}

Row upwind(double peclet) {
  const double windward = -1 - std::abs(peclet), diag = 2 + std::abs(peclet);
  return peclet >= 0 ? Row{windward, diag, -1} : Row{-1, diag, windward};
}

template <typename T>
Row row(const MatrixSpec& spec, Index i, Index row_above, Index n) {
  const double u = uniform(spec.seed, kLower, i), v = uniform(spec.seed, kUpper, i);
  switch (spec.matrix) {
    case Matrix::poisson:
      return {-1, 2, -1};
    case Matrix::diffusion:
      return {-spec.lambda, 1 + 2 * spec.lambda, -spec.lambda};
    case Matrix::conduction:
      return conduction(spec, i, row_above);
    case Matrix::row_sums_zero: {
      const double a = static_cast<T>(-u), c = static_cast<T>(-v);
      return {a, -a - c, c};
    }
    case Matrix::advection:
      return upwind(spec.peclet);
    case Matrix::turning_wind:
      return upwind(i < n / 2 ? spec.peclet : -spec.peclet);
    case Matrix::random:
      break;
  }
  const double above = spec.symmetric ? uniform(spec.seed, kUpper, row_above) : u;
  return random_row<T>(above, v, !spec.symmetric && uniform(spec.seed, kSign, i) < 0.5, spec.dominance);
}

}  // namespace

std::string known_matrices() {
  std::string known;
  for (const char* matrix : kMatrixNames) known.append(known.empty() ? "" : ", ").append(matrix);
  return known;
}

Matrix parse_matrix(const std::string& text) {
  for (std::size_t i = 0; i < std::size(kMatrixNames); ++i) {
    if (text == kMatrixNames[i]) return static_cast<Matrix>(i);
  }
  throw InvalidInput("there is no matrix '" + text + "'; choose one of: " + known_matrices());
}

std::string MatrixSpec::describe() const {
  char figures[80] = "";
  if (matrix == Matrix::random) {
    std::snprintf(figures, sizeof figures, "%s, dominance %g", symmetric ? ", symmetric" : "", dominance);
  }
  if (diffuses(matrix)) std::snprintf(figures, sizeof figures, "%s, lambda %g", scaled ? ", rows scaled" : "", lambda);
  if (blows(matrix)) std::snprintf(figures, sizeof figures, ", Pe %g", peclet);
  const bool drawn = matrix == Matrix::random || matrix == Matrix::conduction || matrix == Matrix::row_sums_zero;
  return std::string(name(matrix)) + figures + (drawn ? ", seed " + std::to_string(seed) : "");
}

template <typename T>
void fill_bands(const MatrixSpec& spec, Bands<T>& bands) {
  const Index places = bands.lines().extent(), stride = bands.lines().row_stride();
  for_each_share(places, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const Row r = row<T>(spec, i, i - stride, places);
      bands.lower()[i] = static_cast<T>(r.lower);
      bands.diag()[i] = static_cast<T>(r.diag);
      bands.upper()[i] = static_cast<T>(r.upper);
    }
  });
  bands.close_lines();
}

template <typename T>
void fill_solution(std::uint64_t seed, Index n, T* x) {
  fill(x, n, [&](Index i) {
    const double radius = std::sqrt(-2 * std::log(uniform(seed, kRadius, i)));
    return static_cast<T>(3 + radius * std::cos(2 * std::numbers::pi * uniform(seed, kAngle, i)));
  });
}

template void fill_bands(const MatrixSpec&, Bands<float>&);
template void fill_bands(const MatrixSpec&, Bands<double>&);
template void fill_solution(std::uint64_t, Index, float*);
template void fill_solution(std::uint64_t, Index, double*);

}  // namespace oclspkt::bench
