// SPDX-License-Identifier: BSD-2-Clause
// exact-factored by one work-item, many lines in turn: kernels/fpga/batch.cl.
#include <algorithm>

#include "schemes/lane_needs.hpp"
#include "schemes/table.hpp"
#include "task_plan.hpp"

namespace oclspkt::ocl {
namespace {

/// Where the lines of a launch stand in its buffers.
struct BatchPlaces {
  BatchPlaces(const LineSet& lines, const Chunk& chunk)
      : origin{chunk.kept_first - chunk.first}, length{lines.length(0)}, row_stride{lines.row_stride()} {
    const Index blocks = chunk.tile_end - chunk.tile_begin;
    block_lines = lines.beside() ? lines.block_lines() : 1;
    block_stride = lines.beside() ? lines.block_stride() : lines.length(0);
    count = blocks * block_lines;
  }
  Long origin, count, block_lines, block_stride, length, row_stride;
};

template <typename T>
class FpgaBatch final : public Part<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int, Index) {
    return {.slot = std::max<Index>(1, plan.as<LineBatch>().window)};
  }

  void make_kernels(const Site& s) override {
    const LineBatch& batch = s.plan.as<LineBatch>();
    this->make(s, kernel_, "batch",
               "-D TASK_ROWS=" + std::to_string(kTaskRows) + " -D BATCH_LINES=" + std::to_string(batch.slots) +
                   " -D KEPT_ROWS=" + std::to_string(batch.rows) + (s.plan.symmetric() ? " -D SYMMETRIC" : ""),
               kOneTask);
  }

  Event finish(const Site& s, const Tiles& t) override {
    const BatchPlaces p(s.lines, t.chunk);
    const LaneNeeds<T> needs(s, t);
    set_arguments(s.device, kernel_, t.bands.lower, t.bands.diag, t.bands.upper, t.y, t.x, s.scratch, p.origin, p.count,
                  p.block_lines, p.block_stride, p.length, p.row_stride);
    return launch(s.device, kernel_, {1}, {needs.lower, needs.diag, needs.upper, needs.y, needs.x, needs.scratch});
  }

 private:
  Kernel kernel_;
};

}  // namespace

Carrier fpga_batch() { return carrier<FpgaBatch>("fpga-batch"); }

}  // namespace oclspkt::ocl
