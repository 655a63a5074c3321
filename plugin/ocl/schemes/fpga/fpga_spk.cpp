// SPDX-License-Identifier: BSD-2-Clause
// truncated-streamed by one work-item, one launch over whole blocks: kernels/fpga/task_spk*.cl.
#include <algorithm>
#include <string>

#include "schemes/fpga/task_form.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

/// @param kSweep  how blocks are solved from the unknowns at their cuts
template <typename T, CutSweep kSweep>
class FpgaSpk : public Part<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int word, Index chunk_tiles) {
    const Index most = chunk_tiles + 2 * task_overlap(CutSweep::jacobi);
    return {.largest = std::min(plan.tiles(), most) * plan.m * word};  // an array, in whole blocks
  }

  Index block_rows(const Plan& plan) const override { return plan.m; }

  void make_kernels(const Site& s) override {
    const std::string rows = "-D TASK_ROWS=" + std::to_string(s.plan.m);
    this->make(s, kernel_, kKernels[static_cast<int>(kSweep)], rows + (s.plan.symmetric() ? " -D SYMMETRIC" : ""),
               kOneTask);
  }

  /// A launch over no tiles solves nothing.
  Event finish(const Site& s, const Tiles& t) override {
    const Chunk& chunk = t.chunk;
    const Index m = s.plan.m, behind = chunk.tile_end + task_overlap(kSweep);
    const Index end = chunk.tile_end > chunk.tile_begin ? std::min(s.plan.tiles(), behind) : chunk.first / m;
    const std::int64_t read = (end * m - chunk.first) * static_cast<Index>(sizeof(T));
    const auto need = [&](const char* name, const Buffer& buffer) {
      return BufferNeed{name, &buffer, read, kBurstBytes};
    };
    set_arguments(s.device, kernel_, t.bands.lower, t.bands.diag, t.bands.upper, t.y, t.x, Long{s.plan.n},
                  Long{chunk.first / m}, Long{chunk.tile_begin}, Long{chunk.tile_end});
    return launch(s.device, kernel_, {1},
                  {need("lower", t.bands.lower), need("diag", t.bands.diag), need("upper", t.bands.upper),
                   need("y", t.y), need("x", t.x)});
  }

 private:
  /// Bytes of the widest access, at multiples of which blocks lie.
  static constexpr std::size_t kBurstBytes = 128;
  static constexpr const char* kKernels[] = {"task_spktrunc", "task_spkboth", "task_spkjac"};
  Kernel kernel_;
};

template <typename T>
using SpkTrunc = FpgaSpk<T, CutSweep::half>;
template <typename T>
using SpkBoth = FpgaSpk<T, CutSweep::both>;
template <typename T>
using SpkJac = FpgaSpk<T, CutSweep::jacobi>;

}  // namespace

Carrier fpga_spktrunc() { return carrier<SpkTrunc>("fpga-spktrunc"); }
Carrier fpga_spkboth() { return carrier<SpkBoth>("fpga-spkboth"); }
Carrier fpga_spkjac() { return carrier<SpkJac>("fpga-spkjac"); }

}  // namespace oclspkt::ocl
