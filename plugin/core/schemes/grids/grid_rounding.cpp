// SPDX-License-Identifier: BSD-2-Clause
#include "geometry.hpp"
#include "schemes/grids/grid_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "schemes/grids/segment_elimination.hpp"
#include "schemes/grids/sweep_rounding.hpp"

namespace oclspkt {
namespace {

template <typename T>
constexpr double kUnit = std::numeric_limits<T>::epsilon() / 2;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// What a row of dominance 1 rounds by itself, in units of u; see rounding_by_growth(), where rows are counted by their
/// diagonals.
constexpr double kLocalOfDominant = 12.5;
/// Rows after which the bound of a line of like rows is what it stays.
constexpr Index kLikeRows = 8192;

/// @param unit  u of the scalar
SweepOrder order_of(const Plan& plan, double unit) {
  const bool streamed = plan.method == Method::truncated_streamed && !in_one_tile(plan);
  SweepOrder order{.item_rows = plan.item_rows,
                   .tile_rows = grid_tile_rows(plan),
                   .at_once = !plan.as<GridTiles>().in_turn,
                   .streamed = streamed,
                   .in_flight = plan.as<GridTiles>().in_flight,
                   .unit = unit};
  // If runs are counted through all lines, any tile may be the first of a run.
  if (streamed && goes_through_tiles(plan)) order.run_rows = order.tile_rows;
  if (streamed && !goes_through_tiles(plan) && plan.as<Beside>().segments > 1) order.run_rows = plan.m;
  return order;
}

/// The bound of rows whose |a_i / u_i| and |c_i / u_i| are at most `ratio` and whose couplings are half of them at
/// most.
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

/// A line as it is eliminated from its first row down, as Factors does it, or SegmentFactors a level that is not cut.
/// @tparam S  of the elimination
template <typename S>
class LineSweep {
 public:
  explicit LineSweep(const SweepOrder& order) : rounding_(order) {}
  /// @param row  the next one, before elimination
  /// @param diag its |b_i|
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

/// Some lines, swept side by side: no elimination waits for that of another line.
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

/// A line that is cut into segments, level by level.
class CondensedLine {
 public:
  /// @param upper_rows  of tiles of all levels but the first
  /// @param unit        u of the scalar
  CondensedLine(const Plan& plan, Index upper_rows, double unit) : plan_(plan), upper_rows_(upper_rows), unit_(unit) {}

  /// @param rows  f(i): row i of `count` of level `level`
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
        // The second row's coupling is fill, and nothing enters it.
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
  // Interface systems that are solved on the way up only know how small couplings are that dominant rows divide by
  // their pivots.
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
    // Rows of upper tiles do not depend on how many lines there are.
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
