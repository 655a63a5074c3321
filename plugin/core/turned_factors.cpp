// SPDX-License-Identifier: BSD-2-Clause
#include "turned_factors.hpp"

#include <algorithm>

namespace oclspkt {

template <typename T>
Bands<T> kept_rows(const Plan& plan, const BandsView<T>& bands) {
  const Index front = (plan.shared.head + plan.shared.period) * plan.tile_rows();
  const Index behind = plan.shared.tail * plan.tile_rows();
  Bands<T> kept(LineSet::one(front + plan.n - behind));
  const auto copy = [&](const T* from, T* to) {
    std::copy(from + behind, from + plan.n, std::copy_n(from, front, to));
  };
  copy(bands.lower, kept.lower());
  copy(bands.diag, kept.diag());
  copy(bands.upper, kept.upper());
  return kept;
}

template <typename T>
void TurnedFactors<T>::reserve(const Plan& plan) {
  const Index tiles = plan.factor_tiles();
  multiplier_.resize(plan.couplings_serve() ? 0 : tiles * plan.factor_words());
  for (AlignedArray<T>* array : {&reciprocal_, &coupling_}) array->resize(tiles * plan.factor_words());
  for (AlignedArray<T>* array : {&down_, &up_}) array->resize(tiles * plan.lanes);
}

template <typename T>
void TurnedFactors<T>::turn(const Plan& plan, const FactorsView<T>& factors, Index rows) {
  const bool serve = plan.couplings_serve();
  reserve(plan);
  for (Index k = 0; k < plan.factor_tiles() * plan.lanes; ++k) {
    T down = 1, up = 1;
    Index to = k / plan.lanes * plan.factor_words() + k % plan.lanes;
    if (serve) coupling_[to] = k * plan.m < rows ? factors.multiplier[k * plan.m] : T(0);
    for (Index i = 0; i < plan.m; ++i, to += plan.lanes) {
      const Index row = plan.form == Form::shared ? (k * plan.m + i) % rows : k * plan.m + i;
      const bool inside = row < rows;
      const T multiplier = inside ? factors.multiplier[row] : T(0), coupling = inside ? factors.coupling[row] : T(0);
      if (!serve) multiplier_[to] = multiplier;
      reciprocal_[to] = inside ? factors.reciprocal[row] : T(1);
      coupling_[serve ? to + plan.lanes : to] = coupling;
      down *= -multiplier;
      up *= -coupling;
    }
    if (serve) reciprocal_[to] = 1;
    down_[k] = plan.passes() ? down : T(0);
    up_[k] = plan.passes() ? up : T(0);
  }
}

#define OCLSPKT_INSTANTIATE(T)     \
  template class TurnedFactors<T>; \
  template Bands<T> kept_rows(const Plan&, const BandsView<T>&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
