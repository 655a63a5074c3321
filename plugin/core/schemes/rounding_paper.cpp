// SPDX-License-Identifier: BSD-2-Clause
// Rounding in the paper's form (core/paper_form): both sweeps of a partition, the systems of 2x2 at its cuts, and both
// halves that meet in its middle.
#include <algorithm>

#include "certificate.hpp"
#include "paper_sweeps.hpp"
#include "rounding_runs.hpp"

namespace oclspkt {

template <typename T>
Rounding bound_paper_form(const Plan& plan, const BandsView<T>& bands) {
  const SweepRows<T> down(bands, plan.n, false), up(bands, plan.n, true);
  RoundedSweep lu, ul, lu_next, ul_next;
  const auto sweep = [&](Index k, RoundedSweep& one, RoundedSweep& other) {
    const Index first = k * plan.m, end = std::min(plan.n, first + plan.m);
    one.fill(down, first, end - first, plan.n);
    other.fill(up, plan.n - end, end - first, plan.n);
  };
  WorstRow worst;
  const auto see_rows = [&](const RoundedRows& rows, double error, Index first) {
    for (const double local : rows.local) worst.see(local + error, first);
  };
  if (plan.n > 0) sweep(0, lu_next, ul_next);
  double top = 0;
  for (Index k = 0; k < plan.partitions(); ++k) {
    std::swap(lu, lu_next);
    std::swap(ul, ul_next);
    const Index first = k * plan.m, rows = lu.rows.size();
    double bottom = lu.errors.back(), next_top = 0;
    if (k == 0) top = ul.errors.back();
    if (k + 1 < plan.partitions()) {
      sweep(k + 1, lu_next, ul_next);
      const double v = lu.rows.up.back(), w = ul_next.rows.up.back(), f = ul_next.errors.back(), left = 1 - v * w;
      const double divided = left > 0 ? 1 / left : kNothingKnown;
      // Rounding of the system itself: its couplings, its right-hand side, its determinant and the division.
      constexpr double kSolved = 10;
      next_top = (f + w * bottom + kSolved) * divided;
      bottom = (bottom + v * f + kSolved) * divided;
    }
    // The halves meet where either is furthest from its cut.
    const Index top_rows = std::min(rows, plan.m / 2);
    double meeting = std::max(bottom, top);
    if (top_rows > 0 && top_rows < rows) {
      meeting = std::max({meeting, lu.substituted(bottom, static_cast<std::size_t>(top_rows)),
                          ul.substituted(top, static_cast<std::size_t>(rows - top_rows))});
    }
    see_rows(lu.rows, std::max(meeting, next_top), first);
    see_rows(ul.rows, std::max(meeting, next_top), first);
    top = next_top;
  }
  return worst.bound();
}

template Rounding bound_paper_form(const Plan&, const BandsView<float>&);
template Rounding bound_paper_form(const Plan&, const BandsView<double>&);

}  // namespace oclspkt
