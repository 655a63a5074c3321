// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <limits>

#include "oclspkt/bands.hpp"
#include "plan.hpp"

namespace oclspkt {

/// A bound on max |x_computed - x| / max |x| under truncation, and where it is largest.
struct Certificate {
  double bound = 0;           ///< NaN or Inf: nothing is known
  Index partition = -1;       ///< the partition (or tile) that gives it
  Index first = 0, last = 0;  ///< its rows (offsets in the vector), both included
  bool above = false;         ///< most of it comes from the unknowns cut off above those rows, not below
  double growth = 1;          ///< how much solving the interface systems amplifies rounding errors
};

inline constexpr double kNothingKnown = std::numeric_limits<double>::quiet_NaN();

/// Rows [first, end) of the glued system, for questions about one line of many.
struct RowRange {
  Index first = 0, end = 0;
};

/// Rigorous bound for partitions of m rows that read h rows more on either side: max over kept rows of |w_i| + |v_i|,
/// the spikes of the re-read segment, in double whatever T is.
/// @param asked  the whole lines that the bound covers; rows of other lines are not read
/// @pre contiguous lines with couplings between lines 0
/// @cost 2 (m + 2h) / m sweeps over the rows asked for
template <typename T>
Certificate certify_halo(Index n, const BandsView<T>& bands, Index m, Index halo, RowRange asked);

/// Rigorous bound for stored factors whose partitions solve one interface system inside a tile (StoredFactors whose
/// reach is plan.m). The unknown below a tile is truncated one tile away; so is the unknown above a run.
///
/// The first error is the product of |c_i p_i| over a tile, times the largest such product that ends above it. The
/// second begins as 1 + |c p| of the row above the run, decays downwards by |a_i p_i| a row, and is carried up again
/// by |c_i p_i|. The bound is the sum of both, the second one for runs that start anywhere.
///
/// The values that leave a partition are computed twice, by the partition alone and from the values that enter it; both
/// differ by rounding. The growth is the amplification of this difference: the largest product of 1 + |c p| and the
/// |a_i p_i| from any row to the end of its partition, and of the |c_i p_i| from any row up to the partition's first.
/// @cost 1 division, 6 multiplications a row
template <typename T>
Certificate certify_stored(const Plan& plan, const BandsView<T>& bands);

/// Runs of tiles that are streamed by stored factors.
struct TileRuns {
  Index n;                          ///< rows, all lines glued
  Index tile_rows;                  ///< rows of a tile, which solves one interface system
  Index window;                     ///< rows between a truncated row and the nearest unknown that depends on it
  bool above = true, below = true;  ///< something is truncated above a run, and below a tile
};

/// Rigorous bound for such runs: both sides of a run are truncated `window` rows away; between its tiles, unknowns are
/// truncated a tile away, which is at least as far. The bound holds for any cuts into runs and tiles: any `window` rows
/// hold the whole blocks of window / kWindowBlocks rows that it uses.
/// @cost 1 division, 8 multiplications a row
template <typename T>
Certificate certify_runs(const TileRuns& runs, const BandsView<T>& bands);

/// Rigorous bound for partitions that are swept down (LU) and up (UL) by themselves, a system of 2x2 at each cut, LU
/// substituting the bottom half and UL the top half; in double whatever T is. The unknowns of a cut err by
/// (|w_b| + |v_t|) (1 + max(|v_b|, |w_t|)) / |1 - v_b w_t|. Row i of a bottom half errs by |c_i p_i| times the error of
/// the row below it, and by the product of |a_j p_j| from the partition's first row to row i, which is what LU leaves
/// of the unknown above the partition; top halves likewise. The growth is the largest 1 / |1 - v_b w_t|.
/// @param limit  nobody asks for partitions behind the first whose bound is larger
/// @pre couplings out of the lines are 0
/// @cost 2 sweeps over the rows
template <typename T>
Certificate certify_halves(const Plan& plan, const BandsView<T>& bands,
                           double limit = std::numeric_limits<double>::infinity());

/// The bound from dominance alone: d^-(h + 1) + 2 d^(1 - m) / (d - 1), h = m / 2 in whole rows; infinite if d <= 1.
/// @pre every row is dominant by rows with at least d, or d is Survey::decay()
double bound_halves(double d, Index m);
inline constexpr Index kWindowBlocks = 8;

/// The bound from dominance alone, for truncation after `rows` rows: (d + 1) / (d - 1) d^-rows / (1 - d^-rows).
/// @pre every row is dominant by rows with at least d > 1, or d is Survey::decay()
double bound_stored(double d, Index rows);

/// The growth that dominance alone allows stored factors: 1 / (d - 1), at least 1; infinite if d <= 1.
/// @pre every row is dominant by rows with at least d
double growth_stored(double d);

/// Rows of halo that dominance alone guarantees: smallest h with 2 d^-(h+1) <= tol; -1 if d <= 1.
/// @pre every row is dominant by rows with at least d
Index halo_from_dominance(double d, double tol);

/// The smallest halo, at most h_max, that certify_halo() should accept for the partitions of m rows that are cut inside
/// `asked`; -1 if h_max is not enough. The result follows the decay at every cut. certify_halo() has to confirm it.
template <typename T>
Index find_halo(Index n, const BandsView<T>& bands, Index m, double tol, Index h_max, RowRange asked);

}  // namespace oclspkt
