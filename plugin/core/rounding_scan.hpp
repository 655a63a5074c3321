// SPDX-License-Identifier: BSD-2-Clause
// How rounding spreads in the sweeps of a tile whose interface systems are solved by a scan
// (kernels/gpu/tile_scan.clh). Numbers of a sweep are divided by the pivots, so that they are in units of the unknowns,
// and errors are in u max |x|, u = eps / 2.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "rounding.hpp"
#include "sweep_rows.hpp"

namespace oclspkt {

/// The pivot of a row, for the next one down: made of the excess, without subtraction (ExcessRow).
struct PivotAbove {
  double reciprocal = 0, upper = 0, excess = 0;
};

/// The pivots above some rows of a system of n rows. Elimination begins kLeadIn rows above each of them; if the pivots
/// do not converge in these, it begins with the first row of the system.
/// @param first  the rows, ascending; those outside of the system have nothing above them
template <typename T>
std::vector<PivotAbove> pivots_above(const SweepRows<T>& rows, Index n, const std::vector<Index>& first);

/// The rows of a tile: the numbers on which rounding depends.
struct RoundedRows {
  std::vector<double> down, up;              ///< |a_i p_i| and |c_i p_i|, p the reciprocal pivots
  std::vector<double> share_down, share_up;  ///< |a_i| / |A_i| and |c_i| / |A_i|
  std::vector<double> weight;                ///< |A_i p_i|
  std::vector<double> local;                 ///< the error that elimination and substitution leave in the row, in u

  void resize(Index rows);
  Index size() const { return static_cast<Index>(down.size()); }
  /// Fill with rows [first, first + size()) of a system of n rows; those outside of it are uncoupled.
  /// @param[in,out] above  pivot of the row above, then of the last row
  template <typename T>
  void fill(const SweepRows<T>& rows, Index first, Index n, PivotAbove& above);
  /// True if a coupling to the unknown below exceeds the pivot of its row: errors of sweeps up then grow.
  bool grow_upwards() const {
    return std::any_of(up.begin(), up.end(), [](double ratio) { return !(ratio <= 1 + 1e-9); });
  }
  /// Fill with rows that bound all rows with these shares and ratios, at most.
  void fill_with(double lower_share, double upper_share, double down_ratio, double up_ratio);
};

/// The largest of some errors; NaN if one is.
inline double largest(const std::vector<double>& errors) {
  double worst = 0;
  for (const double error : errors) worst = larger(worst, error);
  return worst;
}

/// Errors of the unknowns beside a cut.
struct BesideCut {
  double above = 0, below = 0;
};

/// The errors that a partition with its halos leaves in the rows that it keeps.
struct PartitionErrors {
  WorstRow worst;
  double first_row = 0, last_row = 0;  ///< of these rows, if the neighbours had the same unknowns
  BesideCut at_first, at_end;          ///< at the cuts above the first row and below the last one
};

/// The bound of partitions of plan.m rows, each of which reads plan.halo rows of its neighbours again.
/// @param errors_of  f(k): PartitionErrors of partition k, from several threads
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
    // Each row beside a cut is solved with another value of the unknown beyond the cut than the one that is kept.
    const PartitionErrors &before = found[k - 1], &behind = found[k];
    const Index below = static_cast<Index>(k) * plan.m, above = below - 1;
    const BesideCut joint{before.at_end.above + behind.at_first.above, before.at_end.below + behind.at_first.below};
    worst.see(behind.first_row + share(below, rows.lower(below)) * joint.above, below);
    worst.see(before.last_row + share(above, rows.upper(above)) * joint.below, above);
  }
  return worst.bound();
}

/// How work-items find the value that enters their rows, and use it.
enum class Joints {
  swept_windows,  ///< a scan by windows (kernels/gpu/tile_shared_rows.clh), and a second sweep from the value
  swept,          ///< a scan by blocks (kernels/gpu/tile_scan.clh), and a second sweep
  taken_off       ///< a scan by blocks; the value, times the scan's products, is subtracted from rows swept from 0
};

/// The errors of a tile's sweep: every work-item sweeps its rows from 0, a scan finds the value that enters it, and the
/// work-item sweeps again or subtracts the influence of that value.
///
/// In a scan by blocks of 4^s work-items, two neighbours meet in a step that composes the map of one with the very map
/// of the other. That rounds once. Every later step composes both with one map: its value is multiplied by the product
/// of either, and added. These products differ by a rounding for each step so far and each neighbour. In a scan by
/// windows, neighbours have nothing in common, and all nodes of both trees count.
class ScanErrors {
 public:
  explicit ScanErrors(Joints joints) : joints_(joints) {}
  /// Analyse a sweep.
  /// @param ratios  shape [items * item_rows], of the rows in their order
  /// @param sizes   shape of `ratios`: the sizes of the sweep's results, at most; empty: 1
  /// @param back    the sweep begins with the last row
  /// @param enters  size of the value that enters the first work-item
  void analyse(const std::vector<double>& ratios, const std::vector<double>& sizes, int items, bool back,
               double enters);
  /// The difference between the value that enters a work-item, counted in the order of the sweep, and the value at
  /// which the work-item before it arrives; 0 for the first.
  double joint(int item) const;
  /// Take into account that the differences of joint() are computed, scanned in turn, and subtracted from all rows.
  /// @param u  half of eps
  /// @post joint() is the difference that remains
  void correct(double u);
  /// After correct(): the rounding of that subtraction in a row of a work-item, beyond the row's own size.
  double drift(int item) const { return items_[static_cast<std::size_t>(item)].drift; }
  /// The difference if the scan's value of the tile's first unknown, with 0 behind the tile, is passed on.
  double handed() const;

 private:
  struct Window {
    double factor, rounds, error;
    int begin;
  };
  struct Item {
    double through;  ///< product of its ratios
    double twice;    ///< the difference of its two sweeps
    double enters, leaves;
    double highest;  ///< the largest product of its ratios from the first row on
    double drift = 0;
  };
  void scan();
  void scan_windows();
  void scan_blocks();
  Joints joints_;
  std::vector<Item> items_;
  std::size_t item_rows_ = 0;
  /// By windows: the error of the scan's values, if the sweeps from 0 are exact. By blocks: the difference between a
  /// value and the one that the work-item before reaches, by its sweep from 0, from its own entering value.
  std::vector<double> found_;
  std::vector<Window> windows_, next_;
};

}  // namespace oclspkt
