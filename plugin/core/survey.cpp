// SPDX-License-Identifier: BSD-2-Clause
#include "survey.hpp"

#include <cmath>
#include <limits>

namespace oclspkt {

namespace {

Survey not_finite(Index row) {
  Survey s;
  s.weakest_row = row;
  return s;
}

}  // namespace

template <typename T>
Survey survey(const LineSet& lines, const BandsView<T>& bands) {
  Survey s;
  s.finite = s.symmetric = true;
  s.dominance = std::numeric_limits<double>::infinity();
  for (Index l = 0; l < lines.count(); ++l) {
    const Index first = lines.first(l), stride = lines.row_stride(), length = lines.length(l);
    for (Index i = 0; i < length; ++i) {
      const Index at = first + i * stride;
      const double off =
          std::abs(static_cast<double>(bands.lower[at])) + std::abs(static_cast<double>(bands.upper[at]));
      const double diag = std::abs(static_cast<double>(bands.diag[at]));
      if (!(std::isfinite(off) && std::isfinite(diag))) return not_finite(at);
      s.symmetric = s.symmetric && (i == 0 || bands.lower[at] == bands.upper[at - stride]);
      if (diag >= s.dominance * off && diag > 0) continue;  // infinity * 0 is NaN and falls through
      const double d = off > 0 ? diag / off : diag > 0 ? std::numeric_limits<double>::infinity() : 0.0;
      if (d < s.dominance) {
        s.dominance = d;
        s.weakest_row = at;
      }
    }
  }
  return s;
}

template Survey survey(const LineSet&, const BandsView<float>&);
template Survey survey(const LineSet&, const BandsView<double>&);

}  // namespace oclspkt
