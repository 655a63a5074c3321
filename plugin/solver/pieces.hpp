// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>
#include <vector>

#include "oclspkt/cut_solver.hpp"

namespace oclspkt {

/// A run of places of a vector that one processor solves while others solve the rest.
struct Piece {
  Index first = 0;        ///< place of its first row
  Index first_line = 0;   ///< the line of that row, among all
  std::size_t owner = 0;  ///< index into the rows asked for
  LineSet lines;          ///< the lines or parts of lines in it
  Cuts cuts;              ///< how they go on in other pieces, which are numbered as processes are; no chains: not cut
};

/// Cut lines end to end, or side by side, into consecutive pieces.
///
/// Pieces end where a line or a block of lines ends, as far as that is near the rows asked for; else a line is cut.
/// Lines side by side are cut, across all of them, only where there is one block.
/// @param rows  asked for; their sum is lines.rows(). Pieces may have some more or less, and those of none are left out
/// @return pieces in the order of places
std::vector<Piece> cut_into_pieces(const LineSet& lines, std::span<const Index> rows);

}  // namespace oclspkt
