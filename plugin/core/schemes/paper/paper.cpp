// SPDX-License-Identifier: BSD-2-Clause
// Schemes of truncated SPIKE by Macintosh, Banks and Kelson (2019): lanes-paper for CPUs, tiles-paper for GPUs.
#include <algorithm>
#include <utility>
#include <vector>

#include "certificate.hpp"
#include "plan_parts.hpp"
#include "schemes/paper/paper_form.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {
namespace {

/// Longest m_min that is taken from the survey alone. Up to this length, a sweep of all rows costs more than it saves.
constexpr Index kQuickRows = 128;

constexpr const char* kTilesPaper = "tiles-paper";
/// Work-items of a work-group if the device allows that many.
constexpr int kPaperItems = 64;
/// Work-items of a smaller work-group, for partitions that do not fit into local memory with kPaperItems work-items.
constexpr int kFewestStagedItems = 32;
/// Arrays of a chunk: three bands, y, x and six marshalled arrays. A twelfth stands for all small arrays together.
constexpr Index kPaperArrays = 12;

/// Rows of a vector. A partition has an odd number of vectors: with a power of two, the rows of a tile's partitions
/// would collide in the caches while they are marshalled.
constexpr Index kVectorRows = 16;
/// Most rows of a partition, because kernels count them in 32 bits.
constexpr Index kLongestPartition = Index{1} << 28;

/// Words of each array of a chunk that the memory holds.
std::int64_t words_of(int word, const DeviceTraits& traits) {
  return std::min(traits.chunk_bytes, traits.memory_bytes / kPaperArrays) / word;
}

/// Words per row of marshalling forth and back: three bands, y and x, each read once and written once.
constexpr double kMarshalling = 10;

/// The largest power of two of work-items that is at most `most` and at most kPaperItems.
int choose_items(int most) {
  int items = kPaperItems;
  while (items > 1 && items > most) items /= 2;
  return items;
}

/// Lines for which bound_halves() of their dominance exceeds `tol` with partitions of `rows` rows; empty if these lines
/// have too many rows for the fallback method.
template <typename T>
std::vector<Index> lines_paper_leaves(const Problem<T>& problem, Index rows, double tol) {
  return weak_lines(problem, [&](double d) { return bound_halves(d, rows) <= tol; });
}

template <typename S>
class Paper : public SchemeOf<S> {
 public:
  Nature nature() const override { return {.only_asked_for = true, .solves_interfaces = true}; }
  Cut cut(const Plan& plan) const override { return {plan.tile_rows(), plan.m, plan.m, false}; }
  Elimination elimination(const Plan&) const override { return {.plain = true, .excess = true, .upwards = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    if (plan.n == 0) return {0};
    return survey.finite ? bound_paper(plan, bands) : Rounding{kNothingKnown};
  }

 protected:
  template <typename T>
  bool asked_for(Method method, const Problem<T>& problem) const {
    return method == Method::truncated_halo && (problem.traits.paper || problem.options.variant == this->name());
  }
  /// Why this form cannot solve the lines, whatever the certificate; an empty rejection if it can.
  template <typename T>
  static Rejection hopeless(const Problem<T>& problem, const char* variant, Index rows, double tol, const Plan& plan) {
    if (plan.chunk_tiles == 0 && plan.n > 0) {
      return {"the device's memory does not hold a tile in the paper's form: raise device_memory", {}, plan};
    }
    if (problem.survey.dominance >= 1) return {};
    return {format("row dominance %.4f < 1, the paper's form does not pivot: choose variant %s",
                   problem.survey.dominance, variant),
            lines_paper_leaves(problem, rows, tol), plan};
  }
};

class LanesPaper final : public Paper<LanesPaper> {
 public:
  const char* name() const override { return "lanes-paper"; }
  std::string shape(const Plan& plan) const override {
    return format("variant paper, %d lanes of partitions of %lld rows, m_min %lld, factored in every apply", plan.lanes,
                  static_cast<long long>(plan.m), static_cast<long long>(plan.as<PaperLanes>().m_min));
  }
  double words(const Plan& plan) const override { return plan.m > 0 ? paper_lanes_words(plan) : 5; }
  int launches(const Plan&) const override { return 4; }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return by_lanes(problem) && this->asked_for(method, problem);
  }
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    if (reject_asymmetry(problem, rejection)) return std::nullopt;
    const double tol = tolerance<T>(problem.options), d = problem.survey.decay();
    const Plan least = plan_of(problem, kPaperLanesQuantum);
    rejection = this->hopeless(problem, "cpu", longest(problem), tol, least);
    if (rejection) return std::nullopt;
    for (Index m_min = kPaperLanesQuantum; m_min <= std::min(kQuickRows, longest(problem));
         m_min += kPaperLanesQuantum) {
      const double bound = bound_halves(d, m_min);
      if (bound <= tol) return covered(plan_of(problem, m_min), bound, tol, problem.survey);
    }
    return followed(problem, tol, rejection);
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    return plan_of(problem, kPaperLanesQuantum);
  }

 private:
  struct Judged {
    Plan plan;
    Certificate certificate;
  };

  /// The longest m_min to try: half of the partition that the user asks for, or else half of the usual partition or of
  /// kLongestPaperRows, whichever is longer.
  template <typename T>
  static Index longest(const Problem<T>& problem) {
    const Index asked = problem.options.partition;
    if (asked > 0) return std::max(kPaperLanesQuantum, asked / 2 / kPaperLanesQuantum * kPaperLanesQuantum);
    const Index m = paper_lanes_partition(problem.bands.lines().rows(), problem.word, problem.traits);
    return std::max(m, kLongestPaperRows) / 2 / kPaperLanesQuantum * kPaperLanesQuantum;
  }
  template <typename T>
  Plan plan_of(const Problem<T>& problem, Index m_min) const {
    const Index n = problem.bands.lines().rows(), asked = problem.options.partition;
    const Index m = asked > 0 ? asked : paper_lanes_partition(n, problem.word, problem.traits);
    return make_paper_lanes_plan(n, m, m_min, name(), problem.word, problem.traits);
  }
  template <typename T>
  Judged judge(const Problem<T>& problem, Index m_min, double tol) const {
    const Plan plan = plan_of(problem, m_min);
    return {plan, certify_paper_lanes(plan, problem.bands.view(), tol)};
  }
  /// Double m_min until the certificate holds. Then find the shortest m_min for which it holds, by bisection.
  template <typename T>
  std::optional<Proposal> followed(const Problem<T>& problem, double tol, Rejection& rejection) const {
    const Index limit = longest(problem);
    Index too_short = 0, m_min = kPaperLanesQuantum;
    Judged judged = judge(problem, m_min, tol);
    while (!(judged.certificate.bound <= tol) && m_min < limit && m_min < problem.bands.lines().rows()) {
      const Index longer = std::min(limit, 2 * m_min);
      if (plan_of(problem, longer).chunk_tiles == 0) break;  // the memory does not hold a tile
      too_short = std::exchange(m_min, longer);
      judged = judge(problem, m_min, tol);
    }
    if (!(judged.certificate.bound <= tol)) {
      rejection = {format("m_min %lld in partitions of %lld rows in the paper's form: ", static_cast<long long>(m_min),
                          static_cast<long long>(judged.plan.m)) +
                       certificate_text(judged.certificate, tol) + ": raise rtol, or choose variant cpu",
                   lines_paper_leaves(problem, limit, tol), judged.plan};
      return std::nullopt;
    }
    while (m_min - too_short > kPaperLanesQuantum) {
      const Index between = (too_short + m_min) / 2 / kPaperLanesQuantum * kPaperLanesQuantum;
      Judged shorter = judge(problem, between, tol);
      const bool holds = shorter.certificate.bound <= tol;
      (holds ? m_min : too_short) = between;
      if (holds) judged = std::move(shorter);
    }
    return covered(judged.plan, judged.certificate.bound, tol, problem.survey);
  }
};

class TilesPaper final : public Paper<TilesPaper> {
 public:
  const char* name() const override { return kTilesPaper; }
  std::string shape(const Plan& plan) const override {
    return format("variant paper, work-groups of %d partitions of %lld rows, factored in every apply", plan.items,
                  static_cast<long long>(plan.m));
  }
  Nature nature() const override {
    return {.kernels = Kernels::groups, .only_asked_for = true, .solves_interfaces = true};
  }
  double words(const Plan& plan) const override { return plan.m > 0 ? paper_words(plan) : 5; }
  int launches(const Plan&) const override { return 5; }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return by_tiles(problem) && this->asked_for(method, problem);
  }
  /// Propose longer and longer partitions until the certificate holds. If no certificate holds, reject the method, also
  /// for users who named it.
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    if (reject_asymmetry(problem, rejection)) return std::nullopt;
    const double tol = tolerance<T>(problem.options), d = problem.survey.decay();
    const Index n = problem.bands.lines().rows(), asked = problem.options.partition;
    for (Index m = asked > 0 ? asked : kPaperRows;; m *= 2) {
      const Plan plan = make_paper_plan(n, m, problem.word, problem.traits);
      rejection = this->hopeless(problem, "gpu", plan.m, tol, plan);
      if (rejection) return std::nullopt;
      const double known = bound_halves(d, plan.m);
      if (known <= tol) return covered(plan, known, tol, problem.survey);
      const Certificate c = certify_halves(plan, problem.bands.view(), tol);
      if (c.bound <= tol) return covered(plan, c.bound, tol, problem.survey);
      if (asked == 0 && 2 * m <= kLongestPaperRows && plan.m < n) continue;
      rejection = {format("partitions of %lld rows in the paper's form: ", static_cast<long long>(plan.m)) +
                       certificate_text(c, tol) + ": raise rtol, or choose variant gpu",
                   lines_paper_leaves(problem, plan.m, tol), plan};
      return std::nullopt;
    }
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    const Index asked = problem.options.partition;
    return make_paper_plan(problem.bands.lines().rows(), asked > 0 ? asked : kPaperRows, problem.word, problem.traits);
  }
};

}  // namespace

double paper_words(const Plan& plan) {
  // Words per row. The sweeps read three bands and y, and write reciprocal pivots and the swept y. The substitution
  // reads both results and one band, and writes x.
  constexpr double kSweeps = 4 + 2, kBack = 3 + 1;
  // Words per partition. Each of the four spike tips is written once and read twice. The 2x2 systems give the first and
  // the last unknown, so the substitution does not read the three numbers of their rows. A second sweep that reads the
  // arrays again does not read the coupling of the last row.
  constexpr double kTips = 3 * 4, kCuts = 2 * 3, kLast = 1;
  const double again = plan.as<PaperForm>().staged ? 0 : 4, spared = kCuts + (again > 0 ? kLast : 0);
  return kMarshalling + kSweeps + again + kBack + (kTips - spared) / static_cast<double>(plan.m);
}

Plan make_paper_plan(Index n, Index m, int word, const DeviceTraits& traits) {
  Plan plan{.method = Method::truncated_halo, .n = n, .made_by = kTilesPaper};
  plan.add<PaperForm>();
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
  // A chunk also holds the neighbours' partitions, in whole tiles.
  plan.chunk_tiles = std::clamp<Index>(words_of(word, traits) / plan.tile_rows() - 2, 0, plan.tiles());
  return plan;
}

Index paper_lanes_partition(Index n, int word, const DeviceTraits& traits) {
  const Index lanes = lanes_of_tile(traits), tiles = std::max(1, traits.cores);
  const Index vectors = quotient_up(quotient_up(std::max<Index>(n, 1), tiles * lanes), kVectorRows);
  // A chunk holds a tile for each core, and another tile for the neighbours' partitions.
  const Index held = words_of(word, traits) / ((tiles + 1) * lanes) / lanes * lanes;
  const Index fair = kVectorRows * (vectors % 2 == 0 ? vectors + 1 : vectors);
  return std::max(lanes, std::min({fair, held, kLongestPartition}));
}

Plan make_paper_lanes_plan(Index n, Index m, Index m_min, const char* scheme, int word, const DeviceTraits& traits) {
  Plan plan{.method = Method::truncated_halo, .n = n, .lanes = lanes_of_tile(traits), .made_by = scheme};
  const Index both = plan.add<PaperLanes>({round_up(m_min, kPaperLanesQuantum)}).swept_up();
  plan.m = round_up(std::max(std::min(m, std::max<Index>(n, 1)), both), plan.lanes);
  take_runs(plan, plan.tiles(), traits);
  const Index held = words_of(word, traits) / plan.tile_rows();
  // Unless a chunk holds all tiles, it also holds the neighbours' partitions.
  plan.chunk_tiles = held >= plan.tiles() ? plan.tiles() : std::max<Index>(0, held - 1);
  return plan;
}

double paper_lanes_words(const Plan& plan) {
  // Words per row. The sweeps read four arrays: UL the first 2 m_min rows, LU the rows from m_min on. They write
  // reciprocal pivots and the swept y once. The substitution reads both results and one band, and writes x.
  constexpr double kSwept = 4, kLeft = 2, kBack = 3 + 1;
  // Words per partition. Each of the four spike tips is written once and read twice. The 2x2 systems give the first and
  // the last unknown, so the substitution does not read the three numbers of their rows. Neither sweep reads the
  // coupling before its first row.
  constexpr double kTips = 3 * 4 - 2 * 3 - 2;
  const auto m = static_cast<double>(plan.m), m_min = static_cast<double>(plan.as<PaperLanes>().m_min);
  return kMarshalling + kSwept * (1 + m_min / m) + kLeft + kBack + kTips / m;
}

const Scheme& lanes_paper() { return only<LanesPaper>(); }
const Scheme& tiles_paper() { return only<TilesPaper>(); }

}  // namespace oclspkt
