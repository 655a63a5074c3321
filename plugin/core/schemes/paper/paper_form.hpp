// SPDX-License-Identifier: BSD-2-Clause
// Truncated SPIKE in the two forms of Macintosh, Banks and Kelson (2019): plans and bounds of the kernels
// kernels/gpu/paper_*.cl (PaperForm) and kernels/cpu/paper_lanes_*.cl (PaperLanes, their section 3.2.2).
//
// Both sweep a partition down (LU) and up (UL) by itself; a 2x2 system for each two neighbours gives the unknowns on
// either side of their cut. On GPUs both sweep a whole partition; LU substitutes its bottom half and UL the top half,
// so that the influence of a neighbouring partition is truncated half a partition away. On CPUs there are as many
// partitions as lanes of all cores, so they are long: UL sweeps the first 2 m_min rows, LU the rows from m_min on down.
// UL substitutes the rows above row 3 m_min / 2, LU those from there on: either is m_min / 2 rows away from its
// truncation.
#pragma once

#include <limits>

#include "certificate.hpp"
#include "oclspkt/bands.hpp"
#include "plan.hpp"
#include "rounding.hpp"

namespace oclspkt {

/// A plan of the form for GPUs: a work-item takes a partition, a tile is those of a work-group.
struct PaperForm {
  bool staged = false;  ///< a work-group keeps its partitions in local memory between both sweeps
};

/// Rows of a partition in the paper's figures, which are in float.
inline constexpr Index kPaperRows = 32;
/// Rows of the longest partition that is tried: beyond it a GPU has too few of them.
inline constexpr Index kLongestPaperRows = 4096;

/// Plan the form for GPUs for lines laid end to end, with partitions of m rows, or as many as hold the system in whole
/// kPaperRows where that is less.
/// @pre   m > 0, traits.group_items > 0
/// @post  chunk_tiles is 0 if the memory does not hold one tile and n > 0
OCLSPKT_API Plan make_paper_plan(Index n, Index m, int word, const DeviceTraits& traits);

/// Rows of a partition that marshalling turns at a time: some 128 bytes.
inline Index paper_block_rows(int word) { return 128 / word; }

/// Partitions that a launch over some tiles takes: its own and one of a neighbour on either side, in whole tiles.
inline Index paper_partitions(const Plan& plan, Index tiles) { return round_up(tiles * plan.items + 2, plan.items); }

/// A plan of the form for CPUs: a lane takes a partition, a tile is those of a vector.
struct PaperLanes {
  Index m_min = 0;                                 ///< even, at most half a partition
  Index meeting() const { return m_min / 2 * 3; }  ///< the first row of a partition that LU substitutes
  Index swept_up() const { return 2 * m_min; }     ///< rows of a partition that UL sweeps
  Index swept_down_from() const { return m_min; }  ///< the first row that LU sweeps
};

/// m_min is a multiple of this.
inline constexpr Index kPaperLanesQuantum = 8;

/// Rows of a partition that all cores have one of in each lane, in whole vectors of rows; fewer where the memory does
/// not hold so many.
OCLSPKT_API Index paper_lanes_partition(Index n, int word, const DeviceTraits& traits);

/// Plan the form for CPUs for lines laid end to end.
/// @param m      rows of a partition, rounded up to whole vectors; longer where 2 m_min rows are
/// @param m_min  rounded up to kPaperLanesQuantum
/// @pre   m > 0, m_min > 0
/// @post  chunk_tiles is 0 if the memory does not hold one tile and n > 0
OCLSPKT_API Plan make_paper_lanes_plan(Index n, Index m, Index m_min, const char* scheme, int word,
                                       const DeviceTraits& traits);

/// Tiles that a launch over some tiles takes: its own, and one more for the partitions of the neighbours where it does
/// not take all.
inline Index paper_lanes_tiles(const Plan& plan, Index tiles) {
  return tiles == 0 || tiles >= plan.tiles() ? tiles : quotient_up(tiles * plan.lanes + 2, plan.lanes);
}

/// Words a row of a plan of either form: marshalling forth and back, and the other kernels.
double paper_words(const Plan& plan);
double paper_lanes_words(const Plan& plan);

/// Rigorous bound for a plan of the form for CPUs, in double whatever T is; see certify_halves(), with the rows that LU
/// and UL sweep in the place of whole partitions, and row meeting() in that of the middle.
/// @param limit  if the first partition's bound is larger, nobody asks for the others
/// @pre couplings out of the lines are 0
/// @cost 1 + m_min / m sweeps over the rows, by all processors of this process
template <typename T>
Certificate certify_paper_lanes(const Plan& plan, const BandsView<T>& bands,
                                double limit = std::numeric_limits<double>::infinity());

/// The bound on rounding of a plan of either form, by the values of the rows.
/// @cost a division, some 30 additions and multiplications for each row and sweep over it, by all processors of this
///       process
template <typename T>
Rounding bound_paper(const Plan& plan, const BandsView<T>& bands);

}  // namespace oclspkt
