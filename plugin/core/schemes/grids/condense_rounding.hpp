// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "schemes/grids/sweep_rounding.hpp"

namespace oclspkt {

/// Bounds the rounding in a segment whose rows are eliminated, all but the first (SegmentFactors), row by row.
///
/// Inner rows are swept as SweepRounding says, alike in both passes. Two more errors arise:
///   The fill s_i of a work-item's first row is a product of products, that of the row above one of single multipliers.
///   The reduced equation of the first row has, in place of c x_second, the sum of w_i d_i, w_i = c |k ... k| / u_i.
///   The pass back computes this sum in another order. In either order, row i adds the rounding of its d_i, x_i, s_i
///   and w_i, times the k of the rows above. A rounding of k_i changes the sum of all rows below row i, which is at
///   most twice max |x| and as much fill.
class CondenseRounding {
 public:
  /// @param order  order of the sweeps in a segment, which is a tile
  /// @param wide   factors are stored in double, in which they are computed
  CondenseRounding(const SweepOrder& order, bool wide) : order_(order), sweep_(order), wide_(wide) {}

  /// Begin a segment with row `first`. @param sizes  of that row before elimination; the pivot is not read
  void begin(Index first, const RowSizes& sizes) {
    first_ = sizes;
    sweep_.begin_segment(first);
    sum_ = excesses_ = 0;
    through_ = item_through_ = product_ = 1;
    row_ = 1;
  }

  /// @param sizes  the next inner row
  /// @param excess  of the first row, once this row is eliminated from it
  void see(const RowSizes& sizes, double diag, double excess) {
    if (row_ % order_.item_rows == 0) {
      const auto of_item = static_cast<double>(2 * order_.item_rows);
      fill_ = std::max(fill_, of_item * sizes.fill / sizes.row);
      sum_ += (of_item + 1) * through_ + 3 * item_through_;
      item_through_ = through_;
    }
    sweep_.see_local(sizes, diag);
    sweep_.see(sizes);
    const double k = sizes.upper_ratio(), fill = sizes.fill * sizes.reciprocal;
    const double of_row = 6 + 2 * (1 + k) + 2 * (1 + k + fill) + 1.2 * fill * static_cast<double>(row_);
    sum_ += through_ * of_row + 3 * item_through_;
    if (wide_) {
      // Set-up rounds the first row's excess, too. A sum loses no more than the number that is added to it.
      sum_ += 6 * through_;
      excesses_ += std::min(std::abs(excess), through_ * first_.upper / order_.unit);
    }
    through_ *= k;
    product_ *= std::max(1.0, k + fill);
    ++row_;
  }

  void end() {
    sweep_.end();
    double most = 12;
    if (row_ > 1) {
      const Index items = order_.tile_rows / order_.item_rows;
      const auto steps = static_cast<double>(order_.item_rows + items);
      most += (sum_ * first_.upper * product_ + excesses_) / first_.row + steps * (1 + product_ / 2);
    }
    if (!(most <= firsts_)) firsts_ = most;
  }

  /// @param left, row  row sums of a first row: in the reduced system, and before elimination
  void see_left(double left, double row) {
    if (!(left / row <= ratio_)) ratio_ = left / row;
  }

  /// The largest error of a row in units of u. @param level_above  the largest error of a row of the reduced system
  double largest(double level_above) const {
    return std::max(sweep_.largest() + fill_, firsts_ + ratio_ * level_above) +
           0 * (sweep_.largest() + firsts_ + ratio_);
  }
  Index row() const { return sweep_.row(); }

 private:
  const SweepOrder order_;
  SweepRounding sweep_;
  RowSizes first_;
  const bool wide_;
  Index row_ = 1;
  double sum_ = 0, excesses_ = 0, through_ = 1, item_through_ = 1, product_ = 1;
  double fill_ = 0, firsts_ = 0, ratio_ = 0;
};

}  // namespace oclspkt
