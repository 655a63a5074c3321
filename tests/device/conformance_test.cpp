// SPDX-License-Identifier: BSD-2-Clause
// What each scheme of the table must do, with all its plans and on every device: a scheme is tested by being in the
// table.
#include <map>
#include <set>

#include "examined_plan.hpp"

namespace oclspkt::test {
namespace {

/// What came of the schemes: the kinds of plans that were solved.
class SchemeTally {
 public:
  /// @return true if the kind is new
  bool add(const Scheme& scheme, const std::string& kind) { return kinds_[scheme.name()].insert(kind).second; }
  bool knows(const Scheme& scheme) const { return kinds_.count(scheme.name()) > 0; }
  /// True if a kind of plan begins with the name of a form, see kind_of().
  bool knows(const Scheme& scheme, const std::string& form) const {
    const auto kinds = kinds_.find(scheme.name());
    if (kinds == kinds_.end()) return false;
    return std::any_of(kinds->second.begin(), kinds->second.end(),
                       [&](const std::string& kind) { return kind.starts_with(form + " "); });
  }

 private:
  std::map<std::string, std::set<std::string>> kinds_;
};

template <typename T>
class Conformance : public testing::Test {
 protected:
  /// Call f(scheme, device, variant, solvers) for every scheme of the table, with kernels of all kinds.
  template <typename F>
  static void for_all(const F& f) {
    for (const Variant variant : {Variant::cpu, Variant::gpu, Variant::fpga}) {
      on_every_device<T>([&](const DeviceInfo& info) {
        if (variant == Variant::gpu && !runs_kernels_for_gpus(info)) return;
        Solvers<T> solvers(info.index, {variant});
        for (const Scheme* scheme : all_schemes()) {
          SCOPED_TRACE(scheme->name());
          try {
            f(*scheme, info, variant, solvers);
          } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
          }
        }
      });
    }
  }

  /// Call f(examined, kind) for all plans of a scheme that hold.
  template <typename F>
  static void examine(const Scheme& scheme, const DeviceInfo& info, const Manner& manner, AskedMatrix matrix,
                      const LineSet& lines, const F& f) {
    const System<T>& system = system_of<T>(matrix, lines);
    SCOPED_TRACE(std::string(named<T>(matrix).name) + ", " + lines.describe() + manner.text());
    for (const Proposal& proposal : plans_of(scheme, system, info.index, manner, manner.settings())) {
      SCOPED_TRACE(scheme.shape(proposal.plan));
      Examined<T> examined(info, scheme, manner, system, proposal);
      f(examined, proposal.plan);
    }
  }
};

constexpr AskedMatrix kForms[] = {AskedMatrix::random, AskedMatrix::symmetric, AskedMatrix::alike,
                                  AskedMatrix::alike_symmetric, AskedMatrix::slow};
/// Manners in which plans of every form are asked for.
std::vector<Manner> all_manners(Variant variant, int word) {
  std::vector<Manner> all = {{variant}, {variant, true}};
  if (word == sizeof(double)) all.push_back({variant, false, Precision::narrow});
  return all;
}

/// Axes of grids, fewer lines than any bundle, lengths about a tile and a run, gaps beside and between lines.
std::vector<LineSet> all_lines() {
  return {LineSet::one(20'011),
          LineSet::equal(150, 61),
          LineSet::equal(150, 64),
          LineSet::equal(8, 4096),
          LineSet::unequal({0, 1, 1, 2, 300, 7'000, 7'003, 20'011}),
          LineSet::grid_axis(1, 13, 500, 7),
          LineSet::grid_axis(2, 24, 3, 60),
          LineSet::grid_axis(1, 5, 3001, 1),
          LineSet::grid_axis(1, 37, 1000, 1),
          LineSet::strided(9, 50, 20, 1, 4, 500)};
}

/// Each kind of plan once.
SCALAR_TEST(Conformance, OfEveryKindOfPlan) {
  SchemeTally tally;
  this->for_all([&](const Scheme& scheme, const DeviceInfo& info, Variant variant, Solvers<T>& solvers) {
    SchemeTally of_device;
    for (const LineSet& lines : all_lines()) {
      for (const AskedMatrix matrix : kForms) {
        std::vector<Manner> manners = all_manners(variant, sizeof(T));
        if (lines.contiguous()) manners.push_back({.variant = variant, .wide = true});  // tiles alone may be wider
        for (const Manner& manner : manners) {
          this->examine(scheme, info, manner, matrix, lines, [&](Examined<T>& examined, const Plan& plan) {
            const std::string kind = kind_of(scheme, plan, lines);
            if (!of_device.add(scheme, kind + (manner.small ? ", small" : ""))) return;
            const auto fresh = make_solver<T>(info.index, manner.settings());
            if (!examined.solve(*fresh)) return;
            tally.add(scheme, kind);
            examined.expect_right(*fresh);
            examined.expect_same_bits(*fresh, solvers);
            examined.expect_anywhere(*solvers.in_place);
            examined.expect_nan_in_its_line(*solvers.in_place);
            if (solvers.on_demand) {
              solvers.on_demand->set_up(plan, system_of<T>(matrix, lines).bands);
              examined.expect_nan_in_its_line(*solvers.on_demand);
              examined.expect_nan_in_its_line_in_a_queue(*solvers.on_demand);
            }
            examined.expect_moved_once(*solvers.copies);
            examined.expect_chunks_alike(solvers);
            examined.expect_refusal_of_other_lines(*fresh);
            examined.expect_refusal_by_other_kernels();
          });
        }
      }
    }
  });
  const bool any_cpu = std::any_of(module().devices().begin(), module().devices().end(),
                                   [](const DeviceInfo& info) { return info.type == DeviceType::cpu; });
  for (const Scheme* scheme : all_schemes()) {
    const bool of_host = std::string(scheme->name()) == "host-pivot";
    for (const char* const form : scheme->forms()) {
      EXPECT_TRUE(!any_cpu || tally.knows(*scheme, form) || of_host) << "nothing was solved by " << form;
    }
  }
}

/// Lengths around partitions and tiles, one line each and all of them laid end to end; shapes of grids, lines that are
/// fewer than any bundle, gaps between lines.
std::vector<LineSet> lines_about(const Plan& plan, bool contiguous) {
  if (!contiguous) {
    return {LineSet::grid_axis(1, 3, 5, 7),   LineSet::grid_axis(2, 7, 3, 11),        LineSet::grid_axis(1, 9, 127, 1),
            LineSet::grid_axis(1, 9, 129, 2), LineSet::grid_axis(2, 33, 3, 2),        LineSet::grid_axis(1, 40, 2, 1),
            LineSet::strided(150, 4, 1, 1),   LineSet::strided(9, 300, 20, 1, 4, 60), LineSet::grid_axis(2, 17, 3, 64),
            LineSet::grid_axis(1, 9, 700, 1)};
  }
  const Index m = plan.m, tile = plan.cut().grain;
  std::set<Index> lengths = {1, 2, 3, 997, m + m / 2, 2 * m + 1, 5 * tile + 7};
  for (const Index n : {m, tile, 2 * tile, 3 * tile}) lengths.insert({n - 1, n, n + 1});
  lengths.erase(0);
  std::vector<LineSet> all;
  std::vector<Index> starts = {0, 0, 1};
  for (const Index n : lengths) {
    if (n > 30'000) continue;
    all.push_back(LineSet::one(n));
    if (n < 3'000) starts.push_back(starts.back() + n);
  }
  all.push_back(LineSet::unequal(starts));
  return all;
}

SCALAR_TEST(Conformance, OfEveryLength) {
  this->for_all([&](const Scheme& scheme, const DeviceInfo& info, Variant variant, Solvers<T>& solvers) {
    for (const LineSet& usual : {LineSet::one(20'011), LineSet::grid_axis(1, 13, 500, 7)}) {
      for (const AskedMatrix matrix :
           {AskedMatrix::random, AskedMatrix::symmetric, AskedMatrix::own_ends, AskedMatrix::poisson}) {
        for (const Manner& manner : all_manners(variant, sizeof(T))) {
          // Every matrix and every manner with every length; manners and matrices meet in OfEveryKindOfPlan.
          const AskedMatrix partner = manner.small ? AskedMatrix::random : AskedMatrix::symmetric;
          if ((manner.small || manner.precision == Precision::narrow) && matrix != partner) continue;
          const auto plans = plans_of(scheme, system_of<T>(matrix, usual), info.index, manner, manner.settings());
          if (plans.empty()) continue;
          for (const LineSet& lines : lines_about(plans.front().plan, usual.contiguous())) {
            this->examine(scheme, info, manner, matrix, lines, [&](Examined<T>& examined, const Plan&) {
              if (examined.solve(*solvers.in_place)) examined.expect_right(*solvers.in_place);
            });
          }
        }
      }
    }
  });
}

/// At dominance 1, where what is not stable shows, a scheme is right or refuses.
SCALAR_TEST(Conformance, AtDominanceOneOrRefused) {
  this->for_all([&](const Scheme& scheme, const DeviceInfo& info, Variant variant, Solvers<T>& solvers) {
    for (const LineSet& lines :
         {LineSet::one(4'099), LineSet::one(kLongLines[1]), LineSet::equal(9, 500), LineSet::equal(150, 61),
          LineSet::grid_axis(1, 5, 3000, 1), LineSet::grid_axis(2, 5, 2, 200)}) {
      for (const AskedMatrix matrix : {AskedMatrix::poisson, AskedMatrix::row_sums_zero, AskedMatrix::diffusion,
                                       AskedMatrix::steep, AskedMatrix::upwind, AskedMatrix::turning}) {
        const bool is_long = lines.rows() > 50'000;
        if (is_long && matrix > AskedMatrix::row_sums_zero) continue;
        for (const bool small : {false, true}) {
          if (is_long && small) continue;
          const Manner manner{variant, small};
          this->examine(scheme, info, manner, matrix, lines, [&](Examined<T>& examined, const Plan&) {
            if (examined.solve(*solvers.in_place)) examined.expect_right(*solvers.in_place);
          });
        }
      }
    }
  });
}

/// Where rounding multiplies, in interface systems of partitions, work-items and tiles, bounds hold whatever they are.
SCALAR_TEST(Conformance, ErrsByNoMoreThanItsBound) {
  this->for_all([&](const Scheme& scheme, const DeviceInfo& info, Variant variant, Solvers<T>& solvers) {
    for (const LineSet& lines : {LineSet::one(917), LineSet::one(2611), LineSet::equal(9, 1040),
                                 LineSet::grid_axis(1, 8, 1900, 1), LineSet::grid_axis(1, 8, 230, 1)}) {
      for (int matrix = static_cast<int>(AskedMatrix::steep); matrix <= static_cast<int>(AskedMatrix::tiny); ++matrix) {
        for (const bool small : {false, true}) {
          const Manner manner{variant, small, Precision::same, 0, 1e4};
          this->examine(scheme, info, manner, static_cast<AskedMatrix>(matrix), lines,
                        [&](Examined<T>& examined, const Plan&) {
                          if (!examined.solve(*solvers.in_place)) return;
                          examined.expect_right(*solvers.in_place);
                          examined.expect_right_for_hard_solutions(*solvers.in_place);
                        });
        }
      }
    }
  });
}

/// Vectors so long that they are copied in pieces, each of which is solved when it is there.
SCALAR_TEST(Conformance, TakesPiecesOfLongVectors) {
  constexpr Index kPieces = 7, kRows = kPieces * (ocl::kLeastPiece / static_cast<Index>(sizeof(T))) / 2 + 12'345,
                  kLength = kRows / (3 * 64);
  this->for_all([&](const Scheme& scheme, const DeviceInfo& info, Variant variant, Solvers<T>& solvers) {
    SchemeTally of_device;
    for (const LineSet& lines : {LineSet::one(kRows), LineSet::strided(kLength, 64, 60, 1, 3, kLength * 64)}) {
      this->examine(scheme, info, {variant}, AskedMatrix::random, lines, [&](Examined<T>& examined, const Plan& plan) {
        if (!of_device.add(scheme, kind_of(scheme, plan, lines)) || !examined.solve(*solvers.in_place)) return;
        examined.expect_moved_once(*solvers.copies);
      });
    }
  });
}

/// By certificates so large that a row more or less shows.
SCALAR_TEST(Conformance, TruncatesWhereTheModelDoes) {
  SchemeTally tried, seen;
  this->for_all([&](const Scheme& scheme, const DeviceInfo& info, Variant variant, Solvers<T>& solvers) {
    for (const LineSet& lines : {LineSet::one(20'011), LineSet::grid_axis(1, 5, 3001, 1)}) {
      for (const AskedMatrix matrix :
           {AskedMatrix::slow, AskedMatrix::gentle, AskedMatrix::diffusion, AskedMatrix::uneven}) {
        for (const bool small : {false, true}) {
          const Manner manner{variant, small, Precision::same, 0.5, 1e4};
          this->examine(scheme, info, manner, matrix, lines, [&](Examined<T>& examined, const Plan& plan) {
            if (!examined.solve(*solvers.in_place) || !examined.expect_like_model()) return;
            examined.expect_right(*solvers.in_place);
            if (plan.method == Method::exact_factored) return;  // truncates nothing
            tried.add(scheme, kind_of(scheme, plan, lines));
            if (examined.truncated() > 1e3 * kEps<T>) seen.add(scheme, kind_of(scheme, plan, lines));
          });
        }
      }
    }
  });
  // In float the smallest certificates are near rounding, and rounds leave far less than theirs.
  for (const Scheme* scheme : all_schemes()) {
    const bool hidden = sizeof(T) == sizeof(float) || scheme->name() == std::string("fpga-spkjac"),
               shows = hidden || !tried.knows(*scheme) || seen.knows(*scheme);
    EXPECT_TRUE(shows) << "nothing that " << scheme->name() << " truncates shows";
  }
}

/// Where the memory does not hold all that a scheme wants, it solves in chunks or is not there; where it does not hold
/// what a scheme needs at least, there is no plan or it is refused, with size and cure.
SCALAR_TEST(Conformance, WantsItsMemory) {
  int in_chunks = 0;
  this->for_all([&](const Scheme& scheme, const DeviceInfo& info, Variant variant, Solvers<T>&) {
    const Manner manner{variant};
    for (const LineSet& lines : {LineSet::one(20'011), LineSet::equal(150, 61), LineSet::grid_axis(1, 13, 500, 7)}) {
      const System<T>& system = system_of<T>(AskedMatrix::random, lines);
      const std::int64_t vector = lines.extent() * static_cast<std::int64_t>(sizeof(T));
      for (const std::int64_t memory : {std::int64_t{1000}, 2 * vector, 4 * vector}) {
        SCOPED_TRACE(lines.describe() + ", " + std::to_string(memory) + " bytes");
        DeviceSettings little = manner.settings();
        little.use.device_memory = memory;
        const auto solver = make_solver<T>(info.index, little);
        try {
          for (const Proposal& proposal : plans_of(scheme, system, info.index, manner, little)) {
            Examined<T> examined(info, scheme, manner, system, proposal);
            if (!examined.solve(*solver)) continue;
            examined.expect_right(*solver);
            in_chunks += layout_of(proposal.plan, lines, sizeof(T)).chunks.size() > 1 ? 1 : 0;
            EXPECT_GT(memory, 1000) << "takes all rows";
          }
        } catch (const InvalidInput& error) {
          const std::string text = error.what();
          EXPECT_NE(text.find("device_memory"), std::string::npos) << text;
          EXPECT_TRUE(has_number(text)) << text;
        }
      }
    }
  });
  EXPECT_GT(in_chunks, 0);
}

}  // namespace
}  // namespace oclspkt::test
