// SPDX-License-Identifier: BSD-2-Clause
// Method exact-twopass by work-groups on every device, against LAPACK and by residuals.
#include <algorithm>
#include <array>
#include <cstdio>

#include "devices.hpp"
#include "residual.hpp"
#include "schemes/tiles/tile_plans.hpp"

namespace oclspkt::test {
namespace {

constexpr DeviceSettings kByGroups{.variant = Variant::gpu};

template <typename T>
class Reduced : public testing::Test {
 protected:
  /// @param partition rows a work-item, @param items work-items of a work-group at most; 0: as the device has them
  static Plan plan(int device, Index n, Index partition = 0, int items = 0, const DeviceSettings& s = kByGroups) {
    DeviceTraits traits = module().traits(device, sizeof(T) == sizeof(double), s);
    if (items > 0) traits.group_items = std::min(traits.group_items, items);
    return make_reduce_plan(n, partition, sizeof(T), traits);
  }
  static std::vector<T> solve_by(int device, const Plan& plan, const Bands<T>& bands, const std::vector<T>& y) {
    return solve_by_plan(device, plan, bands, y, kByGroups);
  }
  /// In units of eps, for a random right-hand side and for a random solution, which hides nothing behind its size.
  static std::array<double, 2> errors(int device, const Plan& plan, const Bands<T>& bands) {
    const auto random = random_vector<T>(plan.n);
    auto smooth = random;
    multiply(bands.lines(), bands.view(), random.data(), smooth.data());
    const auto error = [&](const std::vector<T>& y) {
      const auto x = solve_by(device, plan, bands, y);
      return normwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()) / kEps<T>;
    };
    return {error(random), error(smooth)};
  }
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Reduced, Scalars);

struct TileShape {
  Index partition;
  int items;
};
constexpr TileShape kTileShapes[] = {{0, 0}, {2, 16}, {4, 1}, {12, 32}};

TYPED_TEST(Reduced, AreRightWhereCouplingsServeTwoRows) {
  using T = TypeParam;
  const T large = std::is_same_v<T, float> ? 0x1p101 : 0x1p960;  // their pivots take the general way
  on_every_device<T>([&](const DeviceInfo& info) {
    for (const Index n : {Index{1}, Index{3}, Index{32}, Index{33}, Index{1001}, Index{5003}}) {
      Plan plan = this->plan(info.index, n, 4, 8);
      if (n > 5000)
        plan = make_reduce_plan(n, 0, sizeof(T), module().traits(info.index, true, kByGroups), Form::symmetric);
      plan.form = Form::symmetric;
      for (const auto& bands :
           {closed(random_symmetric<T>(LineSet::one(n), 1.0)), closed(constant<T>(LineSet::one(n), -1, 2, -1)),
            closed(constant<T>(LineSet::one(n), 1, -2, 1)),
            closed(constant<T>(LineSet::one(n), -large, 2 * large, -large)),
            closed(constant<T>(LineSet::one(n), -1 / large, 2 / large, -1 / large))}) {
        for (const double error : this->errors(info.index, plan, bands)) EXPECT_LE(error, 10) << "n = " << n;
      }
    }
  });
}

TYPED_TEST(Reduced, StayBackwardStableWithoutAnyDominance) {
  using T = TypeParam;
  double worst = 0;
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    for (const TileShape& shape : {TileShape{0, 0}, TileShape{8, 16}}) {
      for (const Index n : {Index{4096}, Index{50'001}}) {
        const Plan plan = this->plan(info.index, n, shape.partition, shape.items);
        const auto look = [&](const std::string& name, Bands<T> open) {
          // Pivots as small as the couplings below them, which get ever smaller: a tile in float meets a zero and gives
          // NaN, which no trial solve lets pass.
          if (sizeof(T) == sizeof(float) && name == "column sums 0") return;
          for (const double error : this->errors(info.index, plan, closed(std::move(open)))) {
            EXPECT_LE(error, 10) << name << ", n = " << n << ", " << plan.items << " x " << plan.item_rows;
            worst = std::max(worst, error);
          }
        };
        at_dominance_one<T>(n, look);
        look("lambda 1e5", diffusion<T>(LineSet::one(n), 1e5));
        look("random signs", random_dominant<T>(LineSet::one(n), 1.0));
        look("skew", constant<T>(LineSet::one(n), -1, 0.5, 1));
        look("couplings of one sign", constant<T>(LineSet::one(n), 1, 2, 1));
      }
    }
  });
  std::printf("largest backward error: %.2f eps\n", worst);
}

TYPED_TEST(Reduced, KeepASingularLineToItself) {
  using T = TypeParam;
  const Index count = 90, length = 61, broken = 40;
  const auto whole = closed(random_dominant<T>(LineSet::equal(count, length), 3.0));
  const auto y = random_vector<T>(count * length);
  const auto reference = solve_by_reference(whole, y);
  // All of it, or one row: the first that a work-item has, one between, the last of the line.
  for (const Index begin : {0, 32, 37, 60}) {
    auto bands = closed(random_dominant<T>(LineSet::equal(count, length), 3.0));
    for (Index i = begin; i < (begin == 0 ? length : begin + 1); ++i) {
      const Index at = broken * length + i;
      bands.lower()[at] = bands.diag()[at] = bands.upper()[at] = 0;
    }
    on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
      for (const TileShape& shape : {TileShape{0, 0}, TileShape{4, 8}}) {
        const Plan plan = this->plan(info.index, count * length, shape.partition, shape.items);
        auto x = this->solve_by(info.index, plan, bands, y);
        EXPECT_FALSE(std::isfinite(x[broken * length + begin]));
        std::copy_n(reference.begin() + broken * length, length, x.begin() + broken * length);
        EXPECT_LE(relative_difference(x, reference), 16 * kEps<T>) << begin;
      }
    });
  }
}

TYPED_TEST(Reduced, WantAllRowsAtOnce) {
  using T = TypeParam;
  const Index n = 70'001;
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    DeviceSettings small = kByGroups;
    small.device_memory = 5 * n * static_cast<Index>(sizeof(T));
    EXPECT_EQ(this->plan(info.index, n, 8, 0, small).chunk_tiles, 0);
    EXPECT_GT(this->plan(info.index, n, 8).chunk_tiles, 0);
    const auto bands = closed(random_dominant<T>(LineSet::one(n), 1.0));
    EXPECT_THROW(make_solver<T>(info.index, small)->set_up(this->plan(info.index, n, 8), bands), InvalidInput);
  });
}

}  // namespace
}  // namespace oclspkt::test
