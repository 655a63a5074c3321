// SPDX-License-Identifier: BSD-2-Clause
// The paper's form of truncated SPIKE for CPUs on every device, against LAPACK and against the model in C++.
#include "paper_lanes.hpp"

#include <algorithm>

#include "model.hpp"
#include "paper.hpp"
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

TYPED_TEST(PaperLanesOnDevice, IsRightForEveryLengthAndShape) {
  using T = TypeParam;
  this->on_every_device_for_cpus([&](const DeviceInfo& info) {
    for (const auto& [asked, m_min] : {std::pair<Index, Index>{32, 16}, {112, 32}, {0, 40}}) {
      const Index m = this->plan(info.index, 1'000'000, asked > 0 ? asked : 80, m_min).m,
                  tile = this->plan(info.index, 1'000'000, m, m_min).tile_rows();
      for (const Index n : {Index{1}, Index{2}, Index{3}, m_min, m - 1, m, m + 1, m + m / 2, 2 * m + 1, tile - 1, tile,
                            tile + 1, 2 * tile + 5, Index{10'007}}) {
        const Plan plan = this->plan(info.index, n, asked, m_min);
        const auto bands = closed(random_dominant<T>(LineSet::one(n), 10));
        const auto y = random_vector<T>(n);
        const auto x = this->solve_by(info.index, plan, bands, y);
        const double certificate = certify_paper_lanes(plan, bands.view()).bound;
        EXPECT_LE(relative_difference(x, solve_by_reference(bands, y)), 16 * kEps<T> + 1.1 * certificate)
            << "n = " << n << ", m " << plan.m << ", m_min " << m_min;
        EXPECT_LE(normwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()),
                  10 * kEps<T> + 3 * certificate);
      }
    }
  });
}

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

TYPED_TEST(PaperLanesOnDevice, IsTruncatedExactlyAsTheModelIs) {
  using T = TypeParam;
  const Index n = 5003;
  const double lambda = 1e3;
  const auto bands = closed(diffusion<T>(LineSet::one(n), lambda));
  const auto y = random_vector<T>(n);
  this->on_every_device_for_cpus([&](const DeviceInfo& info) {
    for (const auto& [m, m_min] : {std::pair<Index, Index>{1, 8}, {48, 16}, {320, 104}, {5003, 8}}) {
      const Plan plan = this->plan(info.index, n, m, m_min);
      EXPECT_LE(relative_difference(this->solve_by(info.index, plan, bands, y), solve_by_model(plan, bands, y)),
                lambda * kEps<T>)
          << "m " << plan.m << ", m_min " << m_min;
    }
  });
}

TYPED_TEST(PaperLanesOnDevice, KeepsLinesApartAndTheirNanToThemselves) {
  using T = TypeParam;
  const OneBrokenLine<T> lines(10);
  this->on_every_device_for_cpus([&](const DeviceInfo& info) {
    for (const Index m : {64, 96}) {
      const Plan plan = this->plan(info.index, lines.bands.lines().rows(), m, 32);
      lines.expect_others_right(
          [&](const std::vector<T>& y) { return this->solve_by(info.index, plan, lines.bands, y); });
    }
  });
}

TYPED_TEST(PaperLanesOnDevice, GivesTheSameBitsEveryTimeInChunksAndInPieces) {
  using T = TypeParam;
  const Index n = 70'001;
  const auto bands = closed(random_dominant<T>(LineSet::one(n), 3));
  const auto y = random_vector<T>(n);
  this->on_every_device_for_cpus([&](const DeviceInfo& info) {
    const auto planned = [&](const DeviceSettings& settings) { return this->plan(info.index, n, 64, 32, settings); };
    const auto x = expect_same_bits(info, bands, y, kPaperOnCpus, planned);
    DeviceSettings copies = kPaperOnCpus;
    copies.copy_vectors = true;
    expect_timed(info.index, planned(kPaperOnCpus), bands, y, copies, x);
  });
}

TYPED_TEST(PaperLanesOnDevice, TakesVectorsThatBeginAnywhere) {
  using T = TypeParam;
  const Index n = 3001;
  const auto bands = closed(random_dominant<T>(LineSet::one(n), 10));
  const auto y = random_vector<T>(n);
  this->on_every_device_for_cpus([&](const DeviceInfo& info) {
    const Plan plan = this->plan(info.index, n, 0, 40);
    EXPECT_LE(relative_difference(solve_anywhere(info.index, plan, bands, y), solve_by_reference(bands, y)),
              16 * kEps<T>);
  });
}

}  // namespace
}  // namespace oclspkt::test
