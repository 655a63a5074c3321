// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>

#include "oclspkt/export.hpp"
#include "oclspkt/line_set.hpp"

namespace oclspkt {

/// Rows, or lanes of rows, of which a piece of a pass over memory has some: long streams, and the work of a thread's
/// start many times over.
inline constexpr Index kPieceRows = Index{1} << 16;

/// Call f(first, end) for pieces [k * piece, (k+1) * piece) of [0, count), in any order and several at once: on the
/// calling thread, and on others where there are several pieces and this process has several processors (see
/// processor_share()). Which pieces there are depends on nothing but the arguments, so that a reduction by pieces gives
/// the same bits whatever runs them.
/// @param piece at least 1
/// @param f     does not throw but std::bad_alloc, and locks what pieces share
/// @throws std::bad_alloc if a piece did; the others have run then, or have not begun
OCLSPKT_API void for_pieces(Index count, Index piece, const std::function<void(Index first, Index end)>& f);

}  // namespace oclspkt
