// SPDX-License-Identifier: BSD-2-Clause
// Stored factors that are floats beside vectors of doubles, on every device, against a plain sweep by the same factors
// and against LAPACK.
#include <cfloat>

#include "devices.hpp"
#include "factors.hpp"
#include "geometry.hpp"
#include "schemes/lanes/lane_plans.hpp"

namespace oclspkt::test {
namespace {

class Narrow : public testing::Test {
 protected:
  static DeviceTraits traits(int device, const DeviceSettings& settings = {}) {
    return module().traits(device, true, settings);
  }

  static Plan plan(int device, Index n, Index m, Index reach, Index lead_in, const DeviceSettings& settings = {}) {
    Plan plan = make_stored_plan(n, reach, m, sizeof(double), traits(device, settings));
    plan.as<StoredFactors>().lead_in = lead_in < 0 ? -1 : round_up(lead_in, plan.lanes);
    plan.narrow = true;
    return plan;
  }

  static std::vector<double> solve(int device, const Bands<double>& bands, const std::vector<double>& y,
                                   const Plan& plan, const DeviceSettings& settings = {}) {
    return solve_by_plan(device, plan, bands, y, settings);
  }

  /// One sweep down and one up of every line by factors that are rounded to float.
  static std::vector<double> sweep(const Bands<double>& bands, const std::vector<double>& y) {
    const LineSet& lines = bands.lines();
    Factors<double> factors;
    factors.factor(lines, bands.view(), Form::general);
    const FactorsView<double> f = factors.view();
    const auto narrow = [](double factor) { return static_cast<double>(static_cast<float>(factor)); };
    std::vector<double> x(y);
    const auto row = [&](Index l, Index i) -> double& {
      return x[static_cast<std::size_t>(lines.first(l) + i * lines.row_stride())];
    };
    for (Index l = 0; l < lines.count(); ++l) {
      const auto at = [&](Index i) { return lines.first(l) + i * lines.row_stride(); };
      const Index last = lines.length(l) - 1;
      for (Index i = 1; i <= last; ++i) row(l, i) -= narrow(f.multiplier[at(i)]) * row(l, i - 1);
      for (Index i = last; i >= 0; --i) {
        row(l, i) *= narrow(f.reciprocal[at(i)]);
        if (i < last) row(l, i) -= narrow(f.coupling[at(i)]) * row(l, i + 1);
      }
    }
    return x;
  }

  /// In place, copied, and copied in chunks.
  static std::vector<DeviceSettings> ways(Index n) {
    const std::int64_t part = 7 * n * static_cast<Index>(sizeof(float)) / 6 + (1 << 19);
    return {{}, {.copy_vectors = true}, {.device_memory = part}, {.copy_vectors = true, .device_memory = part}};
  }
};

TEST_F(Narrow, HostMadeFactorsAreRoundedAndNothingElseIs) {
  const Index m = 48;
  on_every_device<double>([&](const DeviceInfo& info) {
    const Index tile = plan(info.index, 100'000, m, 0, -1).tile_rows();
    for (const Index n :
         {Index{1}, Index{2}, Index{3}, m - 1, m, m + 1, 2 * m + 1, tile - 1, tile, tile + 1, 5 * tile, Index{5003}}) {
      const auto bands = closed(random_dominant<double>(LineSet::one(n), 2.0));
      const auto y = random_vector<double>(n);
      EXPECT_LE(relative_difference(solve(info.index, bands, y, plan(info.index, n, m, 0, -1)), sweep(bands, y)),
                16 * kEps<double>)
          << "n = " << n;
    }
  });
}

TEST_F(Narrow, FactorsOfLinesSideBySideAreRoundedAndNothingElseIs) {
  // Whole bundles, rows that end within a vector, fewer lines than lanes, gaps, blocks that are solved in chunks.
  for (const LineSet& lines : {LineSet::grid_axis(1, 64, 50, 30), LineSet::grid_axis(2, 37, 3, 29),
                               LineSet::grid_axis(1, 5, 300, 2), LineSet::strided(50, 4, 1, 1),
                               LineSet::strided(9, 50, 20, 1, 4, 500), LineSet::strided(40, 70, 65, 1, 30, 3000)}) {
    SCOPED_TRACE(lines.describe());
    const auto bands = closed(random_symmetric<double>(lines, 2.0));
    const auto y = random_vector<double>(lines.extent());
    const auto expected = sweep(bands, y);
    on_every_device<double>([&](const DeviceInfo& info) {
      const std::int64_t part = lines.blocks() >= 30 ? 14 * lines.extent() : 0;
      for (const DeviceSettings& settings : {DeviceSettings{},
                                             {.copy_vectors = true},
                                             {.device_memory = part},
                                             {.copy_vectors = true, .device_memory = part}}) {
        for (const Form form : {Form::general, Form::symmetric}) {
          Plan plan = make_factored_plan(lines, form, sizeof(double), traits(info.index, settings));
          plan.narrow = true;
          const auto x = without_gaps(lines, solve(info.index, bands, y, plan, settings), expected);
          EXPECT_LE(relative_difference(x, expected), 16 * kEps<double>) << name(form);
        }
      }
    });
  }
}

TEST_F(Narrow, DeviceMadeFactorsAreAsGood) {
  on_every_device<double>([&](const DeviceInfo& info) {
    for (const Index n : {1, 100, 5003, 40'000}) {
      const auto bands = closed(random_dominant<double>(LineSet::one(n), 3.0));
      const auto y = random_vector<double>(n);
      const auto x = solve(info.index, bands, y, plan(info.index, n, 48, 40, 24));
      EXPECT_LE(relative_difference(x, solve_by_reference(bands, y)), 4 * FLT_EPSILON) << "n = " << n;
      // The last bit of a pivot depends on where its elimination began, and turns a few roundings.
      EXPECT_LE(relative_difference(x, sweep(bands, y)), FLT_EPSILON) << "n = " << n;
    }
  });
}

TEST_F(Narrow, PartitionsAgreeToTheRoundingOfDoubles) {
  // Everything passes through partitions: what the products hold must be what the sweeps do.
  on_every_device<double>([&](const DeviceInfo& info) {
    const Index n = 20'011;
    const auto bands = closed(diffusion<double>(LineSet::one(n), 1000));
    const auto y = random_vector<double>(n);
    EXPECT_LE(relative_difference(solve(info.index, bands, y, plan(info.index, n, 496, 0, -1)), sweep(bands, y)),
              1e4 * kEps<double>);  // condition 4000
  });
}

TEST_F(Narrow, SymmetricGivesTheBitsOfTheGeneralForm) {
  on_every_device<double>([&](const DeviceInfo& info) {
    for (const Index n : {1, 47, 500, 5003}) {
      const auto bands = closed(random_symmetric<double>(LineSet::one(n), 3.0));
      const auto y = random_vector<double>(n);
      for (const Index lead_in : {Index{-1}, Index{24}}) {
        const Plan general = plan(info.index, n, 48, 40, lead_in);
        Plan symmetric = general;
        ASSERT_TRUE(make_symmetric(symmetric, sizeof(double), traits(info.index)));
        EXPECT_EQ(symmetric.words_per_row(), 3);
        EXPECT_EQ(solve(info.index, bands, y, symmetric), solve(info.index, bands, y, general)) << "n = " << n;
      }
    }
  });
}

TEST_F(Narrow, TakesHalfOfTheMemory) {
  const Index n = 200'000;
  const auto bands = closed(random_dominant<double>(LineSet::one(n), 3.0));
  on_every_device<double>([&](const DeviceInfo& info) {
    for (const bool copies : {false, true}) {
      const auto held = [&](bool narrow) {
        Plan wanted = plan(info.index, n, 48, 40, 24);
        wanted.narrow = narrow;
        const auto solver = make_solver<double>(info.index, {.copy_vectors = copies});
        solver->set_up(wanted, bands);
        return solver->bytes();
      };
      EXPECT_LE(held(true), held(false) - n * 12 * 9 / 10);
    }
  });
}

}  // namespace
}  // namespace oclspkt::test
