// SPDX-License-Identifier: BSD-2-Clause
#include <limits>

#include "rounding.hpp"

namespace oclspkt {

template <typename T>
Rounding bound_grid_rounding(const Plan&, const LineSet&, const BandsView<T>&, const Survey& survey) {
  return {rounding_by_dominance(survey.dominance)};
}

template Rounding bound_grid_rounding(const Plan&, const LineSet&, const BandsView<float>&, const Survey&);
template Rounding bound_grid_rounding(const Plan&, const LineSet&, const BandsView<double>&, const Survey&);

}  // namespace oclspkt
