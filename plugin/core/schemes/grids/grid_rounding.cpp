// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "geometry.hpp"
#include "oclspkt/line_set.hpp"
#include "schemes/grids/grid_factors.hpp"
#include "schemes/grids/grid_plan.hpp"

namespace oclspkt {
namespace {

/// Magnitudes of an eliminated row, in the notation of rounding.hpp: |a_i|, |u_i|, 1 / |u_i| and |c_i|; fill, its
/// coupling to the first row of its segment; and the row sum |A_i| before elimination.
struct RowSizes {
  double lower = 0, pivot = 1, reciprocal = 1, upper = 0, fill = 0, row = 1;

  double lower_ratio() const { return lower * reciprocal; }
  double upper_ratio() const { return upper * reciprocal; }
  /// A bound on |d_i| / (|u_i| max |x|): the substitution is d_i = u_i x_i + c_i x_(i+1) + fill x_first.
  double swept() const { return 1 + (upper + fill) * reciprocal; }
};

/// The order in which the work-items that share a line sweep it.
struct SweepOrder {
  Index item_rows = 1, tile_rows = 1;
  bool at_once = false;  ///< work-items of a line sweep down concurrently, then combine results; false: they take turns
  bool streamed = false;  ///< the value that enters a tile in the sweep up comes from the results of the tiles below
  Index run_rows = 0;     ///< rows of a run, a multiple of tile_rows; 0: each line is a run
  int in_flight = 1;      ///< tiles that are swept before a run and after it
  double unit = 0;        ///< u = eps / 2
};

/// Bounds the rounding that sweeps of stored factors leave in the rows of a line, row by row as the line is eliminated.
///
/// Notation: rounding.hpp, with r_i = |a_i / u_i| and k_i = |c_i / u_i|. Errors of d_i are in units of u |u_i| max |x|,
/// errors of x_i in units of u max |x|. Some numbers are computed twice, in two ways that round differently:
///   Concurrent sweep down: the last d of a work-item. Way A is the work-item's own sweep. Way B, for the next
///     work-item, adds the sweep from 0 and the entering value times all multipliers. Let n_i be the entering value
///     times the multipliers up to row i. Row i rounds by |d_i| in A and by |d_i| + n_i in B. The product in B also
///     rounds once in each row. A and B differ by at most the sum of these roundings, each times the r of the rows
///     behind it. The next row, l, errs by |a_l| times this difference.
///   Sweep up: the last x of a work-item, likewise, with k for r and |x_i| for |d_i|. The row above, i, errs by |c_i|
///     times the difference. The row below, l, errs by |a_l k_(l-1)| times it, because x_(l-1) contains it.
///   Runs: the rows that a run and the run before it both sweep.
class SweepRounding {
 public:
  explicit SweepRounding(const SweepOrder& order) : order_(order) {}

  /// @param sizes  magnitudes of the next row
  void see(const RowSizes& sizes) {
    if (item_.rows == 0) begin_item(sizes);
    const double r = sizes.lower_ratio(), k = sizes.upper_ratio(), d = sizes.swept();
    item_.entered *= r;
    item_.down = r * item_.down + 2 * d + item_.entered;
    item_.up += item_.up_through;
    item_.up_through *= k;
    product_ *= std::max(1.0, k);
    if (order_.run_rows > 0) see_run(r, k, d);
    nothing_ += 0 * (item_.down + item_.up);
    above_ = sizes;
    ++row_;
    if (++item_.rows == order_.item_rows) end_item();
  }

  /// Add the rounding of a row's own elimination and substitution, see rounding_by_growth(). A forgiven excess adds 4 u
  /// |diag|.
  void see_local(const RowSizes& s, double diag) {
    const double forgiven = diag < s.lower + s.upper ? 4 * diag : 0;
    const double local = 8 * s.pivot + 3 * s.upper + 3 * s.lower + 6 * s.lower * above_.upper_ratio() + 6 * s.fill;
    if (!(local + forgiven <= local_ * s.row)) take((local + forgiven) / s.row, local_);
  }

  /// Begin a segment whose first row `first`, a multiple of tile_rows, is not swept.
  /// @pre the segment before has ended
  void begin_segment(Index first) {
    above_ = {};
    row_ = first + 1;
    item_ = {.rows = 1};
  }

  void end() {
    if (item_.rows > 0) end_item();
    end_window();
  }

  /// The bound: the largest error of a row, relative to |A_i| max |x|, in units of u; NaN if a number was not finite.
  double largest() const { return local_ + down_ + up_ + run_up_ + composed_ * product_ + nothing_; }
  /// The row with the largest single contribution to largest().
  Index row() const { return where_; }

 private:
  void take(double value, double& most) {
    if (value <= most) return;
    most = value;
    if (value <= largest_) return;
    largest_ = value;
    where_ = row_;
  }

  void begin_item(const RowSizes& sizes) {
    const bool begins_tile = row_ % order_.tile_rows == 0;
    item_ = {};
    if (row_ > 0) {
      const double below = sizes.lower / sizes.row;
      const bool begins_run = begins_tile && order_.run_rows > 0 && row_ % order_.run_rows == 0;
      const double weight = std::max(above_.upper / above_.row, below * above_.upper_ratio());
      item_.entered = above_.swept();
      if (begins_run) {
        end_window();
        begin_window(weight);
        take(below * run_down_, down_);
        item_.entered += order_.unit * run_down_;
      } else if (order_.at_once && !begins_tile) {
        take(below * item_down_, down_);
        item_.entered += order_.unit * item_down_;
      }
      if (order_.streamed || !begins_tile) item_.weight = weight;
      if (begins_tile) run_entered_ = std::max(run_entered_, above_.swept());
    }
  }

  void end_item() {
    const auto rows = static_cast<double>(item_.rows);
    item_down_ = item_.down + (rows + 2) * item_.entered + 2 * above_.swept();
    if (order_.run_rows > 0) run_down_ += item_down_;
    take(item_.weight * (2 * item_.up + (2 * rows + 1) * item_.up_through + 3), up_);
    // The results of tiles are combined work-item by work-item and tile by tile, and each combination rounds.
    if (order_.streamed) take(item_.weight * (2 * order_.in_flight + 4), composed_);
    item_.rows = 0;
  }

  void see_run(double r, double k, double d) {
    run_entered_ *= r;
    run_down_ = r * run_down_ + 2 * d + 2 * run_entered_;
    if (window_.rows == 0) return;
    window_.sum += window_.through * run_down_;
    window_.through *= k;
    if (--window_.rows == 0) end_window();
  }
  void begin_window(double weight) { window_ = {.rows = order_.in_flight * order_.tile_rows, .weight = weight}; }
  void end_window() {
    take(window_.weight * window_.sum, run_up_);
    window_.weight = 0;
    window_.rows = 0;
  }

  /// The rows of a work-item so far. entered: the value that enters, times all r. down, up: rounding of the sweeps.
  /// weight: the factor by which an error of the sweep up enters the rows at the joint. up_through: product of all k.
  struct Item {
    Index rows = 0;
    double entered = 0, down = 0, weight = 0, up = 0, up_through = 1;
  };
  /// The rows after the start of a run, which two runs sweep.
  struct Window {
    Index rows = 0;
    double weight = 0, sum = 0, through = 1;
  };

  const SweepOrder order_;
  RowSizes above_;
  Item item_;
  Window window_;
  Index row_ = 0, where_ = 0;
  double item_down_ = 0, run_entered_ = 0, run_down_ = 0;
  double local_ = 0, down_ = 0, up_ = 0, run_up_ = 0, composed_ = 0, product_ = 1, largest_ = 0, nothing_ = 0;
};

/// Bounds the rounding in a segment in which all rows but the first are eliminated (SegmentFactors), row by row.
///
/// Inner rows are swept in the same way in both passes, and round as SweepRounding says. Two more errors arise:
///   The fill s_i of row i is its coupling to the segment's first row, over its pivot. In a work-item's first row, s_i
///     is a product of products; in the row above, a product of multipliers. These two round differently.
///   The reduced equation of the first row, with upper coupling c, has the sum of w_i d_i in place of c x_second. Here
///     w_i = c / |u_i| times the k of the inner rows above row i. The pass back computes this sum in another order. In
///     either order, row i adds the rounding of its d_i, x_i, s_i and w_i, times the k of the rows above. A rounding
///     of k_i changes two more numbers of at most 2 max |x|: the sum over the rows below row i, and their fill.
class CondenseRounding {
 public:
  /// @param order  order of the sweeps in a segment, which is a tile
  /// @param wide   factors are stored in double, the precision in which they are computed
  CondenseRounding(const SweepOrder& order, bool wide) : order_(order), sweep_(order), wide_(wide) {}

  /// Begin a segment with row `first`.
  /// @param sizes  magnitudes of this row before elimination; the pivot is not read
  void begin(Index first, const RowSizes& sizes) {
    first_ = sizes;
    sweep_.begin_segment(first);
    sum_ = excesses_ = 0;
    through_ = item_through_ = product_ = 1;
    row_ = 1;
  }

  /// @param sizes   magnitudes of the next inner row
  /// @param excess  excess of the first row after the elimination of this row
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
      // Set-up rounds the first row's excess, too. Rounding changes a sum by at most the number added to it.
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

  /// @param left, row  row sums of a segment's first row in the reduced system, and before elimination
  void see_left(double left, double row) {
    if (!(left / row <= ratio_)) ratio_ = left / row;
  }

  /// The largest error of a row in units of u.
  /// @param level_above  the largest error of a row of the next level
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

template <typename T>
constexpr double kUnit = std::numeric_limits<T>::epsilon() / 2;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// The rounding of a single row of dominance 1, in units of u |A_i| max |x|. By rounding_by_growth() it is at
/// most 8 (|b_i| + |a_i|) + 3 (|a_i| + |c_i|) + 6 |a_i|, which is 25 |b_i| at most, and |A_i| is 2 |b_i|.
constexpr double kLocalOfDominant = 12.5;
/// After this many rows, the bound of a line no longer changes if its rows are alike.
constexpr Index kLikeRows = 8192;

/// @param unit  u = eps / 2 of the scalar
SweepOrder order_of(const Plan& plan, double unit) {
  const bool streamed = plan.method == Method::truncated_streamed && !in_one_tile(plan);
  SweepOrder order{.item_rows = plan.item_rows,
                   .tile_rows = grid_tile_rows(plan),
                   .at_once = !plan.as<GridTiles>().in_turn,
                   .streamed = streamed,
                   .in_flight = plan.as<GridTiles>().in_flight,
                   .unit = unit};
  // If runs are counted through all lines, a run may start at any tile.
  if (streamed && goes_through_tiles(plan)) order.run_rows = order.tile_rows;
  if (streamed && !goes_through_tiles(plan) && plan.as<Beside>().segments > 1) order.run_rows = plan.m;
  return order;
}

/// The bound for rows whose |a_i / u_i| and |c_i / u_i| are at most `ratio` and whose couplings make up at most half of
/// each row sum.
double bound_like_rows(const SweepOrder& order, double ratio, Index length) {
  SweepRounding rounding(order);
  const RowSizes row{.lower = ratio, .upper = ratio, .row = 2 * ratio};
  for (Index i = 0; i < std::min(length, kLikeRows); ++i) rounding.see(row);
  rounding.end();
  return (kLocalOfDominant + rounding.largest()) / 2;
}

template <typename T>
RowSizes sizes_of(const ExcessRow<T>& pivot, double lower, double reciprocal, double row) {
  return {.lower = std::abs(lower),
          .pivot = static_cast<double>(pivot.magnitude()),
          .reciprocal = std::abs(reciprocal),
          .upper = std::abs(static_cast<double>(pivot.upper)),
          .fill = 0,
          .row = row};
}

double row_sum(const ExcessRow<double>& row) {
  return std::abs(row.lower) + std::abs(row.diag()) + std::abs(row.upper);
}

/// Follows the elimination of a system from its first row down. The system is a whole line, or the last level of a line
/// that is cut into segments.
/// @tparam S  scalar of the elimination
template <typename S>
class LineSweep {
 public:
  explicit LineSweep(const SweepOrder& order) : rounding_(order) {}
  /// @param row  the next row, before elimination
  /// @param diag |b_i| of this row
  void see(const ExcessRow<S>& row, double diag) {
    const double lower = static_cast<double>(row.lower), sum = std::abs(lower) + diag + std::abs(double{row.upper});
    above_ = eliminate_above(above_, row.lower * reciprocal_, row).as_pivot();
    reciprocal_ = S(1) / above_.diag();
    const RowSizes sizes = sizes_of(above_, lower, static_cast<double>(reciprocal_), sum);
    rounding_.see_local(sizes, diag);
    rounding_.see(sizes);
  }
  SweepRounding& rounding() { return rounding_; }

 private:
  SweepRounding rounding_;
  ExcessRow<S> above_;
  S reciprocal_ = 0;
};

/// The bounds of some lines, swept side by side: eliminations of different lines do not wait for each other.
template <typename T>
std::vector<Rounding> bound_swept(const Plan& plan, Index length, const std::vector<BandsView<T>>& lines) {
  std::vector<LineSweep<T>> sweeps(lines.size(), LineSweep<T>(order_of(plan, kUnit<T>)));
  for (Index i = 0; i < length; ++i) {
    for (std::size_t l = 0; l < lines.size(); ++l) {
      const BandsView<T>& line = lines[l];
      sweeps[l].see(make_row(line.lower[i], line.diag[i], line.upper[i], T(0)),
                    std::abs(static_cast<double>(line.diag[i])));
    }
  }
  std::vector<Rounding> bounds;
  for (LineSweep<T>& sweep : sweeps) {
    sweep.rounding().end();
    bounds.push_back({sweep.rounding().largest() / 2, sweep.rounding().row()});
  }
  return bounds;
}

/// The rows of a level above the first.
struct RowsThatAreLeft {
  const std::vector<ExcessRow<double>>& rows;
  const ExcessRow<double>& operator()(Index i) const { return rows[static_cast<std::size_t>(i)]; }
};

/// The bound of a line that is cut into segments, level by level.
class CondensedLine {
 public:
  /// @param upper_rows  rows of a tile in all levels but the first
  /// @param unit        u = eps / 2 of the scalar
  CondensedLine(const Plan& plan, Index upper_rows, double unit) : plan_(plan), upper_rows_(upper_rows), unit_(unit) {}

  /// @param rows  f(i): row i of the `count` rows of level `level`
  /// @return the largest error of a row, in units of u
  template <typename Rows>
  double bound(const Rows& rows, Index count, Index level) {
    const Index tile = level == 0 ? plan_.m : upper_rows_;
    if (level > 0 && count <= tile) return bound_whole(rows, count);
    const SweepOrder order{.item_rows = plan_.item_rows,
                           .tile_rows = tile,
                           .at_once = level == 0 && grid_condenses_at_once(plan_),
                           .unit = unit_};
    CondenseRounding rounding(order, unit_ <= kUnit<double>);
    std::vector<SchurSegment<double>> segments;
    for (Index first = 0; first < count; first += tile) {
      const ExcessRow<double> top = rows(first);
      rounding.begin(first, sizes_of(top, top.lower, 0, row_sum(top)));
      segments.push_back(begin_segment(top));
      see_segment(rows, count, first, std::min(count, first + tile), segments.back(), rounding);
    }
    const std::vector<ExcessRow<double>> left = rows_that_are_left(segments);
    for (std::size_t s = 0; s < left.size(); ++s)
      rounding.see_left(row_sum(left[s]), row_sum(rows(static_cast<Index>(s) * tile)));
    if (level == 0) row_ = rounding.row();
    return rounding.largest(bound(RowsThatAreLeft{left}, static_cast<Index>(left.size()), level + 1));
  }
  Index row() const { return row_; }

 private:
  template <typename Rows>
  static void see_segment(const Rows& rows, Index count, Index first, Index end, SchurSegment<double>& left,
                          CondenseRounding& rounding) {
    ExcessRow<double> row;
    eliminate_inner_rows(rows, count, first + 1, end, left, [&](Index i, const auto& next, const auto& so_far) {
      if (!so_far.single) {
        const ExcessRow<double> inner = so_far.bottom.as_pivot();
        // Couplings to the segment's first row count as fill. If i == first + 2, `row` is the segment's second row, and
        // its `lower` is 0.
        RowSizes sizes = sizes_of(inner, i == first + 2 ? 0 : row.lower, 1 / inner.diag(), row_sum(row));
        sizes.fill = std::abs(inner.lower);
        sizes.pivot = std::abs(inner.diag());
        rounding.see(sizes, std::abs(row.diag()), so_far.top.excess);
      }
      row = next;
    });
    rounding.end();
  }

  template <typename Rows>
  double bound_whole(const Rows& rows, Index count) const {
    LineSweep<double> sweep({.item_rows = plan_.item_rows, .tile_rows = upper_rows_});
    for (Index i = 0; i < count; ++i) {
      const ExcessRow<double> row = rows(i);
      sweep.see(row, std::abs(row.diag()));
    }
    sweep.rounding().end();
    return sweep.rounding().largest();
  }

  const Plan& plan_;
  const Index upper_rows_;
  const double unit_;
  Index row_ = -1;
};

}  // namespace

double grid_rounding_by_survey(const Plan& plan, const Survey& survey) {
  if (plan.n == 0) return 0;
  const double d = survey.dominance;
  if (!(d >= 1) || grid_condenses(plan)) return kInfinity;
  const SweepOrder order = order_of(plan, kUnit<float>);
  const Index length = in_one_tile(plan) || order.run_rows == 0 ? 2 * order.tile_rows : kLikeRows;
  // Without concurrent sweeps down, only the sweep up joins work-items. Its error depends on |c_i / u_i| alone, which
  // is small in dominant rows.
  const bool has_interfaces = (order.at_once && grid_items_down(plan) > 1) || order.streamed;
  if (!has_interfaces || shrinks(survey)) return bound_like_rows(order, 1 / std::max(1.0, survey.decay()), length);
  const double joints = rounding_by_dominance(d) - rounding_by_dominance(kInfinity);
  return rounding_by_dominance(d) + (order.run_rows > 0 ? 4 + joints : 0);
}

template <typename T>
std::vector<Rounding> bound_grid_lines(const Plan& plan, Index length, const std::vector<BandsView<T>>& lines) {
  if (!grid_condenses(plan)) return bound_swept(plan, length, lines);
  std::vector<Rounding> bounds;
  for (const BandsView<T>& line : lines) {
    // The number of lines does not change the rows of the upper tiles; 1 is as good as any number.
    CondensedLine condensed(plan, upper_tiles(plan, 1).rows, kUnit<T>);
    const double most = condensed.bound([&](Index i) { return wide_row(line, i); }, length, 0);
    bounds.push_back({most / 2, condensed.row()});
  }
  return bounds;
}

void take_worse(const Rounding& bound, const LineSet& lines, Index line, Rounding& worst) {
  if (bound.eps <= worst.eps || std::isnan(worst.eps)) return;
  worst = {bound.eps, lines.first(line) + bound.row * lines.row_stride()};
}

template std::vector<Rounding> bound_grid_lines(const Plan&, Index, const std::vector<BandsView<float>>&);
template std::vector<Rounding> bound_grid_lines(const Plan&, Index, const std::vector<BandsView<double>>&);

}  // namespace oclspkt
