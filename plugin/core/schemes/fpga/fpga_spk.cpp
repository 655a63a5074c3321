// SPDX-License-Identifier: BSD-2-Clause
// Schemes of truncated-streamed by one work-item, for lines laid end to end in blocks of rows (task_form.hpp). They
// differ in their CutSweep. fpga-spktrunc is the form of Macintosh, Banks and Kelson (2019).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "evidence.hpp"
#include "partition_sweeps.hpp"
#include "plan_parts.hpp"
#include "schemes/fpga/task_form.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {
namespace {

/// The largest |w_i| and |v_i| of some rows of a block: the responses to 1 above the block, and to 1 below it.
struct LargestSpikes {
  double above = 0, below = 0;
  double error(double error_above, double error_below) const { return above * error_above + below * error_below; }
};

/// The spikes of a block at its ends, and the largest spikes in each half.
struct BlockSpikes {
  double v_b = 0, w_t = 0;      ///< spike tips with their signs
  double w_b = 0, v_t = 0;      ///< absolute values of spike tips
  LargestSpikes top, bottom{};  ///< largest spikes of the upper and of the lower half
  bool finite = true;
};

/// Compute the spikes of a block as products of its rows' ratios. `down` holds the rows from the top, `up` from the
/// bottom.
BlockSpikes spikes_of(const ForwardSweep& down, const ForwardSweep& up) {
  BlockSpikes spikes;
  const std::size_t rows = down.coupling.size(), middle = rows / 2;
  double above = 1, below = 1;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t other = rows - 1 - i;
    above *= up.coupling[other];
    below *= down.coupling[other];
    double& of_above = (i < middle ? spikes.top : spikes.bottom).above;
    double& of_below = (other < middle ? spikes.top : spikes.bottom).below;
    of_above = std::max(of_above, above);
    of_below = std::max(of_below, below);
  }
  spikes.v_b = down.last;
  spikes.w_t = up.last;
  spikes.w_b = down.entered.back();
  spikes.v_t = up.entered.back();
  spikes.finite = std::isfinite(above + below + spikes.v_b + spikes.w_t + spikes.w_b + spikes.v_t);
  return spikes;
}

template <typename T>
std::vector<BlockSpikes> sweep_blocks(const Plan& plan, const BandsView<T>& bands) {
  const SweepRows<T> rows(bands, plan.n, false), upwards(bands, plan.n, true);
  std::vector<BlockSpikes> blocks(static_cast<std::size_t>(plan.partitions()));
  for_pieces(plan.partitions(), std::max<Index>(1, kPieceRows / plan.m), [&](Index begin, Index end) {
    ForwardSweep down, up;
    for (Index k = begin; k < end; ++k) {
      const Index first = k * plan.m, behind = std::min(plan.n, first + plan.m);
      down.fill(rows, first, behind);
      up.fill(upwards, plan.n - behind, plan.n - first);
      blocks[static_cast<std::size_t>(k)] = spikes_of(down, up);
    }
  });
  return blocks;
}

/// @param error_above, error_below  errors of the unknowns above the upper block and below the lower block
BesideCut errors_of_cut(const BlockSpikes& upper, const BlockSpikes& lower, double error_above, double error_below) {
  const double inverse = 1 / std::abs(1 - upper.v_b * lower.w_t);
  const double from_above = upper.w_b * error_above, from_below = lower.v_t * error_below;
  return {(from_above + std::abs(upper.v_b) * from_below) * inverse,
          (std::abs(lower.w_t) * from_above + from_below) * inverse};
}

/// The errors of all cuts. Cut k lies above block k; the first and the last cut have no error.
std::vector<BesideCut> errors_of_cuts(const std::vector<BlockSpikes>& blocks, CutSweep sweep) {
  std::vector<BesideCut> once(blocks.size() + 1);
  for (std::size_t k = 1; k < blocks.size(); ++k) once[k] = errors_of_cut(blocks[k - 1], blocks[k], 1, 1);
  if (sweep != CutSweep::jacobi) return once;
  std::vector<BesideCut> twice(once.size());
  for (std::size_t k = 1; k < blocks.size(); ++k) {
    twice[k] = errors_of_cut(blocks[k - 1], blocks[k], once[k - 1].above, once[k + 1].below);
  }
  return twice;
}

class FpgaSpk final : public SchemeOf<FpgaSpk> {
 public:
  FpgaSpk(const char* name, CutSweep sweep) : name_(name), sweep_(sweep) {}
  const char* name() const override { return name_; }
  std::string shape(const Plan& plan) const override {
    constexpr const char* kHow[] = {"each half from its own cut", "from both cuts", "from both cuts, solved twice"};
    return format("one work-item, blocks of %lld rows ", static_cast<long long>(plan.m)) +
           kHow[static_cast<int>(sweep_)] + (plan.symmetric() ? ", symmetric" : "");
  }
  double words(const Plan& plan) const override { return words_of_one_pass(plan); }
  Cut cut(const Plan& plan) const override {
    const Index overlap = task_overlap(sweep_) * plan.m;
    return {plan.m, overlap, overlap, false};
  }
  Nature nature() const override { return {.kernels = Kernels::task, .only_asked_for = sweep_ != CutSweep::jacobi}; }
  Elimination elimination(const Plan&) const override { return {.plain = true, .upwards = true}; }

  std::optional<Plan> make(const PlanRequest& r) const override {
    if (r.method != Method::truncated_streamed || !r.traits.task || nature().only_asked_for) return std::nullopt;
    return make_task_plan(r.lines.rows(), r.partition > 0 ? r.partition : kTaskRows, name_, r.word, r.traits);
  }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>&, const Survey& survey) const {
    if (plan.n == 0) return {0};
    return {survey.finite ? rounding_of_task(sweep_, survey.dominance, plan.m) : kNothingKnown};
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    const bool of_paper = problem.traits.paper && sweep_ == CutSweep::half;
    const bool asked = !nature().only_asked_for || of_paper || problem.options.variant == name_;
    return method == Method::truncated_streamed && by_task(problem) && asked && problem.bands.lines().contiguous();
  }
  /// Propose blocks of increasing length until the certificate holds.
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    if (reject_asymmetry(problem, rejection)) return std::nullopt;
    const double tol = tolerance<T>(problem.options), d = problem.survey.decay();
    if (!(problem.survey.dominance > 1)) {
      rejection = {
          format("row dominance %.4f, blocks that are solved by themselves need more than 1", problem.survey.dominance),
          lines_not_covered(problem, tol), plan_of(problem, kTaskRows)};
      return std::nullopt;
    }
    for (Index m = first_rows(problem);; m *= 2) {
      const Plan plan = plan_of(problem, m);
      const bool longest = problem.options.partition > 0 || plan.m == kMostTaskRows || plan.m >= plan.n;
      if (const double bound = bound_task(sweep_, d, plan.m); bound <= tol) {
        return covered(in_form(problem, plan), bound, tol, problem.survey);
      }
      const Certificate c = certificate_of(problem, plan, tol, [&](const Plan& of, const BandsView<T>& bands) {
        return certify_task(of, sweep_, bands);
      });
      if (c.bound <= tol) return covered(in_form(problem, plan), c.bound, tol, problem.survey);
      if (!longest) continue;
      if (problem.insist && std::isfinite(c.bound)) return uncovered(in_form(problem, plan), c, tol);
      rejection = {format("blocks of %lld rows: ", static_cast<long long>(plan.m)) + certificate_text(c, tol),
                   lines_not_covered(problem, tol), plan};
      return std::nullopt;
    }
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    return plan_of(problem, first_rows(problem));
  }

 private:
  template <typename T>
  static Index first_rows(const Problem<T>& problem) {
    return problem.options.partition > 0 ? problem.options.partition : kTaskRows;
  }
  template <typename T>
  Plan plan_of(const Problem<T>& problem, Index m) const {
    return make_task_plan(problem.bands.lines().rows(), m, name_, problem.word, problem.traits);
  }
  template <typename T>
  static Plan in_form(const Problem<T>& problem, Plan plan) {
    serve_if_symmetric(problem, plan);
    return plan;
  }
  /// The lines whose dominance does not suffice even for the longest blocks; empty if these lines are many.
  template <typename T>
  std::vector<Index> lines_not_covered(const Problem<T>& problem, double tol) const {
    const Index m = problem.options.partition > 0 ? problem.options.partition : kMostTaskRows;
    return weak_lines(problem, [&](double d) {
      return bound_task(sweep_, d, m) <= tol && rounding_of_task(sweep_, d, m) <= problem.rounding_limit;
    });
  }

  const char* name_;
  CutSweep sweep_;
};

}  // namespace

Plan make_task_plan(Index n, Index m, const char* scheme, int word, const DeviceTraits& traits) {
  check_partition(m);
  Plan plan{.method = Method::truncated_streamed, .n = n};
  const auto wanted = static_cast<std::uint64_t>(std::clamp(m, kTaskRows, kMostTaskRows));
  plan.m = static_cast<Index>(std::bit_ceil(wanted));
  plan.made_by = scheme;
  cut_into_chunks(plan, word, traits);
  return plan;
}

template <typename T>
Certificate certify_task(const Plan& plan, CutSweep sweep, const BandsView<T>& bands) {
  if (sweep == CutSweep::half) return certify_halves(plan, bands);
  const std::vector<BlockSpikes> blocks = sweep_blocks(plan, bands);
  const std::vector<BesideCut> cuts = errors_of_cuts(blocks, sweep);
  Certificate worst;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const double above = cuts[k].above, below = cuts[k + 1].below;
    const double error = std::max(blocks[k].top.error(above, below), blocks[k].bottom.error(above, below));
    const bool known = blocks[k].finite && std::isfinite(above + below);
    if (known && error <= worst.bound) continue;
    const Index first = static_cast<Index>(k) * plan.m, last = std::min(plan.n, first + plan.m) - 1;
    worst = {known ? error : kNothingKnown, static_cast<Index>(k), first, last, above > below};
    if (!known) break;
  }
  return worst;
}

double bound_task(CutSweep sweep, double d, Index m) {
  if (sweep == CutSweep::half) return bound_halves(d, m);
  if (!(d > 1)) return std::numeric_limits<double>::infinity();
  if (std::isinf(d)) return 0;
  const double through = std::pow(d, -static_cast<double>(m)), once = d * through / (d - 1);
  return (1 / d + through) * once * (sweep == CutSweep::jacobi ? once : 1);
}

double rounding_of_task(CutSweep sweep, double d, Index m) {
  if (!(d > 1)) return kNothingKnown;
  const double r = 1 / d, sum = 1 / (1 - r), share = r / (1 + r);  // sum: d / (d - 1); share: 1 / (1 + d)
  const double local = 6 + (2 + 7 * r) * share;
  // The rounding of products of m multipliers, and of their products with entering values.
  const double products = 6 * static_cast<double>(m) * std::pow(r, static_cast<double>(m));
  if (sweep == CutSweep::half) {
    // Each sweep begins at an end of a block, where no value enters, and ends in its middle. The 2x2 system gives the
    // unknowns at a cut, so the equation above the cut has only the rounding of that system.
    const double twice = 2 * (5 + (4 + 5 * r) * r) * sum;
    return (local + std::max(9.0, twice * share)) / 2;
  }
  const double up = 4 + r + (5 + 2 * r) * r, twice = (6 + (8 + 7 * r) * r + up) * sum + 3;
  return (local + std::max(14.0, twice + products) * share) / 2;
}

template Certificate certify_task(const Plan&, CutSweep, const BandsView<float>&);
template Certificate certify_task(const Plan&, CutSweep, const BandsView<double>&);

const Scheme& fpga_spktrunc() {
  static const FpgaSpk scheme("fpga-spktrunc", CutSweep::half);
  return scheme;
}

const Scheme& fpga_spkboth() {
  static const FpgaSpk scheme("fpga-spkboth", CutSweep::both);
  return scheme;
}

const Scheme& fpga_spkjac() {
  static const FpgaSpk scheme("fpga-spkjac", CutSweep::jacobi);
  return scheme;
}

}  // namespace oclspkt
