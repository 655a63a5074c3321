// SPDX-License-Identifier: BSD-2-Clause
// The kernels made for GPUs on every device, against LAPACK and against the model in C++.
#include <algorithm>

#include "certificate.hpp"
#include "devices.hpp"
#include "geometry.hpp"
#include "layout.hpp"
#include "model.hpp"
#include "residual.hpp"
#include "schemes/halos.hpp"
#include "schemes/tiles/rounding_runs.hpp"
#include "schemes/tiles/tile_plans.hpp"

namespace oclspkt::test {
namespace {

template <typename T>
class Tiles : public testing::Test {
 protected:
  /// @param partition rows a work-item, @param items work-items of a work-group at most; 0: as the device has them
  static Plan plan(int device, Index n, Index halo, Index partition = 0, int items = 0,
                   const DeviceSettings& settings = kForGpus) {
    DeviceTraits traits = module().traits(device, sizeof(T) == sizeof(double), settings);
    if (items > 0) traits.group_items = std::min(traits.group_items, items);
    return make_plan(Method::truncated_halo, n, halo, partition, sizeof(T), traits);
  }
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Tiles, Scalars);

TYPED_TEST(Tiles, AreTruncatedExactlyWhereThePlanSays) {
  using T = TypeParam;
  const Index n = 5003;
  const double lambda = 1e3;
  const auto bands = closed(diffusion<T>(LineSet::one(n), lambda));
  const auto y = random_vector<T>(n);
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    for (const Index halo : {0, 4, 16, 40}) {
      const Plan plan = this->plan(info.index, n, halo, 8, 64);
      const std::vector<T> expected = solve_by_model(plan, bands, y);
      EXPECT_LE(relative_difference(solve_for_gpus(info.index, plan, bands, y), expected), lambda * kEps<T>)
          << "halo " << plan.halo;
    }
  });
}

TYPED_TEST(Tiles, CoupleWithinTheHalo) {
  using T = TypeParam;
  const Index n = 20'011;
  const double d = 3;
  const auto bands = closed(random_dominant<T>(LineSet::one(n), d));
  const auto y = random_vector<T>(n);
  const auto reference = solve_by_reference(bands, y);
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    Plan plan = this->plan(info.index, n, halo_from_dominance(d, kEps<T>), 8);
    const int all = plan.as<Scan>().steps;
    couple_within_halo(plan);
    EXPECT_LT(plan.as<Scan>().steps, all);
    EXPECT_GE(((1 << plan.as<Scan>().steps) - 1) * plan.item_rows, plan.halo);
    EXPECT_LE(relative_difference(solve_for_gpus(info.index, plan, bands, y), reference), 16 * kEps<T>);
  });
}

TYPED_TEST(Tiles, HoldWholeLines) {
  using T = TypeParam;
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    for (const int items : {0, 32}) {
      DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), kForGpus);
      if (items > 0) traits.group_items = std::min(traits.group_items, items);
      for (const Index length : {1, 2, 7, 61, 128, 500}) {
        const LineSet lines = LineSet::equal(20'000 / length, length);
        const Index partition = partition_of_whole_lines(lines, sizeof(T), traits);
        ASSERT_GT(partition, 0) << length;
        const Plan plan = make_whole_lines_plan(lines, partition, sizeof(T), traits);
        const auto bands = closed(constant<T>(lines, -1, 2, -1));
        const auto known = random_vector<T>(lines.rows());
        std::vector<T> y(known.size());
        multiply(lines, bands.view(), known.data(), y.data());
        const auto x = solve_for_gpus(info.index, plan, bands, y);
        EXPECT_LE(normwise_backward_error(lines, bands.view(), x.data(), y.data()), 10 * kEps<T>) << length;
      }
    }
  });
}

TYPED_TEST(Tiles, GiveTheSameBitsInEveryForm) {
  using T = TypeParam;
  const Index count = 70, length = 96;
  const LineSet lines = LineSet::equal(count, length);
  auto alike = closed(constant<T>(lines, T(-0.75), T(2.25), T(-0.75)));  // symmetric, shared, and floats
  const auto y = random_vector<T>(lines.rows());
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    const DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), kForGpus);
    for (Plan plan :
         {this->plan(info.index, lines.rows(), 40),
          make_whole_lines_plan(lines, partition_of_whole_lines(lines, sizeof(T), traits), sizeof(T), traits)}) {
      const auto general = solve_for_gpus(info.index, plan, alike, y);
      plan.form = Form::symmetric;
      EXPECT_EQ(solve_for_gpus(info.index, plan, alike, y), general) << "symmetric, halo " << plan.halo;
      plan.narrow = sizeof(T) == sizeof(double);
      EXPECT_EQ(solve_for_gpus(info.index, plan, alike, y), general) << "and narrow, halo " << plan.halo;
      plan.narrow = false;
      ASSERT_TRUE(share_line(plan, length, sizeof(T)));
      EXPECT_EQ(solve_for_gpus(info.index, plan, alike, y), general) << "shared, halo " << plan.halo;
    }
  });
}

TYPED_TEST(Tiles, OfWholeLinesBringAllThatTheyReadInChunks) {
  using T = TypeParam;
  const LineSet lines = LineSet::equal(90, 1000);
  const Index n = lines.rows();
  const auto bands = closed(random_dominant<T>(lines, 10));
  const auto y = random_vector<T>(n);
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    const bool is_double = sizeof(T) == sizeof(double);
    const auto plan_with = [&](const DeviceSettings& settings) {
      const DeviceTraits traits = module().traits(info.index, is_double, settings);
      return make_whole_lines_plan(lines, partition_of_whole_lines(lines, sizeof(T), traits), sizeof(T), traits);
    };
    const Plan whole = plan_with(kForGpus);
    ASSERT_LT(whole.m, whole.group_rows()) << "lines fill tiles, which proves nothing";
    const auto first = solve_for_gpus(info.index, whole, bands, y);
    DeviceSettings small = kForGpus;
    small.device_memory = 5 * n * static_cast<Index>(sizeof(T)) / 6;
    const Plan plan = plan_with(small);
    const auto chunks = ocl::make_layout(plan, sizeof(T), {info.max_allocation, small.device_memory}).chunks;
    ASSERT_GT(chunks.size(), 1U);
    for (const auto& chunk : chunks) {
      const Index read = (chunk.tile_end - 1) * plan.m + plan.group_rows();
      EXPECT_GE(chunk.end, std::min(n, read));
    }
    EXPECT_EQ(solve_for_gpus(info.index, plan, bands, y, small), first);
  });
}

TYPED_TEST(Tiles, StreamRunsThatAreLines) {
  using T = TypeParam;
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), kForGpus);
    traits.cores = 1;
    for (const auto& [length, coupling] : {std::pair<Index, double>{4096, 0.4999}, {3000, 0.4999}, {16'384, 0.4}}) {
      const LineSet lines = LineSet::equal(8, length);
      // The tiles of long lines are truncated.
      const auto bands = closed(constant<T>(lines, T(-coupling), 1, T(-coupling)));
      const auto y = random_vector<T>(lines.rows());
      for (const Form form : {Form::general, Form::symmetric}) {
        for (const Plan& plan : make_line_runs_plans(lines.rows(), length, form, sizeof(T), traits)) {
          EXPECT_TRUE(runs_are_lines(plan));
          EXPECT_EQ(plan.m, length);
          if (coupling > 0.4 && plan.run_tiles > 2) continue;
          EXPECT_LE(certify_runs(plan, bands.view()).bound, kEps<T>);
          const auto x = solve_for_gpus(info.index, plan, bands, y);
          EXPECT_LE(normwise_backward_error(lines, bands.view(), x.data(), y.data()), 10 * kEps<T>)
              << length << " rows, " << plan.run_tiles << " tiles of " << plan.items << " x " << plan.item_rows;
          DeviceSettings small = kForGpus;
          small.device_memory = 5 * lines.rows() * static_cast<Index>(sizeof(T)) / 3;
          EXPECT_EQ(solve_for_gpus(info.index, plan, bands, y, small), x) << "in chunks";
          auto broken = y;
          const auto at = static_cast<std::size_t>(3 * length);
          broken[at] = std::numeric_limits<T>::quiet_NaN();
          auto others = solve_for_gpus(info.index, plan, bands, broken);
          EXPECT_TRUE(std::isnan(others[at]));
          std::copy_n(x.begin() + 3 * length, length, others.begin() + 3 * length);
          EXPECT_EQ(others, x) << "NaN stays in its line";
        }
      }
    }
  });
}

TYPED_TEST(Tiles, StreamRunsInEveryForm) {
  using T = TypeParam;
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    const DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), kForGpus);
    for (const Index length : {Index{20}, Index{64}, Index{300}, Index{3000}}) {
      const LineSet lines = LineSet::equal(9000 / length, length);
      const Plan general = make_run_plan(lines.rows(), 128, 8, sizeof(T), traits);
      const auto error = [&](const Plan& plan, const Bands<T>& bands) {
        const auto y = random_vector<T>(lines.rows());
        const auto x = solve_for_gpus(info.index, plan, bands, y);
        return normwise_backward_error(bands.lines(), bands.view(), x.data(), y.data());
      };
      Plan plan = general;
      const auto alike = closed(constant<T>(lines, -1, 3, T(-1.5)));
      ASSERT_TRUE(share_line(plan, length, sizeof(T)));
      EXPECT_LE(error(plan, alike), 10 * kEps<T>) << length;
      EXPECT_FALSE(share_line(plan = general, 61, sizeof(T))) << "vectors are not filled";
      const auto symmetric = closed(random_symmetric<T>(lines, 1.5));
      plan.form = Form::symmetric;
      EXPECT_LE(error(plan, symmetric), 10 * kEps<T>) << length;
      EXPECT_LT(plan.words_per_row(), general.words_per_row() - 0.9);
      if (sizeof(T) == sizeof(float)) continue;
      for (const Form form : {Form::general, Form::symmetric}) {
        plan.form = form;
        plan.narrow = true;
        EXPECT_LE(error(plan, symmetric), 10 * kEps<float>) << length;
        EXPECT_GT(error(plan, symmetric), 10 * kEps<double>) << "factors are not narrow";
      }
    }
  });
}

TYPED_TEST(Tiles, OfStoredFactorsKeepNanInItsLine) {
  using T = TypeParam;
  const OneBrokenLine<T> lines(3);
  const Index n = lines.bands.lines().rows();
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    const DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), kForGpus);
    std::vector<Plan> plans(3, make_run_plan(n, 64, 8, sizeof(T), traits));
    join_runs(plans[1], sizeof(T), traits);
    correct_runs(plans[2], sizeof(T), traits);
    for (const Plan& plan : plans) {
      SCOPED_TRACE(std::to_string(plan.halo) + (plan.as<StoredFactors>().corrects ? ", corrected" : ""));
      for (const DeviceSettings& settings : {kForGpus, kOnDemand}) {
        const auto solver = make_solver<T>(info.index, settings);
        solver->set_up(plan, lines.bands);
        std::vector<T> x(static_cast<std::size_t>(n));
        lines.expect_others_right([&](const std::vector<T>& y) {
          solver->apply(y.data(), x.data());
          return x;
        });
      }
    }
  });
}

TYPED_TEST(Tiles, OfStoredFactorsGiveTheSameBitsEveryTimeAndInChunks) {
  using T = TypeParam;
  const Index n = 70'001;
  const auto bands = closed(random_dominant<T>(LineSet::one(n), 1.5));
  const auto y = random_vector<T>(n);
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    DeviceSettings small = kForGpus;
    small.device_memory = 5 * n * static_cast<Index>(sizeof(T)) / 3;
    const auto traits = [&](const DeviceSettings& s) {
      return module().traits(info.index, sizeof(T) == sizeof(double), s);
    };
    const Plan run = make_run_plan(n, 96, 8, sizeof(T), traits(kForGpus));
    const auto joined = [&](bool correct, const DeviceSettings& s) {
      Plan plan = make_run_plan(n, 96, 8, sizeof(T), traits(s));
      (correct ? correct_runs : join_runs)(plan, sizeof(T), traits(s));
      return plan;
    };
    for (const Plan& plan : {run, joined(false, kForGpus), joined(true, kForGpus)}) {
      const auto first = solve_for_gpus(info.index, plan, bands, y);
      for (int i = 0; i < 3; ++i) EXPECT_EQ(solve_for_gpus(info.index, plan, bands, y), first) << i;
    }
    const Plan cut = make_run_plan(n, 96, 8, sizeof(T), traits(small));
    ASSERT_GT(ocl::make_layout(cut, sizeof(T), {info.max_allocation, small.device_memory}).chunks.size(), 1U);
    EXPECT_EQ(solve_for_gpus(info.index, cut, bands, y, small), solve_for_gpus(info.index, run, bands, y));
    for (const bool correct : {false, true}) {
      EXPECT_EQ(solve_for_gpus(info.index, joined(correct, small), bands, y, small),
                solve_for_gpus(info.index, joined(correct, kForGpus), bands, y));
    }
  });
}

TYPED_TEST(Tiles, FollowTheLimitsOfTheDevice) {
  using T = TypeParam;
  DeviceTraits traits{.group_items = 64, .local_bytes = 1 << 15};
  const Index quantum = 16 / static_cast<Index>(sizeof(T));
  const auto make = [&](Index halo, Index partition) {
    return make_plan(Method::truncated_halo, 1'000'000, halo, partition, sizeof(T), traits);
  };
  EXPECT_EQ(make(8, 0).items, 64);
  EXPECT_EQ(make(1, 0).halo, quantum);
  EXPECT_EQ(make(8, 5).item_rows, sizeof(T) == 4 ? 8 : 6);
  traits.local_bytes = 20 * 32 * static_cast<Index>(sizeof(T));
  EXPECT_EQ(make(8, 16).items, 32);
  EXPECT_EQ(make(8, 48).item_rows, 32);
  EXPECT_THROW(make(256, 16), InvalidInput);
  EXPECT_EQ(make_run_plan(1'000'000, 100, 16, sizeof(T), traits).group_rows(), 512);
  EXPECT_THROW(make_run_plan(1'000'000, 513, 16, sizeof(T), traits), InvalidInput);
  const Index longest = longest_halo(16, sizeof(T), traits);
  EXPECT_GT(make(longest / quantum * quantum, 16).m, 2 * longest);
}

TYPED_TEST(Tiles, RefuseToRunOnKernelsMadeForCpus) {
  using T = TypeParam;
  const auto bands = closed(random_dominant<T>(LineSet::one(100), 3.0));
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    const auto solver = make_solver<T>(info.index, {.variant = Variant::cpu});
    EXPECT_THROW(solver->set_up(this->plan(info.index, 100, 40), bands), InvalidInput);
  });
}

}  // namespace
}  // namespace oclspkt::test
