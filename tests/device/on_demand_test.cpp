// SPDX-License-Identifier: BSD-2-Clause
// Kernels for GPUs that are NaN-safe on demand, by a queue of the caller: nobody looks at what they met.
#include <cstring>

#include "devices.hpp"
#include "geometry.hpp"
#include "opencl.hpp"
#include "schemes/halos.hpp"
#include "schemes/tiles/tile_plans.hpp"

namespace oclspkt::test {
namespace {

/// Applies of a solver in vectors of its own context, by a queue of the caller.
template <typename T>
class Enqueued {
 public:
  Enqueued(const DeviceInfo& info, const Plan& plan, const Bands<T>& bands)
      : solver_(make_solver<T>(info.index, kOnDemand)) {
    solver_->set_up(plan, bands);
    const DeviceHandles handles = solver_->handles();
    const cl::Context context(handles.context, true);
    const std::size_t bytes = static_cast<std::size_t>(bands.lines().extent()) * sizeof(T);
    queue_ = cl::CommandQueue(context, cl::Device(handles.device, true));
    y_ = cl::Buffer(context, CL_MEM_READ_WRITE, bytes);
    x_ = cl::Buffer(context, CL_MEM_READ_WRITE, bytes);
  }
  /// One apply for each vector, with no wait between them.
  std::vector<std::vector<T>> solve(const std::vector<std::vector<T>>& all) {
    std::vector<std::vector<T>> solved;
    for (const std::vector<T>& y : all) solved.emplace_back(y.size(), T(7));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t bytes = all[i].size() * sizeof(T);
      queue_.enqueueWriteBuffer(y_, CL_FALSE, 0, bytes, all[i].data());
      solver_->enqueue({DeviceQueue::Kind::opencl, queue_()}, y_(), x_());
      queue_.enqueueReadBuffer(x_, CL_FALSE, 0, bytes, solved[i].data());
    }
    queue_.finish();
    return solved;
  }

 private:
  std::unique_ptr<DeviceSolver<T>> solver_;
  cl::CommandQueue queue_;
  cl::Buffer y_, x_;
};

/// The same in every kind of row: rows of NaN are equal, too.
template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <typename T>
class OnDemand : public testing::Test {
 protected:
  static constexpr Index kLength = 96;

  static LineSet lines(Index count) { return LineSet::equal(count, kLength); }

  /// Vectors with a NaN, or an infinity, in some lines and vectors without: only the former are repeated, and no line
  /// without is touched.
  static void expect_repeated(const DeviceInfo& info, const Plan& plan, const Bands<T>& bands) {
    const Index n = bands.lines().rows();
    const auto healthy = random_vector<T>(n);
    auto poisoned = healthy, infinite = healthy;
    const std::vector<Index> broken = {0, bands.lines().count() / 2, bands.lines().count() - 1};
    for (const Index line : broken) {
      poisoned[static_cast<std::size_t>(line * kLength + 30)] = std::numeric_limits<T>::quiet_NaN();
      infinite[static_cast<std::size_t>(line * kLength + 95)] = std::numeric_limits<T>::infinity();
    }
    const auto safe = [&](const std::vector<T>& y) { return solve_for_gpus(info.index, plan, bands, y); };
    Enqueued<T> enqueued(info, plan, bands);
    const auto x = enqueued.solve({healthy, poisoned, healthy, infinite, healthy});
    EXPECT_LE(relative_difference(x[0], safe(healthy)), 16 * kEps<T>);
    EXPECT_TRUE(same_bits(x[1], safe(poisoned))) << "not repeated by the NaN-safe kernel";
    EXPECT_TRUE(same_bits(x[3], safe(infinite))) << "not repeated by the NaN-safe kernel";
    EXPECT_TRUE(same_bits(x[2], x[0])) << "what the apply before met still shows";
    EXPECT_TRUE(same_bits(x[4], x[0])) << "what the apply before met still shows";
  }
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(OnDemand, Scalars);

TYPED_TEST(OnDemand, TilesWithAHaloAreRepeated) {
  using T = TypeParam;
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), kForGpus);
    traits.group_items = std::min(traits.group_items, 32);
    for (const Index count : {20, 3000}) {  // few tiles, and more than a repetition has work-groups
      const Plan plan = make_plan(Method::truncated_halo, count * TestFixture::kLength, 16, 4, sizeof(T), traits);
      const auto bands = closed(random_dominant<T>(TestFixture::lines(count), 40));
      this->expect_repeated(info, plan, bands);
    }
  });
}

TYPED_TEST(OnDemand, RunsAreRepeated) {
  using T = TypeParam;
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    const DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), kForGpus);
    const auto bands = closed(random_dominant<T>(TestFixture::lines(500), 40));
    this->expect_repeated(info, make_run_plan(bands.lines().rows(), 64, 8, sizeof(T), traits), bands);
  });
}

// A line whose rows all couple is solved once. A single coupling of 0 makes it wait for the repetition.
TYPED_TEST(OnDemand, RunsOfOneLineAreRepeatedWhereACouplingIsZero) {
  using T = TypeParam;
  constexpr Index kRows = 20'000;
  constexpr std::size_t kCut = 12'000;  // the row that does not couple to the one above it, or below it
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    const DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), kForGpus);
    const Plan plan = make_run_plan(kRows, 64, 8, sizeof(T), traits);
    const auto make = [&] { return closed(random_dominant<T>(LineSet::one(kRows), 40)); };
    const auto healthy = random_vector<T>(kRows);
    const auto solve = [&](const Bands<T>& bands, std::size_t broken) {
      auto poisoned = healthy;
      poisoned[broken] = std::numeric_limits<T>::quiet_NaN();
      const auto x = Enqueued<T>(info, plan, bands).solve({healthy, poisoned, healthy});
      EXPECT_TRUE(std::isnan(x[1][broken]));
      EXPECT_TRUE(same_bits(x[2], x[0])) << "what the apply before met still shows";
      EXPECT_LE(relative_difference(x[0], solve_for_gpus(info.index, plan, bands, healthy)), 16 * kEps<T>);
      return x[1];
    };
    EXPECT_TRUE(std::isnan(solve(make(), kCut - 1)[kCut]));
    for (const bool above : {true, false}) {
      Bands<T> cut = make();
      (above ? cut.lower() : cut.upper())[kCut] = 0;
      const auto x = solve(cut, above ? kCut - 1 : kCut + 1);
      EXPECT_TRUE(std::isfinite(x[kCut])) << "a row that couples with none of NaN";
    }
  });
}

TYPED_TEST(OnDemand, TilesThatKeepFactorsAreRepeated) {
  using T = TypeParam;
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    const DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), kForGpus);
    const LineSet lines = TestFixture::lines(500);
    Plan plan = make_whole_lines_plan(lines, partition_of_whole_lines(lines, sizeof(T), traits), sizeof(T), traits);
    ASSERT_TRUE(share_line(plan, TestFixture::kLength, sizeof(T)));
    ASSERT_TRUE(keep_factors(plan, TestFixture::kLength, sizeof(T), traits));
    this->expect_repeated(info, plan, closed(constant<T>(lines, -1, 4, -1)));
  });
}

}  // namespace
}  // namespace oclspkt::test
