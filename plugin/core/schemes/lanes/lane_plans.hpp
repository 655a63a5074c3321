// SPDX-License-Identifier: BSD-2-Clause
// Plans by lanes for lines laid end to end.
#pragma once

#include "geometry.hpp"
#include "oclspkt/export.hpp"
#include "rounding.hpp"

namespace oclspkt {

/// Partitions of truncated-halo that solve the interface systems between them. No row is read twice; truncation happens
/// a tile away.
struct JoinedPartitions {};

/// A system that is eliminated from both its ends to a tile in the middle.
struct Sides {
  Index meeting = 0;  ///< tiles before this tile are eliminated down, all other tiles up
};

/// Number of tiles whose factors are stored.
inline Index factor_tiles(const Plan& plan) {
  if (plan.form != Form::shared) return plan.tiles();
  const SharedTiles shared = shared_tiles(plan);
  return shared.head + shared.period + shared.all - shared.tail;
}

/// Words of each array of stored factors in one tile. If symmetric, couplings follow the multipliers of first rows.
inline Index factor_words(const Plan& plan) { return (plan.m + (plan.symmetric() ? 1 : 0)) * plan.lanes; }

inline StoredPlaces places_by_tiles(const Plan& plan) {
  return {plan.form == Form::shared ? factor_tiles(plan) * factor_words(plan) : 0, factor_words(plan)};
}

/// True if the influence of the unknown above a partition reaches the partition's end without truncation.
inline bool passes(const Plan& plan) { return plan.as<StoredFactors>().reach >= plan.m; }

/// Plan truncated-halo or exact-twopass by lanes.
/// @param halo, partition  see PlanRequest
/// @throws the errors of make_plan()
Plan make_lanes_plan(Method method, Index n, Index halo, Index partition, int word, const DeviceTraits& traits);

/// Rows of a partition that holds whole lines of `length` rows. 0 if the cache or the memory does not hold such a
/// partition, or if cores would be idle.
/// @param rows  rows of all lines
Index lanes_of_whole_lines(Index length, Index rows, int word, const DeviceTraits& traits);

/// Let a plan of truncated-halo solve one interface system in each tile (JoinedPartitions). The device's registers must
/// hold a row of a tile.
/// @param halo  rows that the certificate asks for
/// @return false, and an unchanged plan, if the device, the halo or the memory does not suit
OCLSPKT_API bool stream_tiles(Plan& plan, Index halo, int word, const DeviceTraits& traits);

/// Set the least reach of a stored plan: how many rows of a partition depend on the unknown above it, in whole blocks
/// of `lanes` rows.
OCLSPKT_API void reach_rows(Plan& plan, Index rows);

/// Plan truncated-streamed by stored factors.
/// @param reach      see reach_rows() and certify_stored(); 0: all rows
/// @param partition  rows of a partition that the user asks for, rounded up to whole lanes; 0: chosen
/// @throws InvalidInput if `partition` is negative or the chunk limit does not hold three tiles
OCLSPKT_API Plan make_stored_plan(Index n, Index reach, Index partition, int word, const DeviceTraits& traits);

/// Plan exact-factored: tiles of stored factors, swept from both ends of the system to a tile in the middle.
/// @post chunk_tiles is 0 if the memory does not hold all rows at once
/// @throws InvalidInput if `partition` is negative
OCLSPKT_API Plan make_twisted_plan(Index n, Index partition, int word, const DeviceTraits& traits);

/// Share the stored factors of lines of `length` rows that are all alike. The factors of the fewest tiles that hold
/// whole lines serve all tiles, if the cache holds these factors.
/// @param choose  allow another partition, with which one tile suffices
/// @return false, and an unchanged plan, if sharing gains nothing
OCLSPKT_API bool share_lines(Plan& plan, Index length, bool choose, int word, const DeviceTraits& traits);

/// The longest partition that fills lines of `length` rows and is not longer than the plan's; 0 if there is none.
OCLSPKT_API Index partition_that_fills(Index length, const Plan& plan);

/// Share the stored factors of lines of `length` rows whose inner rows are alike. The factors of one inner tile serve
/// all inner tiles, and the factors of one line serve all lines.
/// @return false, and an unchanged plan, if tiles do not fill lines or are too few, or if the first pivots still change
///         beyond the first tile
OCLSPKT_API bool share_rows(Plan& plan, Index length);

/// Use the couplings of a symmetric matrix as its multipliers.
/// @return false, and an unchanged plan, if the memory does not hold three tiles with one more row
OCLSPKT_API bool make_symmetric(Plan& plan, int word, const DeviceTraits& traits);

/// Bounds on rounding of truncated-streamed by lanes and stored factors, in the notation of rounding.hpp. Each
/// partition is swept down twice: as if the row above it had result 0, and with the real result of that row. The result
/// of the partition's last row is thus computed twice. If each row rounds once, the two values differ by at most
/// u S max |x|, where
///     S = sum over its rows j of V_j (2 D_j + N_j), plus (m + 2) N_end.
/// D_j = |u_j| + |c_j| bounds the result of row j. V_j is the product of the multipliers |a p| of the rows below row j.
/// N_j is the product of the multipliers of the rows down to row j, times D of the row above the partition; N_end is
/// N_j of the last row.
struct JointRounding {
  Rounding plain;  ///< the difference at each joint is not corrected
  /// Each joint is corrected. The two computed values at joint k differ by e_k. Partition k causes a difference s_k of
  /// at most u S max |x|, and multiplies e_k by the product P_k of its multipliers: e_(k+1) = s_k + P_k e_k. Kernels
  /// pass these numbers down and subtract them from every row. Only the corrections then cause rounding at joints. The
  /// sweep up starts from 0; the influence of the unknown below is subtracted afterwards.
  Rounding corrected;
};

/// @param plan  truncated_streamed by lanes; `bands` are laid end to end
/// @pre couplings between lines are 0
/// @cost one division and some 25 operations a row, by all processors
template <typename T>
JointRounding bound_stored_joints(const Plan& plan, const BandsView<T>& bands);

/// The bound on rounding of exact-factored from both ends: no row is swept twice, and the influence of the row before a
/// partition is subtracted from its rows.
/// @param plan  has Sides
template <typename T>
Rounding bound_taken_off(const Plan& plan, const BandsView<T>& bands);

/// The rounding bound of exact-twopass by partitions. Inner rows are eliminated one after the other from a partition's
/// first row. The rounding of an elimination is at most the size of the result, and at most the subtracted number.
/// Without dominance, the bound includes the growth of rows when the border equations are eliminated.
/// @param plan       a plan of Method::exact_twopass
/// @param dominance  the least dominance of all rows
/// @cost two divisions and some 40 operations a row, twice that without dominance; by all processors
template <typename T>
Rounding bound_twopass(const Plan& plan, const BandsView<T>& bands, double dominance);

/// The bound JointRounding::plain from the survey alone.
double rounding_of_joints(const Survey& survey, Index m);

}  // namespace oclspkt
