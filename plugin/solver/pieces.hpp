// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>
#include <vector>

#include "oclspkt/cut_solver.hpp"

namespace oclspkt {

/// Consecutive elements of a vector that one processor solves while others solve the rest.
struct Piece {
  Index first = 0;        ///< offset of its first row in the vector
  Index first_line = 0;   ///< index of that row's line
  std::size_t owner = 0;  ///< index of its processor, into `rows` of cut_into_pieces()
  LineSet lines;          ///< the lines or parts of lines in it
  Cuts cuts;              ///< how lines continue in other pieces, which count as processes; no chains: no line is cut
};

/// Divide a line set into consecutive pieces.
///
/// Lines end to end: a piece ends at the end of a line if one is near the wanted row; else it cuts a line. Lines side
/// by side: a piece consists of whole blocks; if there is only one block, all of its lines are cut at the same row.
/// @param rows  shape [processors]; rows wanted for each; their sum is lines.rows(). A piece may have more or less
/// @return pieces in the order of their offsets; a processor without rows has none
std::vector<Piece> cut_into_pieces(const LineSet& lines, std::span<const Index> rows);

}  // namespace oclspkt
