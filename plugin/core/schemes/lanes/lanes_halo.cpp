// SPDX-License-Identifier: BSD-2-Clause
// Schemes of truncated-halo by lanes, for lines laid end to end. The partitions of lanes-halo read halos. The
// partitions of lanes-tiles solve their interface systems tile by tile, and no row is read twice.
#include <algorithm>
#include <limits>

#include "certificate.hpp"
#include "schemes/halos.hpp"
#include "schemes/lanes/lane_plans.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {
namespace {

/// The kernel multiplies several numbers of rows without overflow if they are in [2^-k, 2^k] for this k.
template <typename T>
constexpr int kLaneExponent = sizeof(T) == sizeof(float) ? 30 : 120;

/// True if the survey finds that all rows are in the range of kLaneExponent.
template <typename T>
bool lanes_multiply(const Survey& survey) {
  const double extent = std::ldexp(1.0, kLaneExponent<T>);
  return survey.largest_row <= extent && survey.smallest_row >= 1 / extent;
}

/// Plan streamed tiles of at least `rows` rows; none if they do not suit the device or the matrix.
template <typename T>
std::optional<Plan> streamed_tiles(const Problem<T>& problem, Index rows) {
  if (!lanes_multiply<T>(problem.survey) || problem.options.partition > 0) return std::nullopt;
  Plan plan = plan_for(problem, Method::truncated_halo, 0);
  if (!stream_tiles(plan, rows, problem.word, problem.traits)) return std::nullopt;
  return plan;
}

/// Plan streamed tiles, if the survey guarantees that truncation a tile away stays within tolerance.
template <typename T>
std::optional<Plan> streamed_plan(const Problem<T>& problem) {
  const Index needed = halo_from_dominance(problem.survey.decay(), tolerance<T>(problem.options));
  const bool used_up = problem.options.rtol > 0 && needed > kQuickHalo;  // for a raised rtol, see known_halo()
  return needed < 0 || used_up ? std::nullopt : streamed_tiles(problem, needed);
}

/// True if the pivots have to decide, because the survey covers neither whole lines nor halos.
template <typename T>
bool may_show_by_pivots(const Problem<T>& problem) {
  return whole_lines(problem) == 0 && !halo_by_survey(problem) && !barely_dominant(problem.survey) &&
         problem.options.rtol == 0;
}

/// Propose streamed tiles if the pivots show that truncation stays within tolerance. The certificate of stored factors
/// holds, because truncation happens at the same places: below a tile and above a run.
template <typename T>
std::optional<Proposal> propose_by_pivots(const Problem<T>& problem, double tol) {
  std::optional<Plan> plan = streamed_tiles(problem, 1);
  while (plan) {
    const Certificate certificate = certificate_of(problem, *plan, tol, certify_stored<T>);
    if (certificate.bound <= tol) return covered(*plan, certificate.bound, tol, problem.survey);
    const bool longer_may_do = certificate.bound * certificate.bound <= tol;
    plan = longer_may_do ? streamed_tiles(problem, plan->tile_rows() + 1) : std::nullopt;
  }
  return std::nullopt;
}

template <typename S>
class HaloLanes : public SchemeOf<S> {
 public:
  double words(const Plan& plan) const override { return 4 * plan.overlap() + 1; }
  Elimination elimination(const Plan&) const override { return {.plain = true, .excess = true}; }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::truncated_halo && by_lanes(problem);
  }
};

class LanesHalo final : public HaloLanes<LanesHalo> {
 public:
  const char* name() const override { return "lanes-halo"; }
  std::string shape(const Plan& plan) const override { return format("halo %lld", static_cast<long long>(plan.halo)); }
  /// Each row waits for the division of the row before. Long lines that are held whole leave the first-level cache
  /// between the sweeps.
  double stream_words(const Plan& plan, int word) const override {
    constexpr double kOfDouble = 1.3, kOfOthers = 1.5, kOfLongLines = 1.9;
    constexpr Index kLongWhole = 1024;
    if (plan.halo == 0) return (plan.m > kLongWhole ? kOfLongLines : kOfOthers) * words(plan);
    return (word > static_cast<int>(sizeof(float)) ? kOfDouble : kOfOthers) * words(plan);
  }
  double passes(const Plan& plan, const Survey&) const override { return plan.halo > kQuickHalo ? 4 : 0; }
  const HaloPlans* halos(const DeviceTraits& traits) const override {
    static const HaloPlans by_lanes = {[](Index n, Index halo, Index partition, int word, const DeviceTraits& of) {
                                         return make_lanes_plan(Method::truncated_halo, n, halo, partition, word, of);
                                       },
                                       nullptr,
                                       lanes_of_whole_lines,
                                       [](Index n, Index, Index partition, int word, const DeviceTraits& of) {
                                         return make_lanes_plan(Method::truncated_halo, n, 0, partition, word, of);
                                       },
                                       nullptr,
                                       [](const DeviceTraits&) { return std::numeric_limits<Index>::max(); },
                                       kSafeWholeLines,
                                       false};
    return traits.group_items == 0 ? &by_lanes : nullptr;
  }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) const {
    return bound_halos(plan, plan.partitions() == 1 || (plan.halo == 0 && lines.count() > 1), bands, survey);
  }

  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    return propose_halos(problem, rejection);
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    return least_of_halos(problem);
  }
};

class LanesTiles final : public HaloLanes<LanesTiles> {
 public:
  const char* name() const override { return "lanes-tiles"; }
  std::string shape(const Plan& plan) const override {
    return format("streamed tiles of %lld rows", static_cast<long long>(plan.tile_rows()));
  }
  double stream_words(const Plan& plan, int word) const override {
    return figures_of(plan).number("lanes.tiles_times", word > static_cast<int>(sizeof(float))) * words(plan);
  }
  Cut cut(const Plan& plan) const override { return {plan.tile_rows(), plan.tile_rows(), plan.tile_rows(), false}; }
  /// The influence of a partition's first unknown is subtracted from the rows below in another order than in a
  /// substitution. The influence thus rounds twice in each of these rows, and decays by |c p| from row to row.
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>&, const Survey& survey) const {
    const double d = survey.decay(), upper = survey.upper_share / (1 + survey.upper_share);
    if (!(survey.dominance >= 1)) return {kNothingKnown};
    const auto m = static_cast<double>(plan.m), rows = d > 1 ? std::min(m, d / (d - 1)) : m;
    return {10 + 3 * upper * rows};
  }

  /// Propose streamed tiles that the survey covers. If the survey covers no halo either, the pivots decide.
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection&) const {
    const double tol = tolerance<T>(problem.options), d = problem.survey.decay();
    if (breaks_symmetry<T>(problem.options, problem.symmetric)) return std::nullopt;
    if (const auto plan = streamed_plan(problem)) {
      return covered(*plan, 2 * std::pow(d, -static_cast<double>(plan->tile_rows() + 1)), tol, problem.survey);
    }
    return may_show_by_pivots(problem) ? propose_by_pivots(problem, tol) : std::nullopt;
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    if (breaks_symmetry<T>(problem.options, problem.symmetric)) return std::nullopt;
    if (auto plan = streamed_plan(problem)) return plan;
    return may_show_by_pivots(problem) ? streamed_tiles(problem, 1) : std::nullopt;
  }
};

}  // namespace

const Scheme& lanes_halo() { return only<LanesHalo>(); }
const Scheme& lanes_tiles() { return only<LanesTiles>(); }

}  // namespace oclspkt
