// SPDX-License-Identifier: BSD-2-Clause
// exact-factored by one work-item of an FPGA, many lines in turn, side by side or laid end to end.
#include "geometry.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"
#include "task_plan.hpp"

namespace oclspkt {
namespace {

class FpgaBatch final : public SchemeOf<FpgaBatch> {
 public:
  const char* name() const override { return "fpga-batch"; }
  std::string shape(const Plan& plan) const override {
    const LineBatch& batch = plan.as<LineBatch>();
    return format("one work-item, %d lines in turn", batch.slots) +
           (batch.kept_rows > 0 ? ", kept in local memory" : "");
  }
  double words(const Plan& plan) const override { return thomas_words(plan); }
  double stream_words(const Plan& plan, int word) const override { return thomas_stream_words(plan, word); }
  Cut cut(const Plan& plan) const override { return {plan.m, 0, 0, plan.as<LineBatch>().unequal}; }
  bool by_one_work_item() const override { return true; }
  /// Two numbers a row wait in one array, unless local memory holds them.
  SecondBank second_bank(const Plan& plan) const override {
    const bool kept = plan.as<LineBatch>().kept_rows > 0;
    return {.upper = kept && !plan.symmetric(), .y = true, .x = false, .own = true};
  }
  bool in_pieces(const Plan&) const override { return false; }
  Elimination elimination() const override { return {.plain = true}; }
  template <typename T>
  Rounding bound(const Plan&, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) const {
    return bound_thomas(survey, lines, bands);
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::exact_factored && by_task(problem);
  }
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    std::optional<Plan> plan = plan_of(problem);
    const LineSet& lines = problem.bands.lines();
    if (!plan && lines.beside() && lines.rows() > 0) {
      rejection.why = format("the device's memory does not hold a block of %lld places at once: raise device_memory",
                             static_cast<long long>(lines.block_extent()));
    }
    if (!plan) return std::nullopt;
    serve_if_symmetric(problem, *plan);
    return exact_proposal(problem, *plan);
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    std::optional<Plan> plan = plan_of(problem);
    if (plan) plan->form = Form::symmetric;
    return plan;
  }

 private:
  template <typename T>
  std::optional<Plan> plan_of(const Problem<T>& problem) const {
    std::optional<Plan> plan = make_batch_plan(problem.bands.lines(), sizeof(T), problem.traits);
    if (plan) plan->made_by = name();
    return plan;
  }
};

}  // namespace

const Scheme& fpga_batch() {
  static const FpgaBatch scheme;
  return scheme;
}

}  // namespace oclspkt
