// SPDX-License-Identifier: BSD-2-Clause
// Memory limits: how a plan is cut into chunks, and that the cuts do not show in the result.
#include "backward_error.hpp"
#include "devices.hpp"
#include "layout.hpp"
#include "schemes/lanes/lane_plans.hpp"

namespace oclspkt::test {
namespace {

using ocl::Chunk;
using ocl::Layout;
using ocl::Limits;
using ocl::make_layout;

Plan some_plan(Index n, Index m, Index halo, Method method = Method::truncated_halo) {
  Plan plan;
  plan.made_by = method == Method::truncated_halo ? "lanes-halo" : "lanes-twopass";
  plan.method = method;
  plan.n = n;
  plan.m = m;
  plan.halo = halo;
  plan.lanes = 16;
  plan.runs = 8;
  plan.chunk_tiles = plan.tiles();
  return plan;
}

TEST(Layout, ChunksFollowEachOtherAndCoverAllRows) {
  for (const Index n : {1, 100, 4097, 100'000}) {
    Plan plan = some_plan(n, 37, 21);
    plan.chunk_tiles = 3;
    const Layout layout = make_layout(plan, sizeof(float), {});
    Index row = 0, tile = 0;
    for (const Chunk& chunk : layout.chunks) {
      EXPECT_EQ(chunk.kept_first, row);
      EXPECT_EQ(chunk.tile_begin, tile);
      EXPECT_LE(chunk.tile_end - chunk.tile_begin, 3);
      row = chunk.kept_end;
      tile = chunk.tile_end;
    }
    EXPECT_EQ(row, n);
    EXPECT_EQ(tile, plan.tiles());
  }
}

TEST(Layout, KeepsEveryBufferAndTheirSumWithinTheLimits) {
  for (const Method method : {Method::truncated_halo, Method::exact_twopass}) {
    const Plan plan = some_plan(1'000'000, 112, method == Method::exact_twopass ? 0 : 16, method);
    const Limits limits{1'000'000, 4'000'000};
    const Layout layout = make_layout(plan, sizeof(double), limits);
    EXPECT_GT(layout.chunks.size(), 8U);
    EXPECT_LE(layout.longest * 8, limits.allocation);
    EXPECT_LE(5 * layout.longest * 8 + layout.scratch_bytes + layout.needs.all, limits.memory);
    EXPECT_FALSE(layout.resident);
  }
}

TEST(Layout, RefusesWhatCannotFitAndSaysTheSizes) {
  expect_refusal(
      [] {
        make_layout(some_plan(1'000'000, 4800, 16), sizeof(double), {INT64_MAX, 1'000'000});
      },
      {"device_memory", "1000000"});
  EXPECT_THROW(make_layout(some_plan(Index{1} << 40, Index{1} << 32, 0), sizeof(double), {}), InvalidInput);
}

template <typename T>
class Chunks : public testing::Test {};

SCALAR_TEST(Chunks, BandsStayOnTheDeviceWhereTheyFit) {
  const Index n = 50'000, bytes = n * static_cast<Index>(sizeof(T));
  auto bands = closed(random_dominant<T>(LineSet::one(n), 3.0));
  const auto y = random_vector<T>(n);
  on_every_device<T>([&](const DeviceInfo& info) {
    for (const bool fit : {true, false}) {
      const DeviceSettings settings{.use = {.device_memory = fit ? 0 : 3 * bytes, .transfer = Transfer::copy}};
      const auto solver = make_solver<T>(info.index, settings);
      solver->set_up(plan_for<T>(info.index, n, {Method::truncated_halo, 40, 48}, settings), bands);
      std::vector<T> x(y.size());
      const auto before = solver->times().bytes_to_device;
      solver->apply(y.data(), x.data());
      const auto sent = solver->times().bytes_to_device - before;
      EXPECT_GE(sent, fit ? bytes : 4 * bytes);
      EXPECT_LE(sent, fit ? bytes : 5 * bytes);
      EXPECT_EQ(solver->times().bytes_from_device, bytes);
    }
  });
}

/// Run with a driver whose largest allocation was made small; see CMakeLists.txt.
TEST(Allocation, LargerSystemsThanOneBufferAreSolved) {
  int found = 0;
  on_every_device<double>([&](const DeviceInfo& info) {
    if (info.max_allocation > (64 << 20)) return;
    ++found;
    const Index n = info.max_allocation / 8 * 2 + 12'345;
    auto bands = closed(constant<double>(LineSet::one(n), -1, 4, 1));
    const auto y = random_vector<double>(n);
    for (const bool copies : {false, true}) {
      for (const Shape shape : {Shape{Method::truncated_halo, 64, 0}, Shape{Method::truncated_streamed, 64, 0},
                                Shape{Method::exact_twopass}}) {
        const auto x = solve<double>(info.index, bands, y, shape,
                                     {.use = {.transfer = copies ? Transfer::copy : Transfer::automatic}});
        EXPECT_LE(normwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()), 10 * kEps<double>)
            << name(shape.method);
      }
    }
  });
  if (found == 0) GTEST_SKIP() << "no device has so small a limit";
}

}  // namespace
}  // namespace oclspkt::test
