// SPDX-License-Identifier: BSD-2-Clause
// Schemes of truncated-halo by work-groups, for lines laid end to end. tiles-halo reads the bands; tiles-kept keeps the
// stored factors of lines that are all alike.
#include <algorithm>

#include "schemes/halos.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"
#include "schemes/tiles/rounding_runs.hpp"
#include "schemes/tiles/tile_plans.hpp"

namespace oclspkt {
namespace {

/// Rows of the longest line for which a work-group holds whole lines, or their factors, instead of parts with a halo.
template <typename S>
Index small_tile(const S& of) {
  return figures_of(of).count("tiles.small");
}

/// Apply keep_factors() to lines that share_line() shares, and make_factors_symmetric() if the line is symmetric.
template <typename T>
bool keep_shared_factors(const Problem<T>& problem, Plan& plan) {
  const Index length = problem.bands.lines().length(0);
  if (!keep_factors(plan, length, problem.word, problem.traits)) return false;
  // All lines are alike, so one line decides for all.
  if (is_symmetric(LineSet::one(length), problem.bands.view())) {
    make_factors_symmetric(plan, length, problem.word, problem.traits);
  }
  return true;
}

/// Propose parts of lines that are all alike, with the halo that the survey guarantees.
template <typename T>
std::optional<Proposal> propose_parts(const Problem<T>& problem, double tol) {
  const LineSet& lines = problem.bands.lines();
  const double d = problem.survey.decay();
  const bool alike = problem.survey.shared && problem.traits.group_items > 0 && problem.options.partition == 0;
  if (!alike || !(d > 1) || !interfaces_are_stable(problem.survey)) return std::nullopt;
  const Index longest = longest_halo(0, problem.word, problem.traits), halo = rows_to_decay(d, tol, longest);
  if (halo > longest) return std::nullopt;
  Plan plan = plan_for(problem, Method::truncated_halo, halo);
  if (!share_line(plan, lines.length(0), problem.word) || !keep_shared_factors(problem, plan)) return std::nullopt;
  Rounding rounding;
  if (!rounds_little(problem, plan, rounding)) return std::nullopt;
  return covered(plan, bound_stored(d, halo), tol, problem.survey);
}

/// Propose tiles with halos whose factors work-groups keep.
template <typename T>
std::optional<Proposal> propose_kept_halos(const Problem<T>& problem) {
  if (problem.options.partition > 0 || !interfaces_are_stable(problem.survey)) return std::nullopt;
  Rejection unused;
  std::optional<Proposal> halos = propose_halos(problem, unused);
  if (!halos) return std::nullopt;
  Plan& plan = halos->plan;
  Rounding rounding;
  const bool kept = share_line(plan, problem.bands.lines().length(0), problem.word) &&
                    keep_shared_factors(problem, plan) && rounds_little(problem, plan, rounding);
  return kept ? halos : std::nullopt;
}

template <typename S>
class HaloTiles : public SchemeOf<S> {
 public:
  Nature nature() const override { return {.kernels = Kernels::groups}; }
  double words(const Plan& plan) const override { return words_of_one_pass(plan); }
  StoredPlaces places(const Plan& plan) const override { return places_of_shared(plan); }
  /// A work-group reads its tile to the end, even if whole lines fill only a part of it.
  Cut cut(const Plan& plan) const override {
    return {plan.m, plan.halo, std::max(plan.halo, plan.group_rows() - plan.halo - plan.m), false};
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::truncated_halo && by_tiles(problem);
  }
};

class TilesHalo final : public HaloTiles<TilesHalo> {
 public:
  const char* name() const override { return "tiles-halo"; }
  std::string shape(const Plan& plan) const override {
    return format("halo %lld, ", static_cast<long long>(plan.halo)) + groups_text(plan);
  }
  double stream_words(const Plan& plan, int word) const override {
    return (1 + (words(plan) - 1) / plan.overlap()) / share(plan, word);
  }
  double passes(const Plan& plan, const Survey&) const override { return plan.halo > kQuickHaloOfLikeRows ? 4 : 0; }
  Elimination elimination(const Plan&) const override { return {.plain = true, .excess = true}; }
  const HaloPlans* halos(const DeviceTraits& traits) const override {
    static const HaloPlans by_tiles = {
        make_tile_plan,
        longest_tile_halo,
        [](Index length, Index, int word, const DeviceTraits& of) { return lines_in_a_tile(length, word, of); },
        make_lines_plan,
        couple_within_halo,
        [](const DeviceTraits& of) { return small_tile(of); },
        1,  // whole lines are as fast as other plans, whatever the dominance
        true};
    return traits.group_items > 0 ? &by_tiles : nullptr;
  }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    return bound_of_tiles(
        plan, survey, [&](const RatioLimits& limits) { return bound_tiles(plan, limits); },
        [&] { return bound_tiles(plan, bands); });
  }

  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    std::optional<Proposal> proposal = propose_halos(problem, rejection);
    if (!proposal) return proposal;
    choose_form_by_groups(problem, proposal->plan);
    if (problem.narrows()) keep_narrow(proposal->plan);  // set-up has rounded the bands
    return proposal;
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    return least_of_halos(problem);
  }

 private:
  /// Rate of an apply, as a share of the rate of a plain stream.
  static double share(const Plan& plan, int word) {
    const Tuning& figures = figures_of(plan);
    const bool wide = word > static_cast<int>(sizeof(float));
    if (plan.halo == 0 && plan.group_rows() > small_tile(plan)) return figures.number("tiles.whole_shares", wide);
    const std::vector<Tuning::Row>& measured = figures.rows("tiles.halo_shares");
    for (const Tuning::Row& row : measured) {
      if (plan.halo <= static_cast<Index>(row[0])) return row[1 + wide];
    }
    return measured.back()[1 + wide] * measured.back()[0] / static_cast<double>(plan.halo);
  }
};

class TilesKept final : public HaloTiles<TilesKept> {
 public:
  const char* name() const override { return "tiles-kept"; }
  std::string shape(const Plan& plan) const override {
    return (plan.halo > 0 ? format("halo %lld, ", static_cast<long long>(plan.halo)) : std::string("whole lines, ")) +
           "shared factors, " + groups_text(plan);
  }
  Nature nature() const override {
    return {.kernels = Kernels::groups, .stores_factors = true, .solves_interfaces = true};
  }
  double passes(const Plan& plan, const Survey&) const override {
    return plan.halo == 0 && plan.group_rows() > small_tile(plan) ? 5 : 0;
  }
  bool first_rows_tell(const Plan&) const override { return false; }
  Elimination elimination(const Plan&) const override { return {.excess = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) const {
    return bound_of_tiles(
        plan, survey, [&](const RatioLimits& limits) { return bound_kept(plan, limits); },
        [&] {
          // One tile of whole lines, or the parts of one line, represent all tiles.
          Plan alike = plan;
          alike.n = plan.halo > 0 ? lines.length(0) : std::min(plan.n, plan.m);
          return bound_runs(alike, bands);
        });
  }

  /// Propose tiles that hold short lines whole. If no tile suits, tiles-halo is asked next, and explains a refusal.
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection&) const {
    if (!problem.survey.shared || breaks_symmetry<T>(problem.options, problem.symmetric)) return std::nullopt;
    std::optional<Proposal> parts = propose_parts(problem, tolerance<T>(problem.options));
    const bool short_lines = problem.bands.lines().length(0) <= small_tile(problem.traits) && whole_lines(problem) > 0;
    return parts && !short_lines ? parts : propose_kept_halos(problem);
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    if (!problem.survey.shared || problem.options.partition > 0 || !oclspkt::interfaces_are_stable(problem.survey))
      return std::nullopt;
    std::optional<Plan> plan = least_of_halos(problem);
    const bool kept =
        plan && share_line(*plan, problem.bands.lines().length(0), problem.word) && keep_shared_factors(problem, *plan);
    return kept ? plan : std::nullopt;
  }
};

}  // namespace

const Scheme& tiles_halo() { return only<TilesHalo>(); }
const Scheme& tiles_kept() { return only<TilesKept>(); }

}  // namespace oclspkt
