// SPDX-License-Identifier: BSD-2-Clause
#include "turned_factors.hpp"

#include <algorithm>

namespace oclspkt {

template <typename T>
void TurnedFactors<T>::reserve(const Plan& plan) {
  const Index partitions = plan.tiles() * plan.lanes;
  for (AlignedArray<T>* array : {&multiplier_, &reciprocal_, &coupling_}) array->resize(partitions * plan.m);
  for (AlignedArray<T>* array : {&down_, &up_}) array->resize(partitions);
}

template <typename T>
void TurnedFactors<T>::turn(const Plan& plan, const FactorsView<T>& factors) {
  const Index partitions = plan.tiles() * plan.lanes;
  reserve(plan);
  for (Index k = 0; k < partitions; ++k) {
    const Index tile = k / plan.lanes, lane = k % plan.lanes, rows = std::clamp<Index>(plan.n - k * plan.m, 0, plan.m);
    const Index first = k * plan.m;
    T down = 1, up = 1;
    Index to = tile * plan.tile_rows() + lane;
    for (Index i = 0; i < plan.m; ++i, to += plan.lanes) {
      const bool inside = i < rows;
      multiplier_[to] = inside ? factors.multiplier[first + i] : T(0);
      reciprocal_[to] = inside ? factors.reciprocal[first + i] : T(1);
      coupling_[to] = inside ? factors.coupling[first + i] : T(0);
      down *= -multiplier_[to];
      up *= -coupling_[to];
    }
    down_[k] = plan.passes() ? down : T(0);
    up_[k] = plan.passes() ? up : T(0);
  }
}

template class TurnedFactors<float>;
template class TurnedFactors<double>;

}  // namespace oclspkt
