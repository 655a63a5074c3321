// SPDX-License-Identifier: BSD-2-Clause
// Workers whose kernels have one work-item.
#include <algorithm>
#include <string>

#include "schemes/fpga/task_form.hpp"
#include "schemes/fpga/task_plan.hpp"
#include "schemes/lane_needs.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

std::string task_options(const Plan& plan, Index rows) {
  return "-D TASK_ROWS=" + std::to_string(rows) + (plan.symmetric() ? " -D SYMMETRIC" : "");
}

/// Runs truncated-streamed by one launch over whole blocks (kernels/fpga/task_spk*.cl).
/// @tparam kSweep  how the unknowns at the cuts determine the rows of blocks
template <typename T, CutSweep kSweep>
class FpgaSpk : public Worker<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int word, Index chunk_tiles) {
    const Index most = chunk_tiles + 2 * task_overlap(CutSweep::jacobi);
    return {.largest = std::min(plan.tiles(), most) * plan.m * word,  // bytes of an array, in whole blocks
            .block_rows = plan.m};
  }

  std::int64_t build(const Site& s, const BandsView<T>&) override {
    constexpr const char* kKernels[] = {"task_spktrunc", "task_spkboth", "task_spkjac"};
    this->make(s, kernel_, kKernels[static_cast<int>(kSweep)], task_options(s.plan, s.plan.m));
    return 0;
  }

  Event enqueue(const Site& s, const Tiles& t) override {
    constexpr std::size_t kBurstBytes = 128;  // bytes of the widest access; blocks begin at multiples of it
    const Chunk& chunk = t.chunk;
    const Index m = s.plan.m, behind = chunk.tile_end + task_overlap(kSweep);
    const Index end = chunk.tile_end > chunk.tile_begin ? std::min(s.plan.tiles(), behind) : chunk.first / m;
    const auto need = [&](const char* name, const Buffer& buffer) {
      return BufferNeed{name, &buffer, (end * m - chunk.first) * static_cast<Index>(sizeof(T)), kBurstBytes};
    };
    return launch(s.device, kernel_, {1}, need("lower", t.bands.lower), need("diag", t.bands.diag),
                  need("upper", t.bands.upper), need("y", t.y), need("x", t.x), Long{s.plan.n}, Long{chunk.first / m},
                  Long{chunk.tile_begin}, Long{chunk.tile_end});
  }

 private:
  Kernel kernel_;
};

template <typename T>
using SpkTrunc = FpgaSpk<T, CutSweep::half>;
template <typename T>
using SpkBoth = FpgaSpk<T, CutSweep::both>;
template <typename T>
using SpkJac = FpgaSpk<T, CutSweep::jacobi>;

/// Runs exact-factored row after row (kernels/fpga/tdma.cl).
template <typename T>
class FpgaTdma final : public Worker<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int word, Index) {
    const std::int64_t array = round_up(plan.n, plan.m) * word;
    return {.largest = array, .all = array, .block_rows = plan.m};
  }

  std::int64_t build(const Site& s, const BandsView<T>&) override {
    this->make(s, kernel_, "tdma", task_options(s.plan, s.plan.m));
    return ensure(s.device, coupling_, Access::read_write, s.layout.needs.all, s.own_bank);
  }

  Event enqueue(const Site& s, const Tiles& t) override {
    const Index n = t.chunk.rows();
    const auto need = [&](const char* name, const Buffer& buffer) {
      return BufferNeed{name, &buffer, round_up(n, s.plan.m) * static_cast<Index>(sizeof(T)), sizeof(T)};
    };
    return launch(s.device, kernel_, {1}, need("lower", t.bands.lower), need("diag", t.bands.diag),
                  need("upper", t.bands.upper), need("y", t.y), need("x", t.x), need("coupling", coupling_), Long{n});
  }

 private:
  Kernel kernel_;
  Buffer coupling_;  ///< couplings of all rows; the sweep down stores them for the sweep up
};

/// Runs exact-factored for many lines, which take turns row by row (kernels/fpga/batch.cl).
template <typename T>
class FpgaBatch final : public Worker<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet& lines, int, Index) {
    return {.slot = std::max<Index>(1, plan.as<LineBatch>().window),
            .all = plan.as<LineBatch>().unequal ? starts_bytes(lines.count()) : 0};
  }

  std::int64_t build(const Site& s, const BandsView<T>&) override {
    const LineBatch& batch = s.plan.as<LineBatch>();
    this->make(s, kernel_, "batch",
               "-D TASK_ROWS=" + std::to_string(kTdmaRows) + " -D BATCH_LINES=" + std::to_string(batch.slots) +
                   " -D KEPT_ROWS=" + std::to_string(batch.kept_rows) + (batch.unequal ? " -D UNEQUAL" : "") +
                   (s.plan.symmetric() ? " -D SYMMETRIC" : ""));
    if (!batch.unequal) return 0;
    std::vector<Long> starts;
    for (Index l = 0; l < s.lines.count(); ++l) starts.push_back(s.lines.first(l));
    starts.push_back(s.plan.n);
    const std::int64_t bytes = ensure(s.device, starts_, Access::read, starts_bytes(s.lines.count()));
    s.pipeline->bring(starts.data(), starts_bytes(s.lines.count()), starts_, s.waiter, s.times);
    return bytes;
  }

  Event enqueue(const Site& s, const Tiles& t) override {
    const bool beside = s.lines.beside(), unequal = s.plan.as<LineBatch>().unequal;
    const Long longest{s.plan.as<LineBatch>().longest};
    const Long block_lines{beside ? s.lines.block_lines() : unequal ? s.lines.count() : 1};
    const LaneNeeds<T> b(s, t);
    const auto start = [&](const auto&... places) {
      return launch(s.device, kernel_, {1}, b.lower, b.diag, b.upper, b.y, b.x, b.scratch,
                    Long{(t.chunk.tile_end - t.chunk.tile_begin) * block_lines}, longest, Long{s.lines.row_stride()},
                    places...);
    };
    if (unequal) return start(BufferNeed{"starts", &starts_, starts_bytes(s.lines.count()), sizeof(Long)});
    return start(Long{t.chunk.kept_first - t.chunk.first}, block_lines,
                 beside ? Long{s.lines.block_stride()} : longest);
  }

 private:
  Kernel kernel_;
  Buffer starts_;  ///< for lines of different lengths: first row of each line, then the end of the last line
};

}  // namespace

Carrier fpga_spktrunc() { return carrier<SpkTrunc>("fpga-spktrunc"); }
Carrier fpga_spkboth() { return carrier<SpkBoth>("fpga-spkboth"); }
Carrier fpga_spkjac() { return carrier<SpkJac>("fpga-spkjac"); }
Carrier fpga_tdma() { return carrier<FpgaTdma>("fpga-tdma"); }
Carrier fpga_batch() { return carrier<FpgaBatch>("fpga-batch"); }

}  // namespace oclspkt::ocl
