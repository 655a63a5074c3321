// SPDX-License-Identifier: BSD-2-Clause
// truncated-streamed by one work-item, for lines laid end to end: blocks of rows, see schemes/fpga/task_form. Three
// schemes, by how blocks are solved from the unknowns at their cuts: fpga-spktrunc is the form of Macintosh, Banks and
// Kelson (2019).
#include <cmath>
#include <string>
#include <vector>

#include "evidence.hpp"
#include "schemes/fpga/task_form.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"

namespace oclspkt {
namespace {

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
  Kernels kernels() const override { return Kernels::task; }
  bool only_asked_for() const override { return sweep_ != CutSweep::jacobi; }
  Elimination elimination(const Plan&) const override { return {.plain = true, .upwards = true}; }

  std::optional<Plan> make(const PlanRequest& r) const override {
    if (r.method != Method::truncated_streamed || !r.traits.task || only_asked_for()) return std::nullopt;
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
    const bool asked = !only_asked_for() || of_paper || problem.options.variant == name_;
    return method == Method::truncated_streamed && by_task(problem) && asked && problem.bands.lines().contiguous();
  }
  /// Blocks get longer until the certificate holds.
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
      rejection = {
          format("blocks of %lld rows: certificate %.1e > %.1e (", static_cast<long long>(plan.m), c.bound, tol) +
              where(c) + ")",
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
    return make_task_plan(problem.bands.lines().rows(), m, name_, sizeof(T), problem.traits);
  }
  template <typename T>
  static Plan in_form(const Problem<T>& problem, Plan plan) {
    serve_if_symmetric(problem, plan);
    return plan;
  }
  /// The lines that dominance alone does not cover in the longest blocks, if they are few.
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
