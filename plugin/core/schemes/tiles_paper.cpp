// SPDX-License-Identifier: BSD-2-Clause
// truncated SPIKE in the form of 2019, by work-items.
#include "certificate.hpp"
#include "geometry.hpp"
#include "paper_form.hpp"
#include "rounding_runs.hpp"
#include "schemes/paper_scheme.hpp"
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"

namespace oclspkt {
namespace {

constexpr const char* kTilesPaper = "tiles-paper";
/// Work-items of a work-group, as far as a device allows.
constexpr int kPaperItems = 64;
/// Work-items of a work-group at least, where fewer let partitions stay in local memory.
constexpr int kFewestStagedItems = 32;
/// Arrays of a chunk: three bands, y, x, six that are marshalled; and one for all that is small.
constexpr Index kPaperArrays = 12;

/// The largest power of two that is at most `most`, and at most kPaperItems.
int choose_items(int most) {
  int items = kPaperItems;
  while (items > 1 && items > most) items /= 2;
  return items;
}

/// True if rows of dominance d alone cover a plan. Where the growth is not harmless, so below kHarmlessInterface, the
/// trial solves decide.
bool covered_by_dominance(double d, const Plan& plan, double tol) { return bound_paper(d, plan.m) <= tol; }

/// Why partitions of that length do not hold.
std::string paper_refusal(const Plan& plan, const Certificate& c, double tol) {
  const std::string why = format("certificate %.1e > %.1e (", c.bound, tol) + where(c) + ")";
  return format("partitions of %lld rows in the paper's form: ", static_cast<long long>(plan.m)) + why +
         ": raise rtol, or choose variant gpu";
}

class TilesPaper final : public SchemeOf<TilesPaper> {
 public:
  const char* name() const override { return kTilesPaper; }
  std::string shape(const Plan& plan) const override {
    return format("variant paper, work-groups of %d partitions of %lld rows, factored in every apply", plan.items,
                  static_cast<long long>(plan.m));
  }
  double words(const Plan& plan) const override { return plan.m > 0 ? paper_words(plan) : 5; }
  int launches(const Plan&) const override { return 5; }
  bool only_asked_for() const override { return true; }
  Cut cut(const Plan& plan) const override { return {plan.tile_rows(), plan.m, plan.m, false}; }
  bool solves_interfaces() const override { return true; }
  Elimination elimination(const Plan&) const override { return {.plain = true, .excess = true, .upwards = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    if (plan.n == 0) return {0};
    return survey.finite ? bound_paper_form(plan, bands) : Rounding{kNothingKnown};
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::truncated_halo && by_tiles(problem) &&
           (problem.traits.paper || problem.options.variant == name());
  }
  /// Partitions get longer until the certificate holds; it is rejected where that does not help, also for users who
  /// named the method.
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    if (reject_asymmetry(problem, rejection)) return std::nullopt;
    const double tol = tolerance<T>(problem.options), d = problem.survey.decay();
    const Index n = problem.bands.lines().rows(), asked = problem.options.partition;
    for (Index m = asked > 0 ? asked : kPaperRows;; m *= 2) {
      const Plan plan = make_paper_plan(n, m, sizeof(T), problem.traits);
      if (plan.chunk_tiles == 0 && n > 0) {
        rejection = {"the device's memory does not hold a tile in the paper's form: raise device_memory", {}, plan};
        return std::nullopt;
      }
      if (!(problem.survey.dominance >= 1)) {
        rejection = {format("row dominance %.4f < 1, the paper's form does not pivot: choose variant gpu",
                            problem.survey.dominance),
                     lines_paper_leaves(problem, plan.m, tol), plan};
        return std::nullopt;
      }
      if (covered_by_dominance(d, plan, tol)) return covered(plan, bound_paper(d, plan.m), tol, problem.survey);
      const Certificate c = certify_paper(plan, problem.bands.view(), tol);
      if (c.bound <= tol) return covered(plan, c.bound, tol, problem.survey);
      rejection = {paper_refusal(plan, c, tol), {}, plan};
      if (asked > 0 || 2 * m > kLongestPaperRows || plan.m >= n || c.bound <= tol) {
        rejection.lines = lines_paper_leaves(problem, plan.m, tol);
        return std::nullopt;
      }
    }
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    const Index asked = problem.options.partition;
    return make_paper_plan(problem.bands.lines().rows(), asked > 0 ? asked : kPaperRows, sizeof(T), problem.traits);
  }
};

}  // namespace

Plan make_paper_plan(Index n, Index m, int word, const DeviceTraits& traits) {
  Plan plan;
  plan.made_by = kTilesPaper;
  plan.method = Method::truncated_halo;
  plan.add<PaperForm>();
  plan.n = n;
  plan.m = std::min(m, round_up(std::max<Index>(n, 1), kPaperRows));
  const auto fits = [&](int items, Index words) { return items * words * word <= traits.local_bytes; };
  const Index transposed = paper_block_rows(word) + 1, kept = 4 * plan.m;
  plan.items = choose_items(traits.group_items);
  while (plan.items > 1 && !fits(plan.items, transposed)) plan.items /= 2;
  const int fewer = std::min(plan.items, kFewestStagedItems);
  plan.as<PaperForm>().staged = fits(fewer, kept);
  if (plan.as<PaperForm>().staged && !fits(plan.items, kept)) plan.items = fewer;
  plan.lanes = plan.items;
  plan.item_rows = static_cast<int>(plan.m);
  const std::int64_t words = std::min(traits.chunk_bytes, traits.memory_bytes / kPaperArrays) / word;
  // The neighbours' partitions come along, in whole tiles.
  plan.chunk_tiles = std::clamp<Index>(words / plan.tile_rows() - 2, 0, plan.tiles());
  return plan;
}

const Scheme& tiles_paper() {
  static const TilesPaper scheme;
  return scheme;
}

}  // namespace oclspkt
