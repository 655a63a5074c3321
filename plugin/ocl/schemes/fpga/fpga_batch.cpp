// SPDX-License-Identifier: BSD-2-Clause
// exact-factored by one work-item, many lines in turn: kernels/fpga/batch.cl.
#include <algorithm>

#include "schemes/fpga/task_plan.hpp"
#include "schemes/lane_needs.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

/// Where lines of equal length stand in the buffers of a launch; of lines that differ in length only their number.
struct BatchPlaces {
  BatchPlaces(const Site& s, const Chunk& chunk)
      : origin{chunk.kept_first - chunk.first},
        row_stride{s.lines.row_stride()},
        longest{s.plan.as<LineBatch>().longest} {
    const bool beside = s.lines.beside(), unequal = s.plan.as<LineBatch>().unequal;
    const Index blocks = chunk.tile_end - chunk.tile_begin;
    block_lines = beside ? s.lines.block_lines() : unequal ? s.lines.count() : 1;
    block_stride = beside ? s.lines.block_stride() : longest;
    count = blocks * block_lines;
  }
  Long origin, row_stride, longest, count, block_lines, block_stride;
};

template <typename T>
class FpgaBatch final : public Part<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet& lines, int, Index) {
    return {.slot = std::max<Index>(1, plan.as<LineBatch>().window),
            .all = plan.as<LineBatch>().unequal ? starts_bytes(lines.count()) : 0};
  }

  void make_kernels(const Site& s) override {
    const LineBatch& batch = s.plan.as<LineBatch>();
    this->make(s, kernel_, "batch",
               "-D TASK_ROWS=" + std::to_string(kTdmaRows) + " -D BATCH_LINES=" + std::to_string(batch.slots) +
                   " -D KEPT_ROWS=" + std::to_string(batch.kept_rows) + (batch.unequal ? " -D UNEQUAL" : "") +
                   (s.plan.symmetric() ? " -D SYMMETRIC" : ""),
               kOneTask);
  }
  std::int64_t make_buffers(const Site& s) override {
    if (!s.plan.as<LineBatch>().unequal) return 0;
    return ensure(s.device, starts_, Access::read, starts_bytes(s.lines.count()));
  }
  std::int64_t bring(const Site& s, const BandsView<T>&) override {
    if (!s.plan.as<LineBatch>().unequal) return 0;
    std::vector<Long> starts;
    for (Index l = 0; l < s.lines.count(); ++l) starts.push_back(s.lines.first(l));
    starts.push_back(s.plan.n);
    s.pipeline->bring(starts.data(), starts_bytes(s.lines.count()), starts_, s.waiter, s.times);
    return 0;
  }

  Event finish(const Site& s, const Tiles& t) override {
    const BatchPlaces p(s, t.chunk);
    const LaneNeeds<T> needs(s, t);
    const auto set = [&](const auto&... places) {
      set_arguments(s.device, kernel_, t.bands.lower, t.bands.diag, t.bands.upper, t.y, t.x, s.scratch, p.count,
                    p.longest, p.row_stride, places...);
    };
    if (!s.plan.as<LineBatch>().unequal) {
      set(p.origin, p.block_lines, p.block_stride);
      return launch(s.device, kernel_, {1}, {needs.lower, needs.diag, needs.upper, needs.y, needs.x, needs.scratch});
    }
    set(starts_);
    return launch(s.device, kernel_, {1},
                  {needs.lower,
                   needs.diag,
                   needs.upper,
                   needs.y,
                   needs.x,
                   needs.scratch,
                   {"starts", &starts_, starts_bytes(s.lines.count()), sizeof(Long)}});
  }

 private:
  Kernel kernel_;
  Buffer starts_;  ///< of lines that differ in length: where each begins, and where the last one ends
};

}  // namespace

Carrier fpga_batch() { return carrier<FpgaBatch>("fpga-batch"); }

}  // namespace oclspkt::ocl
