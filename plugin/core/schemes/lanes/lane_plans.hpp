// SPDX-License-Identifier: BSD-2-Clause
// Plans by lanes for lines laid end to end.
#pragma once

#include "geometry.hpp"
#include "oclspkt/export.hpp"
#include "rounding.hpp"

namespace oclspkt {

/// Partitions of truncated-halo that solve the interface systems between them: no row is read again, and the nearest
/// truncated row is a tile away.
struct JoinedPartitions {};

/// A system that is eliminated from both its ends to a tile.
struct Sides {
  Index meeting = 0;  ///< tile from which on rows are eliminated up, those before it down
};

/// Stored factors: tiles that have some of their own.
inline Index factor_tiles(const Plan& plan) {
  if (plan.form != Form::shared) return plan.tiles();
  const SharedTiles shared = shared_tiles(plan);
  return shared.head + shared.period + shared.all - shared.tail;
}

/// Stored factors: words of each array of them a tile. Symmetric couplings begin with the multipliers of the first
/// rows.
inline Index factor_words(const Plan& plan) { return (plan.m + (plan.symmetric() ? 1 : 0)) * plan.lanes; }

/// Where stored factors in the order of the lanes lie.
inline StoredPlaces places_by_tiles(const Plan& plan) {
  return {plan.form == Form::shared ? factor_tiles(plan) * factor_words(plan) : 0, factor_words(plan)};
}

/// Stored factors: the influence of the unknown above a partition is not truncated within it.
inline bool passes(const Plan& plan) { return plan.as<StoredFactors>().reach >= plan.m; }

/// Truncated-halo or exact-twopass. @param halo, partition, @throws  see PlanRequest, make_plan()
Plan make_lanes_plan(Method method, Index n, Index halo, Index partition, int word, const DeviceTraits& traits);

/// Rows of a partition that holds whole lines of `length` rows; 0 where it would not stay in the cache or in the
/// memory, or cores would be idle. @param rows  of all lines
Index lanes_of_whole_lines(Index length, Index rows, int word, const DeviceTraits& traits);

/// Let a plan of truncated-halo solve one interface system a tile: JoinedPartitions, on devices whose registers hold a
/// row of a tile. @param halo  rows that the certificate asks for
/// @return false, and plan as it was, where the device, the halo or the memory do not suit
OCLSPKT_API bool stream_tiles(Plan& plan, Index halo, int word, const DeviceTraits& traits);

/// Set the least reach of a stored plan: how many rows of a partition depend on the unknown above it, in whole blocks
/// of `lanes` rows.
OCLSPKT_API void reach_rows(Plan& plan, Index rows);

/// Plan truncated-streamed by stored factors. @param reach  see reach_rows() and certify_stored(); 0: all rows
/// @param partition rows asked for by the user, rounded up to whole lanes; 0: chosen
/// @throws InvalidInput if `partition` is negative or the chunk limit does not hold three tiles
OCLSPKT_API Plan make_stored_plan(Index n, Index reach, Index partition, int word, const DeviceTraits& traits);

/// Plan exact-factored: tiles of stored factors, swept from both ends of the system to the tile where they meet.
/// @post chunk_tiles is 0 if the memory does not hold all rows at once
/// @throws InvalidInput if `partition` is negative
OCLSPKT_API Plan make_twisted_plan(Index n, Index partition, int word, const DeviceTraits& traits);

/// Share the stored factors of lines of `length` rows that are all alike: those of the fewest tiles that hold whole
/// lines serve the others, if they stay in the cache. @param choose  the partition may change, so that one tile then
/// does
/// @return false, and plan as it was, where nothing is to be gained
OCLSPKT_API bool share_lines(Plan& plan, Index length, bool choose, int word, const DeviceTraits& traits);

/// The longest partition that is no longer than that of a plan and whose tiles fill lines of `length` rows; 0: none.
OCLSPKT_API Index partition_that_fills(Index length, const Plan& plan);

/// Share the stored factors of a line of `length` rows that are alike but for the first and the last: a tile between
/// them serves all between them, and those of a line serve all lines.
/// @return false, and plan as it was, where tiles do not fill lines, are too few, or the first pivots still change
OCLSPKT_API bool share_rows(Plan& plan, Index length);

/// Let the couplings of a symmetric matrix be its multipliers.
/// @return false, and plan as it was, where the memory does not hold one row more of three tiles
OCLSPKT_API bool make_symmetric(Plan& plan, int word, const DeviceTraits& traits);

/// Bounds of truncated-streamed by lanes and stored factors, in which each partition is swept down twice, from 0 and
/// from the value that enters it.
///
/// The two sweeps round the value that enters the next partition differently. Let V_j be the product of |a p| from row
/// j + 1 to the partition's end, D_j = |u_j| + |c_j|, N_j the product of |a p| from the first row to j times D of the
/// row above the partition, and u = eps / 2. They differ by u S max |x| at most, where S is
/// sum V_j (2 D_j + N_j) + (m + 2) N_end.
struct JointRounding {
  Rounding plain;  ///< each joint keeps its difference
  /// The differences are passed down, e_(k+1) = S_k + P_k e_k, and subtracted from every row, so that only their own
  /// rounding remains. Upwards, the influence of the unknown below is subtracted instead of being swept.
  Rounding corrected;
};

/// @param plan  truncated_streamed by lanes; its bands as laid end to end
/// @pre couplings between lines are 0
/// @cost one division and some 25 operations a row, by all processors
template <typename T>
JointRounding bound_stored_joints(const Plan& plan, const BandsView<T>& bands);

/// The rounding bound if the influence of entering values is subtracted from every row and no row is swept twice:
/// exact-factored from both ends, and exact-twopass, whose pieces also find their first pivots separately.
/// @param plan  of Sides
template <typename T>
Rounding bound_taken_off(const Plan& plan, const BandsView<T>& bands);

/// The rounding bound of exact-twopass by partitions. A partition subtracts one row after the other from its first row;
/// each subtraction rounds by the size of the result, or of the subtracted number if that is less. Without dominance,
/// rows may grow as the border equations are eliminated; the bound contains this growth.
/// @param plan       of Method::exact_twopass
/// @param dominance  the least of all rows
/// @cost two divisions and some 40 operations a row, twice without dominance; by all processors
template <typename T>
Rounding bound_twopass(const Plan& plan, const BandsView<T>& bands, double dominance);

/// JointRounding::plain from the survey alone.
double rounding_of_joints(const Survey& survey, Index m);

}  // namespace oclspkt
