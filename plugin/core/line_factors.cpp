// SPDX-License-Identifier: BSD-2-Clause
#include "line_factors.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "segment_factors.hpp"

namespace oclspkt {
namespace {

using Level = SegmentFactors<double>::Level;

/// Levels of the first of some lines: its tiles, and the system of their first rows.
template <typename T>
std::vector<Level> factor_in_double(const BandsView<T>& line, Index length, Index tile_rows) {
  AlignedArray<double> bands[3];
  const T* const from[] = {line.lower, line.diag, line.upper};
  for (int k = 0; k < 3; ++k) {
    bands[k].resize(length);
    std::copy_n(from[k], length, bands[k].data());
  }
  SegmentFactors<double> factors;
  factors.factor(length, {bands[0].data(), bands[1].data(), bands[2].data()}, {tile_rows, length, tile_rows, length});
  return std::move(factors).take_levels();
}

template <typename T>
void append(const AlignedArray<double>& from, T* to) {
  std::transform(from.data(), from.data() + from.size(), to, [](double v) { return static_cast<T>(v); });
}

/// Weights of y from those of rows that have been swept down, of which a tile's last one has `last` besides.
/// @param weight  of the tile's rows; empty: none but the last
template <typename T>
void weigh_unswept(const Level& level, Index first, const double* weight, double last, Index rows, T* to) {
  double unswept = 0;
  for (Index i = rows; i-- > 1;) {
    const double swept = (weight != nullptr ? weight[first + i] : 0) + (i + 1 == rows ? last : 0);
    unswept = swept - (i + 1 < rows ? level.multiplier[first + i + 1] * unswept : 0);
    to[i] = static_cast<T>(-unswept);
  }
}

}  // namespace

template <typename T>
void LineFactors<T>::factor(const BandsView<T>& line, Index length, Index tile_rows) {
  const std::vector<Level> levels = factor_in_double(line, length, tile_rows);
  const Level &tiles = levels[0], &first_rows = levels[1];
  for (const auto& [from, to] : {std::pair{&tiles.multiplier, &factors.multiplier},
                                 {&tiles.reciprocal, &factors.reciprocal},
                                 {&tiles.coupling, &factors.coupling}}) {
    to->resize(length);
    append(*from, to->data());
  }
  const Index last = (tiles.segments - 1) * tile_rows;
  weights.resize(3 * tile_rows);
  std::fill_n(weights.data(), weights.size(), T(0));
  weights[0] = weights[2 * tile_rows] = 1;
  weigh_unswept(tiles, 0, tiles.weight.data(), 0, tile_rows, weights.data());
  weigh_unswept(tiles, 0, nullptr, tiles.multiplier[tile_rows], tile_rows, weights.data() + tile_rows);
  weigh_unswept(tiles, last, tiles.weight.data(), 0, length - last, weights.data() + 2 * tile_rows);
  reduced.resize(3 * first_rows.rows);
  append(first_rows.multiplier, reduced.data());
  append(first_rows.reciprocal, reduced.data() + first_rows.rows);
  append(first_rows.coupling, reduced.data() + 2 * first_rows.rows);
  inner_lower = line.lower[1];
  inner_upper = line.upper[1];
  last_lower = line.lower[length - 1];
  own_last_row = length % tile_rows != 0 || last_lower != inner_lower || line.diag[length - 1] != line.diag[1];
}

template class LineFactors<float>;
template class LineFactors<double>;

}  // namespace oclspkt
