// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "oclspkt/bands.hpp"
#include "oclspkt/export.hpp"

namespace oclspkt {

/// What exact-factored by work-groups stores of lines laid end to end.
///
/// Rows are cut into tiles, each factored by itself from its first row down. What is left when the others of a tile's
/// rows are eliminated (Schur complement) couples its first and its last row to the tiles beside it, a tridiagonal
/// system of two rows a tile; it is cut into tiles in its turn, level by level, until one holds all. An apply goes
/// through the levels twice: down, every tile is solved for its first and last unknown with 0 around it; back, it is
/// solved with the unknowns around it.
///
/// Nothing that is kept between levels is larger than the unknowns themselves, so rounding is not multiplied however
/// weak the dominance. The excesses of rows (ExcessRow) go from level to level in double.
/// @source Polizzi and Sameh 2006 (SPIKE); Grassmann, Taksar, Heyman 1985 (the excess)
template <typename T>
class OCLSPKT_API TileFactors {
 public:
  struct Level {
    Index rows = 0;
    /// Shape [rows]: a_i p_(i-1), p_i and c_i p_i as in FactorsView; of a tile's first row the multiplier is a_i
    /// itself. Where couplings serve, those of the first level's first rows only, shape [tiles].
    AlignedArray<T> multiplier, reciprocal, coupling;
    /// Shape [rows], empty in the last level: the first unknown of a tile is the sum of weight_i d_i over its rows, d
    /// the right-hand side swept down; a row of the inverse of the upper factor.
    AlignedArray<T> weight;
    /// Shape [tiles][4], empty in the last level: what the first unknown and the last d make in the next level's row of
    /// the first, and of the last row. A tile that rows beyond the end fill up has 0 for its last d.
    AlignedArray<T> corners;
    Index tiles(Index tile_rows) const { return (rows + tile_rows - 1) / tile_rows; }
    std::int64_t bytes() const;
  };

  /// @param n         rows, at least 1
  /// @param tile_rows at least 4, so that every level has fewer rows than the one before
  /// @param serve     the matrix is symmetric: of the first level the coupling of a row is the next row's multiplier
  /// @pre couplings out of the lines are 0
  /// @cost 2 divisions, 25 multiply-adds a row, by all processors of this process
  void factor(Index n, const BandsView<T>& bands, Index tile_rows, bool serve = false);
  const std::vector<Level>& levels() const { return levels_; }
  std::int64_t bytes() const;

 private:
  std::vector<Level> levels_;
};

}  // namespace oclspkt
