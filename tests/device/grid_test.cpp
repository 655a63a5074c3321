// SPDX-License-Identifier: BSD-2-Clause
// The kernels made for GPUs for lines side by side, on every device, against LAPACK, residuals and the model in C++.
#include <algorithm>
#include <array>
#include <cstdio>

#include "certificate.hpp"
#include "devices.hpp"
#include "evidence.hpp"
#include "factors.hpp"
#include "geometry.hpp"
#include "layout.hpp"
#include "residual.hpp"
#include "schemes/grids/grid_evidence.hpp"
#include "schemes/grids/grid_plan.hpp"
#include "survey.hpp"

namespace oclspkt::test {
namespace {

/// Untouched places hold this.
constexpr double kBesideLines = 77;
/// Work-items that the devices of these tests are said to have in a work-group.
constexpr int kFewItems = 64;

template <typename T>
class Grid : public testing::Test {
 protected:
  static DeviceTraits traits(int device, const DeviceSettings& settings = kForGpus) {
    DeviceTraits traits = module().traits(device, sizeof(T) == sizeof(double), settings);
    traits.group_items = std::min(traits.group_items, kFewItems);
    return traits;
  }
  /// Small tiles: of 8 lines, and 8 work-items a line.
  static Plan plan(int device, const LineSet& lines, const GridDemand& demand,
                   const DeviceSettings& settings = kForGpus) {
    return make_grid_plan(lines, demand, sizeof(T), traits(device, settings));
  }
  static std::vector<T> solve_by(int device, const Plan& plan, const Bands<T>& bands, const std::vector<T>& y,
                                 const DeviceSettings& settings = kForGpus) {
    return solve_by_plan(device, plan, bands, y, settings, T(kBesideLines));
  }
  /// Rows of lines only; elsewhere what `reference` has.
  static std::vector<T> rows_of(const LineSet& lines, const std::vector<T>& x, std::vector<T> reference) {
    for (Index l = 0; l < lines.count(); ++l) {
      for (Index i = 0; i < lines.length(l); ++i) {
        const auto at = static_cast<std::size_t>(lines.first(l) + i * lines.row_stride());
        reference[at] = x[at];
      }
    }
    return reference;
  }
  /// The largest normwise backward error in eps.
  template <std::size_t kCount>
  static double worst_error(int device, const Plan& plan, const Bands<T>& bands,
                            const std::array<std::vector<T>, kCount>& right_hand_sides) {
    double worst = 0;
    for (const std::vector<T>& y : right_hand_sides) {
      const auto x = solve_by(device, plan, bands, y);
      const double error = normwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()) / kEps<T>;
      if (!(error <= worst)) worst = error;
    }
    return worst;
  }
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Grid, Scalars);

/// Axes of grids, fewer lines than any bundle, lengths about a tile and a run, gaps beside and between.
std::vector<LineSet> grid_shapes() {
  std::vector<LineSet> all;
  for (const auto& [nx, ny, nz] : {std::array<Index, 3>{3, 5, 7}, {17, 64, 3}, {9, 127, 1}, {9, 129, 2}, {9, 700, 1}}) {
    all.push_back(LineSet::grid_axis(1, nx, ny, nz));
    if (nz > 1) all.push_back(LineSet::grid_axis(2, nx, nz, ny));  // else the same lines
  }
  all.push_back(LineSet::strided(9, 50, 20, 1, 4, 500));
  all.push_back(LineSet::strided(90, 300, 20, 1, 4, 60));  // blocks that interleave
  all.push_back(LineSet::strided(150, 4, 1, 1));
  return all;
}

/// Ways to solve: streamed where a tile of 64 rows decays, exact at once, in turn, by one work-item and by segments.
/// @param all  with those of fewer rows a work-item, too: each way is a kernel to be built
std::vector<GridDemand> demands(Form form, bool all) {
  std::vector<GridDemand> ways = {{.form = form, .reach = 64},
                                  {.method = Method::exact_factored, .form = form},
                                  {.method = Method::exact_factored, .form = form, .in_turn = true},
                                  {.method = Method::exact_factored, .form = form, .one_item = true},
                                  {.method = Method::exact_factored, .form = form, .segments = true}};
  if (!all) return ways;
  ways.push_back({.form = form, .reach = 64, .item_rows = 4});
  ways.push_back({.form = form, .reach = 384});
  if (form == Form::shared) {
    ways.push_back({.method = Method::exact_factored, .form = form, .in_turn = true, .segments = true});
  }
  ways.push_back({.method = Method::exact_factored, .form = form, .item_rows = 4, .segments = true});
  return ways;
}

TYPED_TEST(Grid, IsRightForEveryShapeAndForm) {
  using T = TypeParam;
  for (const LineSet& lines : grid_shapes()) {
    SCOPED_TRACE(lines.describe());
    for (const Form form : {Form::general, Form::shared, Form::symmetric}) {
      const auto bands = closed(form == Form::shared      ? constant<T>(lines, -1, 12, -1)
                                : form == Form::symmetric ? random_symmetric<T>(lines, 4.0)
                                                          : random_dominant<T>(lines, 4.0));
      const auto y = random_vector<T>(lines.extent());
      const auto reference = solve_by_reference(bands, y);
      on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
        for (const GridDemand& demand : demands(form, lines.length(0) > 600)) {
          const auto x = this->solve_by(info.index, this->plan(info.index, lines, demand), bands, y);
          EXPECT_LE(relative_difference(this->rows_of(lines, x, reference), reference), 16 * kEps<T>)
              << name(demand.method) << ", " << name(form) << ", " << demand.item_rows << " rows an item";
          EXPECT_LE(normwise_backward_error(lines, bands.view(), x.data(), y.data()), 10 * kEps<T>);
          const auto untouched = static_cast<Index>(std::count(x.begin(), x.end(), T(kBesideLines)));
          EXPECT_EQ(untouched, lines.extent() - lines.rows()) << "wrote between lines";
        }
      });
    }
  }
}

/// Truncated-streamed row by row: what kernels/gpu/grid_streamed.cl does, without interface systems.
template <typename T>
std::vector<T> streamed_row_by_row(const Plan& plan, const Bands<T>& bands, const std::vector<T>& y) {
  Factors<T> factors;
  factors.factor(bands.lines(), bands.view(), Form::general);
  const FactorsView<T> f = factors.view();
  const Index length = bands.lines().length(0), tile = grid_tile_rows(plan);
  std::vector<T> x(y.size()), d(y.size());
  for (Index l = 0; l < bands.lines().count(); ++l) {
    const auto at = [&](Index i) {
      return static_cast<std::size_t>(bands.lines().first(l) + i * bands.lines().row_stride());
    };
    for (Index first = 0; first < length; first += plan.m) {
      const Index end = std::min(length, first + plan.m);
      T left = 0;
      for (Index i = std::max<Index>(0, first - plan.halo); i < std::min(length, end + grid_reach(plan)); ++i) {
        d[at(i)] = left = y[at(i)] - f.multiplier[at(i)] * left;
      }
      for (Index top = first; top < end; top += tile) {
        T below = 0;
        for (Index i = std::min(length, top + tile + grid_reach(plan)) - 1; i >= top; --i) {
          below = d[at(i)] * f.reciprocal[at(i)] - f.coupling[at(i)] * below;
          if (i < top + tile) x[at(i)] = below;
        }
      }
    }
  }
  return x;
}

TYPED_TEST(Grid, IsTruncatedExactlyWhereThePlanSays) {
  using T = TypeParam;
  const LineSet lines = LineSet::grid_axis(1, 5, 3700, 2);
  const double lambda = 1e3;
  const auto bands = closed(diffusion<T>(lines, lambda));
  const auto y = random_vector<T>(lines.extent());
  const auto reference = solve_by_reference(bands, y);
  double by_one_tile = 1;
  for (const Index reach : {1, 384}) {
    on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
      for (const Form form : {Form::general, Form::symmetric}) {
        const Plan plan = this->plan(info.index, lines, {.form = form, .reach = reach, .item_rows = 4});
        ASSERT_GT(plan.as<Beside>().segments, 1);
        EXPECT_EQ(plan.as<GridTiles>().in_flight > 1, reach > 1);
        const auto x = this->solve_by(info.index, plan, bands, y);
        const double truncated = relative_difference(x, reference);
        EXPECT_GT(truncated, 1e-4) << "the tiles hide what is truncated";
        if (reach == 1) by_one_tile = truncated;
        EXPECT_LE(truncated, by_one_tile * (reach > 1 ? 0.9 : 1)) << "tiles that wait do not help";
        EXPECT_LE(relative_difference(x, streamed_row_by_row(plan, bands, y)), lambda * kEps<T>);
      }
    });
  }
}

TYPED_TEST(Grid, KeepsWhatItsCertificateSays) {
  using T = TypeParam;
  const LineSet lines = LineSet::grid_axis(2, 3, 4, 1500);
  for (const double lambda : {1.0, 30.0, 1e3}) {
    const auto bands = closed(diffusion<T>(lines, lambda));
    const auto y = random_vector<T>(lines.extent());
    const auto reference = solve_by_reference(bands, y);
    on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
      for (const Index reach : {1, 384}) {
        const Plan plan = this->plan(info.index, lines, {.reach = reach, .item_rows = 8});
        const GridEvidence evidence = certify_grid(plan, lines, bands.view(), kEps<T>, 5);
        const double bound = evidence.worst.bound + 8 * (1 + 4 * lambda) * kEps<T>;
        EXPECT_LE(relative_difference(this->solve_by(info.index, plan, bands, y), reference), bound) << lambda;
        EXPECT_LE(evidence.worst.growth, 3) << lambda;
      }
    });
  }
}

/// Matrices of dominance 1 whose rounding anything but one elimination multiplies.
template <typename T, typename F>
void with_weak_matrices(const LineSet& lines, const F& f) {
  f("Poisson", closed(constant<T>(lines, -1, 2, -1)));
  f("row sums 0", closed(row_sums_zero<T>(lines)));
  for (const Decades& range : kWideRanges) f(range.what, closed(wide_conduction<T>(lines, range)));
}

/// Random, the product with a random vector, and that of the smooth trial.
template <typename T>
std::array<std::vector<T>, 3> right_hand_sides(const Bands<T>& bands) {
  const LineSet& lines = bands.lines();
  const auto random = random_vector<T>(lines.extent());
  std::array<std::vector<T>, 3> sides{random, random, random};
  multiply(lines, bands.view(), random.data(), sides[1].data());
  trial_right_hand_side(lines, bands.view(), TrialKind::smooth, sides[2].data());
  return sides;
}

TYPED_TEST(Grid, StaysBackwardStableAtDominanceOne) {
  using T = TypeParam;
  double worst = 0;
  for (const LineSet& lines : {LineSet::grid_axis(1, 5, 3000, 1), LineSet::grid_axis(2, 5, 2, 200)}) {
    with_weak_matrices<T>(lines, [&](const char* what, const Bands<T>& bands) {
      const auto sides = right_hand_sides(bands);
      on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
        for (const bool segments : {false, true}) {
          const Plan plan =
              this->plan(info.index, lines, {.method = Method::exact_factored, .in_turn = true, .segments = segments});
          const double error = this->worst_error(info.index, plan, bands, sides);
          EXPECT_LE(error, 4) << lines.describe() << ", " << what << (segments ? ", segments" : ", streamed");
          worst = std::max(worst, error);
        }
      });
    });
  }
  std::printf("largest backward error: %.2f eps\n", worst);
}

TYPED_TEST(Grid, HoldsLongLinesThatAreAlikeWhole) {
  using T = TypeParam;
  double worst = 0;
  for (const LineSet& lines : {LineSet::grid_axis(1, 37, 1000, 3), LineSet::grid_axis(2, 70, 1, 512)}) {
    for (const double lambda : {1e2, 1e4, 1e8}) {
      const auto bands = closed(diffusion<T>(lines, lambda));
      const auto sides = right_hand_sides(bands);
      on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
        const DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), kForGpus);
        if (traits.local_bytes < (48 << 10)) return;
        const GridDemand demand{.method = Method::exact_factored, .form = Form::shared};
        Plan plan = make_grid_plan(lines, demand, sizeof(T), traits);
        ASSERT_TRUE(in_one_tile(plan) && goes_through_tiles(plan) && !reads_ahead(plan));
        plan.run_tiles = 2;  // a work-group goes through several
        const double error = this->worst_error(info.index, plan, bands, sides);
        EXPECT_LE(error, 4) << lines.describe() << ", lambda " << lambda;
        worst = std::max(worst, error);
      });
    }
  }
  std::printf("largest backward error: %.2f eps\n", worst);
}

TYPED_TEST(Grid, SegmentsOfLinesThatAreAlikeSweepConcurrently) {
  using T = TypeParam;
  double worst = 0;
  for (const LineSet& lines : {LineSet::grid_axis(1, 37, 1000, 3), LineSet::grid_axis(2, 70, 2, 513)}) {
    for (const double lambda : {1e2, 1e4, 1e8}) {
      const auto bands = closed(diffusion<T>(lines, lambda));
      const auto sides = right_hand_sides(bands);
      on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
        Plan plan =
            this->plan(info.index, lines, {.method = Method::exact_factored, .form = Form::shared, .segments = true});
        ASSERT_TRUE(grid_condenses_at_once(plan));
        for (const int run_tiles : {1, 5, 1000}) {  // within the bundles of a segment, beyond them, all
          plan.run_tiles = run_tiles;
          const double error = this->worst_error(info.index, plan, bands, sides);
          EXPECT_LE(error, 4) << lines.describe() << ", lambda " << lambda << ", runs of " << run_tiles;
          worst = std::max(worst, error);
        }
      });
    }
  }
  std::printf("largest backward error: %.2f eps\n", worst);
}

TYPED_TEST(Grid, SegmentsSolveWhatDecaysSlowlyAndAnySigns) {
  using T = TypeParam;
  double worst = 0;
  for (const LineSet& lines : {LineSet::grid_axis(1, 5, 2999, 1), LineSet::grid_axis(2, 17, 3, 517),
                               LineSet::strided(1031, 3, 1, 1), LineSet::grid_axis(1, 33, 17, 3)}) {
    std::vector<std::pair<const char*, Bands<T>>> matrices;
    matrices.emplace_back("Poisson", constant<T>(lines, -1, 2, -1));
    matrices.emplace_back("lambda 1e2", diffusion<T>(lines, 1e2));
    matrices.emplace_back("lambda 1e5", diffusion<T>(lines, 1e5));
    matrices.emplace_back("random rows, d 1.5", random_dominant<T>(lines, 1.5));
    matrices.emplace_back("random symmetric rows, d 1.5", random_symmetric<T>(lines, 1.5));
    matrices.emplace_back("couplings of either sign", constant<T>(lines, 1, -2, -1));
    for (auto& [what, bands] : matrices) {
      bands.close_lines();
      const auto random = random_vector<T>(lines.extent());
      auto smooth = random;
      multiply(lines, bands.view(), random.data(), smooth.data());
      on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
        for (const Index item_rows : {0, 4}) {
          const Form form = is_symmetric(lines, bands.view()) ? Form::symmetric : Form::general;
          const Plan plan =
              this->plan(info.index, lines,
                         {.method = Method::exact_factored, .form = form, .item_rows = item_rows, .segments = true});
          EXPECT_EQ(grid_condenses(plan), lines.length(0) > grid_tile_rows(plan));
          for (const std::vector<T>* y : std::initializer_list<const std::vector<T>*>{&random, &smooth}) {
            const auto x = this->solve_by(info.index, plan, bands, *y);
            const double error = normwise_backward_error(lines, bands.view(), x.data(), y->data()) / kEps<T>;
            EXPECT_LE(error, 4) << lines.describe() << ", " << what;
            worst = std::max(worst, error);
          }
        }
      });
    }
  }
  std::printf("largest backward error: %.2f eps\n", worst);
}

TYPED_TEST(Grid, SegmentsGiveTheSameBitsEveryTimeAndAreSolvedAllAtOnce) {
  using T = TypeParam;
  const LineSet lines = LineSet::strided(200, 20, 13, 1, 12, 4100);
  const auto bands = closed(constant<T>(lines, -1, 4, -1));
  const auto y = random_vector<T>(lines.extent());
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    const GridDemand demand{.method = Method::exact_factored, .item_rows = 8, .segments = true};
    const Plan plan = this->plan(info.index, lines, demand);
    ASSERT_TRUE(grid_condenses(plan));
    const auto first = this->solve_by(info.index, plan, bands, y);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(this->solve_by(info.index, plan, bands, y), first);
    DeviceSettings small = kForGpus;
    small.device_memory = 6 * lines.extent() * static_cast<Index>(sizeof(T)) / 4;
    EXPECT_EQ(Plan(this->plan(info.index, lines, demand, small)).template as<Beside>().chunk_blocks, 0);
    EXPECT_THROW(this->solve_by(info.index, plan, bands, y, small), InvalidInput);
  });
}

TYPED_TEST(Grid, RefusesOtherLinesAndKernelsMadeForCpus) {
  using T = TypeParam;
  const auto beside = closed(constant<T>(LineSet::grid_axis(1, 10, 20, 1), -1, 4, -1));
  const auto glued = closed(constant<T>(LineSet::equal(10, 20), -1, 4, -1));
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    const Plan plan = this->plan(info.index, beside.lines(), {});
    EXPECT_THROW(make_solver<T>(info.index, kForGpus)->set_up(plan, glued), InvalidInput);
    EXPECT_THROW(make_solver<T>(info.index, {.variant = Variant::cpu})->set_up(plan, beside), InvalidInput);
    const DeviceSettings small{.variant = Variant::gpu, .device_memory = 1000};
    const Plan none = this->plan(info.index, beside.lines(), {}, small);
    EXPECT_EQ(none.as<Beside>().chunk_blocks, 0);
    EXPECT_THROW(make_solver<T>(info.index, small)->set_up(none, beside), InvalidInput);
  });
}

}  // namespace
}  // namespace oclspkt::test
