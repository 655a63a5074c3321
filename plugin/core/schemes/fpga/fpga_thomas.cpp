// SPDX-License-Identifier: BSD-2-Clause
// Schemes of exact-factored by one work-item of an FPGA. fpga-tdma solves row after row, for lines laid end to end.
// fpga-batch solves many lines in turn, one row of each at a time, for lines side by side or laid end to end.
#include <algorithm>
#include <bit>
#include <limits>

#include "certificate.hpp"
#include "evidence.hpp"
#include "interface.hpp"
#include "plan_parts.hpp"
#include "schemes/beside_scheme.hpp"
#include "schemes/fpga/task_plan.hpp"
#include "schemes/proposal.hpp"

namespace oclspkt {
namespace {

constexpr const char *kTdma = "fpga-tdma", *kBatch = "fpga-batch";
/// Arrays in memory: three bands, y and x.
constexpr Index kArrays = 5;
/// Numbers per row that the sweep down stores for the sweep up.
constexpr Index kLeft = 2;
/// Most bytes of local memory that a plan uses. A board has a few megabytes for everything.
constexpr Index kMostLocalBytes = 256 << 10;

Plan one_task(const char* scheme, Index n) {
  return {.method = Method::exact_factored, .n = n, .lanes = 1, .made_by = scheme};
}

/// Rows of the longest line whose results of the sweep down fit in local memory, as a power of two; 0 if no line fits.
Index rows_in_local_memory(int slots, int word, const DeviceTraits& traits) {
  const Index most = std::min(traits.local_bytes, kMostLocalBytes) / (kLeft * slots * word);
  return most > 0 ? static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(most))) : 0;
}

/// Words of each array that the memory holds beside a window of `window` words, for lines laid end to end.
std::int64_t words_beside(Index window, int word, const DeviceTraits& traits) {
  // Layouts count the words of a work-item's scratch as 32-bit integers.
  if (window > std::numeric_limits<std::int32_t>::max() / 4 || window * word > traits.chunk_bytes) return 0;
  return std::min(traits.chunk_bytes, (traits.memory_bytes - window * word) / kArrays) / word;
}

/// Number of lines of equal length, laid end to end, in a chunk. A chunk may begin up to one burst before its first
/// line.
Index lines_in_chunk(const LineSet& lines, Index window, int word, const DeviceTraits& traits) {
  const Index rows = words_beside(window, word, traits) - kBurstBytes / word;
  return std::clamp<Index>(rows / lines.length(0), 0, lines.count());
}

/// Turns of all batches of lines laid end to end. In a batch, every slot has as many turns as the longest line has
/// rows.
Index turns_of(const LineSet& lines, int slots) {
  Index rows = 0;
  for (Index begin = 0; begin < lines.count(); begin += slots) {
    Index longest = 0;
    for (Index l = begin; l < std::min(lines.count(), begin + slots); ++l) longest = std::max(longest, lines.length(l));
    rows += longest;
  }
  return slots * rows;
}

Index longest_of(const LineSet& lines) {
  Index longest = 0;
  for (Index l = 0; l < lines.count(); ++l) longest = std::max(longest, lines.length(l));
  return longest;
}

/// Cut lines into chunks: blocks, lines of equal length, or all rows at once. @return false if the memory holds no
/// chunk
bool cut_batch(Plan& plan, const LineSet& lines, int word, const DeviceTraits& traits) {
  const LineBatch& batch = plan.as<LineBatch>();
  plan.m = batch.unequal || lines.beside() ? plan.n : batch.longest;
  if (lines.beside()) {
    Beside beside;
    beside.bundle = batch.slots;
    beside.window = batch.window;
    beside.chunk_blocks = choose_chunk_blocks(lines, batch.window, word, traits);
    plan.chunk_tiles = 1;
    return plan.add(beside).chunk_blocks > 0;
  }
  if (!batch.unequal) {
    plan.chunk_tiles = lines_in_chunk(lines, batch.window, word, traits);
    return plan.chunk_tiles > 0;
  }
  DeviceTraits beside_table = traits;
  beside_table.memory_bytes -= starts_bytes(lines.count());
  plan.chunk_tiles = 1;
  return plan.n <= words_beside(batch.window, word, beside_table) && starts_bytes(lines.count()) <= traits.chunk_bytes;
}

/// The largest elimination_growth() of lines in any layout.
template <typename T>
double growth_of_lines(const LineSet& lines, const BandsView<T>& bands) {
  Growth growth;
  for (Index l = 0; l < lines.count(); ++l) {
    T coupling = 0;
    for (Index i = 0, at = lines.first(l); i < lines.length(l); ++i, at += lines.row_stride()) {
      const T taken = i > 0 ? coupled(bands.lower[at], coupling) : T(0), pivot = bands.diag[at] - taken;
      growth.see(taken, pivot, bands.diag[at]);
      coupling = bands.upper[at] / pivot;
    }
  }
  return growth.value();
}

/// Words per row. The sweep down reads three bands and y, and stores two numbers; the sweep up writes x. Both numbers
/// are written and read in global memory unless local memory holds them.
double thomas_words(const Plan& plan) {
  const bool kept = plan.has<LineBatch>() && plan.as<LineBatch>().kept_rows > 0;
  return (plan.symmetric() ? 4 : 5) + (kept ? 0 : 4);
}

/// Words per row that the memory can move in the time of an apply. If lines take turns, each sweep begins one row in
/// every cycle. A single line begins a row in every pivot_cycles() cycles. The figures are derived for the paper's
/// board (34 GB/s at 200 MHz), not measured.
double thomas_stream_words(const Plan& plan, int word) {
  constexpr double kBytesInCycle = 170, kWays = 2;
  const double turns = plan.has<LineBatch>() ? plan.idle : pivot_cycles(word);
  return std::max(thomas_words(plan), kWays * turns * kBytesInCycle / word);
}

/// The bound on rounding of this file's schemes, which carry no excesses. Without dominance, the host eliminates the
/// rows once for their growth, because no factors are stored. The bound is unknown if the growth exceeds kGrowthLimit.
template <typename T>
Rounding bound_thomas(const Survey& survey, const LineSet& lines, const BandsView<T>& bands) {
  if (survey.dominance >= 1) return {rounding_by_growth(kDominantGrowth)};
  if (!survey.finite) return {kNothingKnown};
  const double growth = growth_of_lines(lines, bands);
  return {growth <= kGrowthLimit ? rounding_by_growth(std::max(growth, kDominantGrowth)) : kNothingKnown};
}

/// Base of this file's schemes. `S` has plan_of(problem, rejection), which returns the plan, or none with the reason.
template <typename S>
class Thomas : public SchemeOf<S, BesideScheme> {
 public:
  double words(const Plan& plan) const override { return thomas_words(plan); }
  double stream_words(const Plan& plan, int word) const override { return thomas_stream_words(plan, word); }
  Nature nature() const override { return {.kernels = Kernels::task}; }
  bool in_pieces(const Plan&) const override { return false; }
  Elimination elimination(const Plan&) const override { return {.plain = true}; }
  template <typename T>
  Rounding bound(const Plan&, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) const {
    return bound_thomas(survey, lines, bands);
  }

  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    std::optional<Plan> plan = static_cast<const S&>(*this).plan_of(problem, rejection);
    if (!plan) return std::nullopt;
    serve_if_symmetric(problem, *plan);
    return exact_proposal(problem, *plan);
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    Rejection unused;
    std::optional<Plan> plan = static_cast<const S&>(*this).plan_of(problem, unused);
    if (plan) plan->form = Form::symmetric;
    return plan;
  }
};

class FpgaBatch final : public Thomas<FpgaBatch> {
 public:
  const char* name() const override { return kBatch; }
  std::string shape(const Plan& plan) const override {
    const LineBatch& batch = plan.as<LineBatch>();
    return format("one work-item, %d lines in turn", batch.slots) +
           (batch.kept_rows > 0 ? ", kept in local memory" : "");
  }
  Cut cut(const Plan& plan) const override {
    const Beside* beside = plan.find<Beside>();
    return {plan.m, 0, 0, plan.as<LineBatch>().unequal, beside != nullptr ? beside->chunk_blocks : 0};
  }
  /// If the two numbers per row of the sweep down are in global memory, they take one array.
  SecondBank second_bank(const Plan& plan) const override {
    const bool kept = plan.as<LineBatch>().kept_rows > 0;
    return {.upper = kept && !plan.symmetric(), .y = true, .x = false, .own = true};
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::exact_factored && by_task(problem);
  }
  template <typename T>
  std::optional<Plan> plan_of(const Problem<T>& problem, Rejection& rejection) const {
    const LineSet& lines = problem.bands.lines();
    std::optional<Plan> plan = make_batch_plan(lines, problem.word, problem.traits);
    if (!plan && lines.beside() && lines.rows() > 0) {
      rejection.why = format("the device's memory does not hold a block of %lld places at once: raise device_memory",
                             static_cast<long long>(lines.block_extent()));
    }
    return plan;
  }
};

class FpgaTdma final : public Thomas<FpgaTdma> {
 public:
  const char* name() const override { return kTdma; }
  std::string shape(const Plan& plan) const override {
    return format("one work-item, blocks of %lld rows", static_cast<long long>(plan.m));
  }
  Cut cut(const Plan& plan) const override { return {plan.m, 0, 0, true}; }
  SecondBank second_bank(const Plan& plan) const override {
    return {.upper = !plan.symmetric(), .y = true, .x = false, .own = true};
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::exact_factored && by_task(problem) && problem.bands.lines().contiguous();
  }
  template <typename T>
  std::optional<Plan> plan_of(const Problem<T>& problem, Rejection& rejection) const {
    Plan plan = make_tdma_plan(problem.bands.lines().rows(), problem.options.partition, problem.word, problem.traits);
    if (plan.chunk_tiles > 0 || plan.n == 0) return plan;
    rejection = {why_too_small<T>(problem, plan), {}, plan};
    return std::nullopt;
  }

 private:
  template <typename T>
  static std::string why_too_small(const Problem<T>& problem, const Plan& plan) {
    const std::int64_t array = round_up(plan.n, plan.m) * Index{problem.word};
    if (array <= problem.traits.chunk_bytes) {
      return "the device's memory does not hold all rows at once: raise device_memory";
    }
    return format(
        "the device's largest buffer has %lld bytes, which do not hold all %lld rows at once: name another "
        "device, or method truncated",
        static_cast<long long>(problem.traits.chunk_bytes), static_cast<long long>(plan.n));
  }
};

}  // namespace

Plan make_tdma_plan(Index n, Index partition, int word, const DeviceTraits& traits) {
  check_partition(partition);
  Plan plan = one_task(kTdma, n);
  plan.m = partition > 0 ? std::min(round_up(partition, kBurstBytes / word), kMostTdmaRows) : kTdmaRows;
  // The sweep down writes one more array, and every solver has one word of scratch.
  const std::int64_t array = round_up(n, plan.m) * word;
  const bool fits = array <= traits.chunk_bytes && array <= (traits.memory_bytes - word) / (kArrays + 1);
  plan.chunk_tiles = fits ? plan.tiles() : 0;
  return plan;
}

std::optional<Plan> make_batch_plan(const LineSet& lines, int word, const DeviceTraits& traits) {
  const bool suits = lines.beside() || (lines.contiguous() && lines.count() > 1);
  if (!suits || lines.rows() == 0) return std::nullopt;
  Plan plan = one_task(kBatch, lines.rows());
  LineBatch& batch = plan.add<LineBatch>();
  batch.slots = pivot_cycles(word);
  batch.unequal = lines.contiguous() && equal_length(lines) == 0;
  batch.longest = batch.unequal ? longest_of(lines) : lines.length(0);
  const Index held = rows_in_local_memory(batch.slots, word, traits);
  if (batch.longest <= held) batch.kept_rows = held;
  if (batch.longest > held) batch.window = kLeft * batch.slots * batch.longest;
  const Index turns =
      batch.unequal ? turns_of(lines, batch.slots) : round_up(lines.count(), batch.slots) * batch.longest;
  // One long line makes the window of all lines long. Solving one line after the other is then faster.
  if (batch.unequal && turns > plan.n * batch.slots / 2) return std::nullopt;
  plan.idle = static_cast<double>(turns) / static_cast<double>(plan.n);
  return cut_batch(plan, lines, word, traits) ? std::optional(std::move(plan)) : std::nullopt;
}

const Scheme& fpga_batch() { return only<FpgaBatch>(); }
const Scheme& fpga_tdma() { return only<FpgaTdma>(); }

}  // namespace oclspkt
