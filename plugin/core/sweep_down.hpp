// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "parallel.hpp"
#include "plan.hpp"

namespace oclspkt {

/// A product of many ratios, or 0 if it is tiny: subnormal numbers take a processor ten times as long. NaN stays.
inline double times(double product, double ratio) {
  const double both = product * ratio;
  return both < 1e-290 ? 0 : both;
}

/// The lead-in of pieces: `lead_in` rows, or four times as many, if that makes a sweep agree with the one from the
/// first row, tried on the first rows; 0 if neither does.
template <typename Handed, typename F>
Index enough_lead_in(Index piece, Index lead_in, const F& sweep) {
  const Index end = 8 * lead_in;
  if (end > piece) return lead_in;
  Handed all;
  sweep(0, end, all, false);
  for (const Index rows : {lead_in, 4 * lead_in}) {
    Handed late;
    sweep(end - rows, end, late, false);
    if (all.agrees(late)) return rows;
  }
  return 0;
}

/// Sweep down n rows by all processors. Pieces begin a lead-in early. They are kept if each continues from the values
/// at which the piece before it arrives; else one processor sweeps all rows once more.
/// @param piece    rows of a piece: where pieces, and lead-ins of `lead_in` rows or four times as many, may begin
/// @param sweep  f(first, end, handed, keep): continue from row `first`; keep = false in a lead-in
/// @tparam Handed  the values that a row hands to the next one; begin_piece() ends the lead-in, agrees(other)
/// @return the values at which each piece arrives, in order; one element if one processor swept all
template <typename Handed, typename F>
std::vector<Handed> sweep_down(Index n, Index piece, Index lead_in, const F& sweep) {
  const auto whole = [&] {
    Handed handed;
    sweep(0, n, handed, true);
    return std::vector<Handed>{handed};
  };
  const Index early = n > piece ? enough_lead_in<Handed>(piece, lead_in, sweep) : lead_in;
  if (early == 0) return whole();
  const auto count = static_cast<std::size_t>(quotient_up(n, piece));
  std::vector<Handed> begun(count), ended(count);
  for_pieces(n, piece, [&](Index first, Index end) {
    const auto k = static_cast<std::size_t>(first / piece);
    Handed handed;
    sweep(std::max<Index>(0, first - early), first, handed, false);
    handed.begin_piece();
    begun[k] = handed;
    sweep(first, end, handed, true);
    ended[k] = handed;
  });
  bool agree = true;
  for (std::size_t k = 1; k < count; ++k) agree = agree && ended[k - 1].agrees(begun[k]);
  return agree ? ended : whole();
}

}  // namespace oclspkt
