// SPDX-License-Identifier: BSD-2-Clause
// The paper's form of truncated SPIKE for CPUs on every device, against LAPACK and against the model in C++.
#include "schemes/paper/paper_lanes.hpp"

#include "devices.hpp"
#include "residual.hpp"

namespace oclspkt::test {
namespace {

constexpr DeviceSettings kPaperOnCpus{.variant = Variant::paper};

template <typename T>
class PaperLanesOnDevice : public testing::Test {
 protected:
  /// Devices that take the CPU form under variant paper: FPGAs have one of their own.
  template <typename F>
  static void on_every_device_for_cpus(const F& f) {
    on_every_device<T>([&](const DeviceInfo& info) {
      if (info.type == DeviceType::cpu) f(info);
    });
  }
  static DeviceTraits traits(int device, const DeviceSettings& settings = kPaperOnCpus) {
    return module().traits(device, sizeof(T) == sizeof(double), settings);
  }
  /// @param m  0: as many partitions as all cores have lanes
  static Plan plan(int device, Index n, Index m, Index m_min, const DeviceSettings& settings = kPaperOnCpus) {
    const DeviceTraits of = traits(device, settings);
    return make_paper_lanes_plan(n, m > 0 ? m : paper_lanes_partition(n, sizeof(T), of), m_min, "lanes-paper",
                                 sizeof(T), of);
  }
  static std::vector<T> solve_by(int device, const Plan& plan, const Bands<T>& bands, const std::vector<T>& y,
                                 const DeviceSettings& settings = kPaperOnCpus) {
    return solve_by_plan(device, plan, bands, y, settings);
  }
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(PaperLanesOnDevice, Scalars);

TYPED_TEST(PaperLanesOnDevice, ErrsByNoMoreThanItsCertificateAndRounding) {
  using T = TypeParam;
  this->on_every_device_for_cpus([&](const DeviceInfo& info) {
    for (const Index n : {Index{10'007}, Index{1'000'000}}) {
      for (const double d : {1.05, 1.2, 1.5, 2.0, 10.0}) {
        if (n > 100'000 && d > 1.05 && d < 10) continue;
        const auto bands = closed(random_dominant<T>(LineSet::one(n), d));
        const auto y = random_vector<T>(n);
        for (const Index m_min : {16, 64, 256}) {
          const Plan plan = this->plan(info.index, n, 0, m_min);
          const double certificate = certify_paper_lanes(plan, bands.view()).bound;
          EXPECT_LE(relative_difference(this->solve_by(info.index, plan, bands, y), solve_by_reference(bands, y)),
                    1.1 * certificate + 10 * kEps<T> * (d + 1) / (d - 1))
              << n << " rows, d " << d << ", m_min " << m_min;
        }
      }
    }
  });
}

}  // namespace
}  // namespace oclspkt::test
