// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "factors.hpp"
#include "parallel.hpp"

namespace oclspkt {

/// Stored factors of a row, see FactorsView.
template <typename T>
struct FactorsOfRow {
  T multiplier = 0, reciprocal = 1, coupling = 0;
};

/// The matrix whose factors these are: of a row that is eliminated down a_i = m_i / p_(i-1), c_i = (c_i p_i) / p_i and
/// b_i = 1 / p_i + a_i (c_(i-1) p_(i-1)), of one that is eliminated up the mirror image, of the one where both meet the
/// sum. Each number is that of the bands to a few roundings, the diagonal to as many of the largest that elimination
/// took from it or left: what the factors solve is as far away.
/// @param towards  row of the system, for Order::towards; that order's meeting
/// @param factors_at  f(place): the factors of a row
/// @param[out] bands  of these lines; places of no line are not written
/// @cost 2 divisions a row, by all processors of this process
template <typename T, typename F>
void bands_of_factors(const LineSet& lines, Index towards, const typename Factors<T>::Meeting& meeting,
                      const F& factors_at, Bands<T>& bands) {
  const Index stride = lines.row_stride();
  for_row_pieces(lines, [&](Index line, Index begin, Index end) {
    const Index first = lines.first(line), last = lines.length(line) - 1;
    for (Index i = begin; i < end; ++i) {
      const Index at = first + i * stride;
      const FactorsOfRow<T> row = factors_at(at);
      const FactorsOfRow<T> above = i > 0 ? factors_at(at - stride) : FactorsOfRow<T>{};
      const FactorsOfRow<T> below = i < last ? factors_at(at + stride) : FactorsOfRow<T>{};
      const T reciprocal = at == towards ? meeting.reciprocal : row.reciprocal;
      const T lower = i == 0          ? T(0)
                      : at < towards  ? row.multiplier / above.reciprocal
                      : at == towards ? meeting.from_above / above.reciprocal
                                      : row.coupling / reciprocal;
      const T upper = i == last ? T(0) : at < towards ? row.coupling / reciprocal : row.multiplier / below.reciprocal;
      const T taken_above = at <= towards ? lower * above.coupling : T(0);
      const T taken_below = at >= towards ? upper * below.coupling : T(0);
      bands.lower()[at] = lower;
      bands.upper()[at] = upper;
      bands.diag()[at] = 1 / reciprocal + taken_above + taken_below;
    }
  });
}

}  // namespace oclspkt
