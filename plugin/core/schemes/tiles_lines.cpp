// SPDX-License-Identifier: BSD-2-Clause
// exact-factored by work-groups that take whole lines, laid end to end and all alike.
#include "geometry.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"
#include "schemes/tile_bounds.hpp"

namespace oclspkt {
namespace {

/// make_whole_line_plan() where lines and their inner rows are all alike, and rounding is bounded.
template <typename T>
std::optional<Plan> whole_line_plan(const Problem<T>& problem) {
  const LineSet& lines = problem.bands.lines();
  const bool asked = problem.traits.group_items > 0 && problem.survey.shared && problem.options.partition == 0;
  if (!asked || lines.count() < 2 || !settles(problem.survey) || !has_rows_alike(problem)) return std::nullopt;
  const Index length = lines.length(0);
  const bool symmetric = is_symmetric(LineSet::one(length), problem.bands.view());
  std::optional<Plan> plan = make_whole_line_plan(lines.rows(), length, symmetric, sizeof(T), problem.traits);
  Rounding rounding;
  return plan && rounds_little(problem, *plan, rounding) ? plan : std::nullopt;
}

class TilesLines final : public SchemeOf<TilesLines> {
 public:
  const char* name() const override { return "tiles-lines"; }
  bool owns(const Plan& plan) const override { return takes_lines(plan); }
  std::string shape(const Plan& plan) const override {
    return format("shared factors, whole lines by work-groups of %d x %lld rows", plan.as<KeptTiles>().teams,
                  static_cast<long long>(line_tile_rows(plan)));
  }
  /// y, y from the cache, x.
  double words(const Plan&) const override { return 3; }
  bool settles() const override { return true; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    return bound_condensed(plan, bands, survey);
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::exact_factored && by_tiles(problem);
  }
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection&) const {
    const std::optional<Plan> plan = whole_line_plan(problem);
    return plan ? std::optional<Proposal>(exact_proposal(problem, *plan)) : std::nullopt;
  }
};

}  // namespace

const Scheme& tiles_lines() {
  static const TilesLines scheme;
  return scheme;
}

}  // namespace oclspkt
