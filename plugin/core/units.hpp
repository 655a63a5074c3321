// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <vector>

#include "certificate.hpp"
#include "oclspkt/bands.hpp"

namespace oclspkt {

/// Candidate units of the columns of a matrix, inferred from its rows. A certificate bounds an error relative to the
/// line's largest unknown, so that it says little about unknowns in small units. Let x_j = s_j z_j with units s_j. Then
/// truncating the unknown above row i causes an error |w_i| s_above / s_i in z_i.
///
/// The joint of the rows j and j + 1 has the ratio of units t_j = s_j / s_(j+1). Another ratio at one of its two joints
/// may make a row dominant. With lower a, diag b and upper c, the rows j and j + 1 are dominant for
///     t_j >= low = |c_j| / (|b_j| - |a_j| t_(j-1)),
///     t_j <= high = (|b_(j+1)| - |c_(j+1)|) / |a_(j+1)|.
/// If low <= 2 high and low * high is far from 1, units count as jumping at the joint. The candidates then are
///   high       errors from above are largest for this ratio
///   low        errors from below are largest for this ratio
///   symmetric  the ratio that makes couplings symmetric, if it is large; it shows units that change over several rows,
///              which low and high do not show
/// Lines of dominant rows keep their units.
template <typename T>
class ColumnUnits {
 public:
  /// @pre lines are laid end to end, at least one is not dominant, and couplings out of the lines are 0
  /// @cost 3 words a row, read twice, for lines with a row that is not dominant; by all processors of this process
  ColumnUnits(const LineSet& lines, const BandsView<T>& bands);

  bool none() const { return jumps_.empty(); }
  /// Call f with the bands in each candidate of units, except the original units. An error has a part from above and a
  /// part from below. Therefore, in units between the least and the greatest candidate, the error is at most `weight`
  /// times the larger of the errors in these two candidates.
  void each(const std::function<void(const BandsView<T>& bands, double weight)>& f) const;
  /// The largest ratio of the units of two rows of a line; 1 if no unit jumps.
  double range() const;

 private:
  struct Jump {
    Index row;  ///< row above the joint
    double low = 1, high = 1, even = 1;
    bool any() const { return low != 1 || high != 1 || even != 1; }
  };
  static Jump look(const BandsView<T>& bands, Index row, double above);
  std::vector<Jump> find(Index first, Index begin, Index end) const;

  BandsView<T> bands_;
  Index rows_;
  std::vector<Jump> jumps_;  ///< jumps in the order of the rows
  std::vector<Index> ends_;  ///< for each line with a row that is not dominant: the place behind its last row
};

struct FoundUnits {
  Index runs = 0;  ///< runs of columns with equal units, in the line with the most runs; 0: all lines keep their units
  /// Columns are scaled by D, but bounds are for D' (see find_units()). This factor weakens them: the largest ratio D'
  /// / D of a line divided by the smallest ratio, maximal over the lines.
  double factor = 1;
};

/// Find units for the columns of lines that devices solve: A D z = y for D = diag(units) gives x = D z. Units matter to
/// elimination that carries excesses, because excesses add numbers of several columns.
///
/// A small number may be in a small unit, or just be small. A line therefore gets units only if some diagonal D' > 0
/// makes every row of A D' dominant. One elimination of |diag|, -|lower|, -|upper| decides this: all pivots are then
/// positive. D' is constant wherever dominance allows that, and D changes only where D' jumps by 3 bits or more. Units
/// are powers of two if dominance allows that; other units round each column by half an eps.
///
/// A line keeps its units if its rows are dominant. It also keeps them if new units would range over more than 400 bits
/// (100 in float), or if a scaled number would leave the range of T.
/// @pre couplings out of the lines are 0
/// @param[out] units  shape [lines.extent()]; 1 for unscaled columns; not written if no unit jumps
/// @cost 3 words a row if no unit jumps, by all processors of this process; else some sweeps, one processor a line
template <typename T>
OCLSPKT_API FoundUnits find_units(const LineSet& lines, const BandsView<T>& bands, AlignedArray<T>& units);

/// Scale the columns: scaled = bands diag(units).
/// @param[in,out] scaled  its lines become the lines of the bands
template <typename T>
void scale_columns(const Bands<T>& bands, const T* units, Bands<T>& scaled);

/// The largest certificate over all candidates of units, see ColumnUnits. The search ends at a certificate above `tol`.
/// Dominant rows keep their units.
/// @param given      the certificate in the original units, certify(bands)
/// @param dominance  the least dominance of all rows
/// @param certify    function (bands) -> Certificate
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
