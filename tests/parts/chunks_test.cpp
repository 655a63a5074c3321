// SPDX-License-Identifier: BSD-2-Clause
// Chunks joined: each scheme solves what the device takes in three chunks, and every row of the whole system is right,
// those at the cuts included.
#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "cut_plan.hpp"
#include "devices.hpp"
#include "joined.hpp"
#include "propose.hpp"
#include "schemes/scheme.hpp"
#include "survey.hpp"

namespace oclspkt::test {
namespace {

using ocl::Layout;

constexpr std::initializer_list<JoinedMatrix> kAll = {JoinedMatrix::sums_zero, JoinedMatrix::scaled_sums_zero,
                                                      JoinedMatrix::jumps,     JoinedMatrix::jumps_over_mass,
                                                      JoinedMatrix::diffusion, JoinedMatrix::random};
/// For the devices behind the first: run-times take longer to build kernels than to solve, and each form has its own.
constexpr std::initializer_list<JoinedMatrix> kHard = {JoinedMatrix::scaled_sums_zero, JoinedMatrix::jumps_over_mass};
constexpr std::initializer_list<JoinedMatrix> kAlike = {JoinedMatrix::diffusion, JoinedMatrix::poisson};
constexpr std::initializer_list<JoinedMatrix> kDiffusion = {JoinedMatrix::diffusion};
constexpr std::initializer_list<JoinedMatrix> kMass = {JoinedMatrix::jumps_over_mass};
constexpr std::initializer_list<JoinedMatrix> kNone = {};

struct Lines {
  const char* what;
  LineSet lines;
  bool short_partitions;                              ///< not those that the plan chooses, so that there are many tiles
  std::initializer_list<JoinedMatrix> first, others;  ///< matrices on the first device, and on all others
};
std::vector<Lines> line_sets() {
  return {{"one line", LineSet::one(20'011), true, kAll, kHard},
          {"one line, partitions chosen", LineSet::one(20'011), false, kAll, kMass},
          {"lines of 64", LineSet::equal(300, 64), true, kAll, kNone},
          {"lines of 64, partitions chosen", LineSet::equal(700, 64), false, kAll, kNone},
          {"lines of 2048", LineSet::equal(14, 2048), false, kAlike, kNone},
          {"lines of 16384", LineSet::equal(8, 16384), false, kDiffusion, kNone},
          {"lines of many lengths", LineSet::unequal({0, 1, 300, 7'000, 7'003, 20'011}), true, kHard, kNone},
          {"y of 13 x 500 x 7", LineSet::grid_axis(1, 13, 500, 7), false, kAll, kNone},
          {"y of 24 x 60 x 7", LineSet::grid_axis(1, 24, 60, 7), false, kAll, kHard},
          {"y of 5 x 3001 x 1", LineSet::grid_axis(1, 5, 3001, 1), false, kHard, kNone}};
}

/// Chunks: that their number changes no bit, or next to none, tests/device/conformance_test.cpp sees.
constexpr int kParts = 3;

struct Attempted {
  MethodChoice choice;
  Method method;
};
constexpr Attempted kAttempts[] = {{MethodChoice::truncated_halo, Method::truncated_halo},
                                   {MethodChoice::truncated_streamed, Method::truncated_streamed},
                                   {MethodChoice::exact_twopass, Method::exact_twopass},
                                   {MethodChoice::exact_factored, Method::exact_factored}};

template <typename T>
class JoinedChunks : public testing::Test {
 protected:
  static void TearDownTestSuite() { tally_.print("chunks joined"); }
  static JoinedTally& tally() { return tally_; }

 private:
  inline static JoinedTally tally_;
};

/// Kernels: of a variant, or of a scheme that is taken only where it is named.
struct Asked {
  Variant variant;
  const char* scheme = "default";
};
constexpr Asked kAsked[] = {{Variant::cpu},
                            {Variant::gpu},
                            {Variant::paper},
                            {Variant::paper_gpu},
                            {Variant::fpga},
                            {Variant::fpga, "fpga-spkboth"},
                            {Variant::fpga, "fpga-spktrunc"}};

/// One line set on one device, with such kernels.
template <typename T>
class ChunkRun {
 public:
  ChunkRun(const DeviceInfo& info, const Asked& asked, const Lines& lines, JoinedTally& tally)
      : info_(info),
        variant_(asked.variant),
        scheme_(asked.scheme),
        what_(lines.what),
        lines_(lines.lines),
        short_partitions_(lines.short_partitions),
        matrices_(info.index == 0 ? lines.first : lines.others),
        tally_(tally) {}

  void run() {
    for (const JoinedMatrix matrix : matrices_) {
      for (const Attempted& attempt : kAttempts) {
        if (!differs(attempt)) continue;
        solve_in(matrix, attempt, kParts);
      }
    }
  }

 private:
  /// False where a variant has the kernels of another one.
  bool differs(const Attempted& attempt) const {
    if (variant_ == Variant::fpga && attempt.method == Method::exact_factored)
      return std::string(scheme_) == Asked{}.scheme;
    if (variant_ == Variant::fpga) return attempt.method == Method::truncated_streamed && lines_.contiguous();
    if (variant_ == Variant::paper || variant_ == Variant::paper_gpu)
      return attempt.method == Method::truncated_halo && lines_.contiguous();
    return true;
  }
  DeviceSettings settings(bool copies) const { return {.variant = variant_, .copy_vectors = copies}; }

  /// The part of each row if a plan's chunks are the parts; by row numbers where they are not cut.
  std::vector<int> parts_of(const std::optional<Plan>& plan, int parts) const {
    const std::vector<Index> row = rows_of_lines(lines_);
    std::vector<int> part(row.size(), 0);
    if (plan && lines_.contiguous()) {
      const Layout layout = layout_of(*plan, lines_, sizeof(T));
      for (std::size_t c = 0; c < layout.chunks.size(); ++c) {
        for (Index at = layout.chunks[c].kept_first; at < layout.chunks[c].kept_end; ++at) {
          part[static_cast<std::size_t>(at)] = static_cast<int>(c);
        }
      }
      return part;
    }
    for (std::size_t at = 0; at < row.size(); ++at) {
      part[at] = row[at] < 0 ? 0 : static_cast<int>(row[at] * parts / lines_.length(0));
    }
    return part;
  }

  static Index short_partition(const DeviceTraits& traits) {
    const bool groups = traits.group_items > 0;
    if (traits.paper) return groups ? 32 : 160;
    return traits.task ? 32 : groups ? 8 : 48;
  }

  std::optional<Proposal> proposed(const Bands<T>& bands, const Attempted& attempt, Rejection& rejection) const {
    Options options;
    options.method = attempt.choice;
    options.variant = scheme_;
    DeviceTraits traits = module().traits(info_.index, sizeof(T) == sizeof(double), settings(false));
    traits.cores = std::min(traits.cores, 2);  // more would leave some schemes idle
    if (short_partitions_) options.partition = short_partition(traits);
    const Survey seen = survey(lines_, bands.view());
    const Problem<T> problem{options, bands, seen, traits, seen.symmetric};
    try {
      return test::propose(problem, attempt.method, rejection);
    } catch (const InvalidInput&) {  // for other lines, or other sizes
      return std::nullopt;
    }
  }

  void solve_in(JoinedMatrix matrix, const Attempted& attempt, int parts) {
    Bands<T> bands = joined_matrix<T>(matrix, lines_, parts_of(std::nullopt, parts));
    Rejection rejection;
    std::optional<Proposal> proposal = proposed(bands, attempt, rejection);
    // Once more with jumps where the chunks of this plan meet.
    if (proposal && !is_whole(proposal->plan) && cut_into(proposal->plan, lines_, parts)) {
      bands = joined_matrix<T>(matrix, lines_, parts_of(proposal->plan, parts));
      proposal = proposed(bands, attempt, rejection);
    }
    if (!proposal) {
      if (rejection.plan && rejection.plan->m > 0) ++tally_.of(form_of(*rejection.plan)).refused;
      return;
    }
    Plan& plan = proposal->plan;
    if (is_whole(plan)) {
      ++tally_.of(form_of(plan)).whole;
      return;
    }
    if (!cut_into(plan, lines_, parts)) return;
    const std::string what = std::string(name(matrix)) + ", " + what_ + ", " + std::to_string(parts) + " parts";
    check(*proposal, bands, false, what);
    if (info_.index == 0) check(*proposal, bands, true, what + ", copies");
  }

  static const char* form_of(const Plan& plan) { return scheme_of(plan).form(plan); }

  /// Rows on either side of the cuts.
  std::vector<char> rows_at_cuts(const Layout& layout) const {
    std::vector<char> at(static_cast<std::size_t>(lines_.extent()), 0);
    for (const ocl::Chunk& chunk : layout.chunks) {
      for (Index row = chunk.kept_first - 2; row < chunk.kept_first + 2; ++row) {
        if (chunk.kept_first > 0 && row < lines_.extent()) at[static_cast<std::size_t>(row)] = 1;
      }
    }
    return at;
  }

  /// @param copies  vectors go to the device, chunk by chunk
  void check(const Proposal& proposal, const Bands<T>& bands, bool copies, const std::string& what) {
    const std::vector<char> at_cuts = rows_at_cuts(layout_of(proposal.plan, lines_, sizeof(T)));
    const auto solver = make_solver<T>(info_.index, settings(copies));
    solver->set_up(proposal.plan, bands);
    // Of the factors as they were made; where work-items share an interface system, the plan's bound counts that, too.
    const double planned = proposal.rounding->eps, made = solver->rounding();
    const bool as_made = made != 0 && (!scheme_of(proposal.plan).solves_interfaces() || planned < made);
    const double rounding = as_made ? made : planned;
    if (!(rounding <= kRoundingLimit)) {
      ++tally_.of(form_of(proposal.plan)).refused;
      return;
    }
    const double bound = rounding * kEps<T> + proposal.certificate;
    for (int side = 0; side < static_cast<int>(std::size(kJoinedSides)); ++side) {
      const std::vector<T> y = joined_side(side, bands);
      std::vector<T> x(y.size(), std::numeric_limits<T>::quiet_NaN());
      solver->apply(y.data(), x.data());
      const RowError error = row_error(bands, x, y, at_cuts);
      const std::string where = what + ", " + kJoinedSides[side] + ", " + info_.platform;
      tally_.solved(form_of(proposal.plan), error, bound, kEps<T>, where);
      EXPECT_LE(error.all, bound) << form_of(proposal.plan) << ": " << where << ", row " << error.row << ", "
                                  << error.all / kEps<T> << " eps, at cuts " << error.at_cuts / kEps<T>;
    }
  }

  const DeviceInfo& info_;
  Variant variant_;
  const char* scheme_;
  std::string what_;
  LineSet lines_;
  bool short_partitions_;
  std::initializer_list<JoinedMatrix> matrices_;
  JoinedTally& tally_;
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(JoinedChunks, Scalars);

TYPED_TEST(JoinedChunks, AreRightInEveryRowWithEveryScheme) {
  using T = TypeParam;
  bool any_cpu = false;
  for (const Asked& asked : kAsked) {
    on_every_device<T>([&](const DeviceInfo& info) {
      any_cpu = any_cpu || info.type == DeviceType::cpu;
      const bool for_gpus = asked.variant == Variant::gpu || asked.variant == Variant::paper_gpu;
      const bool of_other_devices = for_gpus || asked.variant == Variant::paper;
      if (of_other_devices && info.emulated) return;
      for (const Lines& lines : line_sets()) ChunkRun<T>(info, asked, lines, this->tally()).run();
    });
  }
  for (const Scheme* scheme : all_schemes()) {
    for (const std::string form : scheme->forms()) {
      EXPECT_TRUE(!any_cpu || this->tally().knows(form) || form == "host-pivot") << "nothing was solved by " << form;
    }
  }
}

}  // namespace
}  // namespace oclspkt::test
