// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "matrices.hpp"

namespace oclspkt::bench::gpu {

/// One matrix that every scheme is timed on.
struct SchemeCase {
  std::string family;  ///< "d1.01", "lambda1e2": a word that names the matrix
  std::string layout;  ///< "one", "x512", "y64", "few z": how the lines lie
  MatrixSpec matrix;
  LineSet lines;
  Index size = 0;  ///< rows as they were asked for, about
  bool is_double = false;

  /// "lambda1e2, x512, 1e+06, double", as --only has it.
  std::string describe() const;
};

/// Cases of these sizes, the smallest first; those of a size in several rounds, so that a run that ends early has seen
/// something of all. From kLongRows rows on there are fewer matrices, and longer lines.
std::vector<SchemeCase> make_scheme_cases(const std::vector<Index>& sizes);
inline constexpr Index kLongRows = 5'000'000;

}  // namespace oclspkt::bench::gpu
