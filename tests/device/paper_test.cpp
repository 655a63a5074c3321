// SPDX-License-Identifier: BSD-2-Clause
// The paper's form of truncated SPIKE for GPUs on every device, against LAPACK and against the model in C++.
#include "paper_form.hpp"

#include <algorithm>

#include "model.hpp"
#include "paper.hpp"
#include "residual.hpp"

namespace oclspkt::test {
namespace {

constexpr DeviceSettings kAsInThePaper{.variant = Variant::paper_gpu};

template <typename T>
class Paper : public testing::Test {
 protected:
  static DeviceTraits traits(int device, const DeviceSettings& settings = kAsInThePaper) {
    return module().traits(device, sizeof(T) == sizeof(double), settings);
  }
  /// @param items work-items of a work-group at most; 0: as the device has them
  static Plan plan(int device, Index n, Index m, int items = 0, const DeviceSettings& settings = kAsInThePaper) {
    DeviceTraits limited = traits(device, settings);
    if (items > 0) limited.group_items = std::min(limited.group_items, items);
    return make_paper_plan(n, m, sizeof(T), limited);
  }
  static std::vector<T> solve_by(int device, const Plan& plan, const Bands<T>& bands, const std::vector<T>& y,
                                 const DeviceSettings& settings = kAsInThePaper) {
    return solve_by_plan(device, plan, bands, y, settings);
  }
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Paper, Scalars);

TYPED_TEST(Paper, IsRightForEveryLengthAndShape) {
  using T = TypeParam;
  const double d = 10;
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    for (const auto& [m, items] : {std::pair<Index, int>{32, 0}, {40, 1}, {47, 4}}) {
      const Index tile = this->plan(info.index, 1'000'000, m, items).tile_rows();
      for (const Index n : {Index{1}, Index{2}, Index{3}, m - 1, m, m + 1, m + m / 2, 2 * m + 1, tile - 1, tile,
                            tile + 1, 2 * tile + 5}) {
        const Plan plan = this->plan(info.index, n, m, items);
        const auto bands = closed(random_dominant<T>(LineSet::one(n), d));
        const auto y = random_vector<T>(n);
        const auto x = this->solve_by(info.index, plan, bands, y);
        EXPECT_LE(relative_difference(x, solve_by_reference(bands, y)), 16 * kEps<T>)
            << "n = " << n << ", m " << m << ", work-groups of " << plan.items;
        EXPECT_LE(normwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()), 10 * kEps<T>);
      }
    }
  });
}

TYPED_TEST(Paper, IsTruncatedExactlyAsTheModelIs) {
  using T = TypeParam;
  const Index n = 5003;
  const double lambda = 1e3;
  const auto bands = closed(diffusion<T>(LineSet::one(n), lambda));
  const auto y = random_vector<T>(n);
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    for (const Index m : {1, 3, 31, 5003}) {
      const Plan plan = this->plan(info.index, n, m);
      EXPECT_LE(relative_difference(this->solve_by(info.index, plan, bands, y), solve_by_model(plan, bands, y)),
                lambda * kEps<T>)
          << "m " << m;
    }
  });
}

TYPED_TEST(Paper, ReadsLongPartitionsTwice) {
  using T = TypeParam;
  const Index n = 20'011, m = 800;
  const auto bands = closed(diffusion<T>(LineSet::one(n), 1));
  const auto y = random_vector<T>(n);
  const auto reference = solve_by_reference(bands, y);
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    for (const bool staged : {false, true}) {
      DeviceTraits traits = this->traits(info.index);
      traits.local_bytes = staged ? traits.local_bytes : 1 << 14;
      const Plan plan = make_paper_plan(n, staged ? 80 : m, sizeof(T), traits);
      if (staged && !plan.as<PaperForm>().staged) continue;  // this device has less local memory
      EXPECT_EQ(plan.as<PaperForm>().staged, staged);
      EXPECT_LE(relative_difference(this->solve_by(info.index, plan, bands, y), reference), 16 * kEps<T>);
    }
  });
}

TYPED_TEST(Paper, KeepsLinesApartAndTheirNanToThemselves) {
  using T = TypeParam;
  const OneBrokenLine<T> lines(10);
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    for (const Index m : {32, 61, 64}) {
      const Plan plan = this->plan(info.index, lines.bands.lines().rows(), m);
      lines.expect_others_right(
          [&](const std::vector<T>& y) { return this->solve_by(info.index, plan, lines.bands, y); });
    }
  });
}

TYPED_TEST(Paper, GivesTheSameBitsEveryTimeAndInChunks) {
  using T = TypeParam;
  const Index n = 70'001;
  const auto bands = closed(random_dominant<T>(LineSet::one(n), 3));
  const auto y = random_vector<T>(n);
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    const auto planned = [&](const DeviceSettings& settings) { return this->plan(info.index, n, 64, 0, settings); };
    const auto x = expect_same_bits(info, bands, y, kAsInThePaper, planned);
    EXPECT_LE(normwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()), 10 * kEps<T>);
    DeviceSettings small = kAsInThePaper;
    small.device_memory = 6 * n * static_cast<Index>(sizeof(T));
    expect_timed(info.index, planned(small), bands, y, small, x);
  });
}

TYPED_TEST(Paper, TakesOnePieceOfAVectorAfterTheOther) {
  using T = TypeParam;
  const Index n = 1'200'001;  // several pieces
  const auto bands = closed(random_dominant<T>(LineSet::one(n), 10));
  const auto y = random_vector<T>(n);
  const auto expected = solve_by_model(make_paper_plan(n, 32, sizeof(T), {.group_items = 64}), bands, y);
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    const auto x = this->solve_by(info.index, this->plan(info.index, n, 32), bands, y);
    EXPECT_LE(relative_difference(x, expected), 16 * kEps<T>);
  });
}

TYPED_TEST(Paper, RefusesToRunOnKernelsMadeForCpusAndForLinesSideBySide) {
  using T = TypeParam;
  const auto bands = closed(random_dominant<T>(LineSet::one(100), 3.0));
  const auto beside = closed(random_dominant<T>(LineSet::grid_axis(1, 10, 10, 1), 3.0));
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    const Plan plan = this->plan(info.index, 100, 32);
    EXPECT_THROW(make_solver<T>(info.index, {.variant = Variant::cpu})->set_up(plan, bands), InvalidInput);
    EXPECT_THROW(make_solver<T>(info.index, kAsInThePaper)->set_up(plan, beside), InvalidInput);
  });
}

}  // namespace
}  // namespace oclspkt::test
