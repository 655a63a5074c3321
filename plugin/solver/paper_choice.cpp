// SPDX-License-Identifier: BSD-2-Clause
// The choice of partitions for the paper's form of truncated SPIKE, which nobody gets who does not name it.
#include <algorithm>

#include "evidence.hpp"
#include "paper_form.hpp"
#include "proposal.hpp"

namespace oclspkt {
namespace {

/// True if rows of dominance d alone cover a plan. Where the growth is not harmless, so below kHarmlessInterface, the
/// trial solves decide.
bool covered_by_dominance(double d, const Plan& plan, double tol) { return bound_paper(d, plan.m) <= tol; }

/// The lines that dominance alone does not cover, if they are few.
template <typename T>
std::vector<Index> lines_not_covered(const Problem<T>& problem, const Plan& plan, double tol) {
  const LineSet& lines = problem.bands.lines();
  std::vector<Index> weak;
  for (Index l = 0; lines.count() > 1 && l < lines.count(); ++l) {
    if (!covered_by_dominance(line_dominance(lines, problem.bands.view(), l), plan, tol)) weak.push_back(l);
  }
  const bool few = rows_in(lines, weak) <= kApartShare * static_cast<double>(lines.rows());
  return few ? weak : std::vector<Index>{};
}

/// Why partitions of that length do not hold.
std::string paper_refusal(const Plan& plan, const Certificate& c, double tol) {
  const std::string why = format("certificate %.1e > %.1e (", c.bound, tol) + where(c) + ")";
  return format("partitions of %lld rows in the paper's form: ", static_cast<long long>(plan.m)) + why +
         ": raise rtol, or choose variant gpu";
}

}  // namespace

template <typename T>
std::optional<Proposal> propose_paper(const Problem<T>& problem, Objection& objection) {
  const double tol = tolerance<T>(problem.options), d = problem.survey.decay();
  const Index n = problem.bands.lines().rows(), asked = problem.options.partition;
  for (Index m = asked > 0 ? asked : kPaperRows;; m *= 2) {
    const Plan plan = make_paper_plan(n, m, sizeof(T), problem.traits);
    if (plan.chunk_tiles == 0 && n > 0) {
      objection = {"the device's memory does not hold a tile in the paper's form: raise device_memory", {}, plan};
      return std::nullopt;
    }
    if (!(problem.survey.dominance >= 1)) {
      objection = {format("row dominance %.4f < 1, the paper's form does not pivot: choose variant gpu",
                          problem.survey.dominance),
                   lines_not_covered(problem, plan, tol), plan};
      return std::nullopt;
    }
    if (covered_by_dominance(d, plan, tol)) return covered(plan, bound_paper(d, plan.m), tol, problem.survey);
    const Certificate c = certify_paper(plan, problem.bands.view(), tol);
    if (c.bound <= tol) {
      Proposal proposal = covered(plan, c.bound, tol, problem.survey);
      proposal.growth = std::max(proposal.growth, c.growth);
      return proposal;
    }
    objection = {paper_refusal(plan, c, tol), {}, plan};
    if (asked > 0 || 2 * m > kLongestPaperRows || plan.m >= n || c.bound <= tol) {
      objection.lines = lines_not_covered(problem, plan, tol);
      return std::nullopt;
    }
  }
}

template std::optional<Proposal> propose_paper<float>(const Problem<float>&, Objection&);
template std::optional<Proposal> propose_paper<double>(const Problem<double>&, Objection&);

}  // namespace oclspkt
