// SPDX-License-Identifier: BSD-2-Clause
// Forms of stored factors, on every device: other forms give the bits of the general one and take less memory, and
// those that are floats beside vectors of doubles are rounded, and nothing else is.
#include "devices.hpp"
#include "factors.hpp"
#include "geometry.hpp"
#include "schemes/halos.hpp"
#include "schemes/lanes/lane_plans.hpp"
#include "schemes/tiles/tile_plans.hpp"

namespace oclspkt::test {
namespace {

/// By lanes, of lines laid end to end; the factors are made by the host or, with a lead-in, by the device where it can.
Plan stored_plan(Index n, Index reach, Index lead_in, int word, const DeviceTraits& traits) {
  Plan plan = make_stored_plan(n, reach, 48, word, traits);
  plan.as<StoredFactors>().lead_in = lead_in < 0 ? -1 : round_up(lead_in, plan.lanes);
  return plan;
}

template <typename T>
class Forms : public testing::Test {
 protected:
  static constexpr bool kDouble = sizeof(T) == sizeof(double);
  static DeviceTraits traits(int device, const DeviceSettings& settings = {}) {
    return module().traits(device, kDouble, settings);
  }
  /// A plan in another form.
  struct Other {
    const char* what;
    Plan plan;
  };
  static void expect_bits_of(const Plan& general, const std::vector<Other>& others, int device, const Bands<T>& bands,
                             const DeviceSettings& settings = {}) {
    const auto y = random_vector<T>(bands.lines().extent());
    const auto solve = [&](const Plan& plan) { return solve_by_plan(device, plan, bands, y, settings, T(7)); };
    const std::vector<T> expected = solve(general);
    for (const Other& other : others) {
      EXPECT_EQ(solve(other.plan), expected) << other.what << ", " << bands.lines().describe();
    }
  }
};

SCALAR_TEST(Forms, OfLinesEndToEndGiveTheBitsOfTheGeneralOne) {
  on_every_device<T>([&](const DeviceInfo& info) {
    const DeviceTraits traits = this->traits(info.index);
    const Index tile = stored_plan(100'000, 0, -1, sizeof(T), traits).tile_rows();
    for (const Index n :
         {Index{1}, Index{2}, Index{47}, Index{48}, Index{70}, tile - 1, tile, tile + 1, 5 * tile + 1}) {
      for (const Index lead_in : {Index{-1}, Index{24}}) {
        for (const bool narrow : {false, true}) {
          if (narrow && !this->kDouble) continue;
          Plan general = stored_plan(n, 40, lead_in, sizeof(T), traits);
          general.narrow = narrow;
          Plan symmetric = general;
          ASSERT_TRUE(make_symmetric(symmetric, sizeof(T), traits));
          this->expect_bits_of(general, {{narrow ? "narrow and symmetric" : "symmetric", symmetric}}, info.index,
                               closed(random_symmetric<T>(LineSet::one(n), 3.0)));
        }
      }
    }
  });
}

SCALAR_TEST(Forms, OfLinesSideBySideGiveTheBitsOfTheGeneralOne) {
  for (const LineSet& lines :
       {LineSet::grid_axis(1, 17, 33, 9), LineSet::grid_axis(2, 31, 2, 3), LineSet::grid_axis(1, 5, 3000, 1),
        LineSet::grid_axis(2, 1000, 3, 2), LineSet::strided(9, 50, 20, 1, 4, 500),
        LineSet::strided(9, 300, 20, 1, 4, 60), LineSet::strided(50, 4, 1, 1)}) {
    on_every_device<T>([&](const DeviceInfo& info) {
      const auto plan = [&](Form form) { return make_factored_plan(lines, form, sizeof(T), this->traits(info.index)); };
      this->expect_bits_of(plan(Form::general), {{"shared", plan(Form::shared)}, {"symmetric", plan(Form::symmetric)}},
                           info.index, closed(diffusion<T>(lines, 10)));
      this->expect_bits_of(plan(Form::general), {{"symmetric", plan(Form::symmetric)}}, info.index,
                           closed(random_symmetric<T>(lines, 1.5)));
    });
  }
}

SCALAR_TEST(Forms, OfTilesGiveTheBitsOfTheGeneralOne) {
  const Index length = 96;
  const LineSet lines = LineSet::equal(70, length);
  const auto alike = closed(constant<T>(lines, T(-0.75), T(2.25), T(-0.75)));  // symmetric, shared, and floats
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    const DeviceTraits traits = this->traits(info.index, kForGpus);
    for (const Plan& general :
         {make_plan(Method::truncated_halo, lines.rows(), 40, 0, sizeof(T), traits),
          make_whole_lines_plan(lines, partition_of_whole_lines(lines, sizeof(T), traits), sizeof(T), traits)}) {
      Plan symmetric = general, shared = general;
      symmetric.form = Form::symmetric;
      Plan narrow = symmetric;
      narrow.narrow = this->kDouble;
      ASSERT_TRUE(share_line(shared, length, sizeof(T)));
      this->expect_bits_of(general, {{"symmetric", symmetric}, {"narrow", narrow}, {"shared", shared}}, info.index,
                           alike, kForGpus);
      Plan kept = shared;
      if (!keep_factors(kept, length, sizeof(T), traits)) continue;
      Plan kept_symmetric = kept;
      make_factors_symmetric(kept_symmetric, length, sizeof(T), traits);
      EXPECT_EQ(kept_symmetric.as<KeptTiles>().symmetric, this->kDouble);
      this->expect_bits_of(kept, {{"kept and symmetric", kept_symmetric}}, info.index, alike, kForGpus);
    }
  });
}

SCALAR_TEST(Forms, TakeTheMemoryThatTheyNeedAndNoMore) {
  const Index n = 200'000, array = n * static_cast<Index>(sizeof(T));
  const auto bands = closed(random_symmetric<T>(LineSet::one(n), 3.0)),
             uniform = closed(diffusion<T>(LineSet::one(n), 1.0));
  on_every_device<T>([&](const DeviceInfo& info) {
    const auto held = [&](const Bands<T>& of, const Plan& plan) {
      const auto solver = make_solver<T>(info.index);
      solver->set_up(plan, of);
      return solver->bytes();
    };
    const Plan general = stored_plan(n, 0, 24, sizeof(T), this->traits(info.index));
    Plan symmetric = general, shared = general, narrow = general;
    make_symmetric(symmetric, sizeof(T), this->traits(info.index));
    EXPECT_LE(held(bands, symmetric), held(bands, general) - array * 9 / 10);
    ASSERT_TRUE(share_rows(shared, shared.n));
    EXPECT_LE(held(uniform, shared), held(uniform, general) - array * 5 / 2);
    if (!this->kDouble) return;
    narrow.narrow = true;
    EXPECT_LE(held(bands, narrow), held(bands, general) - n * 12 * 9 / 10);
  });
}

/// One sweep down and one up of every line by factors that are rounded to float.
std::vector<double> sweep_by_floats(const Bands<double>& bands, const std::vector<double>& y) {
  const LineSet& lines = bands.lines();
  Factors<double> factors;
  factors.factor(lines, bands.view(), Form::general);
  const FactorsView<double> f = factors.view();
  const auto narrow = [](double factor) { return static_cast<double>(static_cast<float>(factor)); };
  std::vector<double> x(y);
  for (Index l = 0; l < lines.count(); ++l) {
    const auto at = [&](Index i) { return lines.first(l) + i * lines.row_stride(); };
    const auto row = [&](Index i) -> double& { return x[static_cast<std::size_t>(at(i))]; };
    const Index last = lines.length(l) - 1;
    for (Index i = 1; i <= last; ++i) row(i) -= narrow(f.multiplier[at(i)]) * row(i - 1);
    for (Index i = last; i >= 0; --i) {
      row(i) *= narrow(f.reciprocal[at(i)]);
      if (i < last) row(i) -= narrow(f.coupling[at(i)]) * row(i + 1);
    }
  }
  return x;
}

/// Factors that the host made are rounded, and nothing else is; of those that the device made the last bit of a pivot
/// depends on where its elimination began, which turns a few roundings.
TEST(Narrow, FactorsAreRoundedAndNothingElseIs) {
  constexpr double kFloat = kEps<float>;
  on_every_device<double>([&](const DeviceInfo& info) {
    const DeviceTraits traits = module().traits(info.index, true, {});
    const Index tile = stored_plan(100'000, 0, -1, sizeof(double), traits).tile_rows();
    const auto error = [&](Plan plan, const Bands<double>& bands) {
      plan.narrow = true;
      const auto y = random_vector<double>(bands.lines().extent()), expected = sweep_by_floats(bands, y);
      const auto x = solve_by_plan(info.index, plan, bands, y, {});
      return relative_difference(without_gaps(bands.lines(), x, expected), expected);
    };
    for (const Index n : {Index{1}, Index{2}, Index{47}, Index{97}, tile - 1, tile, tile + 1, 5 * tile, Index{5003}}) {
      const auto bands = closed(random_dominant<double>(LineSet::one(n), 3.0));
      EXPECT_LE(error(stored_plan(n, 0, -1, sizeof(double), traits), bands), 16 * kEps<double>) << "n = " << n;
      EXPECT_LE(error(stored_plan(n, 40, 24, sizeof(double), traits), bands), kFloat) << "n = " << n;
    }
    // Everything passes through partitions here: what the products hold must be what the sweeps do. Condition 4000.
    EXPECT_LE(error(make_stored_plan(20'011, 0, 496, sizeof(double), traits),
                    closed(diffusion<double>(LineSet::one(20'011), 1000))),
              1e4 * kEps<double>);
    // Whole bundles, rows that end within a vector, fewer lines than lanes, gaps.
    for (const LineSet& lines : {LineSet::grid_axis(1, 64, 50, 30), LineSet::grid_axis(2, 37, 3, 29),
                                 LineSet::grid_axis(1, 5, 300, 2), LineSet::strided(50, 4, 1, 1),
                                 LineSet::strided(9, 50, 20, 1, 4, 500), LineSet::strided(40, 70, 65, 1, 30, 3000)}) {
      const auto bands = closed(random_symmetric<double>(lines, 2.0));
      for (const Form form : {Form::general, Form::symmetric}) {
        EXPECT_LE(error(make_factored_plan(lines, form, sizeof(double), traits), bands), 16 * kEps<double>)
            << lines.describe() << ", " << name(form);
      }
    }
  });
}

}  // namespace
}  // namespace oclspkt::test
