// SPDX-License-Identifier: BSD-2-Clause
// Schemes of exact methods by lanes, for lines laid end to end: exact-twopass by partitions, and exact-factored by two
// work-groups from both ends of the system to a tile in the middle.
#include <algorithm>
#include <cmath>
#include <limits>

#include "interface.hpp"
#include "pivot_error.hpp"
#include "schemes/lanes/lane_plans.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"
#include "sweep_rows.hpp"

namespace oclspkt {
namespace {

/// kBorder and kOfMore are in units of u. kBorder bounds the rounding of a partition's two border equations and of
/// their unknowns. It holds if no elimination adds more to a row than the coupling that it removes. If an elimination
/// adds more, each unit of the surplus adds kOfMore. This covers the products with the multiplier (twice if couplings
/// have opposite signs), the sums, the excess, the right-hand side and the pivot.
constexpr double kBorder = 20, kOfMore = 12;

/// The equation of a partition's first row while inner rows are eliminated from it, in absolute values.
struct TopRow {
  double outer, diag, coupling;  ///< outer: to the unknown above the partition; coupling: to the next inner row
  double collected = 0;
};

/// The rows of a system, padded to whole partitions.
template <typename T>
struct PartitionRows {
  struct Row {
    T lower = 0, diag = 1, upper = 0;
    double sum() const { return std::abs(double{lower}) + std::abs(double{diag}) + std::abs(double{upper}); }
  };
  const BandsView<T>& bands;
  Index n, m;

  /// Row i, which is an identity row from n on. Kernels read whole partitions, so row n - 1 may be an inner row.
  Row row(Index i) const { return i < n ? Row{bands.lower[i], bands.diag[i], bands.upper[i]} : Row{}; }
  /// The end of the partition whose first row is `first`. Of its identity rows (from row n on, coupled to nothing), at
  /// most one counts.
  Index end(Index first) const { return std::min(n + 1, first + m); }
};

/// Eliminate the inner rows of a partition from its first row, one after the other, and bound the rounding of each row.
template <typename T>
WorstRow eliminate_inner_rows(const PartitionRows<T>& rows, Index first, double u) {
  WorstRow worst;
  const auto row_sum = [&](Index i) { return rows.row(i).sum(); };
  const Index last = rows.end(first) - 1;
  worst.see(kBorder, first);
  if (last - first < 2) return worst;
  const auto begin = rows.row(first);
  TopRow top{std::abs(double{begin.lower}), std::abs(double{begin.diag}), begin.upper};
  PivotChain chain;
  const auto pivot_of_row = [&](Index i) {
    const auto row = rows.row(i);
    chain.next(row.lower, row.diag, row.upper);
    return chain.pivot;
  };
  double pivot = pivot_of_row(first + 1), to_top = rows.row(first + 1).lower, above = 0, taken = 0;
  for (Index i = first + 1; i < last; ++i) {
    const double c = rows.row(i).upper, below = rows.row(i + 1).lower,
                 size = std::abs(pivot) + std::abs(c) + std::abs(to_top);
    worst.see((4 * (std::abs(pivot) + std::abs(c)) + 7 * (std::abs(to_top) + above) + 3 * taken) / row_sum(i), i);
    const double t = top.coupling / pivot, s = below / pivot;
    const double added = std::abs(t) * size, filled = std::abs(t * c);
    top.diag += std::abs(t * to_top);
    // Rounding changes a sum by at most the number added to it.
    top.collected += 3 * added + 4 * std::abs(top.coupling) + 2 * filled +
                     std::min(2 * top.diag + top.outer + filled, 2 * added / u);
    top.coupling = -t * c;
    above = std::abs(below);
    taken = std::abs(s * c);
    to_top = -s * to_top;
    pivot = pivot_of_row(i + 1);
  }
  worst.see(kBorder + top.collected / row_sum(first), first);
  worst.see(kBorder + (4 * std::abs(pivot) + 7 * (std::abs(to_top) + above) + 3 * taken) / row_sum(last), last);
  return worst;
}

/// The rounding beyond kBorder that arises when the border equations of all partitions are solved, see ReducedSystem.
template <typename T>
WorstRow eliminate_borders(const Plan& plan, const PartitionRows<T>& rows) {
  const auto make = [&](Index i) {
    const auto row = rows.row(i);
    return make_row<double>(row.lower, row.diag, row.upper, 0);
  };
  const auto segments = of_partitions<SchurSegment<double>>(plan, [&](Index k) {
    SchurSegment<double> segment = begin_segment(make(k * rows.m));
    for (Index i = k * rows.m + 1; i < rows.end(k * rows.m); ++i) append_row(segment, make(i));
    return segment;
  });
  WorstRow worst;
  ExcessRow<double> above;  // an uncoupled row, because no row lies above the first row
  above.excess = 1;
  const auto eliminate_row = [&](const ExcessRow<double>& row, Index i) {
    const double t = row.lower / above.diag(), more = std::abs(t * above.upper) - std::abs(row.lower);
    if (!(more <= 0)) worst.see(kOfMore * more / rows.row(i).sum(), i);
    above = eliminate_above(above, t, row).as_pivot();
  };
  for (Index k = 0; k < plan.partitions(); ++k) {
    const SchurSegment<double>& segment = segments[static_cast<std::size_t>(k)];
    if (!segment.single) eliminate_row(segment.top, k * rows.m);
    eliminate_row(segment.bottom, rows.end(k * rows.m) - 1);
  }
  return worst;
}

/// Fewest rows of a partition. Shorter partitions leave too many border equations.
constexpr Index kShortestPartition = 48;

/// True if a device with kernels for GPUs has no plan of this method by work-groups. One reason is that memory does not
/// hold all rows at once.
template <typename T>
bool groups_have_none(const Problem<T>& problem, Method method) {
  Problem<T> other = problem;
  other.method = method;
  return by_tiles(problem) && std::none_of(all_schemes().begin(), all_schemes().end(), [&](const Scheme* scheme) {
           return scheme->nature().kernels == Kernels::groups && scheme->takes(method, other) && scheme->least(other);
         });
}

template <typename T>
Plan twopass_plan(const Problem<T>& problem, Index partition) {
  return make_lanes_plan(Method::exact_twopass, problem.bands.lines().rows(), 0, partition, problem.word,
                         problem.traits);
}

class LanesTwopass final : public SchemeOf<LanesTwopass> {
 public:
  const char* name() const override { return "lanes-twopass"; }
  std::string shape(const Plan&) const override { return {}; }
  double words(const Plan&) const override { return kWordsOfTwoPasses; }
  int launches(const Plan&) const override { return 2; }
  /// In both passes, each row waits for a division.
  double stream_words(const Plan&, int) const override { return 19; }
  /// If rows are hardly dominant, the bound reads their values again for each shorter partition.
  double passes(const Plan&, const Survey& survey) const override {
    constexpr double kHardly = 1.005;
    return survey.dominance >= kHardly ? 4 : 15;
  }
  Elimination elimination(const Plan&) const override { return {.excess = true, .upwards = true}; }
  bool first_rows_tell(const Plan&) const override { return true; }
  std::optional<Plan> make(const PlanRequest& r) const override {
    if (r.method != Method::exact_twopass) return std::nullopt;
    return make_lanes_plan(r.method, r.lines.rows(), 0, r.partition, r.word, r.traits);
  }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    return bound_twopass(plan, bands, survey.dominance);
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::exact_twopass && (by_lanes(problem) || groups_have_none(problem, method));
  }
  /// Propose exact-twopass with partitions as short as the bound on rounding requires. On GPUs, the scheme serves only
  /// if no scheme by work-groups has a plan.
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    Plan plan = twopass_plan(problem, problem.options.partition);
    std::optional<Rounding> rounding = rounding_of(problem, plan);
    const bool may_choose = problem.options.partition == 0;
    for (Index m = plan.m; may_choose && !(rounding->eps <= problem.rounding_limit) && m >= 2 * kShortestPartition;) {
      m = round_up(m / 2, kShortestPartition);
      plan = twopass_plan(problem, m);
      rounding = rounding_of(problem, plan);
      if (m == kShortestPartition) break;
    }
    std::optional<Proposal> proposal =
        unless_growth(problem, exact_proposal(problem, plan), rejection, {.twopass = plan.m});
    if (proposal) proposal->rounding = rounding;
    return proposal;
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    return twopass_plan(problem, problem.options.partition);
  }
};

class LanesTwisted final : public SchemeOf<LanesTwisted> {
 public:
  const char* name() const override { return "lanes-twisted"; }
  std::string shape(const Plan&) const override { return "stored factors, swept from both ends"; }
  double words(const Plan&) const override {
    return 7;  // down: read a factor and y, write the result; up: read the result and two factors, write x
  }
  int launches(const Plan&) const override { return 2; }
  double passes(const Plan&, const Survey&) const override { return 22; }
  StoredPlaces places(const Plan& plan) const override { return places_by_tiles(plan); }
  Nature nature() const override { return {.stores_factors = true}; }
  Cut cut(const Plan& plan) const override { return {plan.tile_rows(), 0, 0, true}; }
  Elimination elimination(const Plan&) const override { return {.upwards = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey&) const {
    return bound_taken_off(plan, bands);
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::exact_factored && by_lanes(problem);
  }
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    const DeviceTraits& traits = problem.traits;
    const Index n = problem.bands.lines().rows();
    const Plan plan = make_twisted_plan(n, problem.options.partition, problem.word, traits);
    rejection = {};
    if (plan.chunk_tiles > 0 || n == 0) return exact_proposal(problem, plan);
    rejection = {"the device's memory does not hold all rows at once", {}, plan};
    return std::nullopt;
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    const Index n = problem.bands.lines().rows();
    const Plan plan = make_twisted_plan(n, problem.options.partition, problem.word, problem.traits);
    return plan.chunk_tiles == 0 && n > 0 ? std::nullopt : std::optional(plan);
  }
};

}  // namespace

template <typename T>
Rounding bound_twopass(const Plan& plan, const BandsView<T>& bands, double dominance) {
  const double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  const PartitionRows<T> rows{bands, plan.n, plan.m};
  const auto inner = [&](Index k) { return eliminate_inner_rows(rows, k * plan.m, u); };
  WorstRow worst;
  for (const WorstRow& partition : of_partitions<WorstRow>(plan, inner)) worst.see(partition);
  if (dominance >= 1 || !(worst.bound().eps <= kLargestRounding)) return worst.bound();
  const WorstRow borders = eliminate_borders(plan, rows);
  return {(worst.error + borders.error) / 2, borders.error <= worst.error ? worst.row : borders.row};
}

template Rounding bound_twopass(const Plan&, const BandsView<float>&, double);
template Rounding bound_twopass(const Plan&, const BandsView<double>&, double);

const Scheme& lanes_twopass() { return only<LanesTwopass>(); }
const Scheme& lanes_twisted() { return only<LanesTwisted>(); }

}  // namespace oclspkt
