// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "matrices.hpp"

namespace oclspkt::test {

/// A matrix of the collection, in double; float tests round it.
struct HardMatrix {
  std::string name;
  std::vector<double> lower, diag, upper;
  std::vector<Index> starts;  ///< of the lines that are glued; empty: it is one line

  bool extreme = false;  ///< near the ends of the number range: right-hand sides must follow the rows' sizes

  LineSet lines() const {
    return starts.empty() ? LineSet::one(static_cast<Index>(diag.size())) : LineSet::unequal(starts);
  }
};

/// The twenty tridiagonal matrices of Klein and Strzodka, ids 1 ... 20, n rows.
/// @pre 1 <= id <= 20, n >= 3
HardMatrix klein_strzodka(int id, Index n);

/// Ids whose singular values are chosen: they are made from a dense matrix, by n^3 operations.
inline bool is_dense(int id) { return id >= 8 && id <= 11; }
/// Rows up to which dense ones are made: seconds, in builds without optimisation minutes.
#ifdef NDEBUG
inline constexpr Index kMostDenseRows = 513;
#else
inline constexpr Index kMostDenseRows = 100;
#endif

/// T1-T5 of this project: implicit diffusion, variable coefficients, Poisson, upwind advection, compact schemes.
std::vector<HardMatrix> applications(Index n);

/// Matrices near the ends of the range of T, float or double: tiny, huge, with sums of couplings that overflow, with
/// subnormal numbers, with tiny and huge rows in turn.
template <typename T>
std::vector<HardMatrix> extremes(Index n);

/// T6: `count` lines of `length` rows of every kind, glued by zero couplings. Line 500 has a diagonal of 1e-20 between
/// 1e-9, which a norm over all lines does not see.
/// @pre length is even (id 15 of odd length is singular)
HardMatrix glued_lines(Index count, Index length);

template <typename T>
Bands<T> to_bands(const HardMatrix& m) {
  return fill<T>(LineSet::one(static_cast<Index>(m.diag.size())), [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    return Row{m.lower[at], m.diag[at], m.upper[at]};
  });
}

}  // namespace oclspkt::test
