// SPDX-License-Identifier: BSD-2-Clause
// Truncated SPIKE in the GPU form of Macintosh, Banks and Kelson (2019): what the
// kernels kernels/gpu/paper_*.cl are planned and judged by. Each partition is swept down (LU) and up (UL) by itself; a
// 2x2 system for each two neighbours gives the unknowns on either side of their cut; LU substitutes the bottom half of
// a partition and UL the top half. So the influence of a neighbouring partition is truncated half a partition away.
#pragma once

#include "oclspkt/bands.hpp"
#include "plan.hpp"
#include "rounding.hpp"

namespace oclspkt {

/// A plan of the paper's form: a work-item takes a partition, a tile is those of a work-group.
struct PaperForm {
  bool staged = false;  ///< a work-group keeps its partitions in local memory between both sweeps
};

/// Rows of a partition in the paper's figures, which are in float.
inline constexpr Index kPaperRows = 32;
/// Rows of the longest partition that is tried: beyond it a GPU has too few of them.
inline constexpr Index kLongestPaperRows = 4096;

/// Plan that form for lines laid end to end, with partitions of m rows, or as many as hold the system in whole
/// kPaperRows where that is less.
/// @pre   m > 0, traits.group_items > 0
/// @post  chunk_tiles is 0 if the memory does not hold one tile and n > 0
OCLSPKT_API Plan make_paper_plan(Index n, Index m, int word, const DeviceTraits& traits);

/// Rows of a partition that marshalling turns at a time: some 128 bytes.
inline Index paper_block_rows(int word) { return 128 / word; }

/// Partitions that a launch over some tiles takes: its own and one of a neighbour on either side, in whole tiles.
inline Index paper_partitions(const Plan& plan, Index tiles) { return round_up(tiles * plan.items + 2, plan.items); }

/// Words a row: marshalling there and back, and the three kernels.
double paper_words(const Plan& plan);

}  // namespace oclspkt
