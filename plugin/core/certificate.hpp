// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <limits>

#include "oclspkt/bands.hpp"
#include "plan.hpp"

namespace oclspkt {

/// A bound on max |x_computed - x| / max |x| under truncation, and the rows where the error bound is largest.
struct Certificate {
  double bound = 0;           ///< the bound; NaN or Inf: nothing is known
  Index partition = -1;       ///< the partition (or tile) with the largest bound
  Index first = 0, last = 0;  ///< first and last row of this partition, as offsets in the vector
  bool above = false;         ///< true if the bound comes mostly from truncation above the partition
  double growth = 1;          ///< how much solving the interface systems amplifies rounding errors
};

inline constexpr double kNothingKnown = std::numeric_limits<double>::quiet_NaN();

/// Rows [first, end) of the system of all lines, to certify some of its lines.
struct RowRange {
  Index first = 0, end = 0;
};

/// A rigorous truncation bound for partitions of m rows that also read `halo` rows on each side. The bound is the
/// largest |w_i| + |v_i| over the partitions' own rows, where w and v are the spikes of a partition with its halos. The
/// bound is computed in double.
/// @param asked  the whole lines that the bound covers; the function reads no other rows
/// @pre lines are laid end to end, and couplings between lines are 0
/// @cost 2 (m + 2 halo) / m sweeps over the rows of `asked`
template <typename T>
Certificate certify_halo(Index n, const BandsView<T>& bands, Index m, Index halo, RowRange asked);

/// A rigorous truncation bound for stored factors with one interface system per tile (the reach of StoredFactors is
/// plan.m). For the rows of a tile, the solve truncates the unknown below the next tile. A run sweeps one more tile at
/// its start, and the unknown above that tile is truncated, too.
///
/// Row i couples by a_i to the row above and by c_i to the row below; p_i is its reciprocal pivot. The bound is the
/// sum of two errors, and holds wherever runs start. The error from below is the product of |c_i p_i| over a tile,
/// times the largest product of |c p| over rows that end above the tile. The error from above begins as 1 + |c p| of
/// the truncated row. On the way down each row multiplies it by |a_i p_i|, and on the way up by |c_i p_i|.
///
/// Two neighbouring partitions both compute two results: of the upper partition's last row in the sweep down, and of
/// the lower partition's first row in the sweep up. The two computations differ by rounding. The growth is the
/// amplification of this difference, the largest of two kinds of products:
///   - 1 + |c p| of a row, times the product of |a_i p_i| from the next row to the end of that row's partition,
///   - the product of |c_i p_i| from any row up to the first row of its partition.
/// @cost 1 division, 6 multiplications a row
template <typename T>
Certificate certify_stored(const Plan& plan, const BandsView<T>& bands);

/// Runs of tiles that a method with stored factors streams.
struct TileRuns {
  Index n;                          ///< rows of all lines
  Index tile_rows;                  ///< rows of a tile, which solves one interface system
  Index window;                     ///< rows between a truncated unknown and the nearest row that it affects
  bool above = true, below = true;  ///< above: unknowns above runs are truncated; below: unknowns below tiles are
};

/// A rigorous truncation bound for TileRuns. The solve truncates unknowns `window` rows beyond both ends of a run, and
/// a tile away between its tiles. A tile has at least `window` rows.
/// The bound holds wherever runs and tiles begin. The function divides rows into blocks of window / kWindowBlocks rows,
/// and counts decay over as many whole blocks as every window contains.
/// @cost 1 division, 8 multiplications a row
template <typename T>
Certificate certify_runs(const TileRuns& runs, const BandsView<T>& bands);

/// A rigorous truncation bound for partitions that are swept down (LU) and up (UL) by themselves, with a 2x2 system at
/// each cut. LU substitutes the bottom half of a partition, and UL the top half. The bound is computed in double.
///
/// The error of the unknowns at a cut is (|w_b| + |v_t|) (1 + max(|v_b|, |w_t|)) / |1 - v_b w_t|. The error of row i of
/// a bottom half has two parts. One is |c_i p_i| times the error of the row below it. The other is the product of
/// |a_j p_j| from the partition's first row to row i: the influence, after LU, of the unknown above the partition. Top
/// halves err likewise, from the other end. The growth is the largest 1 / |1 - v_b w_t|.
/// @param limit  the search ends at the first partition whose bound is larger
/// @pre couplings out of the lines are 0
/// @cost 2 sweeps over the rows
template <typename T>
Certificate certify_halves(const Plan& plan, const BandsView<T>& bands,
                           double limit = std::numeric_limits<double>::infinity());

/// The bound of certify_halves() from dominance d alone: d^-(h + 1) + 2 d^(1 - m) / (d - 1) with h = floor(m / 2). It
/// is infinite if d <= 1.
/// @pre every row is dominant by rows with at least d, or d is Survey::decay()
double bound_halves(double d, Index m);
inline constexpr Index kWindowBlocks = 8;

/// The bound of certify_stored() from dominance d alone, for truncation `rows` rows away:
/// (d + 1) d^-rows / ((d - 1) (1 - d^-rows)).
/// @pre every row is dominant by rows with at least d > 1, or d is Survey::decay()
double bound_stored(double d, Index rows);

/// The growth of certify_stored() from dominance d alone: 1 / (d - 1), at least 1; infinite if d <= 1.
/// @pre every row is dominant by rows with at least d
double growth_stored(double d);

/// Rows of halo that suffice by dominance d alone: the smallest h with 2 d^-(h+1) <= tol; -1 if d <= 1.
/// @pre every row is dominant by rows with at least d
Index halo_from_dominance(double d, double tol);

/// Estimate the smallest halo that certify_halo() accepts for partitions of m rows, from the decay at every cut inside
/// `asked`; -1 if h_max rows do not suffice. certify_halo() has to confirm the result.
template <typename T>
Index find_halo(Index n, const BandsView<T>& bands, Index m, double tol, Index h_max, RowRange asked);

}  // namespace oclspkt
