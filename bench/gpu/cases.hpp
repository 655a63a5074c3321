// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "matrices.hpp"
#include "oclspkt/options.hpp"
#include "settings.hpp"

namespace oclspkt::bench::gpu {

/// One line set with one matrix, solved by each of some methods.
struct Case {
  MatrixSpec matrix;
  LineSet lines;
  std::string place = {};         ///< "y of 512 x 64 x 915", "end to end"; empty for one system
  std::string bands = "general";  ///< "symmetric", "shared": what the matrix has; "narrow": by precision narrow
  Precision precision = Precision::same;
  bool is_double = false;
  std::vector<MethodChoice> methods = {};
  int repetitions = 1;
  int repeats = 0;  ///< applies whose bits are compared

  /// "conduction, lambda 10, y of 512 x 64 x 915, double"
  std::string describe() const;
  /// Bytes that are moved or looked at, in arrays of the case, about: what its time is estimated from.
  double work() const;
};

std::vector<Case> make_cases(const Settings& settings);

/// Lines along y or z of a grid of about `rows` points whose other axes are as a program would have them.
/// @param[out] place "z of 512 x 58 x 1024"
LineSet grid_lines(int axis, Index length, Index rows, std::string& place);

}  // namespace oclspkt::bench::gpu
