// SPDX-License-Identifier: BSD-2-Clause
// Storage forms of stored factors for lines laid end to end, on every device, against the general form and LAPACK.
#include "devices.hpp"
#include "geometry.hpp"
#include "layout.hpp"
#include "schemes/lanes/lane_plans.hpp"

namespace oclspkt::test {
namespace {

template <typename T>
class Forms : public testing::Test {
 protected:
  static std::vector<T> solve(int device, const Bands<T>& bands, const std::vector<T>& y, const Plan& plan,
                              const DeviceSettings& settings = {}) {
    return solve_by_plan(device, plan, bands, y, settings);
  }

  static DeviceTraits traits(int device, const DeviceSettings& settings = {}) {
    return module().traits(device, sizeof(T) == sizeof(double), settings);
  }

  /// A plan in the general form, its factors made by the host or, with a lead-in, by the device where it can.
  static Plan general(int device, Index n, Index m, Index reach, Index lead_in, const DeviceSettings& settings = {}) {
    Plan plan = make_stored_plan(n, reach, m, sizeof(T), traits(device, settings));
    plan.as<StoredFactors>().lead_in = lead_in < 0 ? -1 : round_up(lead_in, plan.lanes);
    return plan;
  }

  /// In place, copied, and copied in chunks.
  static std::vector<DeviceSettings> ways(Index n) {
    const std::int64_t part = 5 * n * static_cast<Index>(sizeof(T)) / 6 + (1 << 19);
    return {{}, {.copy_vectors = true}, {.device_memory = part}, {.copy_vectors = true, .device_memory = part}};
  }
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Forms, Scalars);

/// Lengths up to a few partitions, and around tiles.
std::vector<Index> lengths_around_tiles(Index tile_rows) {
  std::vector<Index> all;
  for (Index n = 1; n <= 70; ++n) all.push_back(n);
  for (const Index tiles : {1, 2, 5}) {
    for (const Index beside : {-1, 0, 1}) all.push_back(tiles * tile_rows + beside);
  }
  return all;
}

TYPED_TEST(Forms, SymmetricGivesTheBitsOfTheGeneralForm) {
  using T = TypeParam;
  const Index m = 48;
  on_every_device<T>([&](const DeviceInfo& info) {
    const Index tile = this->general(info.index, 100'000, m, 0, -1).tile_rows();
    for (const Index n : lengths_around_tiles(tile)) {
      const auto bands = closed(random_symmetric<T>(LineSet::one(n), 3.0));
      const auto y = random_vector<T>(n);
      for (const bool device_made : {false, true}) {
        const Plan plan = this->general(info.index, n, m, device_made ? 40 : 0, device_made ? 24 : -1);
        Plan symmetric = plan;
        ASSERT_TRUE(make_symmetric(symmetric, sizeof(T), this->traits(info.index)));
        EXPECT_EQ(this->solve(info.index, bands, y, symmetric), this->solve(info.index, bands, y, plan))
            << "n = " << n << ", factors made by the device: " << device_made;
      }
    }
  });
}

/// The same rows in every line.
template <typename T>
Bands<T> alike(const LineSet& lines, double d) {
  const Bands<T> line = random_dominant<T>(LineSet::one(lines.length(0)), d);
  return fill<T>(lines, [&](Index i) {
    return Row{static_cast<double>(line.view().lower[i]), static_cast<double>(line.view().diag[i]),
               static_cast<double>(line.view().upper[i])};
  });
}

TYPED_TEST(Forms, SharedLinesAreRightForEveryLength) {
  using T = TypeParam;
  on_every_device<T>([&](const DeviceInfo& info) {
    for (const Index length : {1, 2, 3, 7, 16, 48, 61, 100, 127, 128, 513}) {
      const LineSet lines = LineSet::equal(60'000 / length + 1, length);
      const auto bands = closed(alike<T>(lines, 2.0));
      const auto y = random_vector<T>(lines.rows());
      const auto reference = solve_by_reference(bands, y);
      for (const DeviceSettings& settings : this->ways(lines.rows())) {
        for (const bool chosen : {true, false}) {
          Plan plan = this->general(info.index, lines.rows(), chosen ? 0 : 48, 0, -1, settings);
          if (!share_lines(plan, length, chosen, sizeof(T), this->traits(info.index, settings))) {
            EXPECT_FALSE(chosen && length <= 16) << length;  // nothing in the way of these
            continue;
          }
          EXPECT_EQ(shared_tiles(plan).period * plan.tile_rows() % length, 0);
          EXPECT_LE(relative_difference(this->solve(info.index, bands, y, plan, settings), reference), 24 * kEps<T>)
              << "lines of " << length << ", m = " << plan.m << ", period " << shared_tiles(plan).period;
        }
      }
    }
  });
}

TYPED_TEST(Forms, SharedRowsAreRightForEveryLength) {
  using T = TypeParam;
  const Index m = 48, lead_in = 40;  // (1 + sqrt(5)) / 2 + 1 to the power of -2 lead_in is below eps of double
  on_every_device<T>([&](const DeviceInfo& info) {
    const Index tile = this->general(info.index, 100'000, m, 0, -1).tile_rows();
    for (const Index tiles : {3, 4, 7, 40}) {
      for (const Index beside : {-1, 0, 1, 17}) {
        const Index n = tiles * tile + beside;
        auto open = diffusion<T>(LineSet::one(n), 1.0);
        open.diag()[0] = 2;  // ends of their own
        open.upper()[0] = T(-0.5);
        open.lower()[n - 1] = T(-0.25);
        const auto bands = closed(std::move(open));
        const auto y = random_vector<T>(n);
        const auto reference = solve_by_reference(bands, y);
        for (const DeviceSettings& settings : this->ways(n)) {
          for (const Index reach : {Index{0}, lead_in}) {
            Plan plan = this->general(info.index, n, m, reach, lead_in, settings);
            ASSERT_EQ(share_rows(plan, plan.n), plan.tiles() >= 4);
            EXPECT_LE(relative_difference(this->solve(info.index, bands, y, plan, settings), reference), 16 * kEps<T>)
                << "n = " << n << " in tiles of " << tile << ", reach " << reach;
          }
        }
      }
    }
  });
}

TYPED_TEST(Forms, SharedRowsServeEveryLine) {
  using T = TypeParam;
  const Index m = 48, lead_in = 40;
  on_every_device<T>([&](const DeviceInfo& info) {
    const Index tile = this->general(info.index, 100'000, m, 0, -1).tile_rows();
    for (const Index tiles : {4, 7}) {
      const LineSet lines = LineSet::equal(9, tiles * tile);
      auto open = diffusion<T>(lines, 1.0);
      for (Index l = 0; l < lines.count(); ++l) {
        open.diag()[lines.first(l)] = 2;
        open.upper()[lines.first(l)] = T(-0.5);
      }
      const auto bands = closed(std::move(open));
      const auto y = random_vector<T>(lines.rows());
      const auto reference = solve_by_reference(bands, y);
      for (const DeviceSettings& settings : this->ways(lines.rows())) {
        for (const Index reach : {Index{0}, lead_in}) {
          Plan plan = this->general(info.index, lines.rows(), m, reach, lead_in, settings);
          ASSERT_TRUE(share_rows(plan, lines.length(0)));
          EXPECT_LE(relative_difference(this->solve(info.index, bands, y, plan, settings), reference), 16 * kEps<T>)
              << tiles << " tiles a line, reach " << reach;
        }
      }
    }
  });
}

TYPED_TEST(Forms, SharedRowsWantPivotsThatAreDoneChanging) {
  using T = TypeParam;
  on_every_device<T>([&](const DeviceInfo& info) {
    Plan plan = this->general(info.index, 100'000, 48, 0, -1);
    EXPECT_FALSE(share_rows(plan, plan.n));
    plan.as<StoredFactors>().lead_in = plan.tile_rows() + 1;
    EXPECT_FALSE(share_rows(plan, plan.n));
    EXPECT_EQ(plan.form, Form::general);
  });
}

TYPED_TEST(Forms, TakeTheMemoryThatTheyNeedAndNoMore) {
  using T = TypeParam;
  const Index n = 200'000;
  on_every_device<T>([&](const DeviceInfo& info) {
    const auto held = [&](const Bands<T>& bands, const Plan& plan) {
      const auto solver = make_solver<T>(info.index);
      solver->set_up(plan, bands);
      return solver->bytes();
    };
    const auto bands = closed(random_symmetric<T>(LineSet::one(n), 3.0));
    const Plan general = this->general(info.index, n, 48, 0, 24);
    Plan symmetric = general;
    make_symmetric(symmetric, sizeof(T), this->traits(info.index));
    const auto array = n * static_cast<Index>(sizeof(T));
    EXPECT_LE(held(bands, symmetric), held(bands, general) - array * 9 / 10);
    Plan shared = general;
    ASSERT_TRUE(share_rows(shared, shared.n));
    const auto uniform = closed(diffusion<T>(LineSet::one(n), 1.0));
    EXPECT_LE(held(uniform, shared), held(uniform, general) - array * 5 / 2);
  });
}

}  // namespace
}  // namespace oclspkt::test
