// SPDX-License-Identifier: BSD-2-Clause
// truncated-halo by work-groups, for lines laid end to end.
#include <algorithm>
#include <iterator>

#include "geometry.hpp"
#include "schemes/halos.hpp"
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"
#include "schemes/tile_bounds.hpp"

namespace oclspkt {
namespace {

class TilesHalo final : public SchemeOf<TilesHalo> {
 public:
  const char* name() const override { return "tiles-halo"; }
  std::string shape(const Plan& plan) const override {
    return format("halo %lld, ", static_cast<long long>(plan.halo)) + groups_text(plan);
  }
  double words(const Plan& plan) const override { return words_of_one_pass(plan); }
  double stream_words(const Plan& plan, int word) const override {
    return (1 + (words(plan) - 1) / plan.overlap()) / share(plan, word);
  }
  double passes(const Plan& plan, const Survey&) const override { return plan.halo > kQuickHaloOfLikeRows ? 4 : 0; }
  /// A work-group reads its tile to the end, also where whole lines fill less of it.
  Cut cut(const Plan& plan) const override {
    return {plan.m, plan.halo, std::max(plan.halo, plan.group_rows() - plan.halo - plan.m), false};
  }
  Elimination elimination(const Plan&) const override { return {.plain = true, .excess = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    return bound_of_tiles(
        plan, survey, [&](const RatioLimits& limits) { return bound_tiles(plan, limits); },
        [&] { return bound_tiles(plan, bands); });
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::truncated_halo && by_tiles(problem);
  }
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    std::optional<Proposal> proposal = propose_halos(problem, rejection);
    if (!proposal) return proposal;
    choose_form_by_groups(problem, proposal->plan);
    if (narrows<T>(problem.options)) keep_narrow(proposal->plan);  // set-up has rounded the bands
    return proposal;
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    return least_of_halos(problem);
  }

 private:
  /// Share of the stream, H200, 3e7 rows. A tile of a longer line, held whole, leaves a core nothing else to do.
  static double share(const Plan& plan, int word) {
    struct Measured {
      Index halo;
      double of_float, of_double;
    };
    constexpr Measured kMeasured[] = {{0, 0.97, 0.99}, {168, 0.96, 1.01}, {256, 0.91, 0.97}, {352, 0.84, 0.89}};
    constexpr double kLongWholeFloat = 0.92, kLongWholeDouble = 0.83;
    const bool is_float = word == static_cast<int>(sizeof(float));
    if (plan.halo == 0 && plan.group_rows() > kSmallTile) return is_float ? kLongWholeFloat : kLongWholeDouble;
    for (const Measured& m : kMeasured) {
      if (plan.halo <= m.halo) return is_float ? m.of_float : m.of_double;
    }
    const Measured& last = *std::rbegin(kMeasured);
    return (is_float ? last.of_float : last.of_double) * static_cast<double>(last.halo) /
           static_cast<double>(plan.halo);
  }
};

}  // namespace

const Scheme& tiles_halo() {
  static const TilesHalo scheme;
  return scheme;
}

}  // namespace oclspkt
