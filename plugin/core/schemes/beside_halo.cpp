// SPDX-License-Identifier: BSD-2-Clause
// truncated-halo by lanes, for lines side by side that are cut into segments.
#include "geometry.hpp"
#include "grid_plan.hpp"
#include "schemes/halos.hpp"
#include "schemes/lane_bounds.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"

namespace oclspkt {
namespace {

class BesideHalo final : public SchemeOf<BesideHalo> {
 public:
  const char* name() const override { return "beside-halo"; }
  bool owns(const Plan& plan) const override {
    return plan.has<Beside>() && plan.method == Method::truncated_halo && !grid(plan);
  }
  std::string shape(const Plan& plan) const override {
    return format("halo %lld, %lld segments a line", static_cast<long long>(plan.halo),
                  static_cast<long long>(plan.as<Beside>().segments));
  }
  /// Where the window between both sweeps is memory, what it keeps is written and read again.
  double words(const Plan& plan) const override { return (plan.as<Beside>().windowed ? 4 : 8) * plan.overlap() + 1; }
  Elimination elimination() const override { return {.plain = true, .excess = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    return bound_halos(plan, plan.as<Beside>().segments == 1, bands, survey);
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::truncated_halo && !problem.bands.lines().contiguous();
  }
  /// Cut lines side by side into segments. Only dominance covers them: the decay of each line is not followed. For few
  /// applies they may stay whole: what counts then is that no factors are stored.
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    const double tol = tolerance<T>(problem.options);
    if (reject_asymmetry(problem, rejection)) return std::nullopt;
    const double d = problem.survey.decay();
    const LineSet& lines = problem.bands.lines();
    const Index needed = halo_from_dominance(d, tol);
    if (needed < 0 && !problem.one_shot) {
      rejection.why =
          format("row dominance %.4f; lines side by side are cut into segments only above 1", problem.survey.dominance);
      return std::nullopt;
    }
    const Index halo = needed < 0 ? lines.length(0) : round_up(needed, kHaloQuantum);
    const Plan plan = make_strided_halo_plan(lines, halo, problem.options.partition, sizeof(T), problem.traits);
    // Where nothing is to be stored whole lines are no rival, and their rows not looked at for symmetry.
    const bool unrivalled = named(problem.options.method) || (problem.one_shot && plan.as<Beside>().chunk_blocks > 0);
    if (!unrivalled) {
      const Plan whole = factored_plan(problem);
      if (!cutting_pays(plan, whole)) {
        rejection = {
            format("no cheaper than whole lines, which keep %.0f %% of cores and lanes busy", 100 / whole.idle),
            {},
            plan};
        return std::nullopt;
      }
    }
    const double bound = plan.as<Beside>().segments > 1 ? 2 * std::pow(d, -static_cast<double>(halo + 1)) : 0;
    return covered(plan, bound, tol, problem.survey);
  }
  template <typename T>
  bool at_once(const Problem<T>& problem) const {
    return problem.survey.dominance >= kSafeWholeLines;
  }
};

}  // namespace

const Scheme& beside_halo() {
  static const BesideHalo scheme;
  return scheme;
}

}  // namespace oclspkt
