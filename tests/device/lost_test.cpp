// SPDX-License-Identifier: BSD-2-Clause
// Devices that miss their time limit. They are lost for the rest of the process, hence a program of its own.
#include "devices.hpp"

namespace oclspkt::test {
namespace {

TEST(LostDevice, FailsEveryLaterUseAndIsNeverTouchedAgain) {
  const Index n = 2'000'000;
  auto bands = constant<float>(LineSet::one(n), -1, 4, -1);
  bands.close_lines();
  on_every_device<float>([&](const DeviceInfo& info) {
    const DeviceSettings hasty{.copy_vectors = true, .timeout = 1e-9};
    auto solver = make_solver<float>(info.index, hasty);
    const auto bystander = make_solver<float>(info.index);
    const Plan plan = plan_for<float>(info.index, n, {Method::truncated_halo, 24, 0}, hasty);
    solver->set_up(plan, bands);
    bystander->set_up(plan_for<float>(info.index, n, {Method::truncated_halo, 24, 0}), bands);
    auto y = random_vector<float>(n);
    const auto y_before = y;
    std::vector<float> x(y.size());
    EXPECT_THROW(solver->apply(y.data(), x.data()), DeviceError);
    EXPECT_EQ(y, y_before);
    y = {};  // the device never had the caller's memory
    x = {};
    for (int again = 0; again < 2; ++again) {
      try {
        bystander->apply(y_before.data(), nullptr);
        ADD_FAILURE() << "a lost device was used";
      } catch (const DeviceError& e) {
        EXPECT_NE(std::string(e.what()).find("did not finish within 1e-09 s"), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.what()).find(info.name), std::string::npos) << e.what();
      }
    }
    EXPECT_THROW(make_solver<float>(info.index), DeviceError);
    EXPECT_THROW(module().profile(info.index, false), DeviceError);
    solver.reset();
    module().release();
  });
}

}  // namespace
}  // namespace oclspkt::test
