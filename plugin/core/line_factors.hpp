// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "factors.hpp"
#include "oclspkt/bands.hpp"
#include "oclspkt/export.hpp"

namespace oclspkt {

/// What exact-factored by whole lines (takes_lines()) stores of a line whose inner rows are alike: SegmentFactors
/// of segments that are tiles, of which the first one's stand for all, and weights that give what is left of first rows
/// from y itself, so that nothing is swept for it.
template <typename T>
class OCLSPKT_API LineFactors {
 public:
  /// @param line       begins with a line of `length` rows
  /// @param tile_rows  of a tile; less than length, at least 2
  /// @pre couplings out of the line are 0; its rows but the first and the last are alike
  /// @cost that of SegmentFactors, in double whatever T is, of one line
  void factor(const BandsView<T>& line, Index length, Index tile_rows);

  FactorArrays<T> factors;  ///< shape [length]: those of SegmentFactors
  /// Shape [3][tile_rows]: what of y goes to a tile's own first row, to that of the next tile, and in the last tile to
  /// its own.
  AlignedArray<T> weights;
  AlignedArray<T> reduced;    ///< shape [3][tiles]: the same factors, of the first rows
  bool own_last_row = false;  ///< the last row is not like inner ones, or not the last of a tile
  T inner_lower = 0, inner_upper = 0, last_lower = 0;  ///< couplings of inner rows, and of the last row
};

}  // namespace oclspkt
