// SPDX-License-Identifier: BSD-2-Clause
// The paper's form of truncated SPIKE for GPUs on every device, against LAPACK and against the model in C++.
#include "schemes/paper/paper_form.hpp"

#include <algorithm>

#include "devices.hpp"
#include "model.hpp"
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
