// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/tiles/rounding_runs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "certificate.hpp"
#include "rounding_scan.hpp"

namespace oclspkt {
namespace {

/// The error that the sweep up leaves in the equation of a row. The next row has this error times its multiplier.
struct PassedDown {
  double ratio = 0;  ///< scaled coupling |c p|
  double joint = 0;  ///< difference between the unknown below and the value used for it
  double own = 0;    ///< rounding of the row's unknown beyond RoundedRows::local
  /// @param below  RowRounds::handed_up of the next row
  double into(double below) const { return joint + own + ratio * below; }
};

Joints joints_of(const Plan& plan) {
  if (plan.has<KeptTiles>()) return Joints::swept_windows;
  return plan.as<StoredFactors>().corrects ? Joints::swept : Joints::taken_off;
}

/// The rounding of a row beyond RoundedRows::local.
///
/// The result of a row is d = w + q f. w is the result of a sweep from 0, and f is the value that enters the work-item.
/// q is the product of the ratios from the first row to this row. Three roundings add up:
///   The sum w + q f rounds by the size of d. This rounding goes on to the next row.
///   The product q f rounds by |q f|.
///   The sweep from 0 rounds by |q f| more than a sweep that computes d, both in the product and in the sum of each
///   row, because |w| <= |d| + |q f|.
struct RowRounds {
  double carried = 0;                ///< rounding of the sweep down that later rows inherit
  double down = 0, handed_down = 0;  ///< all rounding of the row in the sweep down, and the part that changes its value
  double up = 0, handed_up = 0;
};

/// Follows the errors of a run of tiles, tile by tile.
class RunErrors {
 public:
  /// @param u  half of eps of the scalar
  RunErrors(const Plan& plan, double u, Index keep_from, Index keep_end)
      : items_(plan.items),
        u_(u),
        keep_from_(keep_from),
        keep_end_(keep_end),
        joints_(joints_of(plan)),
        corrects_(plan.as<StoredFactors>().corrects),
        joined_(joins_runs(plan)),
        forward_(plan.halo > 0 && !joined_),
        down_(joints_),
        up_(joints_) {
    rows.resize(plan.group_rows());
    sizes_.resize(static_cast<std::size_t>(plan.group_rows()));
    rounds_.resize(sizes_.size());
  }

  /// Add the next tile, whose rows the caller has put into `rows`.
  /// @param first  first row of the tile
  void add_tile(Index first) {
    const std::size_t count = sizes_.size(), item_rows = count / static_cast<std::size_t>(items_);
    for (std::size_t i = 0; i < count; ++i) sizes_[i] = 1 + rows.up[i];
    down_.analyse(rows.down, sizes_, items_, false, carried_.enters);
    corrects_ ? analyse_corrected() : up_.analyse(rows.up, {}, items_, true, 1);
    find_rounds(item_rows);
    // Corrected values do not change after they are passed on.
    const double handed = carried_.handed = !carried_.begun || corrects_ ? 0 : up_.handed();
    if (carried_.begun) see(first - 1, carried_.last_row + carried_.last_share * handed);
    if (carried_.begun && forward_) source_.back() += ratio_.back() * handed;
    carried_.passed.joint += carried_.passed.ratio * handed;
    for (std::size_t i = 0; i < count; ++i) {
      const int item = static_cast<int>(i / item_rows), from_end = items_ - 1 - item;
      const bool is_first = i % item_rows == 0, is_last = (i + 1) % item_rows == 0;
      double from_above = is_first ? down_.joint(item) : 0;
      if (is_first && from_end == 0) from_above += left_out(first + static_cast<Index>(count), i);
      const double from_below =
          is_last ? up_.joint(from_end) + (corrects_ ? of_below_[static_cast<std::size_t>(item)] : 0) : 0;
      const RowRounds& row = rounds_[i];
      carried_.last_row =
          rows.local[i] +
          rows.share_down[i] * (from_above + carried_.passed.into(row.handed_up) + carried_.handed_down) +
          rows.share_up[i] * (from_below + row.handed_up) +
          (rows.weight[i] > 0 ? (row.down + row.up) / rows.weight[i] : 0);
      see(first + static_cast<Index>(i), carried_.last_row);
      carried_.passed = {rows.up[i], rows.up[i] * from_below, row.up};
      carried_.handed_down = row.handed_down;
      carried_.left = rows.down[i] * (carried_.left + from_above) + row.carried;
      if (!forward_) continue;
      ratio_.push_back(rows.up[i]);
      source_.push_back(carried_.left + row.handed_down + sizes_[i] + 1 + row.up + rows.up[i] * from_below);
    }
    carried_.last_share = rows.share_up.back();
    carried_.enters = sizes_.back();
    carried_.begun = true;
  }
  /// The error of the value that leaves the last tile downwards.
  double left() const { return carried_.left; }
  /// The error of the value that the last tile passed to the tile above.
  double handed() const { return carried_.handed; }
  /// Forward errors of the unknowns, row by row from the first row of the first tile. @pre not joins_runs()
  const std::vector<double>& unknowns() {
    for (std::size_t i = source_.size() - 1; i-- > 0;) source_[i] += ratio_[i] * source_[i + 1];
    return source_;
  }

  RoundedRows rows;
  PartitionErrors found;

 private:
  void see(Index row, double error) {
    if (row < keep_from_ || row >= keep_end_) return;
    found.worst.see(error, row);
    if (row == keep_from_) found.first_row = error;
    if (row + 1 == keep_end_) found.last_row = error;
  }
  /// Compute the rounding of a tile's rows. Corrections are small, so the rounding of products with them is negligible.
  /// The sum that adds a correction to a row counts; a row of the sweep up has two such sums.
  void find_rounds(std::size_t item_rows) {
    const std::size_t count = sizes_.size();
    double above = carried_.enters, off = 0;
    for (std::size_t i = 0; i < count; ++i) {
      RowRounds& row = rounds_[i];
      const int item = static_cast<int>(i / item_rows);
      if (corrects_) {
        const double up = 3 + up_.drift(items_ - 1 - item);
        row = {2 * sizes_[i] + down_.drift(item), sizes_[i] + down_.drift(item), 2, up, up};
      } else if (joints_ == Joints::taken_off) {
        off = rows.down[i] * (i % item_rows == 0 ? above : off);
        row = {sizes_[i] + 2 * off, sizes_[i] + 3 * off, sizes_[i], 0, 1};
      } else {
        row = {sizes_[i]};
      }
      above = sizes_[i];
    }
    if (joints_ != Joints::taken_off) return;
    off = 0;
    for (std::size_t i = count; i-- > 0;) {
      off = rows.up[i] * ((i + 1) % item_rows == 0 ? 1 : off);
      rounds_[i].up = 1 + 3 * off;
    }
  }
  /// The last work-item above a cut between joined runs (joins_runs()) must have the bits of the next run. So it leaves
  /// out the influence of the value that enters the tile.
  /// @param end  end of the tile
  /// @return the influence that the work-item with first row i leaves out, in units of u; else 0
  double left_out(Index end, std::size_t i) const {
    if (!joined_ || corrects_ || end != keep_end_) return 0;
    double product = carried_.enters / u_;
    for (std::size_t k = 0; k < i; ++k) product *= rows.down[k];
    return product;
  }
  /// Analyse a sweep up that starts from 0. The influence of the unknown below the tile is subtracted afterwards.
  void analyse_corrected() {
    const std::size_t count = sizes_.size();
    up_sizes_.assign(count, 2);
    up_.analyse(rows.up, up_sizes_, items_, true, 0);
    down_.correct(u_);
    up_.correct(u_);
    // A row is corrected by the product of the ratios from this row to the end of the tile. The last row of a work-item
    // and the row below it form this product in different orders. Each product rounds once for each of the `behind`
    // work-items below, and once for each row of a work-item. The tile's last row uses the unknown below it directly.
    const std::size_t item_rows = count / static_cast<std::size_t>(items_);
    of_below_.assign(static_cast<std::size_t>(items_), 0);
    double product = 1;
    for (std::size_t i = count; i-- > 0;) {
      const std::size_t item = i / item_rows, behind = of_below_.size() - 1 - item;
      if ((i + 1) % item_rows == 0 && behind > 0) {
        of_below_[item] = 2 * static_cast<double>(behind + item_rows) * product;
      }
      product *= rows.up[i];
    }
  }
  int items_;
  double u_;
  Index keep_from_, keep_end_;
  Joints joints_;
  bool corrects_, joined_, forward_;
  struct {
    bool begun = false;  ///< a tile was added
    double enters = 0, left = 0, last_row = 0, last_share = 0, handed_down = 0, handed = 0;
    PassedDown passed;
  } carried_;  ///< the values that a tile passes on to the next tile
  std::vector<double> sizes_, up_sizes_, of_below_, ratio_, source_;
  std::vector<RowRounds> rounds_;
  ScanErrors down_, up_;
};

/// The number of tiles after which the error of a run no longer grows, if its rows are within limits that shrink().
constexpr Index kLimitTiles = 3;

/// The largest error of a run of `tiles` tiles whose rows are all within `limits`.
double error_within(const Plan& plan, const RatioLimits& limits, Index tiles) {
  // Corrections are largest in float, whose unit is larger than double's unit.
  constexpr double kCoarsest = std::numeric_limits<float>::epsilon() / 2.0;
  const Index rows = tiles * plan.group_rows();
  RunErrors errors(plan, kCoarsest, 0, rows);
  errors.rows.fill_with(limits.lower_share, limits.upper_share, limits.down, limits.up);
  for (Index k = 0; k < tiles; ++k) errors.add_tile(k * plan.group_rows());
  double error = errors.found.worst.error;
  if (plan.halo == 0) return error;
  if (plan.as<StoredFactors>().corrects) return error + 2 * errors.rows.share_down[0] * errors.left();
  if (joins_runs(plan)) return error;
  const double share = std::max(errors.rows.share_down[0], errors.rows.share_up[0]);
  return error + 2 * share * largest(errors.unknowns());
}

// The code below bounds tiles whose interface systems are solved by cyclic reduction (kernels/gpu/tile_halo.cl).

/// The equations of a work-item's first and last row, and their errors in u max |x|.
struct Part {
  double above = 0, below = 0;          ///< couplings of the last row to the unknowns around the work-item
  double top_above = 0, top_below = 0;  ///< couplings of the first row to the unknown above and to the last row
  double bottom = 0, top = 0;           ///< errors of the equations of the last and the first row
  /// How far the second sweeps, which start from the unknowns around the rows, move the last and the first row.
  double again_bottom = 0, again_top = 0;
  double weight = 0;  ///< row sum over pivot, |A p|, of the last row
};

/// An equation x = value - above x_above - below x_below, and its error.
struct Equation {
  double above = 0, below = 0, error = 0;
};

/// @param most_above  largest coupling of the first row to the unknown above
Part part_of(const RoundedRows& rows, double most_above) {
  Part part;
  // down, up: products of all |a p| and of all |c p| so far. above: coupling of the first row to the unknown above.
  double down = 1, up = 1, above = 0, left = 0, again = 0;
  const std::size_t count = rows.down.size();
  for (std::size_t i = 0; i < count; ++i) {
    const double steps = static_cast<double>(i + 1), size = 1 + rows.up[i];
    if (i + 1 == count) part.again_bottom = rows.down[i] * (again + size + 1);
    down *= rows.down[i];
    const double from_zero = size + down;
    left = rows.down[i] * left + from_zero;
    again = rows.down[i] * again + size;
    if (i + 1 == count) {
      part.bottom = left + from_zero + (steps + 2) * down + rows.up[i];
      break;
    }
    above += up * down;
    part.top += up * (left + from_zero * (2 * steps + 1) + down * (3 * steps + 1)) + 1 + 2 * above;
    part.again_top += up * (again + size + 1);
    up *= rows.up[i];
    part.top += up;
  }
  part.top += 2 * static_cast<double>(count) * up;
  part.above = down;
  part.below = rows.up.back();
  // At dominance 1, `above` may exceed the largest coupling that is possible.
  part.top_above = std::min(above, most_above);
  part.top_below = up;
  part.weight = rows.weight.back();
  return part;
}

/// Divide an equation by 1 - taken, its diagonal after the subtraction.
/// In u: before the division, the value is at most s = 1 + the sum of its couplings. Two neighbours' values, each at
/// most 2, are multiplied by the couplings a and b and subtracted from the value. The products round by 2 (a + b), the
/// differences by s + 2 max(a, b), and 1 - taken by 3 taken. The quotient and its products with the value and the
/// couplings round as well.
/// @param taken  the number subtracted from the diagonal
/// @param a, b   the couplings before the subtraction
void divide(double taken, double a, double b, Equation& e) {
  const double r = taken < 1 ? 1 / (1 - taken) : kNothingKnown;
  e.above *= r;
  e.below *= r;
  const double left = 1 + e.above + e.below;
  e.error =
      r * (e.error + 2 * (a + b) + 1 + a + b + 2 * std::max(a, b) + 3 * taken) + 4 * left + 4 * (e.above + e.below);
}

/// The errors of the unknowns that the reduction finds, which are the last unknowns of all parts.
std::vector<double> solve_interfaces(const std::vector<Part>& parts, int steps) {
  const std::size_t count = parts.size();
  std::vector<Equation> now(count);
  for (std::size_t k = 0; k < count; ++k) {
    const Part& part = parts[k];
    const Part next = k + 1 < count ? parts[k + 1] : Part{};
    now[k] = {part.above, part.below * next.top_below, part.bottom + part.below * next.top};
    divide(part.below * next.top_above, part.above, part.below, now[k]);
  }
  std::vector<Equation> then(count);
  for (std::size_t step = 0, distance = 1; step < static_cast<std::size_t>(steps); ++step, distance *= 2) {
    for (std::size_t k = 0; k < count; ++k) {
      const Equation up = k >= distance ? now[k - distance] : Equation{};
      const Equation down = k + distance < count ? now[k + distance] : Equation{};
      const Equation mine = now[k];
      then[k] = {mine.above * up.above, mine.below * down.below,
                 mine.error + mine.above * up.error + mine.below * down.error};
      divide(mine.above * up.below + mine.below * down.above, mine.above, mine.below, then[k]);
    }
    std::swap(now, then);
  }
  std::vector<double> errors(count);
  for (std::size_t k = 0; k < count; ++k) errors[k] = now[k].error;
  return errors;
}

/// Follows the errors of a tile, part by part. A part is the rows of a work-item.
class TileErrors {
 public:
  explicit TileErrors(const Plan& plan) : plan_(plan) {
    mine.resize(plan.item_rows);
    all.resize(plan.group_rows());
    parts_.resize(static_cast<std::size_t>(plan.items));
    left_.resize(static_cast<std::size_t>(plan.group_rows()));
  }

  /// Add the next part, whose rows the caller has put into `mine`.
  /// @param most_above  see part_of()
  void add_part(int item, double most_above) {
    parts_[static_cast<std::size_t>(item)] = part_of(mine, most_above);
    std::copy(mine.local.begin(), mine.local.end(),
              left_.begin() + static_cast<std::ptrdiff_t>(item) * plan_.item_rows);
  }
  /// The errors of all rows. @pre all parts are added
  const std::vector<double>& interface_errors() {
    const std::vector<double> errors = solve_interfaces(parts_, plan_.as<Scan>().steps);
    const auto at = [&](std::size_t k) { return k < errors.size() ? errors[k] : 0; };
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const Part& part = parts_[k];
      const Part next = k + 1 < parts_.size() ? parts_[k + 1] : Part{};
      const double below = next.top_below * at(k + 1) + next.top_above * at(k) + next.again_top;
      const double sum = at(k) + part.above * (k > 0 ? at(k - 1) : 0) + part.below * below + part.again_bottom;
      if (part.weight > 0) left_[(k + 1) * static_cast<std::size_t>(plan_.item_rows) - 1] += sum / part.weight;
    }
    return left_;
  }
  /// Errors of the unknowns of a tile that is cut off from its neighbours. The caller has put its rows into `all`.
  std::vector<double> unknowns() const {
    std::vector<double> errors(left_.size());
    double error = 0;
    for (std::size_t i = 0; i < errors.size(); ++i) errors[i] = error = all.down[i] * error + all.weight[i] * left_[i];
    error = 0;
    for (std::size_t i = errors.size(); i-- > 0;) errors[i] = error = all.up[i] * error + errors[i];
    return errors;
  }

  RoundedRows mine, all;

 private:
  const Plan& plan_;
  std::vector<Part> parts_;
  std::vector<double> left_;
};

}  // namespace

RatioLimits::RatioLimits(const Survey& survey) : lower_share(survey.lower_share), upper_share(survey.upper_share) {
  const double discriminant = 1 - 4 * lower_share * upper_share;
  const double half = (1 + std::sqrt(discriminant)) / 2;  // NaN if pivots may vanish
  down = lower_share / half;
  up = upper_share / half;
}

template <typename T>
Rounding bound_runs(const Plan& plan, const BandsView<T>& bands) {
  const SweepRows<T> rows(bands, plan.n, false);
  std::vector<Index> begin;
  for (Index r = 0; r < plan.partitions(); ++r) begin.push_back(r * plan.m - plan.halo);
  const std::vector<PivotAbove> pivots = pivots_above(rows, plan.n, begin);
  return bound_partitions(plan, rows, [&](Index r) {
    const Index first = r * plan.m, end = std::min(plan.n, first + plan.m), tile_rows = plan.group_rows();
    RunErrors errors(plan, std::numeric_limits<T>::epsilon() / 2.0, first, end);
    PivotAbove above = pivots[static_cast<std::size_t>(r)];
    PartitionErrors& found = errors.found;
    const bool corrects = plan.as<StoredFactors>().corrects, joins = joins_runs(plan);
    // Joined runs have the same unknowns below a cut, so rows below `end` are not needed. Corrected runs compute the
    // value that enters the rows below a cut twice, with the errors at_end.above and at_first.above.
    const Index last = joins ? end : end + plan.halo;
    for (Index tile = first - plan.halo, k = 0; k < plan.run_tiles; ++k, tile += tile_rows) {
      errors.rows.fill(rows, tile, plan.n, above);
      if (corrects && errors.rows.grow_upwards()) found.worst.see(kNothingKnown, tile);
      errors.add_tile(tile);
      if (k == 0 && (corrects || !joins)) found.at_first.above = errors.left();
      if (k == 1 && joins) found.at_first.below = errors.handed();
      if (tile + tile_rows >= last) break;
    }
    if (corrects) found.at_end.above = errors.left();
    if (plan.halo == 0 || joins) return found;
    const std::vector<double>& unknowns = errors.unknowns();
    const auto error_of = [&](Index row) { return unknowns[static_cast<std::size_t>(row - first + plan.halo)]; };
    found.at_first = {error_of(first - 1), error_of(first)};
    if (end < plan.n) found.at_end = {error_of(end - 1), error_of(end)};
    return found;
  });
}

Rounding bound_runs(const Plan& plan, const RatioLimits& limits) {
  return {error_within(plan, limits, std::min<Index>(plan.run_tiles, kLimitTiles)) / 2};
}

Rounding bound_kept(const Plan& plan, const RatioLimits& limits) { return {error_within(plan, limits, 1) / 2}; }

template <typename T>
Rounding bound_tiles(const Plan& plan, const BandsView<T>& bands) {
  const SweepRows<T> rows(bands, plan.n, false);
  return bound_partitions(plan, rows, [&](Index t) {
    TileErrors errors(plan);
    const Index kept = t * plan.m, first = kept - plan.halo, end = std::min(plan.n, kept + plan.m);
    for (int item = 0; item < plan.items; ++item) {
      PivotAbove above;
      errors.mine.fill(rows, first + static_cast<Index>(item) * plan.item_rows, plan.n, above);
      errors.add_part(item, errors.mine.grow_upwards() ? std::numeric_limits<double>::infinity() : 1);
    }
    const std::vector<double>& left = errors.interface_errors();
    const auto place = [&](Index row) { return static_cast<std::size_t>(row - first); };
    PartitionErrors found;
    for (Index i = kept; i < end; ++i) found.worst.see(left[place(i)], i);
    if (plan.halo == 0) return found;
    PivotAbove above;
    errors.all.fill(rows, first, plan.n, above);
    const std::vector<double> unknowns = errors.unknowns();
    found.first_row = left[place(kept)];
    found.last_row = left[place(end - 1)];
    found.at_first = {unknowns[place(kept - 1)], unknowns[place(kept)]};
    if (end < plan.n) found.at_end = {unknowns[place(end - 1)], unknowns[place(end)]};
    return found;
  });
}

Rounding bound_tiles(const Plan& plan, const RatioLimits& limits) {
  TileErrors errors(plan);
  for (RoundedRows* rows : {&errors.mine, &errors.all}) {
    rows->fill_with(limits.lower_share, limits.upper_share, limits.down, limits.up);
  }
  for (int item = 0; item < plan.items; ++item) errors.add_part(item, limits.down);
  const std::vector<double>& left = errors.interface_errors();
  double worst = largest(left);
  if (plan.halo > 0) {
    const std::vector<double> unknowns = errors.unknowns();
    const double share = std::max(errors.all.share_down[0], errors.all.share_up[0]);
    worst += 2 * share * largest(unknowns);
  }
  return {worst / 2};
}

#define OCLSPKT_INSTANTIATE(T)                                    \
  template Rounding bound_runs(const Plan&, const BandsView<T>&); \
  template Rounding bound_tiles(const Plan&, const BandsView<T>&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
