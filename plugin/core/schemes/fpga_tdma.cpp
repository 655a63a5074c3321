// SPDX-License-Identifier: BSD-2-Clause
// exact-factored by one work-item of an FPGA, one row after the other, for lines laid end to end.
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"
#include "task_plan.hpp"

namespace oclspkt {
namespace {

class FpgaTdma final : public SchemeOf<FpgaTdma> {
 public:
  const char* name() const override { return "fpga-tdma"; }
  std::string shape(const Plan& plan) const override {
    return format("one work-item, blocks of %lld rows", static_cast<long long>(plan.m));
  }
  double words(const Plan& plan) const override { return thomas_words(plan); }
  double stream_words(const Plan& plan, int word) const override { return thomas_stream_words(plan, word); }
  Cut cut(const Plan& plan) const override { return {plan.m, 0, 0, true}; }
  bool by_one_work_item() const override { return true; }
  /// The way down reads four arrays and leaves two, which the way back reads.
  SecondBank second_bank(const Plan& plan) const override {
    return {.upper = !plan.symmetric(), .y = true, .x = false, .own = true};
  }
  bool in_pieces(const Plan&) const override { return false; }
  Elimination elimination() const override { return {.plain = true}; }
  template <typename T>
  Rounding bound(const Plan&, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) const {
    return bound_thomas(survey, lines, bands);
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::exact_factored && by_task(problem) && problem.bands.lines().contiguous();
  }
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    Plan plan = plan_of(problem);
    if (plan.chunk_tiles == 0 && plan.n > 0) {
      rejection = {why_too_small<T>(problem, plan), {}, plan};
      return std::nullopt;
    }
    serve_if_symmetric(problem, plan);
    return exact_proposal(problem, plan);
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    Plan plan = plan_of(problem);
    plan.form = Form::symmetric;
    return plan.chunk_tiles == 0 && plan.n > 0 ? std::nullopt : std::optional(std::move(plan));
  }

 private:
  template <typename T>
  static std::string why_too_small(const Problem<T>& problem, const Plan& plan) {
    const std::int64_t array = round_up(plan.n, plan.m) * static_cast<Index>(sizeof(T));
    if (array <= problem.traits.chunk_bytes) {
      return "the device's memory does not hold all rows at once: raise device_memory";
    }
    return format(
        "the device's largest buffer has %lld bytes, which do not hold all %lld rows at once: name another "
        "device, or method truncated",
        static_cast<long long>(problem.traits.chunk_bytes), static_cast<long long>(plan.n));
  }
  template <typename T>
  Plan plan_of(const Problem<T>& problem) const {
    Plan plan = make_tdma_plan(problem.bands.lines().rows(), problem.options.partition, sizeof(T), problem.traits);
    plan.made_by = name();
    return plan;
  }
};

}  // namespace

const Scheme& fpga_tdma() {
  static const FpgaTdma scheme;
  return scheme;
}

}  // namespace oclspkt
