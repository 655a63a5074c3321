// SPDX-License-Identifier: BSD-2-Clause
// Tiles that are streamed by their bands (JoinedPartitions), on every device, whatever registers it has.
#include <limits>

#include "devices.hpp"
#include "model.hpp"
#include "residual.hpp"

namespace oclspkt::test {
namespace {

template <typename T>
class StreamedTiles : public testing::Test {};
using StreamedTilesScalars = testing::Types<float, double>;
TYPED_TEST_SUITE(StreamedTiles, StreamedTilesScalars);

TYPED_TEST(StreamedTiles, IsRightForEveryLengthAndDominance) {
  using T = TypeParam;
  const Index tile = 32 * 64 / static_cast<Index>(sizeof(T));
  for (const double d : {1e6, 10.0, 3.0, 1.2}) {
    for (const Index n : {2 * tile, 2 * tile + 1, 3 * tile - 1, 7 * tile + 13, Index{100'003}}) {
      const auto bands = closed(random_dominant<T>(LineSet::one(n), d));
      const auto y = random_vector<T>(n);
      const auto reference = solve_by_reference(bands, y);
      on_every_device<T>([&](const DeviceInfo& info) {
        const auto x = solve<T>(info.index, bands, y, kStreamedTiles);
        EXPECT_LE(relative_difference(x, reference), forward_limit(d) * kEps<T>) << "n = " << n << ", d = " << d;
        EXPECT_LE(normwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()), 10 * kEps<T>);
      });
    }
  }
}

TYPED_TEST(StreamedTiles, TruncatesATileAway) {
  using T = TypeParam;
  // Decays so slowly that a row more or less is seen.
  const double lambda = 1e4;
  const Index n = 20'003;
  const auto bands = closed(diffusion<T>(LineSet::one(n), lambda));
  const auto y = random_vector<T>(n);
  on_every_device<T>([&](const DeviceInfo& info) {
    const Plan plan = plan_for<T>(info.index, n, kStreamedTiles);
    ModelSolver<T> model;
    model.set_up(plan, bands);
    std::vector<T> expected(y.size());
    model.apply(y.data(), expected.data());
    const auto x = solve<T>(info.index, bands, y, kStreamedTiles);
    EXPECT_LE(relative_difference(x, expected), lambda * kEps<T>);
  });
}

TYPED_TEST(StreamedTiles, KeepsLinesAndTheirNanApart) {
  using T = TypeParam;
  const Index count = 90, length = 61, broken = 40;
  const auto bands = closed(random_dominant<T>(LineSet::equal(count, length), 3.0));
  const auto healthy = random_vector<T>(count * length);
  const auto reference = solve_by_reference(bands, healthy);
  on_every_device<T>([&](const DeviceInfo& info) {
    auto expected = solve<T>(info.index, bands, healthy, kStreamedTiles);
    EXPECT_LE(relative_difference(expected, reference), forward_limit(3) * kEps<T>);
    std::fill_n(expected.begin() + broken * length, length, T(0));
    for (const T poison : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
      for (const Index row : {Index{0}, Index{30}, length - 1}) {
        auto y = healthy;
        y[broken * length + row] = poison;
        auto x = solve<T>(info.index, bands, y, kStreamedTiles);
        EXPECT_FALSE(std::isfinite(x[broken * length + row]));
        std::fill_n(x.begin() + broken * length, length, T(0));
        EXPECT_EQ(x, expected) << "row " << row;
      }
    }
  });
}

TYPED_TEST(StreamedTiles, ChunksAreRight) {
  using T = TypeParam;
  const Index n = 60'000;
  const auto bands = closed(random_dominant<T>(LineSet::one(n), 3.0));
  const auto y = random_vector<T>(n);
  const auto reference = solve_by_reference(bands, y);
  on_every_device<T>([&](const DeviceInfo& info) {
    const auto word = static_cast<std::int64_t>(sizeof(T));
    const auto x =
        solve<T>(info.index, bands, y, kStreamedTiles, {.copy_vectors = true, .device_memory = 150'000 * word});
    EXPECT_LE(relative_difference(x, reference), forward_limit(3) * kEps<T>);
  });
}

}  // namespace
}  // namespace oclspkt::test
