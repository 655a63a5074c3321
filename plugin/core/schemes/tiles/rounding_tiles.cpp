// SPDX-License-Identifier: BSD-2-Clause
// Rounding in tiles whose interface systems are solved by cyclic reduction (kernels/gpu/tile_halo.cl).
#include <algorithm>
#include <cmath>
#include <limits>

#include "certificate.hpp"
#include "rounding_scan.hpp"
#include "schemes/tiles/rounding_runs.hpp"

namespace oclspkt {
namespace {

/// The equations of a work-item's first and last row, and their errors in u max |x|.
struct Part {
  double above = 0, below = 0;          ///< couplings of the last row to the unknowns around the work-item
  double top_above = 0, top_below = 0;  ///< couplings of the first row to the unknown above and to the last row
  double bottom = 0, top = 0;           ///< errors of both equations
  /// Differences of the second sweeps, from the known unknowns around the rows: at the last and at the first row.
  double again_bottom = 0, again_top = 0;
  double weight = 0;  ///< |A p| of the last row
};

/// An equation x = value - above x_above - below x_below, and its error.
struct Equation {
  double above = 0, below = 0, error = 0;
};

/// @param most_above  the largest coupling of the first row to the unknown above
Part part_of(const RoundedRows& rows, double most_above) {
  Part part;
  // Products of all |a p| and |c p| so far, and the coupling of the first row to the unknown above.
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
  // Limits of ratios add up to more than the coupling in any row of dominance 1.
  part.top_above = std::min(above, most_above);
  part.top_below = up;
  part.weight = rows.weight.back();
  return part;
}

/// Divide an equation by the rest of its diagonal.
///
/// A value is at most s = 1 + the sum of its couplings. Two neighbours' values, at most 2, times the couplings a and b,
/// are subtracted from it: that rounds by 2 (a + b), by s + 2 max(a, b) and by the result. The number subtracted from
/// the diagonal rounds by 3 taken. The division, and its products with the value and with the couplings, follow.
/// @param taken  the number subtracted from the diagonal
/// @param a, b   the couplings before
void divide(double taken, double a, double b, Equation& e) {
  const double r = taken < 1 ? 1 / (1 - taken) : kNothingKnown;
  e.above *= r;
  e.below *= r;
  const double left = 1 + e.above + e.below;
  e.error =
      r * (e.error + 2 * (a + b) + 1 + a + b + 2 * std::max(a, b) + 3 * taken) + 4 * left + 4 * (e.above + e.below);
}

/// The errors of the unknowns that the reduction finds: those of the last rows of all parts.
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

/// Follows the errors of a tile, part by part.
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
  /// The errors of all rows, once all parts are added.
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
  /// Errors of the unknowns of a tile that is cut off, whose rows the caller has put into `all`.
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

template Rounding bound_tiles(const Plan&, const BandsView<float>&);
template Rounding bound_tiles(const Plan&, const BandsView<double>&);

}  // namespace oclspkt
