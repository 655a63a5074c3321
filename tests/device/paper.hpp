// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "devices.hpp"
#include "layout.hpp"

// What the paper's forms for GPUs and for CPUs obey.
namespace oclspkt::test {

/// The bits are the same every time, and in chunks.
/// @param make_plan  (settings)
/// @return the answer
template <typename T, typename F>
std::vector<T> expect_same_bits(const DeviceInfo& info, const Bands<T>& bands, const std::vector<T>& y,
                                const DeviceSettings& settings, const F& make_plan) {
  const Plan plan = make_plan(settings);
  const auto first = solve_by_plan(info.index, plan, bands, y, settings);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(solve_by_plan(info.index, plan, bands, y, settings), first);
  DeviceSettings small = settings;
  small.device_memory = 6 * static_cast<Index>(y.size() * sizeof(T));
  const Plan cut = make_plan(small);
  EXPECT_GT(ocl::make_layout(cut, sizeof(T), {info.max_allocation, small.device_memory}).chunks.size(), 1U);
  EXPECT_EQ(solve_by_plan(info.index, cut, bands, y, small), first);
  small.device_memory = 1000;
  EXPECT_EQ(make_plan(small).chunk_tiles, 0);
  EXPECT_THROW(solve_by_plan(info.index, plan, bands, y, small), InvalidInput);
  return first;
}

/// The answer has these bits, and the device has taken time for it.
template <typename T>
void expect_timed(int device, const Plan& plan, const Bands<T>& bands, const std::vector<T>& y,
                  const DeviceSettings& settings, const std::vector<T>& expected) {
  const auto solver = make_solver<T>(device, settings);
  solver->set_up(plan, bands);
  EXPECT_LE(solver->times().kernel_seconds, 0);
  std::vector<T> x(y.size());
  solver->apply(y.data(), x.data());
  EXPECT_EQ(x, expected);
  EXPECT_GT(solver->times().kernel_seconds, 0);
}

}  // namespace oclspkt::test
