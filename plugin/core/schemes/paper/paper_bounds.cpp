// SPDX-License-Identifier: BSD-2-Clause
// Truncation and rounding of the paper's two forms. Each partition is swept twice, 2x2 systems give the unknowns at its
// cuts, and the two substitutions meet inside the partition.
#include <algorithm>
#include <cmath>
#include <vector>

#include "partition_sweeps.hpp"
#include "schemes/paper/paper_form.hpp"

namespace oclspkt {
namespace {

/// The rows of a partition of either form, counted from its first row. The last partition may be short.
struct PaperRows {
  Index first;    ///< first row of the partition, counted in the system
  Index size;     ///< rows of the partition
  Index from;     ///< first row that LU sweeps
  Index as_far;   ///< UL sweeps the rows before this row
  Index meeting;  ///< first row that LU substitutes
  PaperRows(const Plan& plan, Index partition) : first(partition * plan.m), size(std::min(plan.n - first, plan.m)) {
    const PaperLanes* const form = plan.find<PaperLanes>();
    from = form != nullptr ? std::min(form->swept_down_from(), size) : 0;
    as_far = form != nullptr ? std::min(form->swept_up(), size) : size;
    meeting = std::min(form != nullptr ? form->meeting() : plan.m / 2, size);
  }
  bool meets() const { return meeting < size; }
  /// Call f(rows, first, count, stop) for the sweep by UL, then for the sweep by LU if it has rows. Rows count in the
  /// order of the sweep. The sweep substitutes its rows from `stop` on.
  template <typename T, typename F>
  void for_sweeps(const BandsView<T>& bands, Index n, const F& f) const {
    f(SweepRows<T>(bands, n, true), n - first - as_far, as_far, static_cast<std::size_t>(as_far - meeting));
    if (from == size) return;
    f(SweepRows<T>(bands, n, false), first + from, size - from, static_cast<std::size_t>(meeting - from));
  }
};

struct TruncatedSweep {
  double coupling = 0, entered = 0;  ///< spike tips for the unknowns behind the last row and before the first row
  Inherited errors;                  ///< errors of the rows that the sweep substitutes
};

/// The truncation errors of one partition, as functions of the errors of the unknowns beside its cuts.
struct Truncated {
  TruncatedSweep up, down;
};

template <typename T>
Truncated truncate_partition(const Plan& plan, const BandsView<T>& bands, Index k) {
  const PaperRows at(plan, k);
  Truncated of;
  ForwardSweep sweep;
  TruncatedSweep* next = &of.up;
  at.for_sweeps(bands, plan.n, [&](const SweepRows<T>& rows, Index first, Index count, std::size_t stop) {
    sweep.fill(rows, first, first + count);
    const bool substitutes = next == &of.up || at.meets();
    *next = {sweep.coupling.back(), sweep.entered.back(), substitutes ? sweep.largest_errors(stop) : Inherited{}};
    next = &of.down;
  });
  return of;
}

/// The truncation error of the unknowns beside a cut, and by how much its 2x2 system amplifies rounding.
struct CutError {
  double error, amplified;
};
CutError error_of_cut(const Truncated& above, const Truncated& below) {
  // Ratios have no signs, so the sign of v_b w_t is unknown; the smaller of both possible denominators is safe.
  const double amplified = 1 / std::abs(1 - above.down.coupling * below.up.coupling);
  return {(above.down.entered + below.up.entered) * (1 + std::max(above.down.coupling, below.up.coupling)) * amplified,
          amplified};
}

/// The certificate of the swept partitions. The last of them is judged only if `all`; it then ends the system.
Certificate judge(const Plan& plan, const std::vector<Truncated>& swept, bool all) {
  Certificate worst;
  // No cut lies above the first partition and below the last partition. Only their own sweeps truncate there.
  double error_above = swept.empty() ? 0 : swept.front().up.entered;
  for (std::size_t k = 0; k < swept.size(); ++k) {
    const bool last = k + 1 == swept.size();
    if (last && !all) break;
    const CutError cut = last ? CutError{swept[k].down.entered, 1} : error_of_cut(swept[k], swept[k + 1]);
    if (!(cut.amplified <= worst.growth)) worst.growth = cut.amplified;
    const double above = swept[k].up.errors.from(error_above), below = swept[k].down.errors.from(cut.error);
    const bool known = std::isfinite(above + below + swept[k].down.coupling + swept[k].up.coupling);
    const double bound = known ? std::max(above, below) : kNothingKnown;
    if (!(bound <= worst.bound)) {
      const auto at = static_cast<Index>(k);
      worst = {bound, at, at * plan.m, std::min(plan.n, (at + 1) * plan.m) - 1, below > above, worst.growth};
      if (!known) break;
    }
    error_above = cut.error;
  }
  return worst;
}

/// Errors of the unknowns beside a cut: the last row above it, swept by LU, and the first row below it, swept by UL.
/// @param v, w         ratios |c p| of these rows
/// @param bottom, top  errors of the right-hand sides of these rows after the sweeps
BesideCut solved_cut(double v, double w, double bottom, double top) {
  const double left = 1 - v * w, divided = left > 0 ? 1 / left : kNothingKnown;
  // Rounding of the 2x2 system itself: its couplings, right-hand side, determinant and division.
  constexpr double kSolved = 10;
  return {(bottom + v * top + kSolved) * divided, (top + w * bottom + kSolved) * divided};
}

/// The rounding errors of one sweep over a partition.
struct Rounded {
  double ratio = 0, error = 0;  ///< ratio and error of the last row of the sweep
  Inherited meeting;            ///< error of the row at which the other sweep's substitution begins
};

/// The rounding errors of one partition, as functions of the errors of the unknowns beside its cuts.
struct RoundedPartition {
  Rounded up, down;
  bool meets = false;  ///< LU substitutes at least one row
  WorstRow local;      ///< largest error that elimination and substitution leave in a row
};

template <typename T>
RoundedPartition round_partition(const Plan& plan, const BandsView<T>& bands, Index k) {
  const PaperRows at(plan, k);
  RoundedPartition of;
  of.meets = at.meets();
  RoundedSweep sweep;
  Rounded* next = &of.up;
  at.for_sweeps(bands, plan.n, [&](const SweepRows<T>& rows, Index first, Index count, std::size_t stop) {
    sweep.fill(rows, first, count, plan.n);
    *next = {sweep.rows.up.back(), sweep.errors.back(), of.meets ? sweep.substituted(stop) : Inherited{}};
    next = &of.down;
    for (const double local : sweep.rows.local) of.local.see(local, at.first);
  });
  return of;
}

}  // namespace

template <typename T>
Certificate certify_paper_lanes(const Plan& plan, const BandsView<T>& bands, double limit) {
  const auto truncated = [&](Index k) { return truncate_partition(plan, bands, k); };
  if (plan.partitions() > 2 && std::isfinite(limit)) {
    const Certificate first = judge(plan, of_partitions<Truncated>(plan, 0, 2, truncated), false);
    if (!(first.bound <= limit)) return first;
  }
  return judge(plan, of_partitions<Truncated>(plan, truncated), true);
}

template <typename T>
Rounding bound_paper(const Plan& plan, const BandsView<T>& bands) {
  constexpr Index kAtOnce = Index{1} << 17;  // partitions that are held in memory at a time
  const Index partitions = plan.partitions();
  WorstRow worst;
  double top = 0;
  for (Index begin = 0; begin < partitions; begin += kAtOnce) {
    const Index end = std::min(partitions, begin + kAtOnce), behind = std::min(partitions, end + 1);
    const auto all =
        of_partitions<RoundedPartition>(plan, begin, behind, [&](Index k) { return round_partition(plan, bands, k); });
    if (begin == 0) top = all.front().up.error;
    for (std::size_t k = 0; k < static_cast<std::size_t>(end - begin); ++k) {
      const RoundedPartition& of = all[k];
      double bottom = of.down.error, next_top = 0;
      if (k + 1 < all.size()) {
        const Rounded& below = all[k + 1].up;
        const BesideCut cut = solved_cut(of.down.ratio, below.ratio, of.down.error, below.error);
        bottom = cut.above;
        next_top = cut.below;
      }
      double error = larger(larger(bottom, top), next_top);
      if (of.meets) error = larger(larger(error, of.down.meeting.from(bottom)), of.up.meeting.from(top));
      worst.see(of.local.error + error, of.local.row);
      top = next_top;
    }
  }
  return worst.bound();
}

#define OCLSPKT_INSTANTIATE(T)                                                        \
  template Certificate certify_paper_lanes(const Plan&, const BandsView<T>&, double); \
  template Rounding bound_paper(const Plan&, const BandsView<T>&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
