// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "oclspkt/bands.hpp"

namespace oclspkt::bench {

enum class Matrix {
  random,         ///< off-diagonals of either sign in (0.1, 1), |diag| = d (|lower| + |upper|) of either sign
  poisson,        ///< tridiag(-1, 2, -1)
  diffusion,      ///< tridiag(-lambda, 1 + 2 lambda, -lambda)
  conduction,     ///< diffusion with a conductivity k ~ (0.1, 1) between neighbours: -lambda k, 1 + lambda (k + k')
  row_sums_zero,  ///< lower, upper ~ -U(0, 1), diag = -lower - upper: d = 1
  advection,      ///< upwind: tridiag(-1 - Pe, 2 + Pe, -1), mirrored where Pe is negative
  turning_wind    ///< advection whose wind turns in the middle of the line, from +Pe to -Pe
};
inline constexpr const char* kMatrixNames[] = {"random",        "poisson",   "diffusion",   "conduction",
                                               "row-sums-zero", "advection", "turning-wind"};
/// Implicit steps of diffusion, which take a lambda.
inline constexpr bool diffuses(Matrix m) { return m == Matrix::diffusion || m == Matrix::conduction; }
/// Matrices that take a Peclet number.
inline constexpr bool blows(Matrix m) { return m == Matrix::advection || m == Matrix::turning_wind; }
inline constexpr const char* name(Matrix m) { return kMatrixNames[static_cast<int>(m)]; }

/// All names, joined by commas.
std::string known_matrices();

/// @throws InvalidInput naming the matrices there are
Matrix parse_matrix(const std::string& name);

inline constexpr std::uint64_t kDefaultSeed = 20261121;

struct MatrixSpec {
  Matrix matrix = Matrix::random;
  double dominance = 3;    ///< of `random`
  bool symmetric = false;  ///< of `random`: each coupling is the same both ways, and the diagonal positive
  double lambda = 100;     ///< of `diffusion` and `conduction`
  bool scaled = false;     ///< of `conduction`: each row times a number of its own in (0.5, 1), which is not symmetric
  double peclet = 10;      ///< of `advection` and `turning_wind`
  std::uint64_t seed = kDefaultSeed;
  /// "random, dominance 3, seed 20261121"; no seed where nothing is random
  std::string describe() const;
};

/// Fill bands, in parallel; every number depends on seed and place alone, the places taken as the rows of one line.
/// Couplings that lead out of a line are 0.
template <typename T>
void fill_bands(const MatrixSpec& spec, Bands<T>& bands);

/// Numbers ~ N(3, 1), in parallel; every number depends on seed and row alone.
template <typename T>
void fill_solution(std::uint64_t seed, Index n, T* x);

}  // namespace oclspkt::bench
