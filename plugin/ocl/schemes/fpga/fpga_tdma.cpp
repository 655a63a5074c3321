// SPDX-License-Identifier: BSD-2-Clause
// exact-factored by one work-item, one row after the other: kernels/fpga/tdma.cl.
#include "schemes/fpga/task_plan.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class FpgaTdma final : public Part<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int word, Index) {
    const std::int64_t array = round_up(plan.n, plan.m) * word;
    return {.largest = array, .all = array};
  }

  void make_kernels(const Site& s) override {
    this->make(s, kernel_, "tdma",
               "-D TASK_ROWS=" + std::to_string(s.plan.m) + (s.plan.symmetric() ? " -D SYMMETRIC" : ""), kOneTask);
  }
  std::int64_t make_buffers(const Site& s) override {
    return ensure(s.device, coupling_, Access::read_write, needs(s.plan, s.lines, sizeof(T), 0).all, s.own_bank);
  }

  Event finish(const Site& s, const Tiles& t) override {
    const Index n = t.chunk.rows();
    const std::int64_t bytes = round_up(n, s.plan.m) * static_cast<Index>(sizeof(T));
    set_arguments(s.device, kernel_, t.bands.lower, t.bands.diag, t.bands.upper, t.y, t.x, coupling_, Long{n});
    return launch(s.device, kernel_, {1},
                  {{"lower", &t.bands.lower, bytes, sizeof(T)},
                   {"diag", &t.bands.diag, bytes, sizeof(T)},
                   {"upper", &t.bands.upper, bytes, sizeof(T)},
                   {"y", &t.y, bytes, sizeof(T)},
                   {"x", &t.x, bytes, sizeof(T)},
                   {"coupling", &coupling_, bytes, sizeof(T)}});
  }

  Index block_rows(const Plan& plan) const override { return plan.m; }

 private:
  Kernel kernel_;
  Buffer coupling_;  ///< of all rows, what the way down leaves for the way back beside x
};

}  // namespace

Carrier fpga_tdma() { return carrier<FpgaTdma>("fpga-tdma"); }

}  // namespace oclspkt::ocl
