// SPDX-License-Identifier: BSD-2-Clause
// The scheme of exact-twopass by work-groups, for lines laid end to end: tiles are reduced to their last rows, level by
// level (kernels/gpu/tile_excess.clh).
//
// The bound on rounding, in the notation of rounding.hpp. Both passes together are one Gaussian elimination, and no
// number is computed twice. So a row has only the rounding of its own eliminations and of its substitution.
//
// An elimination of row p from row q gives q' = q + t p. It replaces the coupling l of q to p by a coupling l' to the
// row beyond p, with |l'| <= |l| in dominant rows. In u times max |x|, the elimination rounds by:
//   5 |l|                   the multiplier t; its error changes the diagonal and leaves a remainder of l
//   2 |l'|                  the new coupling; its error changes the coupling, and the diagonal as a sum of couplings
//   |t| (s_p + 2 |a_pq|)    only if couplings of other signs add to the excess; s_p is the excess of p, a_pq its
//                           coupling to q
//   |f'| + s'               the right-hand side and the excess of q'; |f'| <= |A'|, the row sum of q'
// Without the third line, the sum is at most 7 |l| + |f'| + s'. The fourth line is also at most the terms that p adds
// to f' and to s', divided by u.
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "certificate.hpp"
#include "interface.hpp"
#include "parallel.hpp"
#include "rounding_scan.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"
#include "schemes/tiles/rounding_runs.hpp"
#include "schemes/tiles/tile_plans.hpp"

namespace oclspkt {
namespace {

/// Rounding of each row, in u |A|: 8.5 for the substitution from the neighbours by the reciprocal pivot, 1 for rounding
/// the unknowns of levels to T, 2 for a forgiven excess.
constexpr double kOfEachRow = 12;

template <typename T>
constexpr double unit() {
  return std::numeric_limits<T>::epsilon() / 2.0;
}

/// Bounds the rounding by the survey of all rows, of dominance d. Let L_j be the sum of a row's two couplings after j
/// eliminations on each side; L_0 <= |A| / (1 + d). The row sum |A_j| is at most |A|, and the excess is |A_j| - 2 L_j.
/// By the table at the top of this file, one more elimination on each side rounds by at most 7 L_j + 2 |A| + 2 (|A| - 2
/// L_j) = 4 |A| + 3 L_j. In any order of elimination, couplings decay with the number of rows that they span.
class SurveyedReduction {
 public:
  SurveyedReduction(const Survey& survey, double unit)
      : share_(1 / (1 + std::max(1.0, survey.dominance))), decay_(std::max(1.0, survey.decay())), unit_(unit) {}

  /// Add the rounding of one level, whose rows are `apart` rows apart in the system. Each work-item first reduces its
  /// rows from both ends to its last row. Each step then eliminates every other row that remains.
  void reduce(double apart, Index item_rows, Index items) {
    constexpr double kAddition = 2;
    for (Index j = 1; j <= item_rows / 2; ++j) eliminate(apart * static_cast<double>(j));
    for (Index places = 1; places < items; places *= 2) eliminate(apart * static_cast<double>(item_rows * places));
    rounds_ += kAddition;
  }
  double rounds() const { return rounds_; }

 private:
  /// Eliminate one row on each side.
  /// @param span  distance, in rows, over which the couplings to these rows reach
  void eliminate(double span) {
    const double left = share_ * std::pow(decay_, -span);
    rounds_ += std::min(4 + 3 * left, (4 / unit_ + 7) * left);
  }
  double share_, decay_, unit_, rounds_ = 0;
};

/// A row, scaled to a positive diagonal, and the rounding that it has collected.
struct ReducedRow {
  double lower = 0, upper = 0, excess = 1;
  double begun = 0;   ///< size of the upper coupling with which a row from above() begins; else 0
  double rounds = 0;  ///< collected rounding, in u max |x|
  double size = 1;    ///< row sum |A| before elimination
  Index row = -1;

  double couplings() const { return std::abs(lower) + std::abs(upper); }
  /// Size of the right-hand side, in units of max |x|.
  double right() const { return begun + std::abs(couplings() + excess - begun) + couplings(); }
  /// The change that the rows below will cause in this row. It starts with the upper coupling.
  ReducedRow above() const { return {.upper = upper, .excess = 0, .begun = std::abs(upper)}; }
};

struct LevelArithmetic {
  double unit;    ///< half of the eps of the level's scalar
  double weight;  ///< `unit`, divided by the unit of the bound

  /// Eliminate p from q.
  /// @param[in,out] to_p  in: coupling of q to p; out: coupling of q to the row beyond p
  void eliminate(ReducedRow& q, double& to_p, const ReducedRow& p, double p_to_q, double p_far) const {
    if (to_p == 0) return;
    const double diag = p.couplings() + p.excess, t = -to_p / (diag > 0 ? diag : kNothingKnown), through = std::abs(t);
    const double back = std::abs(p_to_q) + (t < 0 ? -p_to_q : p_to_q), added = through * (p.excess + back);
    const double of_multiplier = 5 * std::abs(to_p) + (back > 0 ? added : 0);
    to_p = t * p_far;
    q.excess += added;
    const double of_sums = std::min(q.right() + q.excess, (through * p.right() + added) / unit);
    q.rounds += weight * (of_multiplier + 2 * std::abs(to_p) + of_sums);
  }
  void eliminate_above(ReducedRow& q, const ReducedRow& above) const {
    eliminate(q, q.lower, above, above.upper, above.lower);
  }
  void eliminate_below(ReducedRow& q, const ReducedRow& below) const {
    eliminate(q, q.upper, below, below.lower, below.upper);
  }
  /// Add the change that the rows below cause to a row.
  void join(ReducedRow& q, const ReducedRow& change) const {
    q.upper = change.upper;
    q.excess += change.excess;
    q.rounds += change.rounds + weight * (q.right() + q.excess);
  }
};

/// The last row of a tile, for the next level, and the change that the tile causes in the row above it.
struct ReducedTile {
  ReducedRow last, above;
};

void see(WorstRow& worst, const ReducedRow& row) { worst.see(kOfEachRow + row.rounds / row.size, row.row); }

/// Eliminate all rows of a work-item but the last, from both ends to the middle.
/// @param rows   shape [item_rows]
/// @param above  in: ReducedRow::above() of the row above the work-item
void reduce_item(std::vector<ReducedRow>& rows, ReducedRow& above, const LevelArithmetic& by, WorstRow& worst) {
  const std::size_t count = rows.size(), middle = count / 2 - 1;
  ReducedRow& bottom = rows[count - 1];
  for (std::size_t i = 0; i < middle; ++i) {
    const std::size_t j = count - 2 - i;
    by.eliminate_below(above, rows[i]);
    by.eliminate_above(bottom, rows[j]);
    by.eliminate_above(rows[i + 1], rows[i]);
    by.eliminate_below(rows[j - 1], rows[j]);
  }
  by.eliminate_below(above, rows[middle]);
  by.eliminate_above(bottom, rows[middle]);
  for (std::size_t i = 0; i + 1 < count; ++i) see(worst, rows[i]);
}

/// Eliminate half of the remaining places in each step. Place 0 is the change of the row above the tile; the other
/// places are the last rows of work-items.
ReducedTile reduce_places(std::vector<ReducedRow>& places, const LevelArithmetic& by, WorstRow& worst) {
  const std::size_t items = places.size() - 1;
  for (std::size_t distance = 1; distance < items; distance *= 2) {
    for (std::size_t place = 2 * distance; place <= items; place += 2 * distance) {
      by.eliminate_above(places[place], places[place - distance]);
      const bool last = place == items;
      by.eliminate_below(places[last ? 0 : place], places[last ? distance : place + distance]);
    }
  }
  for (std::size_t place = 1; place < items; ++place) see(worst, places[place]);
  return {places[items], places[0]};
}

/// Reduce a level to the last rows of its tiles.
/// @param row_of  (i) -> ReducedRow, for rows [0, n)
template <typename RowOf>
std::vector<ReducedTile> reduce_level(const RowOf& row_of, Index n, Index items, Index item_rows,
                                      const LevelArithmetic& by, WorstRow& worst) {
  const Index tile_rows = items * item_rows;
  std::vector<ReducedTile> tiles(static_cast<std::size_t>((n + tile_rows - 1) / tile_rows));
  std::mutex mutex;
  const auto of_place = [&](Index i) { return i < 0 || i >= n ? ReducedRow{} : row_of(i); };
  for_pieces(static_cast<Index>(tiles.size()), std::max<Index>(1, kPieceRows / tile_rows), [&](Index begin, Index end) {
    std::vector<ReducedRow> rows(static_cast<std::size_t>(item_rows)), places(static_cast<std::size_t>(items + 1));
    WorstRow found;
    for (Index tile = begin; tile < end; ++tile) {
      for (Index item = 0; item < items; ++item) {
        const Index first = tile * tile_rows + item * item_rows;
        const auto at = static_cast<std::size_t>(item);
        ReducedRow change = of_place(first - 1).above();
        for (Index i = 0; i < item_rows; ++i) rows[static_cast<std::size_t>(i)] = of_place(first + i);
        reduce_item(rows, change, by, found);
        item == 0 ? static_cast<void>(places[0] = change) : by.join(places[at], change);
        places[at + 1] = rows.back();
      }
      tiles[static_cast<std::size_t>(tile)] = reduce_places(places, by, found);
    }
    const std::lock_guard lock(mutex);
    worst.see(found);
  });
  return tiles;
}

template <typename T>
ReducedRow row_of_bands(const BandsView<T>& bands, Index i) {
  const double lower = bands.lower[i], diag = bands.diag[i], upper = bands.upper[i], sign = diag < 0 ? -1 : 1;
  return {.lower = sign * lower,
          .upper = sign * upper,
          .excess = row_excess(bands.lower[i], bands.diag[i], bands.upper[i]),
          .size = std::abs(lower) + std::abs(diag) + std::abs(upper),
          .row = i};
}

/// Least dominance without growth in elimination. Tiles carry excesses and forgive one rounding of a diagonal. If only
/// rounding has made a row's sum negative, the row counts as a row of sum 0.
template <typename T>
constexpr double kForgiven = 1 - static_cast<double>(std::numeric_limits<T>::epsilon());

class TilesTwopass final : public SchemeOf<TilesTwopass> {
 public:
  const char* name() const override { return "tiles-twopass"; }
  std::string shape(const Plan& plan) const override { return "tiles reduced by " + groups_text(plan); }
  Nature nature() const override { return {.kernels = Kernels::groups, .solves_interfaces = true}; }
  /// Between the passes, each work-item stores three numbers of one row.
  double words(const Plan& plan) const override { return (plan.symmetric() ? 7 : 9) + 6.0 / plan.item_rows; }
  int launches(const Plan&) const override { return 5; }
  Cut cut(const Plan& plan) const override { return {plan.group_rows(), 0, 0, true}; }
  Elimination elimination(const Plan&) const override { return {.excess = true, .upwards = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>&, const Survey& survey) const {
    if (plan.n == 0) return {0};
    return survey.finite && survey.dominance >= kForgiven<T> ? bound_reduced<T>(plan, survey) : Rounding{kNothingKnown};
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::exact_twopass && by_tiles(problem);
  }
  /// Propose exact-twopass by tiles that work-groups reduce to their last rows; none if memory does not hold all rows.
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    const Index n = problem.bands.lines().rows();
    const Form form = is_symmetric(problem.bands.lines(), problem.bands.view()) ? Form::symmetric : Form::general;
    const Plan plan = make_reduce_plan(n, problem.options.partition, problem.word, problem.traits, form);
    if (plan.chunk_tiles == 0 && n > 0) return std::nullopt;
    std::optional<Proposal> proposal = unless_growth(problem, exact_proposal(problem, plan), rejection,
                                                     {.twopass = plan.item_rows, .enough = kForgiven<T>});
    if (proposal) proposal->rounding = rounding(problem, plan);
    return proposal;
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    const Index n = problem.bands.lines().rows();
    const Plan plan = make_reduce_plan(n, problem.options.partition, problem.word, problem.traits);
    return plan.chunk_tiles == 0 && n > 0 ? std::nullopt : std::optional(plan);
  }

 private:
  /// The survey's bound if this bound plus 1 eps for rounded diagonals (see judge()) is within the limit. Otherwise the
  /// smaller of the survey's bound and the bound from the values of the rows.
  template <typename T>
  static Rounding rounding(const Problem<T>& problem, const Plan& plan) {
    const Rounding surveyed = rounding_of(problem, plan);
    constexpr double kOfDiagonals = 1;
    if (surveyed.eps + kOfDiagonals <= problem.rounding_limit || !std::isfinite(surveyed.eps)) return surveyed;
    const Rounding found = of_first_order(bound_reduced(plan, problem.bands.view()));
    return found.eps < surveyed.eps ? found : surveyed;
  }
};

}  // namespace

template <typename T>
Rounding bound_reduced(const Plan& plan, const Survey& survey) {
  SurveyedReduction reduction(survey, unit<T>());
  const auto items_of = [](Index rows, Index items, Index item_rows) {
    return std::min(items, quotient_up(rows, item_rows));  // identity rows follow the last row
  };
  reduction.reduce(1, plan.item_rows, items_of(plan.n, plan.items, plan.item_rows));
  // The levels above the first are in double.
  const Index level_rows = Index{plan.as<Levels>().items} * kLevelItemRows;
  auto apart = static_cast<double>(plan.group_rows());
  for (Index rows = plan.tiles(); rows > 1 && sizeof(T) > sizeof(float); rows = quotient_up(rows, level_rows)) {
    reduction.reduce(apart, kLevelItemRows, items_of(rows, plan.as<Levels>().items, kLevelItemRows));
    apart *= static_cast<double>(level_rows);
  }
  return {(kOfEachRow + reduction.rounds()) / 2};
}

template <typename T>
Rounding bound_reduced(const Plan& plan, const BandsView<T>& bands) {
  WorstRow worst;
  const LevelArithmetic first{unit<T>(), 1}, behind{unit<double>(), unit<double>() / unit<T>()};
  std::vector<ReducedTile> left =
      reduce_level([&](Index i) { return row_of_bands(bands, i); }, plan.n, plan.items, plan.item_rows, first, worst);
  while (left.size() > 1) {
    const auto row_of = [&](Index i) {
      ReducedRow row = left[static_cast<std::size_t>(i)].last;
      if (static_cast<std::size_t>(i) + 1 < left.size()) behind.join(row, left[static_cast<std::size_t>(i) + 1].above);
      return row;
    };
    left =
        reduce_level(row_of, static_cast<Index>(left.size()), plan.as<Levels>().items, kLevelItemRows, behind, worst);
  }
  if (!left.empty()) see(worst, left.front().last);
  return worst.bound();
}

#define OCLSPKT_INSTANTIATE(T)                                    \
  template Rounding bound_reduced<T>(const Plan&, const Survey&); \
  template Rounding bound_reduced(const Plan&, const BandsView<T>&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

const Scheme& tiles_twopass() { return only<TilesTwopass>(); }

}  // namespace oclspkt
