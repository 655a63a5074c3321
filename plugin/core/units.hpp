// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <vector>

#include "certificate.hpp"
#include "oclspkt/bands.hpp"

namespace oclspkt {

/// The units in which columns may be given, as far as rows show them.
///
/// A certificate bounds an error relative to the line's largest unknown, so that it says little of unknowns in small
/// units: with x_j = s_j z_j, an unknown cut off above row i counts |w_i| s_above / s_i in z. Where a row is not
/// dominant, another ratio of units t_j = s_j / s_(j+1) at one of its joints may make it so. Rows j and j + 1 admit
///     t_j >= low = |c_j| / (|b_j| - |a_j| t_(j-1)),
///     t_j <= high = (|b_(j+1)| - |c_(j+1)|) / |a_(j+1)|.
/// If these limits are compatible, and far from 1, the units count as jumping there. Errors from above then grow most
/// with `high`, errors from below with `low`. A third choice are the units in which couplings are symmetric, where the
/// ratio is large: `low` and `high` do not show ramps over several rows. Lines of dominant rows keep their units.
template <typename T>
class ColumnUnits {
 public:
  /// @param lines  laid end to end, one of them not dominant; couplings out of them are 0
  /// @cost 3 words a row, twice, of lines with a row that is not dominant; by all processors of this process
  ColumnUnits(const LineSet& lines, const BandsView<T>& bands);

  bool none() const { return jumps_.empty(); }
  /// Call f for the rows in all units that they may be in, except those in which they are given. The error in units
  /// between the lowest and the highest ratios is at most `weight` times the error in either: once for each side.
  void each(const std::function<void(const BandsView<T>& bands, double weight)>& f) const;
  /// The largest ratio of the units of two rows of a line; 1 if no unit jumps.
  double range() const;

 private:
  struct Jump {
    Index row;  ///< above the joint
    double low = 1, high = 1, even = 1;
    bool any() const { return low != 1 || high != 1 || even != 1; }
  };
  static Jump look(const BandsView<T>& bands, Index row, double above);
  std::vector<Jump> find(Index first, Index begin, Index end) const;

  BandsView<T> bands_;
  Index rows_;
  std::vector<Jump> jumps_;  ///< in the order of the rows
  std::vector<Index> ends_;  ///< of the lines that have a row that is not dominant, behind their last row
};

/// The result of find_units().
struct FoundUnits {
  Index runs = 0;  ///< of columns in one unit, in the line that has the most; 0: all lines stay as given
  /// How much weaker a bound is in the units in which all rows are dominant than in those by which columns are scaled:
  /// in a line, the largest ratio of both over the smallest.
  double factor = 1;
};

/// Find units for the columns of lines that devices solve: A D z = y for D = diag(units) gives x = D z. Elimination
/// that carries excesses depends on units of columns, as excesses add numbers of several columns. A proof distinguishes
/// a unit from a small number: a line has units only if some D' makes every row of A D' dominant, which one elimination
/// of |diag| - |lower| - |upper| from either end decides. D' stays constant where rows admit that; D follows where D'
/// jumps by 3 bits or more. Units are powers of two where rows admit that, else they round each column by half an eps.
/// Lines of dominant rows stay as given; so do lines whose units range over more than 400 bits (100 in float), or take
/// a number out of the range of T.
/// @param lines  couplings out of them are 0
/// @param[out] units  shape [lines.extent()], 1 where columns stay as given; left alone if no unit jumps
/// @cost 3 words a row where no unit jumps, by all processors of this process; else sweeps by a processor a line
template <typename T>
OCLSPKT_API FoundUnits find_units(const LineSet& lines, const BandsView<T>& bands, AlignedArray<T>& units);

/// scaled = bands diag(units)
/// @param[in,out] scaled  gets the lines of the bands
template <typename T>
void scale_columns(const Bands<T>& bands, const T* units, Bands<T>& scaled);

/// The largest certificate of lines in all units that they may be in. The search ends at the first one above `tol`;
/// dominant rows keep their units.
/// @param given      certify(bands)
/// @param dominance  the least of all rows
/// @param certify    (bands) -> Certificate
template <typename T, typename F>
Certificate certify_in_units(const LineSet& lines, const BandsView<T>& bands, double dominance, double tol,
                             Certificate given, const F& certify) {
  if (dominance >= 1 || !(given.bound <= tol)) return given;
  ColumnUnits<T>(lines, bands).each([&](const BandsView<T>& view, double weight) {
    if (!(given.bound <= tol)) return;
    Certificate other = certify(view);
    other.bound *= weight;
    if (!(other.bound <= given.bound)) given = other;
  });
  return given;
}

}  // namespace oclspkt
