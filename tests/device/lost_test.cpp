// SPDX-License-Identifier: BSD-2-Clause
// Devices that miss their time limit. They are lost for the rest of the process, hence a program of its own.
#include <functional>

#include "devices.hpp"
#include "space.hpp"

namespace oclspkt::test {
namespace {

/// Whether the device is lost by a call: the host may be held up until the device has done all, so it has 100 goes.
bool loses(const std::function<void()>& call) {
  for (int goes = 0; goes < 100; ++goes) {
    try {
      call();
    } catch (const DeviceError&) {
      return true;
    }
  }
  return false;
}

TEST(LostDevice, FailsEveryLaterUseAndIsNeverTouchedAgain) {
  const Index n = 2'000'000;
  auto bands = closed(constant<float>(LineSet::one(n), -1, 4, -1));
  on_every_device<float>([&](const DeviceInfo& info) {
    const DeviceSettings hasty{.use = {.timeout = 1e-9, .transfer = Transfer::copy}};
    auto solver = make_solver<float>(info.index, hasty);
    const auto bystander = make_solver<float>(info.index);
    const Plan plan = plan_for<float>(info.index, n, {Method::truncated_halo, 24, 0}, hasty);
    solver->set_up(plan, bands);
    bystander->set_up(plan_for<float>(info.index, n, {Method::truncated_halo, 24, 0}), bands);
    const auto space = module().space_float(info.index, hasty), unhurried = module().space_float(info.index, {});
    auto numbers = space->make(n), others = unhurried->make(n);
    unhurried->fill(*others, 1);
    unhurried->finish();
    auto y = random_vector<float>(n);
    const auto y_before = y;
    std::vector<float> x(y.size());
    EXPECT_TRUE(loses([&] { solver->apply(y.data(), x.data()); }));
    EXPECT_EQ(y, y_before);
    y = {};  // the device never had the caller's memory
    x = {};
    for (int again = 0; again < 2; ++again) {
      expect_refusal<DeviceError>([&] { bystander->apply(y_before.data(), nullptr); },
                                  {"did not finish within 1e-09 s", info.name});
    }
    EXPECT_THROW(make_solver<float>(info.index), DeviceError);
    EXPECT_THROW(module().profile(info.index, false), DeviceError);
    SumValue<float> sum;
    EXPECT_FALSE(unhurried->usable());
    EXPECT_THROW(unhurried->sums(std::vector<SumOf<float>>{{SumKind::sum, others.get()}}, {&sum, 1}), DeviceError);
    EXPECT_THROW(space->fill(*numbers, 1), DeviceError);
    EXPECT_THROW(module().space_float(info.index, {}), DeviceError);
    solver.reset();
    module().release();
  });
}

/// Of the devices that are there, one is lost by sums over its vectors: in another process, as this is its first loss.
TEST(LostSpace, FailsEveryLaterUse) {
  on_every_device<float>([&](const DeviceInfo& info) {
    const DeviceSettings hasty{.use = {.timeout = 1e-9, .transfer = Transfer::copy}};
    const auto space = module().space_float(info.index, hasty);
    const auto x = space->make(20'000'000);
    space->fill(*x, 1);
    SumValue<float> sum;
    EXPECT_TRUE(loses([&] { space->sums(std::vector<SumOf<float>>{{SumKind::sum, x.get()}}, {&sum, 1}); }));
    EXPECT_FALSE(space->usable());
    EXPECT_THROW(space->fill(*x, 1), DeviceError);
    EXPECT_THROW(space->make(1), DeviceError);
  });
}

}  // namespace
}  // namespace oclspkt::test
