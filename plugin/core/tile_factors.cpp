// SPDX-License-Identifier: BSD-2-Clause
#include "tile_factors.hpp"

#include <algorithm>

#include "level_rows.hpp"
#include "parallel.hpp"

namespace oclspkt {
namespace {

using Row = ExcessRow<double>;

/// Factor rows [first, end), a tile, from the first down, with nothing around them. @return the last reciprocal
/// @param serve  of the multipliers only the first row's is kept, as that of the tile
template <typename T>
double factor_tile(const LevelRows& rows, Index tile, Index first, Index end, bool serve,
                   typename TileFactors<T>::Level& level) {
  Row above;
  double reciprocal = 0, product = 1;  // product: of what carries x of a row up to the first
  for (Index i = first; i < end; ++i) {
    Row row = rows(i);
    double multiplier = row.lower;
    if (i == first) {
      row.excess += std::abs(row.lower);  // the diagonal stays what it is
      row.lower = 0;
    } else {
      multiplier *= reciprocal;
      row = eliminate_above(above, multiplier, row);
    }
    above = row.as_pivot();
    reciprocal = 1 / above.diag();
    const double coupling = above.upper * reciprocal;
    if (!serve) level.multiplier[i] = static_cast<T>(multiplier);
    if (serve && i == first) level.multiplier[tile] = static_cast<T>(multiplier);
    level.reciprocal[i] = static_cast<T>(reciprocal);
    level.coupling[i] = static_cast<T>(coupling);
    if (level.weight.size() > 0) level.weight[i] = static_cast<T>(product * reciprocal);
    product *= -coupling;
  }
  return reciprocal;
}

/// What is left of rows [first, end) but the first and the last; where they do not fill a tile, the last is of the
/// identity.
SchurSegment<double> fold_tile(const LevelRows& rows, Index first, Index end, bool full) {
  SchurSegment<double> segment = begin_segment(rows(first));
  for (Index i = first + 1; i < end; ++i) append_row(segment, rows(i));
  if (!full) append_row(segment, Row{.excess = 1});
  return segment;
}

/// Factor the tiles of a level and, where there is a next one, fold them to its rows.
template <typename T>
void factor_level(const LevelRows& rows, Index tile_rows, bool serve, typename TileFactors<T>::Level& level,
                  std::vector<Row>& left) {
  const Index n = level.rows, tiles = level.tiles(tile_rows);
  level.multiplier.resize(serve ? tiles : n);
  for (AlignedArray<T>* array : {&level.reciprocal, &level.coupling}) array->resize(n);
  level.weight.resize(tiles > 1 ? n : 0);
  level.corners.resize(tiles > 1 ? 4 * tiles : 0);
  left.resize(static_cast<std::size_t>(tiles > 1 ? 2 * tiles : 0));
  for_pieces(tiles, std::max<Index>(1, kPieceRows / tile_rows), [&](Index begin, Index end) {
    for (Index t = begin; t < end; ++t) {
      const Index first = t * tile_rows, last = std::min(n, first + tile_rows);
      const bool full = last == first + tile_rows;
      const double reciprocal = factor_tile<T>(rows, t, first, last, serve, level);
      if (tiles == 1) continue;
      const SchurSegment<double> s = fold_tile(rows, first, last, full);
      left[static_cast<std::size_t>(2 * t)] = s.top;
      left[static_cast<std::size_t>(2 * t + 1)] = s.bottom;
      const double of_last = full ? reciprocal : 0;
      T* corners = level.corners.data() + 4 * t;
      corners[0] = static_cast<T>(s.top.diag());
      corners[1] = static_cast<T>(s.top.upper * of_last);
      corners[2] = static_cast<T>(s.bottom.lower);
      corners[3] = static_cast<T>(s.bottom.diag() * of_last);
    }
  });
}

}  // namespace

template <typename T>
std::int64_t TileFactors<T>::Level::bytes() const {
  return multiplier.bytes() + reciprocal.bytes() + coupling.bytes() + weight.bytes() + corners.bytes();
}

template <typename T>
std::int64_t TileFactors<T>::bytes() const {
  std::int64_t bytes = 0;
  for (const Level& level : levels_) bytes += level.bytes();
  return bytes;
}

template <typename T>
void TileFactors<T>::factor(Index n, const BandsView<T>& bands, Index tile_rows, bool serve) {
  levels_.clear();
  std::vector<Row> present, left;
  LevelRows rows = rows_of_bands(bands);
  do {
    Level& level = levels_.emplace_back();
    const bool first = levels_.size() == 1;
    level.rows = first ? n : static_cast<Index>(present.size());
    factor_level<T>(rows, tile_rows, first && serve, level, left);
    std::swap(present, left);
    rows = [&present](Index i) { return present[static_cast<std::size_t>(i)]; };
  } while (!present.empty());
}

template class TileFactors<float>;
template class TileFactors<double>;

}  // namespace oclspkt
