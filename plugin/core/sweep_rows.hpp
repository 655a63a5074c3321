// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "oclspkt/bands.hpp"
#include "parallel.hpp"
#include "plan.hpp"

namespace oclspkt {

/// The rows of all lines, laid end to end, in the order of a sweep. In a sweep up, the two couplings change places, so
/// that the same code sweeps down and up.
template <typename T>
class SweepRows {
 public:
  SweepRows(const BandsView<T>& bands, Index n, bool up)
      : before_(up ? bands.upper : bands.lower),
        diag_(bands.diag),
        after_(up ? bands.lower : bands.upper),
        origin_(up ? n - 1 : 0),
        step_(up ? -1 : 1) {}

  /// Place of the sweep's i-th row in the vectors.
  Index at(Index i) const { return origin_ + step_ * i; }
  /// Coupling to the previous row of the sweep.
  T lower(Index i) const { return before_[at(i)]; }
  T diag(Index i) const { return diag_[at(i)]; }
  /// Coupling to the next row of the sweep.
  T upper(Index i) const { return after_[at(i)]; }

 private:
  const T *before_, *diag_, *after_;
  Index origin_, step_;
};

/// Compute f(k) for each partition k in [begin, end), by all processors.
template <typename Result, typename F>
std::vector<Result> of_partitions(const Plan& plan, Index begin, Index end, const F& f) {
  std::vector<Result> all(static_cast<std::size_t>(end - begin));
  for_pieces(end - begin, std::max<Index>(1, kPieceRows / plan.m), [&](Index first, Index last) {
    for (Index k = first; k < last; ++k) all[static_cast<std::size_t>(k)] = f(begin + k);
  });
  return all;
}
template <typename Result, typename F>
std::vector<Result> of_partitions(const Plan& plan, const F& f) {
  return of_partitions<Result>(plan, 0, plan.partitions(), f);
}

/// product * ratio, or 0 if the result is tiny, because subnormal numbers take ten times as long. NaN if a factor is
/// NaN.
inline double times(double product, double ratio) {
  const double both = product * ratio;
  return both < 1e-290 ? 0 : both;
}

/// The length of a lead-in after which a sweep agrees with the sweep from row 0: `lead_in`, or four times as many rows,
/// or 0 if neither suffices. A trial with the first rows decides; if a piece is too short for it, `lead_in`.
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

/// Sweep down n rows in pieces, by all processors. Each piece begins a lead-in above its first row. If each piece
/// begins with the values at which the previous piece ends, the results hold. Otherwise one processor sweeps all rows
/// once more.
/// @param piece  rows of a piece; a sweep may begin at each piece, and `lead_in` or 4 `lead_in` rows above it
/// @param sweep  f(first, end, handed, keep) sweeps rows [first, end) from the values in `handed`; keep is false in a
///               lead-in
/// @tparam Handed  the values that a row passes on to the next; its functions are begin_piece(), called after the
///                 lead-in, and agrees(other)
/// @return the values at which each piece ends, in order; one element if one processor swept all rows
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
