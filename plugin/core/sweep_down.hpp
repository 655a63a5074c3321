// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "parallel.hpp"
#include "plan.hpp"

namespace oclspkt {

/// Sweep down n rows by all processors. Pieces begin `lead_in` rows early; they stand if each goes on from what the
/// piece before arrives at, else one processor sweeps all rows once more.
/// @param sweep  f(first, end, handed, keep): go on from row `first`; keep = false in a lead-in
/// @tparam Handed  what a row hands to the next one; begin_piece() behind the lead-in, agrees(other)
/// @return what each piece arrived at, in order; one element if one processor swept all
template <typename Handed, typename F>
std::vector<Handed> sweep_down(Index n, Index piece, Index lead_in, const F& sweep) {
  const auto count = static_cast<std::size_t>(quotient_up(n, piece));
  std::vector<Handed> begun(count), ended(count);
  for_pieces(n, piece, [&](Index first, Index end) {
    const auto k = static_cast<std::size_t>(first / piece);
    Handed handed;
    sweep(std::max<Index>(0, first - lead_in), first, handed, false);
    handed.begin_piece();
    begun[k] = handed;
    sweep(first, end, handed, true);
    ended[k] = handed;
  });
  bool agree = true;
  for (std::size_t k = 1; k < count; ++k) agree = agree && ended[k - 1].agrees(begun[k]);
  if (agree) return ended;
  Handed handed;
  sweep(0, n, handed, true);
  return {handed};
}

}  // namespace oclspkt
