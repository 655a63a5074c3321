// SPDX-License-Identifier: BSD-2-Clause
// Lines side by side, whole by stored factors and cut into segments, on every device, against LAPACK and residuals.
#include <array>
#include <cstdio>

#include "certificate.hpp"
#include "devices.hpp"
#include "geometry.hpp"
#include "layout.hpp"
#include "model.hpp"
#include "residual.hpp"

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

TYPED_TEST(Strided, IsRightForEveryShapeWithAndWithoutCopies) {
  using T = TypeParam;
  for (const LineSet& lines : shapes()) {
    if (!beside(lines)) continue;
    SCOPED_TRACE(lines.describe());
    const auto bands = closed(random_dominant<T>(lines, 3.0));
    const auto y = random_vector<T>(lines.extent());
    const auto reference = solve_by_reference(bands, y);
    const auto free = gaps(lines);
    on_every_device<T>([&](const DeviceInfo& info) {
      for (const bool copies : {false, true}) {
        const auto x = solve_strided<T>(info.index, bands, y, Form::general, {.copy_vectors = copies});
        // The condition of a row-dominant matrix of dominance 3 is at most 2.
        EXPECT_LE(relative_difference(without_gaps(lines, x, reference), reference), 16 * kEps<T>) << copies;
        for (const Index i : free) ASSERT_EQ(x[static_cast<std::size_t>(i)], T(kGap)) << "place " << i;
      }
    });
  }
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

TYPED_TEST(Strided, NanInOneLineStaysInIt) {
  using T = TypeParam;
  for (const LineSet& lines : {LineSet::grid_axis(1, 3, 5, 7), LineSet::grid_axis(2, 17, 3, 9)}) {
    const auto bands = closed(diffusion<T>(lines, 1));
    const auto healthy = random_vector<T>(lines.extent());
    const Index broken = lines.count() - 2, at = lines.first(broken) + 2 * lines.row_stride();
    auto y = healthy;
    y[static_cast<std::size_t>(at)] = std::numeric_limits<T>::quiet_NaN();
    on_every_device<T>([&](const DeviceInfo& info) {
      for (const Form form : {Form::general, Form::shared}) {
        const auto expected = solve_strided<T>(info.index, bands, healthy, form);
        const auto x = solve_strided<T>(info.index, bands, y, form);
        EXPECT_TRUE(std::isnan(x[static_cast<std::size_t>(at)]));
        for (Index l = 0; l < lines.count(); ++l) {
          for (Index i = 0; l != broken && i < lines.length(l); ++i) {
            const auto place = static_cast<std::size_t>(lines.first(l) + i * lines.row_stride());
            ASSERT_EQ(x[place], expected[place]) << "line " << l << ", row " << i;
          }
        }
      }
    });
  }
}

TYPED_TEST(Strided, GivesTheSameBitsWhereverVectorsBegin) {
  using T = TypeParam;
  // Rows of whole vectors, rows that end within one, rows that are cut into bundles, rows of less than a vector.
  for (const LineSet& lines : {LineSet::grid_axis(1, 64, 40, 3), LineSet::grid_axis(1, 37, 40, 3),
                               LineSet::grid_axis(2, 100, 27, 30), LineSet::grid_axis(1, 3, 40, 2)}) {
    SCOPED_TRACE(lines.describe());
    const auto bands = closed(random_dominant<T>(lines, 3.0));
    const auto y = random_vector<T>(lines.extent());
    on_every_device<T>([&](const DeviceInfo& info) {
      for (const Plan& plan :
           {strided_plan<T>(info.index, lines, Form::general), segment_plan<T>(info.index, lines, 40)}) {
        EXPECT_EQ(solve_anywhere(info.index, plan, bands, y), solve_into_gaps(info.index, bands, y, plan));
      }
    });
  }
}

TYPED_TEST(Strided, ChunksOfBlocksGiveTheBitsOfOneLaunch) {
  using T = TypeParam;
  const LineSet lines = LineSet::strided(40, 70, 65, 1, 30, 3000);
  const auto bands = closed(diffusion<T>(lines, 10));
  const auto y = random_vector<T>(lines.extent());
  on_every_device<T>([&](const DeviceInfo& info) {
    const auto whole = solve_strided<T>(info.index, bands, y, Form::general);
    const std::int64_t memory = 6 * lines.extent() * static_cast<Index>(sizeof(T)) / 4;
    for (const Form form : {Form::general, Form::shared}) {
      for (const bool copies : {false, true}) {
        const DeviceSettings settings{.copy_vectors = copies, .device_memory = memory};
        const Plan plan = strided_plan<T>(info.index, lines, form, settings);
        ASSERT_GT(ocl::make_strided_layout(plan, lines, sizeof(T), {info.max_allocation, memory}).chunks.size(), 2U);
        EXPECT_EQ(solve_strided<T>(info.index, bands, y, form, settings), whole) << name(form) << copies;
      }
    }
  });
}

TYPED_TEST(Strided, ASecondSetUpTakesOtherLinesFormsAndMethods) {
  using T = TypeParam;
  on_every_device<T>([&](const DeviceInfo& info) {
    for (const bool copies : {false, true}) {
      const auto solver = make_solver<T>(info.index, {.copy_vectors = copies});
      for (const LineSet& lines : {LineSet::grid_axis(1, 40, 30, 20), LineSet::grid_axis(2, 7, 9, 20),
                                   LineSet::one(5000), LineSet::grid_axis(1, 100, 300, 2)}) {
        const auto bands = closed(diffusion<T>(lines, 1));
        const auto y = random_vector<T>(lines.extent());
        const auto reference = solve_by_reference(bands, y);
        for (const Form form : {Form::general, Form::shared, Form::general}) {
          solver->set_up(lines.contiguous() ? plan_for<T>(info.index, lines.rows(), {Method::exact_twopass})
                                            : strided_plan<T>(info.index, lines, form),
                         bands);
          std::vector<T> x(y.size());
          solver->apply(y.data(), x.data());
          EXPECT_LE(relative_difference(x, reference), 20 * kEps<T>) << lines.describe() << ", " << name(form);
          EXPECT_EQ(solver->factors() != nullptr, !lines.contiguous());
        }
      }
    }
  });
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

/// Few long lines: 1, 3, 8 and 20 of them along y and z, and blocks with gaps between rows.
std::vector<LineSet> few_long_lines() {
  std::vector<LineSet> all;
  for (const Index length : {3000, 20'000}) {
    all.push_back(LineSet::strided(length, 3, 1, 1));
    for (const Index count : {3, 8, 20}) {
      if (length > 3000 && count != 8) continue;
      all.push_back(LineSet::grid_axis(1, count, length, 1));
      all.push_back(LineSet::grid_axis(2, count, 1, length));
    }
  }
  all.push_back(LineSet::strided(3000, 40, 20, 1, 2, 120'000));
  all.push_back(LineSet::strided(9, 50, 37, 1, 4, 500));  // shorter than any halo
  return all;
}

TYPED_TEST(Strided, SegmentsAreRightWithinTheirCertificate) {
  using T = TypeParam;
  for (const LineSet& lines : few_long_lines()) {
    SCOPED_TRACE(lines.describe());
    const auto y = random_vector<T>(lines.extent());
    const auto free = gaps(lines);
    for (const double d : {1.5, 3.0}) {
      const auto bands = closed(random_dominant<T>(lines, d));
      const auto reference = solve_by_reference(bands, y);
      for (const double tolerance : {1e-3, kEps<T>}) {
        const Index halo = halo_from_dominance(d, tolerance);
        // The condition of a matrix that is dominant by rows is at most (d + 1) / (d - 1).
        const double bound = 2 * std::pow(d, -static_cast<double>(halo + 1)) + 8 * (d + 1) / (d - 1) * kEps<T>;
        on_every_device<T>([&](const DeviceInfo& info) {
          for (const Index partition : {0, 250}) {
            for (const bool copies : {false, true}) {
              const Plan plan = segment_plan<T>(info.index, lines, halo, partition, {.copy_vectors = copies});
              EXPECT_EQ(plan.as<Beside>().segments > 1, lines.length(0) > 250) << "nothing is cut";
              const auto x = solve_into_gaps(info.index, bands, y, plan, {.copy_vectors = copies});
              EXPECT_LE(relative_difference(without_gaps(lines, x, reference), reference), bound)
                  << "d " << d << ", halo " << halo << ", segments of " << plan.m << ", copies " << copies;
              for (const Index i : free) ASSERT_EQ(x[static_cast<std::size_t>(i)], T(kGap)) << "place " << i;
            }
          }
        });
      }
    }
  }
}

TYPED_TEST(Strided, SegmentsAreCutAndTruncatedAsTheModelDoes) {
  using T = TypeParam;
  for (const LineSet& lines :
       {LineSet::grid_axis(1, 3, 300, 2), LineSet::grid_axis(2, 20, 2, 301), LineSet::grid_axis(1, 2100, 70, 1)}) {
    const auto bands = closed(random_dominant<T>(lines, 1.5));
    const auto y = random_vector<T>(lines.extent());
    const auto reference = solve_by_reference(bands, y);
    on_every_device<T>([&](const DeviceInfo& info) {
      const Plan plan = segment_plan<T>(info.index, lines, 3, 37);
      EXPECT_EQ(plan.m, 37);
      ModelSolver<T> model;
      model.set_up(plan, bands);
      std::vector<T> expected(y.size());
      model.apply(y.data(), expected.data());
      EXPECT_GT(relative_difference(expected, reference), 1e-3) << "a halo of 3 rows hides the cuts";
      EXPECT_LE(relative_difference(solve_into_gaps(info.index, bands, y, plan), expected), 40 * kEps<T>);
    });
  }
}

TYPED_TEST(Strided, NanInOneLineOfSegmentsStaysInIt) {
  using T = TypeParam;
  for (const LineSet& lines : {LineSet::grid_axis(1, 3, 500, 7), LineSet::grid_axis(2, 17, 3, 500)}) {
    const auto bands = closed(random_dominant<T>(lines, 3.0));
    const auto healthy = random_vector<T>(lines.extent());
    const Index broken = lines.count() - 2, at = lines.first(broken) + 2 * lines.row_stride();
    auto y = healthy;
    y[static_cast<std::size_t>(at)] = std::numeric_limits<T>::quiet_NaN();
    on_every_device<T>([&](const DeviceInfo& info) {
      const Plan plan = segment_plan<T>(info.index, lines, 40, 100);
      const auto expected = solve_into_gaps(info.index, bands, healthy, plan);
      const auto x = solve_into_gaps(info.index, bands, y, plan);
      EXPECT_TRUE(std::isnan(x[static_cast<std::size_t>(at)]));
      for (Index l = 0; l < lines.count(); ++l) {
        for (Index i = 0; l != broken && i < lines.length(l); ++i) {
          const auto place = static_cast<std::size_t>(lines.first(l) + i * lines.row_stride());
          ASSERT_EQ(x[place], expected[place]) << "line " << l << ", row " << i;
        }
      }
    });
  }
}

TYPED_TEST(Strided, ChunksOfSegmentsGiveTheBitsOfOneLaunch) {
  using T = TypeParam;
  const LineSet lines = LineSet::strided(400, 70, 65, 1, 12, 30'000);
  const auto bands = closed(random_dominant<T>(lines, 3.0));
  const auto y = random_vector<T>(lines.extent());
  on_every_device<T>([&](const DeviceInfo& info) {
    const auto whole = solve_into_gaps(info.index, bands, y, segment_plan<T>(info.index, lines, 40, 100));
    const std::int64_t memory = 6 * lines.extent() * static_cast<Index>(sizeof(T)) / 3;
    for (const bool copies : {false, true}) {
      const DeviceSettings settings{.copy_vectors = copies, .device_memory = memory};
      const Plan plan = segment_plan<T>(info.index, lines, 40, 100, settings);
      ASSERT_GT(ocl::make_strided_layout(plan, lines, sizeof(T), {info.max_allocation, memory}).chunks.size(), 2U);
      EXPECT_EQ(solve_into_gaps(info.index, bands, y, plan, settings), whole) << copies;
    }
  });
}

TYPED_TEST(Strided, OneSolverTakesWholeLinesAndSegmentsInTurn) {
  using T = TypeParam;
  const LineSet lines = LineSet::grid_axis(1, 20, 3000, 1);
  on_every_device<T>([&](const DeviceInfo& info) {
    for (const bool copies : {false, true}) {
      const auto solver = make_solver<T>(info.index, {.copy_vectors = copies});
      for (const bool cut : {true, false, true}) {
        const auto bands = closed(constant<T>(lines, -1, cut ? 6 : 3, -1));
        const auto y = random_vector<T>(lines.extent());
        solver->set_up(cut ? segment_plan<T>(info.index, lines, 40) : strided_plan<T>(info.index, lines, Form::shared),
                       bands);
        std::vector<T> x(y.size());
        solver->apply(y.data(), x.data());
        EXPECT_LE(relative_difference(x, solve_by_reference(bands, y)), 40 * kEps<T>) << cut;
        EXPECT_EQ(solver->factors() == nullptr, cut);
      }
    }
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
