// SPDX-License-Identifier: BSD-2-Clause
// Truncated SPIKE by one work-item: from which dominance on it is as right as single precision.
#include "schemes/fpga/task_form.hpp"

#include <cstdio>

#include "devices.hpp"

namespace oclspkt::test {
namespace {

const DeviceSettings kByTask{.variant = Variant::fpga};

constexpr const char* kTaskSchemes[] = {"fpga-spktrunc", "fpga-spkboth", "fpga-spkjac"};

enum class Family { random, constant, one_sided };
constexpr std::pair<Family, const char*> kFamilies[] = {
    {Family::random, "random"}, {Family::constant, "constant"}, {Family::one_sided, "one-sided"}};

/// A closed matrix of dominance d; one-sided: couplings to the row below only.
Bands<double> matrix(Family family, const LineSet& lines, double d) {
  if (family == Family::random) return closed(random_dominant<double>(lines, d));
  return closed(family == Family::constant ? constant<double>(lines, -1, 2 * d, -1)
                                           : constant<double>(lines, 0, d, -1));
}

/// The least dominance from which truncation in blocks of 32 rows is below the rounding of float; in double, so that
/// nothing else is seen.
double least_dominance(int device, const char* scheme, Family family) {
  const LineSet lines = LineSet::one(20'011);
  const auto y = random_vector<double>(lines.rows());
  double low = 1.01, high = 4;
  while (high - low > 0.01) {
    const double d = (low + high) / 2;
    const auto bands = matrix(family, lines, d);
    const Plan plan = make_task_plan(lines.rows(), kTaskRows, scheme, sizeof(double), {});
    const auto x = solve_by_plan(device, plan, bands, y, kByTask);
    const bool enough = relative_difference(x, solve_by_reference(bands, y)) <= kEps<float> / 2;
    (enough ? high : low) = d;
  }
  return high;
}

TEST(TaskDominance, OfSinglePrecisionIsThatOfThePaperForOneSidedLines) {
  bool first = true;
  on_every_device<double>([&](const DeviceInfo& info) {
    if (!std::exchange(first, false)) return;
    for (const auto& [family, name] : kFamilies) {
      double found[3];
      for (int k = 0; k < 3; ++k) found[k] = least_dominance(info.index, kTaskSchemes[k], family);
      std::printf("single precision, m = 32, %-9s: spktrunc d %.2f, spkboth d %.2f, spkjac d %.2f\n", name, found[0],
                  found[1], found[2]);
      if (family == Family::one_sided) {
        EXPECT_NEAR(found[0], 2.8, 0.2);
        EXPECT_LE(found[2], 1.7);
      }
      EXPECT_LT(found[1], found[0]);
      EXPECT_LE(found[2], found[1]);
    }
  });
}

}  // namespace
}  // namespace oclspkt::test
