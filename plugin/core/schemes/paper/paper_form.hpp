// SPDX-License-Identifier: BSD-2-Clause
// Truncated SPIKE in the two forms of Macintosh, Banks and Kelson (2019): plans and bounds of kernels/gpu/paper_*.cl
// (PaperForm) and kernels/cpu/paper_lanes_*.cl (PaperLanes, their section 3.2.2).
//
// Both forms sweep a partition down (LU) and up (UL) by itself. A 2x2 system at each cut gives the unknowns on both
// sides of it. On GPUs, both sweeps take the whole partition; LU substitutes its bottom half and UL its top half, so
// that a neighbour's influence is truncated half a partition away. On CPUs, there are as many partitions as lanes of
// all cores, so partitions are long. UL sweeps the first 2 m_min rows and substitutes the rows above row 3 m_min / 2.
// LU sweeps the rows from m_min on and substitutes the rows from row 3 m_min / 2 on. So each sweep starts m_min / 2
// rows away from the rows that it substitutes.
#pragma once

#include <limits>

#include "certificate.hpp"
#include "oclspkt/bands.hpp"
#include "plan.hpp"
#include "rounding.hpp"

namespace oclspkt {

/// The paper's form for GPUs. Each work-item solves one partition; a tile is the partitions of a work-group.
struct PaperForm {
  bool staged = false;  ///< a work-group keeps its partitions in local memory between both sweeps
};

/// Rows of a partition in the paper's measurements, which are in float.
inline constexpr Index kPaperRows = 32;
/// Most rows of a partition that are tried. Longer partitions are too few to keep a GPU busy.
inline constexpr Index kLongestPaperRows = 4096;

/// Make a plan of PaperForm for lines laid end to end, in partitions of m rows. A system of fewer than m rows gets one
/// partition of n rows, rounded up to a multiple of kPaperRows, at most m.
/// @pre   m > 0, traits.group_items > 0
/// @post  chunk_tiles is 0 if the memory does not hold one tile and n > 0
OCLSPKT_API Plan make_paper_plan(Index n, Index m, int word, const DeviceTraits& traits);

/// Rows of a partition that marshalling transposes at a time: 128 bytes.
inline Index paper_block_rows(int word) { return 128 / word; }

/// Partitions of a launch over `tiles` tiles, in whole tiles: the tiles' own partitions and a neighbour on either side.
inline Index paper_partitions(const Plan& plan, Index tiles) { return round_up(tiles * plan.items + 2, plan.items); }

/// The paper's form for CPUs. Each lane solves one partition; a tile is the partitions of a vector of lanes.
struct PaperLanes {
  Index m_min = 0;                                 ///< an even number of rows, at most half a partition
  Index meeting() const { return m_min / 2 * 3; }  ///< the first row of a partition that LU substitutes
  Index swept_up() const { return 2 * m_min; }     ///< rows of a partition that UL sweeps
  Index swept_down_from() const { return m_min; }  ///< the first row that LU sweeps
};

/// PaperLanes::m_min is a multiple of this number.
inline constexpr Index kPaperLanesQuantum = 8;

/// Rows of a partition, in whole vectors, if every lane of every core gets a partition; fewer if memory is short.
OCLSPKT_API Index paper_lanes_partition(Index n, int word, const DeviceTraits& traits);

/// Make a plan of PaperLanes for lines laid end to end.
/// @param m      rows of a partition, rounded up to whole vectors; at least 2 m_min
/// @param m_min  rounded up to kPaperLanesQuantum
/// @pre   m > 0, m_min > 0
/// @post  chunk_tiles is 0 if the memory does not hold one tile and n > 0
OCLSPKT_API Plan make_paper_lanes_plan(Index n, Index m, Index m_min, const char* scheme, int word,
                                       const DeviceTraits& traits);

/// Tiles of a launch over `tiles` tiles, including the neighbouring partitions unless the launch has all tiles.
inline Index paper_lanes_tiles(const Plan& plan, Index tiles) {
  return tiles == 0 || tiles >= plan.tiles() ? tiles : quotient_up(tiles * plan.lanes + 2, plan.lanes);
}

/// Words per row of a plan of either form: marshalling forth and back, and the other kernels.
double paper_words(const Plan& plan);
double paper_lanes_words(const Plan& plan);

/// Rigorous bound for a plan of the form for CPUs, in double whatever T is. It is the bound of certify_halves() for
/// sweeps over parts of a partition that meet at row meeting().
/// @param limit  the search ends after the first partition if its bound is larger
/// @pre couplings out of the lines are 0
/// @cost 1 + m_min / m sweeps over the rows, by all processors of this process
template <typename T>
Certificate certify_paper_lanes(const Plan& plan, const BandsView<T>& bands,
                                double limit = std::numeric_limits<double>::infinity());

/// The bound on rounding of a plan of either form, from the values of the rows.
/// @cost a division, some 30 additions and multiplications for each row and sweep, by all processors of this process
template <typename T>
Rounding bound_paper(const Plan& plan, const BandsView<T>& bands);

}  // namespace oclspkt
