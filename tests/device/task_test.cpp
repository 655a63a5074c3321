// SPDX-License-Identifier: BSD-2-Clause
// Truncated SPIKE by one work-item on every device, against LAPACK and its own certificates.
#include "schemes/fpga/task_form.hpp"

#include <cstdio>

#include "devices.hpp"
#include "layout.hpp"
#include "residual.hpp"
#include "survey.hpp"

namespace oclspkt::test {
namespace {

constexpr DeviceSettings kByTask{.variant = Variant::fpga};

struct TaskKernel {
  CutSweep sweep;
  const char* scheme;
};
constexpr TaskKernel kTaskKernels[] = {
    {CutSweep::half, "fpga-spktrunc"}, {CutSweep::both, "fpga-spkboth"}, {CutSweep::jacobi, "fpga-spkjac"}};

enum class Family { random, constant, one_sided };
constexpr std::pair<Family, const char*> kFamilies[] = {
    {Family::random, "random"}, {Family::constant, "constant"}, {Family::one_sided, "one-sided"}};

/// A closed matrix of dominance d; one-sided: couplings to the row below only.
template <typename T>
Bands<T> matrix(Family family, const LineSet& lines, double d) {
  if (family == Family::random) return closed(random_dominant<T>(lines, d));
  return closed(family == Family::constant ? constant<T>(lines, -1, 2 * d, -1) : constant<T>(lines, 0, d, -1));
}

template <typename T>
class Task : public testing::Test {
 protected:
  static Plan plan(int device, const TaskKernel& kernel, Index n, Index m = kTaskRows,
                   const DeviceSettings& settings = kByTask) {
    return make_task_plan(n, m, kernel.scheme, sizeof(T),
                          module().traits(device, sizeof(T) == sizeof(double), settings));
  }
  static std::vector<T> solve(int device, const TaskKernel& kernel, const Bands<T>& bands, const std::vector<T>& y,
                              Index m = kTaskRows) {
    return solve_by_plan(device, plan(device, kernel, bands.lines().rows(), m), bands, y, kByTask);
  }
  /// Call f(device, kernel) for all.
  template <typename F>
  static void on_all(const F& f) {
    on_every_device<T>([&](const DeviceInfo& info) {
      for (const TaskKernel& kernel : kTaskKernels) {
        SCOPED_TRACE(kernel.scheme);
        f(info.index, kernel);
      }
    });
  }
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Task, Scalars);

TYPED_TEST(Task, TakesOnePieceOfAVectorAfterTheOther) {
  using T = TypeParam;
  const Index n = 1'000'000;
  const auto bands = closed(random_dominant<T>(LineSet::one(n), 10));
  const auto y = random_vector<T>(n);
  const auto reference = solve_by_reference(bands, y);
  this->on_all([&](int device, const TaskKernel& kernel) {
    EXPECT_LE(relative_difference(this->solve(device, kernel, bands, y), reference), 16 * kEps<T>);
  });
}

/// Largest error of a kernel against its certificate, over families; printed.
TYPED_TEST(Task, ErrsLessThanItsCertificate) {
  using T = TypeParam;
  const Index n = 10'007;
  for (const auto& [family, name] : kFamilies) {
    for (const double d : {1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 10.0}) {
      const auto bands = matrix<T>(family, LineSet::one(n), d);
      const auto y = random_vector<T>(n);
      const auto reference = solve_by_reference(bands, y);
      const double decay = survey(bands.lines(), bands.view()).decay();
      this->on_all([&](int device, const TaskKernel& kernel) {
        for (const Index m : {32, 64}) {
          const Plan plan = this->plan(device, kernel, n, m);
          const double certificate = certify_task(plan, kernel.sweep, bands.view()).bound;
          const double error = relative_difference(solve_by_plan(device, plan, bands, y, kByTask), reference);
          EXPECT_LE(error, 1.1 * certificate + 10 * kEps<T> * (d + 1) / (d - 1)) << name << ", d " << d << ", m " << m;
          EXPECT_LE(certificate, (1 + 1e-9) * bound_task(kernel.sweep, decay, m)) << name << ", d " << d;
          if (device == 0 && m == kTaskRows) {
            std::printf("%-9s d %5.2f %-13s error %.1e certificate %.1e by dominance %.1e\n", name, d, kernel.scheme,
                        error, certificate, bound_task(kernel.sweep, decay, m));
          }
        }
      });
    }
  }
}

TYPED_TEST(Task, BringsBandsThatDoNotFitInEveryApply) {
  using T = TypeParam;
  const Index n = 5003;
  const auto bands = closed(random_dominant<T>(LineSet::one(n), 1.5));
  const auto y = random_vector<T>(n);
  this->on_all([&](int device, const TaskKernel& kernel) {
    DeviceSettings small = kByTask;
    small.device_memory = 2 * n * static_cast<Index>(sizeof(T));
    const Plan plan = this->plan(device, kernel, n, kTaskRows, small);
    EXPECT_FALSE(ocl::make_layout(plan, sizeof(T), {INT64_MAX, small.device_memory}).resident);
    EXPECT_EQ(solve_by_plan(device, plan, bands, y, small), this->solve(device, kernel, bands, y));
  });
}

TYPED_TEST(Task, ReadsOneCouplingOfASymmetricMatrix) {
  using T = TypeParam;
  const LineSet lines = LineSet::unequal({0, 1, 33, 33, 700, 2001});
  const auto bands = closed(random_symmetric<T>(lines, 1.5));
  ASSERT_TRUE(is_symmetric(lines, bands.view()));
  const auto y = random_vector<T>(lines.rows());
  this->on_all([&](int device, const TaskKernel& kernel) {
    const auto general = this->solve(device, kernel, bands, y);
    for (const Index chunk : {Index{0}, 5 * kTaskRows}) {
      DeviceSettings settings = kByTask;
      settings.chunk = chunk;
      Plan plan = this->plan(device, kernel, lines.rows(), kTaskRows, settings);
      plan.form = Form::symmetric;
      EXPECT_EQ(plan.words_per_row(), 4);
      EXPECT_EQ(solve_by_plan(device, plan, bands, y, settings), general);
    }
  });
}

/// The least dominance from which truncation in blocks of 32 rows is below the rounding of float; in double, so that
/// nothing else is seen.
double least_dominance(int device, const TaskKernel& kernel, Family family) {
  const LineSet lines = LineSet::one(20'011);
  const auto y = random_vector<double>(lines.rows());
  double low = 1.01, high = 4;
  while (high - low > 0.01) {
    const double d = (low + high) / 2;
    const auto bands = matrix<double>(family, lines, d);
    const Plan plan = make_task_plan(lines.rows(), kTaskRows, kernel.scheme, sizeof(double), {});
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
      for (int k = 0; k < 3; ++k) found[k] = least_dominance(info.index, kTaskKernels[k], family);
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
