// SPDX-License-Identifier: BSD-2-Clause
// truncated-halo by lanes, for lines side by side that are cut into segments.
#include "schemes/beside/beside_plans.hpp"
#include "schemes/beside_scheme.hpp"
#include "schemes/halos.hpp"
#include "schemes/proposal.hpp"
#include "schemes/texts.hpp"

namespace oclspkt {
namespace {

/// Time of a row in a sweep without stored factors against one with them, where a bundle is narrow: each row waits for
/// the one before, and for its division. Measured on one core for 3 to 20 lines (PoCL, Intel's run-time; AVX2): 1.2 to
/// 1.7.
constexpr double kDivisionChain = 1.6;

/// Lines cut into segments with a halo of `needed` rows, or whole if that is -1 (unknown).
template <typename T>
Plan halo_plan(const Problem<T>& problem, Index needed) {
  const LineSet& lines = problem.bands.lines();
  const Index whole = lines.count() > 0 ? lines.length(0) : 0,
              halo = needed < 0 ? whole : round_up(needed, kHaloQuantum);
  return make_strided_halo_plan(lines, halo, problem.options.partition, sizeof(T), problem.traits);
}

class BesideHalo final : public SchemeOf<BesideHalo, BesideScheme> {
 public:
  const char* name() const override { return "beside-halo"; }
  std::string shape(const Plan& plan) const override {
    return format("halo %lld, %lld segments a line", static_cast<long long>(plan.halo),
                  static_cast<long long>(plan.as<Beside>().segments));
  }
  /// If the window between both sweeps does not fit in the cache, its rows are written to memory and read again. The
  /// way back reads what the way down left of the rows of a segment and of those below it.
  double words(const Plan& plan) const override {
    return plan.as<Beside>().windowed ? 4 * overlap_of_segments(plan) + 1 : 7 * overlap_of_segments(plan) + 2;
  }
  double stream_words(const Plan& plan, int) const override {
    const double stored = plan.as<Beside>().windowed ? 5 : 7;  // words of sweeps with stored factors
    return plan.idle * std::max(words(plan), kDivisionChain * overlap_of_segments(plan) * stored);
  }
  Elimination elimination(const Plan&) const override { return {.plain = true, .excess = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    return bound_halos(plan, plan.as<Beside>().segments == 1, bands, survey);
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    const bool asked = problem.options.method == MethodChoice::truncated_halo || !takes_grid(problem);
    return method == Method::truncated_halo && asked && !problem.bands.lines().contiguous() && !by_task(problem);
  }
  /// Cut lines side by side into segments. The bound follows from dominance alone, not from the decay of each line. A
  /// line may stay whole: for few applies the method pays because it stores no factors.
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    const double tol = tolerance<T>(problem.options);
    if (reject_asymmetry(problem, rejection)) return std::nullopt;
    const double d = problem.survey.decay();
    const Index needed = halo_from_dominance(d, tol);
    if (needed < 0 && named(problem.options.method)) {
      rejection.why =
          format("row dominance %.4f; lines side by side are cut into segments only above 1", problem.survey.dominance);
      return std::nullopt;
    }
    const Plan plan = halo_plan(problem, needed);
    const bool truncates = plan.as<Beside>().segments > 1 && plan.halo < problem.bands.lines().length(0);
    const double bound = truncates ? 2 * std::pow(d, -static_cast<double>(plan.halo + 1)) : 0;
    return covered(plan, bound, tol, problem.survey);
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    const Index needed = halo_from_dominance(problem.survey.decay(), tolerance<T>(problem.options));
    const Plan plan = halo_plan(problem, needed);
    return plan.as<Beside>().chunk_blocks == 0 && plan.n > 0 ? std::nullopt : std::optional(plan);
  }
};

}  // namespace

const Scheme& beside_halo() { return only<BesideHalo>(); }

}  // namespace oclspkt
