// SPDX-License-Identifier: BSD-2-Clause
// Kernels as CUDA gets them, run by the host: a translation that changes what a kernel computes shows here.
#include <gtest/gtest.h>

#include "backward_error.hpp"
#include "matrices.hpp"
#include "oclspkt/bands.hpp"
#include "translate.hpp"
#include "work_items.hpp"

extern "C" {
struct LocalArgument {
  int unused;
};
void tile_halo(const float* lower, const float* diag, const float* upper, const float* y, float* x, int* met_by,
               int launch, long n, long origin, long tile_begin, long tile_end, int kept, int halo, int steps,
               int length, LocalArgument transposed);
void grid_shared(const double* multiplier, const double* reciprocal, const double* coupling, const double* y, double* x,
                 long blocks, long block_stride, long block_lines, int length, long row_stride, int bundles,
                 long first_tile, int run_tiles);
void truncated_halo(const double* lower, const double* diag, const double* upper, const double* y, double* x,
                    double* scratch, long n, long origin, long tile_begin, long tile_end, int m, int halo, int slot);
void stream(const float* a, const float* b, const float* c, const float* y, float* x, long n);
extern const int oclspkt_parameters_tile_halo[19], oclspkt_parameters_grid_shared[16], oclspkt_parameters_stream[9];
}

namespace oclspkt::test {
namespace {

template <typename T>
double error_in_eps(const Bands<T>& bands, const std::vector<T>& x, const std::vector<T>& y) {
  return normwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()) /
         static_cast<double>(std::numeric_limits<T>::epsilon());
}

/// As -D of CMakeLists.txt.
constexpr int kTileItems = 16, kTileItemRows = 8, kTileRows = kTileItems * kTileItemRows;

/// Tiles of 16 work-items with 8 rows each.
std::vector<float> solve_by_tiles(const Bands<float>& bands, const std::vector<float>& y, int halo) {
  const long n = bands.lines().rows();
  const int kept = kTileRows - 2 * halo, length = static_cast<int>(n);
  const long tiles = (n + kept - 1) / kept;
  std::vector<float> x(y.size());
  const auto view = bands.view();
  run_groups(static_cast<unsigned>(tiles), kTileItems, kTileItems * (kTileItemRows + 4) * sizeof(float), [&] {
    tile_halo(view.lower, view.diag, view.upper, y.data(), x.data(), nullptr, 1, n, 0, 0, tiles, kept, halo, 4, length,
              {});
  });
  return x;
}

TEST(KernelsAsCuda, SolveATileOfFloatsByGroupsThatShareMemory) {
  for (const Index n : {1, 3, 8, 127, 128}) {
    const Bands<float> bands = closed(random_dominant<float>(LineSet::one(n), 2));
    const auto y = random_vector<float>(n);
    EXPECT_LE(error_in_eps(bands, solve_by_tiles(bands, y, 0), y), 4) << n;
  }
}

TEST(KernelsAsCuda, KeepANanInItsLine) {
  const Bands<float> bands = closed(random_dominant<float>(LineSet::equal(5, 100), 10));
  auto y = random_vector<float>(500);
  const std::vector<float> right = solve_by_tiles(bands, y, 16);
  EXPECT_LE(error_in_eps(bands, right, y), 4);
  y[250] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = solve_by_tiles(bands, y, 16);
  EXPECT_TRUE(std::isnan(x[250]));
  EXPECT_TRUE(std::equal(x.begin(), x.begin() + 200, right.begin()));
  EXPECT_TRUE(std::equal(x.begin() + 300, x.end(), right.begin() + 300));
}

/// Factors of a line whose rows are -1 4 -1, as core/factors.hpp.
struct LineFactors {
  explicit LineFactors(std::size_t length) : multiplier(length), reciprocal(length), coupling(length) {
    for (std::size_t i = 0; i < length; ++i) {
      multiplier[i] = i > 0 ? -reciprocal[i - 1] : 0;
      reciprocal[i] = 1 / (4 + (i > 0 ? multiplier[i] : 0));
      coupling[i] = i + 1 < length ? -reciprocal[i] : 0;
    }
  }
  std::vector<double> multiplier, reciprocal, coupling;
};

TEST(KernelsAsCuda, SolveLinesSideBySideByPairsOfDoublesAndLocalArrays) {
  constexpr int kBundle = 8, kGroupItems = 16;
  for (const int length : {1, 13, 16}) {
    const Bands<double> bands = constant<double>(LineSet::grid_axis(1, 21, length, 2), -1, 4, -1);
    const auto y = random_vector<double>(bands.lines().extent());
    const LineFactors f(static_cast<std::size_t>(length));
    std::vector<double> x(y.size());
    const LineSet& lines = bands.lines();
    const int bundles = static_cast<int>((lines.block_lines() + kBundle - 1) / kBundle);
    run_groups(4, kGroupItems, 0, [&] {
      grid_shared(f.multiplier.data(), f.reciprocal.data(), f.coupling.data(), y.data(), x.data(), lines.blocks(),
                  lines.block_stride(), lines.block_lines(), length, lines.row_stride(), bundles, 0, 1);
    });
    EXPECT_LE(error_in_eps(bands, x, y), 4) << length;
  }
}

TEST(KernelsAsCuda, SolveByVectorsOfEightDoubles) {
  constexpr int kLanes = 8, kRows = 16, kHalo = 24;
  constexpr long kTiles = 3, kAll = 300;
  constexpr int kSlot = kLanes + 2 * (kHalo + kRows + kHalo);
  const Bands<double> bands = closed(random_dominant<double>(LineSet::equal(3, kAll / 3), 10));
  auto y = random_vector<double>(kAll);
  const auto solve = [&] {
    std::vector<double> x(y.size());
    AlignedArray<double> scratch(std::size_t{2} * kSlot * kLanes);
    const auto view = bands.view();
    run_groups(2, 1, 0, [&] {
      truncated_halo(view.lower, view.diag, view.upper, y.data(), x.data(), scratch.data(), kAll, 0, 0, kTiles, kRows,
                     kHalo, kSlot);
    });
    return x;
  };
  const std::vector<double> right = solve();
  EXPECT_LE(error_in_eps(bands, right, y), 4);
  // The second sweep tests couplings for 0, lane by lane.
  y[150] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> x = solve();
  EXPECT_TRUE(std::isnan(x[150]));
  EXPECT_TRUE(std::equal(x.begin(), x.begin() + 100, right.begin()));
  EXPECT_TRUE(std::equal(x.begin() + 200, x.end(), right.begin() + 200));
}

TEST(KernelsAsCuda, AddByVectorsOfSixteenFloats) {
  constexpr std::size_t kAll = 1003;
  const auto a = random_vector<float>(kAll, 1), b = random_vector<float>(kAll, 2), c = random_vector<float>(kAll, 3),
             y = random_vector<float>(kAll, 4);
  std::vector<float> x(kAll);
  run_groups(3, 1, 0, [&] { stream(a.data(), b.data(), c.data(), y.data(), x.data(), kAll); });
  for (std::size_t i = 0; i < kAll; ++i) EXPECT_EQ(x[i], (a[i] + b[i]) + (c[i] + y[i])) << i;
}

/// The kinds as letters: v, b, l.
std::string letters(const cuda::KernelSignature& signature) {
  std::string text;
  for (const cuda::Parameter& p : signature.parameters) text += "vbl"[static_cast<int>(p.kind)];
  return text;
}

TEST(KernelsAsCuda, TellHowTheyTakeTheirArguments) {
  const auto tile = cuda::signature(oclspkt_parameters_tile_halo);
  EXPECT_EQ(letters(tile), "bbbbbbvvvvvvvvvl");
  EXPECT_EQ(tile.group[0], kTileItems);
  EXPECT_EQ(tile.group[1], 1);
  EXPECT_EQ(letters(cuda::signature(oclspkt_parameters_grid_shared)), "bbbbbvvvvvvvv");
  EXPECT_EQ(letters(cuda::signature(oclspkt_parameters_stream)), "bbbbbv");
}

}  // namespace
}  // namespace oclspkt::test
