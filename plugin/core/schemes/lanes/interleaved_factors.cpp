// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/lanes/interleaved_factors.hpp"
#include "geometry.hpp"

#include <algorithm>

#include "parallel.hpp"

namespace oclspkt {

template <typename T>
Bands<T> kept_rows(const Plan& plan, const BandsView<T>& bands) {
  const Index front = (shared_tiles(plan).head + shared_tiles(plan).period) * plan.tile_rows();
  const Index behind = shared_tiles(plan).tail * plan.tile_rows();
  const Index end = std::min(plan.n, shared_tiles(plan).all * plan.tile_rows());
  Bands<T> kept(LineSet::one(front + end - behind));
  const auto copy = [&](const T* from, T* to) { std::copy(from + behind, from + end, std::copy_n(from, front, to)); };
  copy(bands.lower, kept.lower());
  copy(bands.diag, kept.diag());
  copy(bands.upper, kept.upper());
  return kept;
}

template <typename T>
void InterleavedFactors<T>::reserve(const Plan& plan) {
  const Index words = factor_tiles(plan) * factor_words(plan);
  const bool symmetric = plan.symmetric();
  plan.narrow ? make_room(narrow_, same_, words, symmetric) : make_room(same_, narrow_, words, symmetric);
  for (AlignedArray<T>* array : {&down_, &up_}) array->resize(factor_tiles(plan) * plan.lanes);
}

/// The factor by which the influence of an unknown decays through `rows` rows of the lane that begins at `first`: the
/// product of the factors, each times -1, in the order in which a sweep down or up multiplies them.
template <typename T, typename S>
static T passing(const S* first, Index rows, Index lanes, bool down) {
  T product = 1;
  for (Index i = 0; i < rows; ++i) product *= -static_cast<T>(first[(down ? i : rows - 1 - i) * lanes]);
  return product;
}

template <typename T>
template <typename S>
void InterleavedFactors<T>::interleave_partition(FactorArrays<S>& to, const Plan& plan, const FactorsView<T>& factors,
                                                 Index rows, Index k) {
  const bool symmetric = plan.symmetric();
  Index at = k / plan.lanes * factor_words(plan) + k % plan.lanes;
  if (symmetric) to.coupling[at] = k * plan.m < rows ? static_cast<S>(factors.multiplier[k * plan.m]) : S(0);
  for (Index i = 0; i < plan.m; ++i, at += plan.lanes) {
    const Index row = plan.form == Form::shared ? (k * plan.m + i) % rows : k * plan.m + i;
    const bool inside = row < rows;
    const S multiplier = inside ? static_cast<S>(factors.multiplier[row]) : S(0);
    const S coupling = inside ? static_cast<S>(factors.coupling[row]) : S(0);
    if (!symmetric) to.multiplier[at] = multiplier;
    to.reciprocal[at] = inside ? static_cast<S>(factors.reciprocal[row]) : S(1);
    to.coupling[symmetric ? at + plan.lanes : at] = coupling;
  }
  if (symmetric) to.reciprocal[at] = 1;
  const Index first = at - plan.m * plan.lanes;
  // Rows from the meeting tile on are eliminated upwards.
  const bool down = !plan.has<Sides>() || k < plan.as<Sides>().meeting * plan.lanes;
  const S* const multipliers = symmetric ? to.coupling.data() : to.multiplier.data();
  const S* const couplings = to.coupling.data() + (symmetric ? plan.lanes : 0);
  down_[k] = passes(plan) ? passing<T>(multipliers + first, plan.m, plan.lanes, down) : T(0);
  up_[k] = passes(plan) ? passing<T>(couplings + first, plan.m, plan.lanes, !down) : T(0);
}

template <typename T>
template <typename S>
void InterleavedFactors<T>::interleave_into(FactorArrays<S>& to, const Plan& plan, const FactorsView<T>& factors,
                                            Index rows) {
  for_pieces(factor_tiles(plan), std::max<Index>(1, kPieceRows / plan.tile_rows()), [&](Index begin, Index end) {
    for (Index k = begin * plan.lanes; k < end * plan.lanes; ++k) interleave_partition(to, plan, factors, rows, k);
  });
}

template <typename T>
void InterleavedFactors<T>::interleave(const Plan& plan, const FactorsView<T>& factors, Index rows) {
  reserve(plan);
  plan.narrow ? interleave_into(narrow_, plan, factors, rows) : interleave_into(same_, plan, factors, rows);
}

#define OCLSPKT_INSTANTIATE(T)          \
  template class InterleavedFactors<T>; \
  template Bands<T> kept_rows(const Plan&, const BandsView<T>&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
