// SPDX-License-Identifier: BSD-2-Clause
// Rounding in the paper's form for CPUs (core/paper_lanes): LU and UL over parts of a partition, the systems of 2x2 at
// its cuts, and the row where both substitutions meet.
#include <algorithm>
#include <vector>

#include "paper_lanes.hpp"
#include "paper_sweeps.hpp"
#include "parallel.hpp"

namespace oclspkt {
namespace {

/// The rounding errors of one partition, as functions of the errors of the unknowns beside its cuts.
struct Rounded {
  double v = 0, w = 0, bottom = 0, top = 0;  ///< ratios and errors of the last row by LU, of the first by UL
  Inherited lu, ul;                          ///< of the rows where both meet
  bool meets = false;                        ///< LU substitutes some of its rows
  WorstRow local;                            ///< the error that elimination and substitution leave in a row
};

template <typename T>
Rounded round_partition(const Plan& plan, const BandsView<T>& bands, Index k) {
  const SweepRows<T> down(bands, plan.n, false), up(bands, plan.n, true);
  const PaperLanesRows at(plan, k);
  Rounded of;
  RoundedSweep sweep;
  const auto see_rows = [&] {
    for (const double local : sweep.rows.local) of.local.see(local, at.first);
  };
  sweep.fill(up, plan.n - at.first - at.as_far, at.as_far, plan.n);
  of.w = sweep.rows.up.back();
  of.top = sweep.errors.back();
  of.meets = at.meeting < at.size;
  if (of.meets) of.ul = sweep.substituted(static_cast<std::size_t>(at.as_far - at.meeting));
  see_rows();
  if (at.from == at.size) return of;
  sweep.fill(down, at.first + at.from, at.size - at.from, plan.n);
  of.v = sweep.rows.up.back();
  of.bottom = sweep.errors.back();
  if (of.meets) of.lu = sweep.substituted(static_cast<std::size_t>(at.meeting - at.from));
  see_rows();
  return of;
}

}  // namespace

template <typename T>
Rounding bound_paper_lanes(const Plan& plan, const BandsView<T>& bands) {
  std::vector<Rounded> all(static_cast<std::size_t>(plan.partitions()));
  for_pieces(plan.partitions(), std::max<Index>(1, kPieceRows / plan.m), [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) all[static_cast<std::size_t>(k)] = round_partition(plan, bands, k);
  });
  WorstRow worst;
  double top = all.empty() ? 0 : all.front().top;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Rounded& of = all[k];
    double bottom = of.bottom, next_top = 0;
    if (k + 1 < all.size()) {
      const Rounded& next = all[k + 1];
      const double left = 1 - of.v * next.w, divided = left > 0 ? 1 / left : kNothingKnown;
      // Rounding of the system itself: its couplings, its right-hand side, its determinant and the division.
      constexpr double kSolved = 10;
      bottom = (of.bottom + of.v * next.top + kSolved) * divided;
      next_top = (next.top + next.w * of.bottom + kSolved) * divided;
    }
    double error = larger(larger(bottom, top), next_top);
    if (of.meets) error = larger(larger(error, of.lu.from(bottom)), of.ul.from(top));
    worst.see(of.local.error + error, of.local.row);
    top = next_top;
  }
  return worst.bound();
}

template Rounding bound_paper_lanes(const Plan&, const BandsView<float>&);
template Rounding bound_paper_lanes(const Plan&, const BandsView<double>&);

}  // namespace oclspkt
