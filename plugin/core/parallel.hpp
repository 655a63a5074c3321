// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>

#include "oclspkt/export.hpp"
#include "oclspkt/line_set.hpp"

namespace oclspkt {

/// Rows of all lines together in a piece of a pass over memory. A piece takes many times as long as starting a thread.
inline constexpr Index kPieceRows = Index{1} << 16;

/// Rows above a piece at which its sweep begins. From any starting row, pivots converge twice as fast as the influence
/// of a boundary value decays.
inline constexpr Index kLeadIn = 2048;

/// Call f(first, end) for the pieces [k * piece, (k+1) * piece) of [0, count), in any order. If processor_share() is
/// above 1, other threads help the calling thread. The pieces depend on the arguments alone. A reduction by pieces thus
/// has the same bits for any number of threads.
/// @param piece at least 1
/// @param f     may throw only std::bad_alloc; must lock data that pieces share
/// @throws std::bad_alloc if a piece throws it; by then, each other piece has ended or will never begin
OCLSPKT_API void for_pieces(Index count, Index piece, const std::function<void(Index first, Index end)>& f);

/// for_pieces() for any callable. A single piece is a plain call of f.
template <typename F>
void for_pieces(Index count, Index piece, const F& f) {
  if (count > piece) {
    for_pieces(count, piece, std::function<void(Index, Index)>(std::ref(f)));
  } else if (count > 0) {
    f(Index{0}, count);
  }
}

/// True if f(first, end) is true for all pieces of [0, count). No further piece begins after the first false result.
template <typename F>
bool all_of_pieces(Index count, Index piece, const F& f) {
  std::atomic<bool> holds{true};
  for_pieces(count, piece, [&](Index first, Index end) {
    if (holds && !f(first, end)) holds = false;
  });
  return holds;
}

/// The number of lines that have kPieceRows rows together.
inline Index lines_a_piece(const LineSet& lines) {
  const Index usual = lines.rows() / std::max<Index>(1, lines.count());
  return std::max<Index>(1, kPieceRows / std::max<Index>(1, usual));
}

/// Call f(line, first, end) for rows [first, end) of each line, in pieces, on several threads at once.
template <typename F>
void for_row_pieces(const LineSet& lines, const F& f) {
  if (lines.count() > 0 && lines.rows() / lines.count() >= kPieceRows) {
    for (Index l = 0; l < lines.count(); ++l) {
      for_pieces(lines.length(l), kPieceRows, [&](Index first, Index end) { f(l, first, end); });
    }
    return;
  }
  for_pieces(lines.count(), lines_a_piece(lines), [&](Index first, Index end) {
    for (Index l = first; l < end; ++l) f(l, 0, lines.length(l));
  });
}

}  // namespace oclspkt
