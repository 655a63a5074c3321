// SPDX-License-Identifier: BSD-2-Clause
// Rounding in both of the paper's forms: two sweeps of a partition, the systems of 2x2 at its cuts, and both
// substitutions that meet inside of it.
#include <algorithm>
#include <vector>

#include "certificate.hpp"
#include "parallel.hpp"
#include "partition_sweeps.hpp"
#include "schemes/paper/paper_lanes.hpp"

namespace oclspkt {
namespace {

/// Errors of the unknowns beside a cut: of the last row above it by LU, and of the first below it by UL.
/// @param v, w their ratios |c p|. @param bottom, top errors of the right-hand sides of these rows after both sweeps
BesideCut solved_cut(double v, double w, double bottom, double top) {
  const double left = 1 - v * w, divided = left > 0 ? 1 / left : kNothingKnown;
  // Rounding of the system itself: its couplings, its right-hand side, its determinant and the division.
  constexpr double kSolved = 10;
  return {(bottom + v * top + kSolved) * divided, (top + w * bottom + kSolved) * divided};
}

/// The rounding errors of one partition, as functions of the errors of the unknowns beside its cuts.
struct Rounded {
  double v = 0, w = 0, bottom = 0, top = 0;  ///< ratios and errors of the last row by LU, of the first by UL
  Inherited lu, ul;                          ///< of the two rows at which LU and UL substitution begin
  bool meets = false;                        ///< LU substitutes some of its rows
  WorstRow local;                            ///< the error that elimination and substitution leave in a row
};

template <typename T>
Rounded round_partition(const Plan& plan, const BandsView<T>& bands, Index k) {
  const SweepRows<T> down(bands, plan.n, false), up(bands, plan.n, true);
  const PaperRows at(plan, k);
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
Rounding bound_paper(const Plan& plan, const BandsView<T>& bands) {
  constexpr Index kAtOnce = Index{1} << 17;  // partitions in memory
  const Index partitions = plan.partitions();
  std::vector<Rounded> all;
  WorstRow worst;
  double top = 0;
  for (Index begin = 0; begin < partitions; begin += kAtOnce) {
    const Index end = std::min(partitions, begin + kAtOnce), behind = std::min(partitions, end + 1);
    all.resize(static_cast<std::size_t>(behind - begin));
    for_pieces(behind - begin, std::max<Index>(1, kPieceRows / plan.m), [&](Index first, Index last) {
      for (Index k = first; k < last; ++k) all[static_cast<std::size_t>(k)] = round_partition(plan, bands, begin + k);
    });
    if (begin == 0) top = all.front().top;
    for (std::size_t k = 0; k < static_cast<std::size_t>(end - begin); ++k) {
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
  }
  return worst.bound();
}

template Rounding bound_paper(const Plan&, const BandsView<float>&);
template Rounding bound_paper(const Plan&, const BandsView<double>&);

}  // namespace oclspkt
