// SPDX-License-Identifier: BSD-2-Clause
// Rounding in both of the paper's forms: two sweeps of a partition, the systems of 2x2 at its cuts, and both
// substitutions that meet inside of it.
#include <algorithm>
#include <vector>

#include "certificate.hpp"
#include "parallel.hpp"
#include "partition_sweeps.hpp"
#include "schemes/paper/paper_form.hpp"
#include "schemes/paper/paper_lanes.hpp"

namespace oclspkt {
namespace {

/// Errors of the unknowns beside a cut: of the last row above it by LU, and of the first below it by UL.
/// @param v, w  their ratios |c p|. @param bottom, top  errors of what the sweeps leave of these rows
BesideCut solved_cut(double v, double w, double bottom, double top) {
  const double left = 1 - v * w, divided = left > 0 ? 1 / left : kNothingKnown;
  // Rounding of the system itself: its couplings, its right-hand side, its determinant and the division.
  constexpr double kSolved = 10;
  return {(bottom + v * top + kSolved) * divided, (top + w * bottom + kSolved) * divided};
}

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
      const BesideCut cut = solved_cut(lu.rows.up.back(), ul_next.rows.up.back(), bottom, ul_next.errors.back());
      bottom = cut.above;
      next_top = cut.below;
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
      const BesideCut cut = solved_cut(of.v, all[k + 1].w, of.bottom, all[k + 1].top);
      bottom = cut.above;
      next_top = cut.below;
    }
    double error = larger(larger(bottom, top), next_top);
    if (of.meets) error = larger(larger(error, of.lu.from(bottom)), of.ul.from(top));
    worst.see(of.local.error + error, of.local.row);
    top = next_top;
  }
  return worst.bound();
}

#define OCLSPKT_INSTANTIATE(T)                                          \
  template Rounding bound_paper_form(const Plan&, const BandsView<T>&); \
  template Rounding bound_paper_lanes(const Plan&, const BandsView<T>&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
