// SPDX-License-Identifier: BSD-2-Clause
// Plans of exact-factored by the one work-item of an FPGA's kernel: Thomas' algorithm, which eliminates in every apply
// and stores nothing at set-up. kernels/fpga/tdma.cl takes one row after the other, kernels/fpga/batch.cl many lines in
// turn.
#pragma once

#include <optional>

#include "oclspkt/export.hpp"
#include "plan.hpp"

namespace oclspkt {

/// Lines that take turns row by row.
struct LineBatch {
  int slots = 0;         ///< lines that take turns
  Index longest = 0;     ///< rows of the longest line
  Index kept_rows = 0;   ///< of each line, whose results of the sweep down fit in local memory; 0: lines are longer
  Index window = 0;      ///< words of memory for that where local memory does not hold it
  bool unequal = false;  ///< lines laid end to end differ in length: a table says where they begin, all in one chunk
};

/// Bytes of the bursts that an FPGA's memory is read in; a block of rows is a multiple of it.
inline constexpr Index kBurstBytes = 128;
/// Rows of a block, unless the user asks for more, and the most of those that can be asked for.
inline constexpr Index kTdmaRows = 32, kMostTdmaRows = 256;

/// Cycles from the pivot of a row to that of the next, division, product and difference one after the other, as a power
/// of two: so many lines have to take turns for a row to begin in every cycle, and a line by itself takes so many times
/// as long. Derived from the latencies of the operators (30 in float, 60 in double), not measured.
inline int pivot_cycles(int word) { return word == static_cast<int>(sizeof(float)) ? 32 : 64; }

/// Bytes of the table that says where each line begins, and where the last one ends.
inline std::int64_t starts_bytes(Index lines) { return (lines + 1) * static_cast<Index>(sizeof(Index)); }

/// Plan lines laid end to end, one row after the other.
/// @param partition  rows of a block asked for by the user, rounded up to whole bursts; 0: kTdmaRows
/// @post chunk_tiles is 0 if the memory does not hold all rows at once and n > 0
/// @throws InvalidInput if `partition` is negative
OCLSPKT_API Plan make_tdma_plan(Index n, Index partition, int word, const DeviceTraits& traits);

/// Plan several lines laid end to end, or any number of them side by side. A line that is shorter than others of its
/// batch skips turns: Plan::idle counts them.
/// @return none for lines that stand otherwise, for a single line laid end to end, for lines that differ so much that a
///         batch would take more than half as long as one row after the other, or where the memory does not hold one
///         line, all lines that differ in length, or one block of lines side by side
OCLSPKT_API std::optional<Plan> make_batch_plan(const LineSet& lines, int word, const DeviceTraits& traits);

}  // namespace oclspkt
