// SPDX-License-Identifier: BSD-2-Clause
#include "sparse_cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "draw.hpp"
#include "oclspkt/error.hpp"
#include "parallel.hpp"

namespace oclspkt::bench::gpu {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr Index kPiece = 4096;

/// Rows whose lengths are known, to be filled by threads.
/// @param fill  (row, its columns, its values)
template <typename Length, typename Fill>
HostMatrix make_rows(const std::string& name, Index rows, const Length& length, const Fill& fill) {
  HostMatrix a{name, rows, rows, std::vector<std::int32_t>(static_cast<std::size_t>(rows) + 1), {}, {}};
  for (Index row = 0; row < rows; ++row) {
    a.begin[static_cast<std::size_t>(row) + 1] = a.begin[static_cast<std::size_t>(row)] + length(row);
  }
  a.column.resize(static_cast<std::size_t>(a.begin.back()));
  a.values.resize(a.column.size());
  for_pieces(rows, kPiece, [&](Index first, Index end) {
    for (Index row = first; row < end; ++row) {
      const auto at = a.begin[static_cast<std::size_t>(row)];
      fill(row, a.column.data() + at, a.values.data() + at);
    }
  });
  return a;
}

/// A multiple of 1/256 in (-1, 1): exact in float.
double coarse(std::uint64_t sequence, Index at) {
  constexpr double kSteps = 256;
  return std::round((2 * uniform(kSeed, sequence, at) - 1) * (kSteps - 1)) / kSteps;
}

Index root(Index rows, int dimensions) {
  return std::max<Index>(2, std::llround(std::pow(static_cast<double>(rows), 1. / dimensions)));
}

/// Draw as many different numbers of [0, from) as asked for, in any order, from those of a row.
template <std::size_t N>
void draw_places(Index row, std::size_t count, std::array<int, N>& places) {
  std::iota(places.begin(), places.end(), 0);
  for (std::size_t k = 0; k < count; ++k) {
    const double u = uniform(kSeed + 1 + k, kRadius, row);
    std::swap(places[k], places[k + static_cast<std::size_t>(u * static_cast<double>(N - k))]);
  }
}

HostMatrix make_fem(Index rows) {
  constexpr Index kUnknowns = 3, kFewest = 9, kMost = 31, kWidth = 5, kLeastSide = 6;
  constexpr auto kNear = static_cast<std::size_t>(kWidth * kWidth * kWidth);
  const Index side = std::max(kLeastSide, root(rows / kUnknowns, 3)), nodes = side * side * side;
  const auto neighbours = [&](Index node) {
    return kFewest + static_cast<Index>(uniform(kSeed, kScale, node) * (kMost - kFewest + 1));
  };
  const auto length = [&](Index row) { return static_cast<std::int32_t>(kUnknowns * neighbours(row / kUnknowns)); };
  return make_rows("fem", kUnknowns * nodes, length, [&](Index row, std::int32_t* column, double* value) {
    const Index node = row / kUnknowns, count = neighbours(node);
    std::array<int, kNear> places{};
    draw_places(node, static_cast<std::size_t>(count), places);
    for (Index k = 0; k < count; ++k) {
      const Index place = places[static_cast<std::size_t>(k)], x = place % kWidth, y = place / kWidth % kWidth,
                  z = place / kWidth / kWidth, middle = kWidth / 2;
      const Index other = (node + (x - middle) + side * ((y - middle) + side * (z - middle)) + nodes) % nodes;
      for (Index i = 0; i < kUnknowns; ++i) *column++ = static_cast<std::int32_t>(kUnknowns * other + i);
    }
    std::sort(column - kUnknowns * count, column);
    for (Index k = 0; k < kUnknowns * count; ++k) value[k] = coarse(kLower, row * kUnknowns * kMost + k);
  });
}

HostMatrix make_power(Index rows) {
  constexpr double kFall = 0.686, kLongest = 0.05;  // 15 entries a row at 2e6 rows
  constexpr Index kScatter = 7919;                  // a prime: neighbouring rows are of unlike lengths
  const Index step = rows % kScatter == 0 ? 1 : kScatter;
  const auto length = [&](Index row) {
    const auto rank = static_cast<double>(row * step % rows + 1);
    return static_cast<std::int32_t>(std::max(1., kLongest * static_cast<double>(rows) * std::pow(rank, -kFall)));
  };
  return make_rows("power", rows, length, [&](Index row, std::int32_t* column, double* value) {
    const auto count = length(row);
    for (std::int32_t k = 0; k < count; ++k) {
      const std::uint64_t seed = kSeed + 1 + static_cast<std::uint64_t>(k);
      column[k] = static_cast<std::int32_t>(uniform(seed, kUpper, row) * static_cast<double>(rows));
      value[k] = coarse(kSign, row + k);
    }
    std::sort(column, column + count);
  });
}

}  // namespace

HostMatrix make_stencil(int dimensions, Index rows) {
  constexpr int kPlane = 2;
  const Index side = root(rows, dimensions), depth = dimensions == kPlane ? 1 : side;
  struct Neighbour {
    Index step, x, y, z;
  };
  const std::array<Neighbour, 7> all = {{{-side * side, 0, 0, -1},
                                         {-side, 0, -1, 0},
                                         {-1, -1, 0, 0},
                                         {0, 0, 0, 0},
                                         {1, 1, 0, 0},
                                         {side, 0, 1, 0},
                                         {side * side, 0, 0, 1}}};
  const auto each = [&](Index row, const auto& f) {
    const Index x = row % side, y = row / side % side, z = row / side / side;
    const auto inside = [](Index i, Index n) { return i >= 0 && i < n; };
    for (const Neighbour& n : all) {
      if (inside(x + n.x, side) && inside(y + n.y, side) && inside(z + n.z, depth)) f(n.step);
    }
  };
  const auto length = [&](Index row) {
    std::int32_t count = 0;
    each(row, [&](Index) { ++count; });
    return count;
  };
  return make_rows(dimensions == kPlane ? "stencil5" : "stencil7", side * side * depth, length,
                   [&](Index row, std::int32_t* column, double* value) {
                     each(row, [&](Index step) {
                       *column++ = static_cast<std::int32_t>(row + step);
                       *value++ = step == 0 ? 2. * dimensions : -1.;
                     });
                   });
}

HostMatrix make_sparse_case(const std::string& name, Index most) {
  constexpr Index kSquare = 4096 * 4096, kCube = 256 * 256 * 256, kFem = 1'000'000, kPower = 2'000'000;
  if (name == "stencil5") return make_stencil(2, std::min(most, kSquare));
  if (name == "stencil7") return make_stencil(3, std::min(most, kCube));
  if (name == "fem") return make_fem(std::min(most, kFem));
  if (name == "power") return make_power(std::min(most, kPower));
  throw InvalidInput("there is no matrix '" + name + "'");
}

template <typename T>
HostProduct multiply(const HostMatrix& a, const std::vector<T>& values, const std::vector<T>& x) {
  HostProduct z{std::vector<double>(static_cast<std::size_t>(a.rows)),
                std::vector<double>(static_cast<std::size_t>(a.rows))};
  for_pieces(a.rows, kPiece, [&](Index first, Index end) {
    for (auto row = static_cast<std::size_t>(first); row < static_cast<std::size_t>(end); ++row) {
      for (auto k = static_cast<std::size_t>(a.begin[row]); k < static_cast<std::size_t>(a.begin[row + 1]); ++k) {
        const double term =
            static_cast<double>(values[k]) * static_cast<double>(x[static_cast<std::size_t>(a.column[k])]);
        z.sums[row] += term;
        z.magnitudes[row] += std::abs(term);
      }
    }
  });
  return z;
}

template HostProduct multiply(const HostMatrix&, const std::vector<float>&, const std::vector<float>&);
template HostProduct multiply(const HostMatrix&, const std::vector<double>&, const std::vector<double>&);

}  // namespace oclspkt::bench::gpu
