// SPDX-License-Identifier: BSD-2-Clause
// Lines laid end to end that are all alike, by kernels made for GPUs on every device, against LAPACK and residuals.
#include <algorithm>

#include "devices.hpp"
#include "geometry.hpp"
#include "residual.hpp"
#include "schemes/halos.hpp"
#include "schemes/tiles/tile_plans.hpp"

namespace oclspkt::test {
namespace {

template <typename T>
class LikeLines : public testing::Test {
 protected:
  /// A plan that keeps factors, of lines that are symmetric.
  static Plan as_symmetric(int device, Plan plan, Index length) {
    make_factors_symmetric(plan, length, sizeof(T), module().traits(device, sizeof(T) == sizeof(double), kForGpus));
    EXPECT_EQ(plan.as<KeptTiles>().symmetric, sizeof(T) == sizeof(double));
    return plan;
  }
  /// NaN in a row of a line in the middle leaves the others as they were, x.
  static void expect_nan_stays_in_its_line(int device, const Plan& plan, const Bands<T>& bands, std::vector<T> y,
                                           const std::vector<T>& x, Index row,
                                           const DeviceSettings& settings = kForGpus) {
    const Index middle = bands.lines().count() / 2, line = bands.lines().first(middle);
    const auto at = static_cast<std::size_t>(line + row);
    y[at] = std::numeric_limits<T>::quiet_NaN();
    auto broken = solve_for_gpus(device, plan, bands, y, settings);
    EXPECT_TRUE(std::isnan(broken[at]));
    std::copy_n(x.begin() + line, bands.lines().length(middle), broken.begin() + line);
    EXPECT_EQ(broken, x) << "NaN in row " << row;
  }
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(LikeLines, Scalars);

TYPED_TEST(LikeLines, ThatTilesHoldKeepFactors) {
  using T = TypeParam;
  on_every_device<T>([&](const DeviceInfo& info) {
    const bool roomy = module().traits(info.index, sizeof(T) == sizeof(double), kForGpus).local_bytes >= (48 << 10);
    for (const Index length : {4, 20, 64, 500, 1024, 2000, 4000}) {
      if (length > 2000 && !roomy) continue;
      const LineSet lines = LineSet::equal(150'000 / length, length);
      const auto bands = closed(constant<T>(lines, -1, T(2.25), T(-1)));
      const auto y = random_vector<T>(lines.rows());
      const auto plan_by = [&](const DeviceSettings& settings) {
        const DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), settings);
        const Index partition = partition_of_whole_lines(lines, sizeof(T), traits);
        Plan plan = make_whole_lines_plan(lines, partition, sizeof(T), traits);
        EXPECT_TRUE(share_line(plan, length, sizeof(T)));
        EXPECT_TRUE(keep_factors(plan, length, sizeof(T), traits)) << length;
        EXPECT_EQ(plan.m % length, 0);
        EXPECT_EQ(plan.words_per_row(), 2);
        return plan;
      };
      const Plan plan = plan_by(kForGpus);
      const auto first = solve_for_gpus(info.index, plan, bands, y);
      EXPECT_LE(normwise_backward_error(lines, bands.view(), first.data(), y.data()), 10 * kEps<T>) << length;
      EXPECT_LE(relative_difference(first, solve_by_reference(bands, y)), 64 * kEps<T>) << length;
      EXPECT_EQ(solve_for_gpus(info.index, plan, bands, y, kOnDemand), first) << "not NaN-safe";
      EXPECT_EQ(solve_for_gpus(info.index, this->as_symmetric(info.index, plan, length), bands, y), first);
      DeviceSettings small = kForGpus;
      small.device_memory = 5 * lines.rows() * static_cast<Index>(sizeof(T)) / 6;
      EXPECT_EQ(solve_for_gpus(info.index, plan_by(small), bands, y, small), first) << "in chunks";
      for (const DeviceSettings& settings : {kForGpus, kOnDemand}) {
        this->expect_nan_stays_in_its_line(info.index, plan, bands, y, first, 0, settings);
      }
    }
  });
}

TYPED_TEST(LikeLines, InPartsKeepFactors) {
  using T = TypeParam;
  const Index halo = sizeof(T) == sizeof(double) ? 88 : 40;  // 1.64^-halo
  on_every_device<T>([&](const DeviceInfo& info) {
    for (const auto& [count, length] : {std::pair<Index, Index>{45, 3000}, {31, 4096}, {2, 16'384}}) {
      const LineSet lines = LineSet::equal(count, length);
      const auto bands = closed(constant<T>(lines, -1, T(2.25), T(-1)));
      const auto y = random_vector<T>(lines.rows());
      const auto plan_by = [&](const DeviceSettings& settings) {
        const DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), settings);
        Plan plan = make_plan(Method::truncated_halo, lines.rows(), halo, 0, sizeof(T), traits);
        EXPECT_TRUE(share_line(plan, length, sizeof(T)) && keep_factors(plan, length, sizeof(T), traits)) << length;
        EXPECT_EQ(length % plan.m, 0);
        EXPECT_LE(plan.m + 2 * halo, plan.group_rows());
        EXPECT_TRUE(plan.runs % (length / plan.m) == 0 || plan.runs == plan.tiles()) << plan.runs;
        return plan;
      };
      Plan plan = plan_by(kForGpus);
      const auto first = solve_for_gpus(info.index, plan, bands, y);
      EXPECT_LE(normwise_backward_error(lines, bands.view(), first.data(), y.data()), 10 * kEps<T>) << length;
      EXPECT_LE(relative_difference(first, solve_by_reference(bands, y)), 64 * kEps<T>) << length;
      EXPECT_EQ(solve_for_gpus(info.index, plan, bands, y, kOnDemand), first) << "not NaN-safe";
      const Plan as_symmetric = this->as_symmetric(info.index, plan, length);
      EXPECT_EQ(as_symmetric.as<KeptTiles>().tells_products, sizeof(T) == sizeof(double)) << length;
      EXPECT_EQ(solve_for_gpus(info.index, as_symmetric, bands, y), first) << "symmetric";
      plan.runs = static_cast<int>(length / plan.m);
      EXPECT_EQ(solve_for_gpus(info.index, plan, bands, y), first) << "a work-group for every place";
      DeviceSettings small = kForGpus;
      small.device_memory = 5 * lines.rows() * static_cast<Index>(sizeof(T)) / 6;
      EXPECT_EQ(solve_for_gpus(info.index, plan_by(small), bands, y, small), first) << "in chunks";
      for (const DeviceSettings& settings : {kForGpus, kOnDemand}) {
        this->expect_nan_stays_in_its_line(info.index, plan, bands, y, first, length / 3, settings);
      }
    }
  });
}

}  // namespace
}  // namespace oclspkt::test
