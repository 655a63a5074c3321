// SPDX-License-Identifier: BSD-2-Clause
// Truncated SPIKE in the CPU form of Macintosh, Banks and Kelson (2019, section 3.2.2): what the kernels
// kernels/cpu/paper_lanes_*.cl are planned and judged by. There are as many partitions as lanes of all cores, so they
// are long. UL sweeps the first 2 m_min rows of a partition up, LU the rows from m_min on down. A 2x2 system for each
// two neighbours gives the unknowns on either side of their cut. UL substitutes the rows above row 3 m_min / 2, LU
// those from there on: either is then m_min / 2 rows away from what it truncates.
#pragma once

#include <algorithm>
#include <limits>

#include "certificate.hpp"
#include "oclspkt/bands.hpp"
#include "plan.hpp"
#include "rounding.hpp"

namespace oclspkt {

/// A plan of that form: a lane takes a partition, a tile is those of a vector.
struct PaperLanes {
  Index m_min = 0;                                 ///< even, at most half a partition
  Index meeting() const { return m_min / 2 * 3; }  ///< the first row of a partition that LU substitutes
  Index swept_up() const { return 2 * m_min; }     ///< rows of a partition that UL sweeps
  Index swept_down_from() const { return m_min; }  ///< the first row that LU sweeps
};

/// The rows of a partition of either form, counted within it; the last one of a line of partitions may be short.
struct PaperRows {
  Index first;    ///< of the system
  Index size;     ///< of the partition
  Index from;     ///< the first one that LU sweeps
  Index as_far;   ///< UL sweeps the rows before this one
  Index meeting;  ///< the first one that LU substitutes
  /// @param partition  the form for GPUs sweeps all of it both ways, and its halves meet
  PaperRows(const Plan& plan, Index partition) : first(partition * plan.m), size(std::min(plan.n - first, plan.m)) {
    const PaperLanes* const form = plan.find<PaperLanes>();
    from = form != nullptr ? std::min(form->swept_down_from(), size) : 0;
    as_far = form != nullptr ? std::min(form->swept_up(), size) : size;
    meeting = std::min(form != nullptr ? form->meeting() : plan.m / 2, size);
  }
};

/// m_min is a multiple of this.
inline constexpr Index kPaperLanesQuantum = 8;

/// Rows of a partition that all cores have one of in each lane, in whole vectors of rows; fewer where the memory does
/// not hold so many.
OCLSPKT_API Index paper_lanes_partition(Index n, int word, const DeviceTraits& traits);

/// Plan that form for lines laid end to end.
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

/// Words a row: marshalling there and back, and both kernels.
double paper_lanes_words(const Plan& plan);

/// Rigorous bound for a plan of that form, in double whatever T is; see certify_halves(), with the rows that LU and UL
/// sweep in the place of whole partitions, and row meeting() in that of the middle.
/// @param limit  if the first partition's bound is larger, nobody asks for the others
/// @pre couplings out of the lines are 0
/// @cost 1 + m_min / m sweeps over the rows, by all processors of this process
template <typename T>
Certificate certify_paper_lanes(const Plan& plan, const BandsView<T>& bands,
                                double limit = std::numeric_limits<double>::infinity());

/// The bound on rounding of a plan of that form, or of that for GPUs, by the values of the rows.
/// @cost a division, some 30 additions and multiplications for each row and sweep over it, by all processors of this
///       process
template <typename T>
Rounding bound_paper(const Plan& plan, const BandsView<T>& bands);

}  // namespace oclspkt
