// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>

#include "oclspkt/export.hpp"
#include "oclspkt/line_set.hpp"

namespace oclspkt {

/// Rows, or lanes of rows, of which a piece of a pass over memory has some: long streams, and the work of a thread's
/// start many times over.
inline constexpr Index kPieceRows = Index{1} << 16;

/// Rows before a piece of a sweep from which on its pivots are sought: they forget where they began twice as fast as
/// unknowns do.
inline constexpr Index kLeadIn = 2048;

/// Call f(first, end) for pieces [k * piece, (k+1) * piece) of [0, count), in any order and several at once: on the
/// calling thread, and on others where there are several pieces and this process has several processors (see
/// processor_share()). Which pieces there are depends on nothing but the arguments, so that a reduction by pieces gives
/// the same bits whatever runs them.
/// @param piece at least 1
/// @param f     does not throw but std::bad_alloc, and locks what pieces share
/// @throws std::bad_alloc if a piece did; the others have run then, or have not begun
OCLSPKT_API void for_pieces(Index count, Index piece, const std::function<void(Index first, Index end)>& f);

/// The same of any f; one piece costs no more than the call.
template <typename F>
void for_pieces(Index count, Index piece, const F& f) {
  if (count > piece) {
    for_pieces(count, piece, std::function<void(Index, Index)>(std::ref(f)));
  } else if (count > 0) {
    f(Index{0}, count);
  }
}

/// True if f(first, end) is for all pieces of [0, count); the first that is false ends it.
template <typename F>
bool all_of_pieces(Index count, Index piece, const F& f) {
  std::atomic<bool> holds{true};
  for_pieces(count, piece, [&](Index first, Index end) {
    if (holds && !f(first, end)) holds = false;
  });
  return holds;
}

/// Lines that have the rows of a piece together.
inline Index lines_a_piece(const LineSet& lines) {
  const Index usual = lines.rows() / std::max<Index>(1, lines.count());
  return std::max<Index>(1, kPieceRows / std::max<Index>(1, usual));
}

/// Call f(line, first, end) for all rows, rows [first, end) of a line at a time, several at once.
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
