// SPDX-License-Identifier: BSD-2-Clause
// Lines side by side, whole by stored factors and cut into segments, on every device, against LAPACK and residuals.
#include <array>
#include <cstdio>

#include "devices.hpp"
#include "geometry.hpp"
#include "residual.hpp"
#include "schemes/beside/beside_plans.hpp"

namespace oclspkt::test {
namespace {

/// Untouched places hold this.
constexpr double kGap = 77;

template <typename T>
class Strided : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Strided, Scalars);

/// Line shapes: axes of grids, lengths of a few rows, lines that are fewer than any lanes, gaps beside and between.
std::vector<LineSet> shapes() {
  std::vector<LineSet> all;
  for (const auto& [nx, ny, nz] : {std::array<Index, 3>{1, 1, 1},
                                   {1, 40, 1},
                                   {40, 1, 1},
                                   {3, 5, 7},
                                   {17, 33, 9},
                                   {64, 64, 64},
                                   {5, 3000, 1},
                                   {5, 1, 3000},
                                   {7, 3, 11},
                                   {16, 2, 3},
                                   {31, 2, 3},
                                   {33, 3, 2},
                                   {300, 4, 2},
                                   {1000, 3, 1}}) {
    all.push_back(LineSet::grid_axis(1, nx, ny, nz));
    all.push_back(LineSet::grid_axis(2, nx, ny, nz));
  }
  all.push_back(LineSet::strided(9, 50, 20, 1, 4, 500));  // 30 places between rows, 50 and more between blocks
  all.push_back(LineSet::strided(9, 300, 20, 1, 4, 60));  // blocks that interleave
  all.push_back(LineSet::strided(50, 4, 1, 1));           // one line, every fourth place
  return all;
}

bool beside(const LineSet& lines) { return !lines.contiguous(); }

template <typename T>
Plan strided_plan(int device, const LineSet& lines, Form form, const DeviceSettings& settings = {}) {
  return make_factored_plan(lines, form, sizeof(T), module().traits(device, sizeof(T) == sizeof(double), settings));
}

/// The plan of truncated-halo, for lines cut into segments.
template <typename T>
Plan segment_plan(int device, const LineSet& lines, Index halo, Index partition = 0,
                  const DeviceSettings& settings = {}) {
  return make_strided_halo_plan(lines, halo, partition, sizeof(T),
                                module().traits(device, sizeof(T) == sizeof(double), settings));
}

/// Set up and solve once, into kGap.
template <typename T>
std::vector<T> solve_into_gaps(int device, const Bands<T>& bands, const std::vector<T>& y, const Plan& plan,
                               const DeviceSettings& settings = {}) {
  return solve_by_plan(device, plan, bands, y, settings, T(kGap));
}

template <typename T>
std::vector<T> solve_strided(int device, const Bands<T>& bands, const std::vector<T>& y, Form form,
                             const DeviceSettings& settings = {}) {
  return solve_into_gaps(device, bands, y, strided_plan<T>(device, bands.lines(), form, settings), settings);
}

TYPED_TEST(Strided, SharedFactorsGiveWhatFactorsOfEachLineGive) {
  using T = TypeParam;
  for (const LineSet& lines : shapes()) {
    if (!beside(lines)) continue;
    SCOPED_TRACE(lines.describe());
    const auto bands = closed(diffusion<T>(lines, 10));
    const auto y = random_vector<T>(lines.extent());
    const auto reference = solve_by_reference(bands, y);
    on_every_device<T>([&](const DeviceInfo& info) {
      const auto general = solve_strided<T>(info.index, bands, y, Form::general);
      // Condition of diffusion: 1 + 4 lambda.
      EXPECT_LE(relative_difference(without_gaps(lines, general, reference), reference), 41 * kEps<T>);
      for (const bool copies : {false, true}) {
        EXPECT_EQ(solve_strided<T>(info.index, bands, y, Form::shared, {.copy_vectors = copies}), general);
      }
    });
  }
}

TYPED_TEST(Strided, CouplingsThatServeGiveWhatMultipliersGive) {
  using T = TypeParam;
  for (const LineSet& lines : shapes()) {
    if (!beside(lines)) continue;
    SCOPED_TRACE(lines.describe());
    const auto bands = closed(random_symmetric<T>(lines, 1.5));
    const auto y = random_vector<T>(lines.extent());
    on_every_device<T>([&](const DeviceInfo& info) {
      const auto general = solve_strided<T>(info.index, bands, y, Form::general);
      for (const bool copies : {false, true}) {
        EXPECT_EQ(solve_strided<T>(info.index, bands, y, Form::symmetric, {.copy_vectors = copies}), general);
      }
    });
  }
}

TYPED_TEST(Strided, StaysBackwardStableAtDominanceOne) {
  using T = TypeParam;
  double worst = 0;
  for (const LineSet& lines : {LineSet::grid_axis(1, 17, 33, 9), LineSet::grid_axis(2, 17, 33, 9),
                               LineSet::grid_axis(1, 5, 3000, 1), LineSet::grid_axis(1, 40, 20'000, 1)}) {
    for (const bool poisson : {true, false}) {
      const auto bands = closed(poisson ? constant<T>(lines, -1, 2, -1) : conductivities<T>(lines));
      const auto random = random_vector<T>(lines.extent());
      auto smooth = random;
      multiply(lines, bands.view(), random.data(), smooth.data());
      on_every_device<T>([&](const DeviceInfo& info) {
        for (const std::vector<T>* y : std::initializer_list<const std::vector<T>*>{&random, &smooth}) {
          for (const Form form : {Form::general, Form::shared}) {
            if (form == Form::shared && !poisson) continue;
            const auto x = solve_strided<T>(info.index, bands, *y, form);
            const double error = normwise_backward_error(lines, bands.view(), x.data(), y->data());
            EXPECT_LE(error, 10 * kEps<T>) << lines.describe() << (poisson ? ", Poisson" : ", conductivities");
            worst = std::max(worst, error / kEps<T>);
          }
        }
      });
    }
  }
  std::printf("largest backward error: %.2f eps\n", worst);
}

TYPED_TEST(Strided, RefusesWhatItHasNoKernelOrNoMemoryFor) {
  using T = TypeParam;
  const auto apart = closed(diffusion<T>(LineSet::strided(5, 20, 10, 2), 1));  // neighbours two places apart
  const auto lines = closed(diffusion<T>(LineSet::grid_axis(1, 100, 100, 1), 1));
  on_every_device<T>([&](const DeviceInfo& info) {
    const auto solver = make_solver<T>(info.index);
    EXPECT_THROW(solver->set_up(strided_plan<T>(info.index, apart.lines(), Form::general), apart), InvalidInput);
    const DeviceSettings small{.device_memory = 10'000};
    const Plan plan = strided_plan<T>(info.index, lines.lines(), Form::general, small);
    EXPECT_EQ(plan.as<Beside>().chunk_blocks, 0);
    EXPECT_THROW(make_solver<T>(info.index, small)->set_up(plan, lines), InvalidInput);
  });
}

TYPED_TEST(Strided, SegmentsRefusePlansOfOtherLayoutsAndTooLittleMemory) {
  using T = TypeParam;
  const LineSet lines = LineSet::grid_axis(1, 20, 3000, 1);
  const auto beside = closed(random_dominant<T>(lines, 3.0)),
             end_to_end = closed(random_dominant<T>(LineSet::one(60'000), 3.0));
  on_every_device<T>([&](const DeviceInfo& info) {
    const auto solver = make_solver<T>(info.index);
    EXPECT_THROW(solver->set_up(plan_for<T>(info.index, 60'000, {Method::truncated_halo, 40}), beside), InvalidInput);
    EXPECT_THROW(solver->set_up(segment_plan<T>(info.index, lines, 40), end_to_end), InvalidInput);
    const DeviceSettings small{.device_memory = 10'000};
    const Plan plan = segment_plan<T>(info.index, lines, 40, 0, small);
    EXPECT_EQ(plan.as<Beside>().chunk_blocks, 0);
    EXPECT_THROW(make_solver<T>(info.index, small)->set_up(plan, beside), InvalidInput);
  });
}

}  // namespace
}  // namespace oclspkt::test
