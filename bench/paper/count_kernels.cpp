// SPDX-License-Identifier: BSD-2-Clause
#include "count_kernels.hpp"

#include <cmath>
#include <limits>

#include "device.hpp"
#include "row_flops.hpp"
#include "schemes/fpga/task_plan.hpp"
#include "schemes/paper/paper_form.hpp"
#include "schemes/scheme.hpp"
// Behind all other headers: it gives words of OpenCL a meaning of their own.
#include "count_scalar.hpp"

namespace oclspkt::bench::paper {
namespace counting {

#include "common/paper.clh"

/// The kernels of the GPU's form, for one length of partitions.
struct Launches {
  Index m;
  bool staged;
  decltype(+[](const Scalar*, const Scalar*, const Scalar*, const Scalar*, Scalar*, Scalar*, Scalar*, Scalar*, long,
               long, long, int, Scalar*) {}) marshal;
  decltype(+[](const Scalar*, const Scalar*, const Scalar*, const Scalar*, Scalar*, Scalar*, Scalar*, Scalar*, Scalar*,
               Scalar*, Scalar*) {}) spkfact;
  decltype(+[](const Scalar*, const Scalar*, const Scalar*, const Scalar*, const Scalar*, const Scalar*, const Scalar*,
               Scalar*, long) {}) spktrrecl;
  decltype(+[](const Scalar*, const Scalar*, const Scalar*, const Scalar*, const Scalar*, const Scalar*, const Scalar*,
               Scalar*, long) {}) spktrrecul;
  decltype(+[](const Scalar*, Scalar*, long, long, long, long, int, Scalar*) {}) unmarshal;
};

#define PARTITION_ROWS 32
#define STAGED 1
namespace staged32 {
#include "count_paper_gpu.hpp"
}
#undef STAGED
#define STAGED 0
namespace again32 {
#include "count_paper_gpu.hpp"
}
#undef PARTITION_ROWS
#define PARTITION_ROWS 256
namespace again256 {
#include "count_paper_gpu.hpp"
}
#undef STAGED
#undef PARTITION_ROWS

namespace cpu {
#include "cpu/paper_lanes_spkfact.cl"
#include "cpu/paper_lanes_spktrrec.cl"
}  // namespace cpu

#define TASK_ROWS 32
namespace fpga {
#include "fpga/task_spktrunc.cl"
//
#include "fpga/task_spkboth.cl"
#include "fpga/task_spkjac.cl"
#include "fpga/tdma.cl"
#define BATCH_LINES 4
#define KEPT_ROWS 16
namespace kept {
#include "fpga/batch.cl"
}
#undef KEPT_ROWS
#define KEPT_ROWS 0
namespace batch {
#include "fpga/batch.cl"
}
#define SYMMETRIC
namespace batch_symmetric {
#include "fpga/batch.cl"
}
#undef SYMMETRIC
}  // namespace fpga

}  // namespace counting

namespace {

using namespace counting;
/// Work-groups of one work-item, one behind the other.
template <typename Kernel, typename... Arguments>
void launch_groups(Index count, const Kernel& kernel, Arguments... arguments) {
  groups = count;
  for (group = 0; group < count; ++group) kernel(arguments...);
}

struct Marshalled {
  Counts all, marshalling;
};

Marshalled count_gpu(const Launches& k, Index partitions) {
  const Index m = k.m, rows = partitions * m, with_neighbours = partitions + 2, size = with_neighbours * m;
  Memory memory;
  Scalar *lower = memory.make(rows, 1), *diag = memory.make(rows, 4), *upper = memory.make(rows, 1),
         *y = memory.make(rows, 1), *x = memory.make(rows);
  Scalar *a = memory.make(size), *b = memory.make(size), *c = memory.make(size), *d = memory.make(size),
         *reciprocals = memory.make(size), *left = memory.make(size);
  Scalar *v = memory.make(with_neighbours), *w = memory.make(with_neighbours), *bottom = memory.make(with_neighbours),
         *top = memory.make(with_neighbours);
  Array local(static_cast<std::size_t>(4 * m + 64));
  const auto own = static_cast<int>(m);
  Memory::take();
  launch_groups(with_neighbours, k.marshal, lower, diag, upper, y, a, b, c, d, 0L, rows, -m, own, local.data());
  Marshalled result;
  result.marshalling = Memory::take();
  launch_groups(with_neighbours, k.spkfact, a, b, c, d, reciprocals, left, v, bottom, w, top, local.data());
  launch_groups(with_neighbours, k.spktrrecl, c, reciprocals, left, v, bottom, w, top, d, partitions);
  launch_groups(with_neighbours, k.spktrrecul, a, reciprocals, left, v, bottom, w, top, d, partitions);
  result.all = Memory::take();
  launch_groups(with_neighbours, k.unmarshal, d, x, 0L, 0L, rows, -m, own, local.data());
  const Counts back = Memory::take();
  result.marshalling.reads += back.reads;
  result.marshalling.writes += back.writes;
  return result;
}

Counts count_cpu(Index m, Index m_min, Index partitions) {
  const Index size = m * partitions;
  Memory memory;
  Scalar *lower = memory.make(size, 1), *diag = memory.make(size, 4), *upper = memory.make(size, 1),
         *y = memory.make(size, 1), *x = memory.make(size), *reciprocals = memory.make(size), *left = memory.make(size);
  Scalar *v = memory.make(partitions + 2), *w = memory.make(partitions + 2), *bottom = memory.make(partitions + 2),
         *top = memory.make(partitions + 2);
  const auto rows = static_cast<int>(m), least = static_cast<int>(m_min);
  Memory::take();
  launch_groups(1, cpu::paper_lanes_spkfact, lower, diag, upper, y, reciprocals, left, v, bottom, w, top, rows, least,
                partitions);
  launch_groups(1, cpu::paper_lanes_spktrrec, lower, upper, reciprocals, left, v, bottom, w, top, x, rows, least,
                partitions);
  return Memory::take();
}

Counts count_fpga(FpgaKernel kernel, Index blocks) {
  const Index rows = blocks * TASK_ROWS;
  Memory memory;
  Scalar *lower = memory.make(rows, 1), *diag = memory.make(rows, 4), *upper = memory.make(rows, 1),
         *y = memory.make(rows, 1), *x = memory.make(rows), *coupling = memory.make(rows);
  const auto blocks_of = [](Scalar* array) { return reinterpret_cast<fpga::block_t*>(array); };
  Memory::take();
  if (kernel == FpgaKernel::tdma_stored) {
    fpga::tdma(lower, diag, upper, y, x, coupling, rows);
  } else if (kernel == FpgaKernel::spktrunc) {
    fpga::task_spktrunc(blocks_of(lower), blocks_of(diag), blocks_of(upper), blocks_of(y),
                        reinterpret_cast<fpga::half_t*>(x), rows, 0, 0, blocks);
  } else {
    const auto run = kernel == FpgaKernel::spkboth ? fpga::task_spkboth : fpga::task_spkjac;
    run(blocks_of(lower), blocks_of(diag), blocks_of(upper), blocks_of(y), blocks_of(x), rows, 0, 0, blocks);
  }
  return Memory::take();
}

constexpr Index kFew = 3;  ///< partitions; what one more takes is counted

CountedScheme tiles_paper(const Launches& k) {
  const Marshalled few = count_gpu(k, kFew), more = count_gpu(k, kFew + 1);
  CountedScheme s;
  s.scheme = "tiles-paper";
  s.m = k.m;
  s.staged = k.staged;
  s.marshalled = (more.marshalling - few.marshalling).words();
  s.counted = more.all - few.all;
  s.counted.reads += (more.marshalling - few.marshalling).reads;
  s.counted.writes += (more.marshalling - few.marshalling).writes;
  s.operations = {5 * k.m + 2, 8 * k.m + 4, 2 * k.m + 2};
  DeviceTraits traits;
  traits.group_items = 64;
  traits.local_bytes = 1 << 16;
  Plan plan = make_paper_plan(64 * k.m, k.m, sizeof(float), traits);
  plan.as<PaperForm>().staged = k.staged;
  s.words = scheme_of(plan).words(plan) * static_cast<double>(k.m);
  return s;
}

CountedScheme lanes_paper(Index m, Index m_min) {
  CountedScheme s;
  s.scheme = "lanes-paper";
  s.m = m;
  s.m_min = m_min;
  s.counted = count_cpu(m, m_min, kFew + 1) - count_cpu(m, m_min, kFew);
  // Marshalling is copying: its kernel is for vectors of rows, and is not counted here.
  s.marshalled = 10 * m;
  s.counted.reads += 5 * m;
  s.counted.writes += 5 * m;
  const Index swept = m + m_min - 2, back = m - 2;
  s.operations = {2 * swept + back + 4, 3 * swept + 2 * back + 10, swept + 4};
  const Plan plan = make_paper_lanes_plan(4 * m, m, m_min, "lanes-paper", sizeof(float), {});
  s.words = scheme_of(plan).words(plan) * static_cast<double>(m);
  return s;
}

CountedScheme of_fpga(const char* scheme, FpgaKernel kernel, FpgaKernel in_table1) {
  CountedScheme s;
  s.scheme = scheme;
  s.m = TASK_ROWS;
  s.counted = count_fpga(kernel, kFew + 1) - count_fpga(kernel, kFew);
  s.operations = count_fpga_operations(kernel, TASK_ROWS);
  s.words = static_cast<double>(fpga_words(fpga_passes(kernel, Form::general)) * TASK_ROWS);
  s.table1 = paper_operations(in_table1, TASK_ROWS);
  s.table1_words = s.table1 == Operations{} ? 0 : fpga_words(fpga_passes(in_table1, Form::general)) * TASK_ROWS;
  return s;
}

/// One more batch of lines.
CountedScheme fpga_batch(bool kept, bool symmetric) {
  constexpr Index kRows = 16;
  const auto count = [&](Index batches) {
    const Index lines = batches * BATCH_LINES, n = lines * kRows;
    Memory memory;
    Scalar *lower = memory.make(n, 1), *diag = memory.make(n, 4), *upper = memory.make(n, 1), *y = memory.make(n, 1),
           *x = memory.make(n), *scratch = memory.make(2 * kRows * BATCH_LINES);
    Memory::take();
    (kept        ? fpga::kept::batch
     : symmetric ? fpga::batch_symmetric::batch
                 : fpga::batch::batch)(lower, diag, upper, y, x, scratch, lines, kRows, 1, 0, 1, kRows);
    return Memory::take();
  };
  const Index rows = kRows * BATCH_LINES;
  Plan plan;
  plan.made_by = "fpga-batch";
  plan.method = Method::exact_factored;
  plan.form = symmetric ? Form::symmetric : Form::general;
  plan.add<LineBatch>({.slots = BATCH_LINES, .longest = kRows, .kept_rows = kept ? kRows : 0});
  return counted_scheme(std::string("fpga-batch") + (symmetric ? ", symmetric" : "") + (kept ? "" : ", not kept"), rows,
                        count(kFew + 1) - count(kFew), {3 * rows, 5 * rows, rows}, plan);
}

}  // namespace

CountedScheme counted_scheme(const std::string& name, Index rows, const Counts& counted, const Operations& formula,
                             const Plan& plan) {
  CountedScheme s;
  s.scheme = name;
  s.m = rows;
  s.counted = counted;
  s.operations = formula;
  s.words = scheme_of(plan).words(plan) * static_cast<double>(rows);
  return s;
}

std::vector<CountedScheme> count_schemes() {
  std::vector<CountedScheme> all = {tiles_paper(staged32::launches()),
                                    tiles_paper(again32::launches()),
                                    tiles_paper(again256::launches()),
                                    lanes_paper(400, 32),
                                    lanes_paper(4000, 64),
                                    of_fpga("fpga-spktrunc", FpgaKernel::spktrunc, FpgaKernel::spktrunc),
                                    of_fpga("fpga-spkboth", FpgaKernel::spkboth, FpgaKernel::spkboth),
                                    of_fpga("fpga-spkjac", FpgaKernel::spkjac, FpgaKernel::spkjac),
                                    of_fpga("fpga-tdma", FpgaKernel::tdma_stored, FpgaKernel::tdma),
                                    fpga_batch(true, false),
                                    fpga_batch(false, false),
                                    fpga_batch(false, true)};
  for (CountedScheme& s : all) {
    const bool thomas = s.scheme.starts_with("fpga-batch") || s.scheme == "fpga-tdma";
    if (thomas) s.flops = flops_of(Method::exact_factored, false).apply * static_cast<double>(s.m);
  }
  for (const auto& more : {count_group_schemes(), count_lane_schemes()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::uint64_t hash_of_answers(bool backwards, bool weak) {
  counting::emulation = {.backwards = backwards, .weak = weak};
  count_schemes();
  return std::exchange(counting::emulation, {}).hash;
}

}  // namespace oclspkt::bench::paper
