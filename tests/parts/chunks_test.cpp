// SPDX-License-Identifier: BSD-2-Clause
// Chunks joined: each scheme solves what the device takes in three chunks, and every row of the whole system is right,
// also where conductivities jump between one chunk and the next.
#include "examined_plan.hpp"
#include "joined.hpp"

namespace oclspkt::test {
namespace {

/// That the number of chunks changes no bit, or next to none, tests/device/conformance_test.cpp sees.
constexpr int kParts = 3;

struct Lines {
  LineSet lines;
  bool small;                                         ///< by short partitions, so that there are many tiles
  std::initializer_list<JoinedMatrix> first, others;  ///< matrices on the first device, and on all others
};
std::vector<Lines> line_sets() {
  constexpr JoinedMatrix kSums = JoinedMatrix::sums_zero, kScaled = JoinedMatrix::scaled_sums_zero,
                         kJumps = JoinedMatrix::jumps, kMass = JoinedMatrix::jumps_over_mass,
                         kDiffusion = JoinedMatrix::diffusion, kPoisson = JoinedMatrix::poisson,
                         kRandom = JoinedMatrix::random;
  static constexpr auto kAll = {kSums, kScaled, kJumps, kMass, kDiffusion, kRandom};
  static constexpr auto kHard = {kScaled, kMass};
  return {{LineSet::one(20'011), true, kAll, kHard},
          {LineSet::one(20'011), false, kAll, {kMass}},
          {LineSet::equal(300, 64), true, kAll, {}},
          {LineSet::equal(700, 64), false, kAll, {}},
          {LineSet::equal(14, 2048), false, {kDiffusion, kPoisson}, {}},
          {LineSet::equal(8, 16384), false, {kDiffusion}, {}},
          {LineSet::unequal({0, 1, 300, 7'000, 7'003, 20'011}), true, kHard, {}},
          {LineSet::grid_axis(1, 13, 500, 7), false, kAll, {}},
          {LineSet::grid_axis(1, 24, 60, 7), false, kAll, kHard},
          {LineSet::grid_axis(1, 5, 3001, 1), false, kHard, {}}};
}

/// A matrix that jumps where the chunks of a plan meet; of none, and where lines are not cut, every third of their
/// rows.
template <typename T>
System<T> jumping_system(JoinedMatrix matrix, const LineSet& lines, const ocl::Layout& layout = {}) {
  const std::vector<Index> row = rows_of_lines(lines);
  std::vector<int> part(row.size(), 0);
  for (std::size_t at = 0; at < row.size(); ++at) {
    if (row[at] >= 0) part[at] = static_cast<int>(row[at] * kParts / lines.length(0));
  }
  for (std::size_t c = 0; c < layout.chunks.size() && lines.contiguous(); ++c) {
    std::fill(part.begin() + layout.chunks[c].kept_first, part.begin() + layout.chunks[c].kept_end,
              static_cast<int>(c));
  }
  return System<T>(joined_matrix<T>(matrix, lines, part));
}

/// The plans of a scheme in chunks, of each kind the first one.
/// @param[in,out] solved  what solves lines whole alone, with no solves
template <typename T>
std::map<std::string, Proposal> cut_plans(const Scheme& scheme, const System<T>& system, const DeviceInfo& info,
                                          const Manner& manner, std::map<std::string, int>& solved) {
  std::map<std::string, Proposal> plans;
  for (Proposal& proposal : plans_of(scheme, system, info.index, manner, manner.settings())) {
    if (is_whole(proposal.plan)) solved.try_emplace(scheme.form(proposal.plan), 0);
    if (is_whole(proposal.plan) || !cut_into(proposal.plan, system.lines(), kParts)) continue;
    plans.try_emplace(kind_of(scheme, proposal.plan, system.lines()), std::move(proposal));
  }
  return plans;
}

/// @return false where the factors, as they were made, may round too much: such a plan is not taken
template <typename T>
bool expect_right_rows(DeviceSolver<T>& solver, const Scheme& scheme, const Proposal& proposal,
                       const System<T>& system) {
  solver.set_up(proposal.plan, system.bands);
  // Of the factors as they were made; where work-items share an interface system, the plan's bound counts that, too.
  const double planned = proposal.rounding->eps, made = solver.rounding();
  const double rounding = made != 0 && (!scheme.nature().solves_interfaces || planned < made) ? made : planned;
  if (!(rounding <= kRoundingLimit)) return false;
  for (int side = 0; side < static_cast<int>(std::size(kJoinedSides)); ++side) {
    const std::vector<T> y = joined_side(side, system.bands);
    const RowError error = row_error(system.bands, answer_of(solver, y), y);
    EXPECT_LE(error.all, rounding * kEps<T> + proposal.certificate) << kJoinedSides[side] << ", row " << error.row;
  }
  return true;
}

template <typename T>
class JoinedChunks : public testing::Test {};

SCALAR_TEST(JoinedChunks, AreRightInEveryRowWithEveryScheme) {
  bool any_cpu = false;
  std::map<std::string, int> solved;
  for (const Variant variant : {Variant::cpu, Variant::gpu, Variant::fpga}) {
    on_every_device<T>([&](const DeviceInfo& info) {
      any_cpu = any_cpu || info.type == DeviceType::cpu;
      if (variant != Variant::fpga && info.emulated) return;
      Solvers<T> solvers(info.index, {variant});
      for (const Lines& set : line_sets()) {
        const Manner manner{.variant = variant, .small = set.small, .wide = set.lines.contiguous()};
        for (const JoinedMatrix matrix : info.index == 0 ? set.first : set.others) {
          const System<T> thirds = jumping_system<T>(matrix, set.lines);
          for (const Scheme* scheme : all_schemes()) {
            for (const auto& [kind, first] : cut_plans(*scheme, thirds, info, manner, solved)) {
              SCOPED_TRACE(info.platform + ", " + kind + manner.text() + ", " + name(matrix) + ", " +
                           set.lines.describe());
              const System<T> system =
                  jumping_system<T>(matrix, set.lines, layout_of(first.plan, set.lines, sizeof(T)));
              const auto plans = cut_plans(*scheme, system, info, manner, solved);
              const auto found = plans.find(kind);
              if (found == plans.end()) continue;
              const Proposal& proposal = found->second;
              if (!expect_right_rows(*solvers.in_place, *scheme, proposal, system)) continue;
              if (info.index == 0) expect_right_rows(*solvers.copies, *scheme, proposal, system);
              ++solved[scheme->form(proposal.plan)];
            }
          }
        }
      }
    });
  }
  for (const Scheme* scheme : all_schemes()) {
    for (const std::string form : scheme->forms()) {
      EXPECT_TRUE(!any_cpu || solved.count(form) > 0 || form == "host-pivot") << "nothing was solved by " << form;
    }
  }
}

}  // namespace
}  // namespace oclspkt::test
