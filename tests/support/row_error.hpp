// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "oclspkt/bands.hpp"

namespace oclspkt::test {

/// Largest |r_i| / (|A_i| max |x| + |y_i|), max |x| over the line of row i; NaN counts as infinite.
struct RowError {
  double all = 0;
  Index row = -1;  ///< offset of the row that gives `all`
};

template <typename T>
RowError row_error(const Bands<T>& bands, const std::vector<T>& x, const std::vector<T>& y) {
  using Wide = long double;
  const LineSet& lines = bands.lines();
  const BandsView<T> b = bands.view();
  const Index step = lines.row_stride();
  const auto of = [](const std::vector<T>& v, Index at) { return static_cast<Wide>(v[static_cast<std::size_t>(at)]); };
  RowError error;
  for (Index l = 0; l < lines.count(); ++l) {
    Wide largest = 0;
    for (Index i = 0; i < lines.length(l); ++i) largest = std::max(largest, std::abs(of(x, lines.first(l) + i * step)));
    for (Index i = 0; i < lines.length(l); ++i) {
      const Index at = lines.first(l) + i * step;
      const Wide lower = i > 0 ? b.lower[at] : T(0), upper = i + 1 < lines.length(l) ? b.upper[at] : T(0);
      Wide r = of(y, at) - b.diag[at] * of(x, at);
      if (i > 0) r -= lower * of(x, at - step);
      if (i + 1 < lines.length(l)) r -= upper * of(x, at + step);
      const Wide size =
          (std::abs(lower) + std::abs(static_cast<Wide>(b.diag[at])) + std::abs(upper)) * largest + std::abs(of(y, at));
      double found = static_cast<double>(std::abs(r) / size);
      if (r == 0) found = 0;
      if (!(found >= 0)) found = std::numeric_limits<double>::infinity();
      if (found > error.all || error.row < 0) error.row = at;
      error.all = std::max(error.all, found);
    }
  }
  return error;
}

}  // namespace oclspkt::test
