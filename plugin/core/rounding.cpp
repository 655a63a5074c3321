// SPDX-License-Identifier: BSD-2-Clause
#include "rounding.hpp"

#include <limits>

namespace oclspkt {

double rounding_by_dominance(double d) {
  if (!(d > 1)) return std::numeric_limits<double>::infinity();
  // A row collects 8 u |b_i| max |x| at most; an unknown at a joint is known twice, and its coupling is at most half of
  // the row.
  return 5 + (d < std::numeric_limits<double>::infinity() ? 4 * d / (d - 1) : 4);
}

}  // namespace oclspkt
