// SPDX-License-Identifier: BSD-2-Clause
// Plans of exact-factored by the single work-item of a kernel for FPGAs: Thomas' algorithm, which eliminates in every
// apply and stores nothing at set-up. kernels/fpga/tdma.cl solves row after row, kernels/fpga/batch.cl many lines in
// turn, one row of each at a time.
#pragma once

#include <optional>

#include "oclspkt/export.hpp"
#include "plan.hpp"

namespace oclspkt {

/// Lines that the work-item solves in turn, one row of each at a time.
struct LineBatch {
  int slots = 0;         ///< lines that take turns
  Index longest = 0;     ///< rows of the longest line
  Index kept_rows = 0;   ///< rows of a line whose results of the sweep down fit in local memory; 0: none
  Index window = 0;      ///< words of global memory for results of the sweep down, if local memory does not hold them
  bool unequal = false;  ///< lines laid end to end differ in length; a table lists first rows, and a chunk has all rows
};

/// Bytes of a burst from an FPGA's memory. A block of rows is a multiple of a burst.
inline constexpr Index kBurstBytes = 128;
/// kTdmaRows: rows of a block unless the user asks for more. kMostTdmaRows: most rows that the user can ask for.
inline constexpr Index kTdmaRows = 32, kMostTdmaRows = 256;

/// Cycles between the pivots of two successive rows of a line, rounded to a power of two: a division, a product and a
/// difference in sequence. With this many lines in turn, a row begins in every cycle. Derived from the latencies of the
/// operators (30 cycles in float, 60 in double), not measured.
inline int pivot_cycles(int word) { return word == static_cast<int>(sizeof(float)) ? 32 : 64; }

/// Bytes of the table of the lines' first rows, which ends with the end of the last line.
inline std::int64_t starts_bytes(Index lines) { return (lines + 1) * static_cast<Index>(sizeof(Index)); }

/// Plan lines laid end to end, one row after the other.
/// @param partition  rows of a block asked for by the user, rounded up to whole bursts; 0: kTdmaRows
/// @post chunk_tiles is 0 if the memory does not hold all rows at once and n > 0
/// @throws InvalidInput if `partition` is negative
OCLSPKT_API Plan make_tdma_plan(Index n, Index partition, int word, const DeviceTraits& traits);

/// Plan two or more lines laid end to end, or any number of lines side by side. A line shorter than others of its batch
/// skips turns, which Plan::idle counts.
/// @return none in these cases: another layout; a single line laid end to end; lengths so different that a batch takes
///         more than half the time of solving row after row; memory that does not hold one line of equal lines, all
///         lines of unequal lengths, or one block of lines side by side
OCLSPKT_API std::optional<Plan> make_batch_plan(const LineSet& lines, int word, const DeviceTraits& traits);

}  // namespace oclspkt
