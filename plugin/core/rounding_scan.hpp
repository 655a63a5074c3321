// SPDX-License-Identifier: BSD-2-Clause
// How rounding spreads in the sweeps of a tile whose interface systems are solved by a scan
// (kernels/gpu/tile_scan.clh). Notation: rounding.hpp. Results of a sweep are divided by the pivots, so that they are
// in units of the unknowns; errors are in u max |x|.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "rounding.hpp"
#include "sweep_rows.hpp"

namespace oclspkt {

/// The pivot of a row, for the elimination of the next row: computed from the excess (ExcessRow), without subtraction.
struct PivotAbove {
  double reciprocal = 0, upper = 0, excess = 0;
};

/// The pivots of the rows directly above the rows `first` of a system of n rows. Elimination begins kLeadIn rows above
/// each of these rows. If pivots do not converge in one of the lead-ins, it begins with the first row of the system.
/// @param first  ascending; the result for rows outside of the system is PivotAbove{}
template <typename T>
std::vector<PivotAbove> pivots_above(const SweepRows<T>& rows, Index n, const std::vector<Index>& first);

/// The numbers on which the rounding errors of some rows depend, in the notation of rounding.hpp.
struct RoundedRows {
  std::vector<double> down, up;              ///< ratios |a_i p_i| and |c_i p_i|
  std::vector<double> share_down, share_up;  ///< shares of couplings in the row sum, |a_i| / |A_i| and |c_i| / |A_i|
  std::vector<double> weight;                ///< row sum over pivot, |A_i p_i|
  std::vector<double> local;  ///< the error of elimination and substitution in the row, see rounding_by_growth()

  void resize(Index rows);
  Index size() const { return static_cast<Index>(down.size()); }
  /// Fill with rows [first, first + size()) of a system of n rows. Rows outside of the system become uncoupled rows.
  /// @param[in,out] above  in: pivot of the row above; out: pivot of the last row
  template <typename T>
  void fill(const SweepRows<T>& rows, Index first, Index n, PivotAbove& above);
  /// True if some coupling to the unknown below exceeds the pivot of its row, so that sweeps up amplify errors.
  bool grow_upwards() const {
    return std::any_of(up.begin(), up.end(), [](double ratio) { return !(ratio <= 1 + 1e-9); });
  }
  /// Fill with rows that have the worst rounding of all rows whose shares and ratios are at most the arguments.
  void fill_with(double lower_share, double upper_share, double down_ratio, double up_ratio);
};

/// The largest of some errors; NaN if an error is NaN.
inline double largest(const std::vector<double>& errors) {
  double worst = 0;
  for (const double error : errors) worst = larger(worst, error);
  return worst;
}

/// Errors of the unknowns beside a cut.
struct BesideCut {
  double above = 0, below = 0;
};

/// The errors in a partition's own rows after a solve of the partition with its halos.
struct PartitionErrors {
  WorstRow worst;
  double first_row = 0, last_row = 0;  ///< errors of these rows, with this partition's own unknowns beyond cuts
  BesideCut at_first, at_end;          ///< errors at the cuts above the first row and below the last row
};

/// The rounding bound of partitions of plan.m rows with halos of plan.halo rows.
/// @param errors_of  f(k) returns the PartitionErrors of partition k; several threads call it
template <typename T, typename F>
Rounding bound_partitions(const Plan& plan, const SweepRows<T>& rows, const F& errors_of) {
  const auto found = of_partitions<PartitionErrors>(plan, errors_of);
  const auto share = [&](Index i, double coupling) {
    return std::abs(coupling) /
           (std::abs(static_cast<double>(rows.lower(i))) + std::abs(static_cast<double>(rows.diag(i))) +
            std::abs(static_cast<double>(rows.upper(i))));
  };
  WorstRow worst;
  for (const PartitionErrors& of : found) worst.see(of.worst);
  for (std::size_t k = 1; plan.halo > 0 && k < found.size(); ++k) {
    // The row beside a cut is solved with this partition's value of the unknown beyond the cut. x has another value.
    const PartitionErrors &before = found[k - 1], &behind = found[k];
    const Index below = static_cast<Index>(k) * plan.m, above = below - 1;
    const BesideCut joint{before.at_end.above + behind.at_first.above, before.at_end.below + behind.at_first.below};
    worst.see(behind.first_row + share(below, rows.lower(below)) * joint.above, below);
    worst.see(before.last_row + share(above, rows.upper(above)) * joint.below, above);
  }
  return worst.bound();
}

/// How work-items compute and use the value that enters their rows. This value is the result of the row before them in
/// the sweep.
enum class Joints {
  swept_windows,  ///< a scan by windows (kernels/gpu/tile_shared_rows.clh), then a second sweep from the result
  swept,          ///< a scan by blocks (kernels/gpu/tile_scan.clh), then a second sweep
  taken_off       ///< a scan by blocks; the value, times the scan's products, is subtracted from the rows
};

/// The errors of a tile's sweep. Every work-item sweeps its rows from 0. A scan then computes the value that enters
/// each work-item. The work-item sweeps again from this value, or subtracts its influence.
///
/// The scan composes maps x -> value + factor x. A map covers some successive work-items. In a scan by blocks of 4^s
/// work-items, one step composes the maps of two neighbours with each other, which rounds once. Each later step
/// composes both maps with the same third map: it multiplies the third map's value by each map's factor, and adds. The
/// factors of both maps differ by one rounding for each earlier step and each neighbour. In a scan by windows, two
/// neighbours share no intermediate result, and all roundings of both count.
class ScanErrors {
 public:
  explicit ScanErrors(Joints joints) : joints_(joints) {}
  /// Analyse a sweep.
  /// @param ratios  shape [items * item_rows]; a ratio for each row, in the order of the rows
  /// @param sizes   shape of `ratios`; bounds of the absolute results of the sweep; empty: 1 for all
  /// @param back    true: the sweep begins with the last row
  /// @param enters  bound of the value that enters the first work-item
  void analyse(const std::vector<double>& ratios, const std::vector<double>& sizes, int items, bool back,
               double enters);
  /// The difference between the value that enters a work-item and the value with which the previous work-item ends; 0
  /// for the first work-item. Work-items count in the order of the sweep.
  double joint(int item) const;
  /// Update the errors for kernels that also scan the differences of joint() and subtract the results from the rows.
  /// @param u  half of eps
  /// @post joint() is the difference after this correction
  void correct(double u);
  /// The rounding that the subtraction of correct() adds to a row of a work-item, besides the row's own rounding.
  /// @pre correct() was called
  double drift(int item) const { return items_[static_cast<std::size_t>(item)].drift; }
  /// A tile may pass on the value of the scan for its first unknown. The scan computes this value with 0 beyond the
  /// tile.
  /// @return the difference between the value and the unknown
  double handed() const;

 private:
  struct Window {
    double factor, rounds, error;
    int begin;
  };
  struct Item {
    double through;  ///< product of all ratios of the work-item's rows
    double twice;    ///< the difference of the work-item's two sweeps at its last row
    double enters, leaves;
    double highest;  ///< the largest product of ratios from the work-item's first row to one of its rows
    double drift = 0;
  };
  void scan();
  void scan_windows();
  void scan_blocks();
  Joints joints_;
  std::vector<Item> items_;
  std::size_t item_rows_ = 0;
  /// Scan by windows: the error of the scan's values if the sweeps from 0 are exact. Scan by blocks: the difference
  /// between the value that enters a work-item and the value that the map of the previous work-item gives.
  std::vector<double> found_;
  std::vector<Window> windows_, next_;
};

}  // namespace oclspkt
