// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "oclspkt/bands.hpp"

namespace oclspkt {

/// An equation of a tridiagonal system: lower x_(i-1) + diag x_i + upper x_(i+1) = f.
template <typename Number>
struct PivotedRow {
  Number lower = 0, diag = 0, upper = 0;
  Number made_of = 0;  ///< |diag|, or the size of the numbers whose difference it is
};

/// The row that is eliminated next, as the eliminations before it leave it.
template <typename Number>
struct WaitingRow {
  Number diag, upper = 0;
  Number taken = 0;     ///< the number that elimination subtracted from the diagonal
  Number in_block = 0;  ///< 1: it closes a block of two rows and is its own pivot row, whatever its size
};

/// A row of the upper triangle, and how it was made.
template <typename Number>
struct PivotStep {
  Number diag, upper = 0, upper2 = 0;
  Number multiplier = 0;  ///< times this row's right-hand side is subtracted from the next row's
  Number swapped = 0;     ///< 1: this row changed places with the next one before
};

/// Take the pivot row of the waiting row and the next one, and eliminate it from the other.
///
/// Pivots are diagonal blocks of 1 and 2 rows. A row alone enlarges the next diagonal by the factor 1 + |upper
/// next.lower| / |diag next.diag|. A block enlarges the diagonal of the row behind it, by the couplings between that
/// row and its own second row. The waiting row stands alone if its growth is at most 11, else the smaller growth
/// decides. Both sides of each comparison have the same units, so that no scaling of rows or columns changes the
/// choice; scaling by powers of two changes no bit of the result. A block of two rows is eliminated by its second row
/// first; its determinant is at least 0.9 |upper next.lower|.
/// @param after  the row behind a block; null: there is none
/// @source Bunch 1974, Erway and Marcia 2010 (diagonal pivoting of tridiagonal systems without interchanges)
template <typename Number>
PivotStep<Number> take_pivot(WaitingRow<Number>& waiting, const PivotedRow<Number>& next,
                             const PivotedRow<Number>* after = nullptr);

/// The results of eliminating a system.
struct PivotFacts {
  Index bad = -1;          ///< the first row whose pivot is zero or not finite; -1: none
  bool overflows = false;  ///< that pivot is not finite, or a multiplier is so large that wider numbers are needed
  bool lost = false;       ///< a pivot is at most 4 eps of the number subtracted to make it
  double growth = 0;       ///< the largest (|l_i u_(i-1)| + |p_i|) / |b_i|
  double bound = 0;        ///< |r_i| <= bound (|A| |x| + |y|)_i, in eps; infinity if a block has no bound
  double trial = 0;        ///< the largest such error in trial solves, in eps; 0 if none ran; or NaN
};

/// Limits of errors by component, in eps; above each of them a solver does more.
struct PivotLimits {
  double bound;    ///< each solution of a line with a larger bound is measured
  double refined;  ///< a solution with a larger measured error is refined
  double widened;  ///< a solution that keeps a larger error is computed again in wider numbers
  double growth;   ///< a line of larger growth gets trial solves: refinement may not suffice
};

/// Many tridiagonal systems, solved by Gaussian elimination with diagonal blocks of 1 and 2 rows: for the method
/// `pivot`, for the reduced systems of cut lines, and for lines beyond the range of their own type. Systems of one
/// length are eliminated side by side, in bundles whose numbers are interleaved.
template <typename Number>
class PivotedLines {
 public:
  /// How many systems a bundle has: kLanes, or one.
  static constexpr Index kLanes = 8;

  void clear();
  /// Place a bundle of `width` systems, kLanes or 1, of `rows` rows each.
  /// @return place of its first unknown among the unknowns of all systems
  Index place(Index rows, Index width);
  /// Allocate memory for all placed systems, and factor those of add().
  void make_room();
  Index bundles() const { return static_cast<Index>(bundles_.size()); }
  /// Factor a bundle. May run for several at once.
  /// @param[in]  bands shape [rows][width]; lower of first rows and upper of last rows are 0
  /// @param[out] facts shape [width]; all but `trial`
  void factor(Index bundle, const BandsView<Number>& bands, PivotFacts* facts);
  /// Keep the bands of a factored bundle if a line of it has no bound within `limits`, so that solve() measures errors.
  /// Run trial solves of lines for which refinement may not suffice.
  void watch(Index bundle, const BandsView<Number>& bands, const PivotLimits& limits, PivotFacts* facts);
  /// Place one more system, which make_room() factors.
  /// @param[in] rows shape [n]; lower of the first and upper of the last are not read
  void add(const std::vector<PivotedRow<Number>>& rows);

  /// Unknowns of all systems.
  Index size() const { return size_; }
  /// Solve all systems in place. NaN stays in its system.
  /// @param[in,out] x shape [size()]; right-hand sides, then unknowns, in the order of place() and add()
  /// @cost 1 division, 3 multiplications and subtractions a row, by all processors of this process
  void solve(Number* x) const;
  /// Solve one bundle in place.
  /// A system that refinement does not mend is solved again in wider numbers, which allocates memory.
  /// @param[in,out] x shape [rows][width]  @param work  shape [3][rows][width], if the bundle is measured()
  /// @param[out] errors shape [width]; in eps, of measured lines with a finite right-hand side; else 0
  void solve(Index bundle, Number* x, Number* work, double* errors) const;
  bool measured(Index bundle) const { return !bundles_[static_cast<std::size_t>(bundle)].kept.empty(); }
  std::int64_t bytes() const;

 private:
  struct Bundle {
    Index at, rows, width;
    PivotLimits limits;
    std::vector<Number> kept;  ///< of a measured bundle: its bands, then 1 for each system that is measured, else 0
  };
  template <Index kWidth>
  void factor_lanes(const Bundle& bundle, const BandsView<Number>& bands, PivotFacts* facts);
  void substitute(const Bundle& bundle, Number* x) const;
  void measure(const Bundle& bundle, const Number* y, const Number* x, Number* r, double* errors) const;
  void solve_refined(const Bundle& bundle, Number* x, Number* work, double* errors) const;
  void widen(const Bundle& bundle, Index lane, const Number* y, Number* x, double& error) const;
  void run_trials(const Bundle& bundle, const Number* tried, PivotFacts* facts) const;

  std::vector<Bundle> bundles_;
  Index size_ = 0;
  /// Members of PivotStep, shape [size()]; upper2 is -0 where `swapped` is 0, and only there.
  AlignedArray<Number> diag_, upper_, upper2_, multiplier_;
  std::vector<PivotedRow<Number>> added_;
};

/// The smallest pivot of a system relative to the numbers whose difference it is; NaN if one is not finite. The first
/// row of a block is no pivot.
template <typename Number>
Number smallest_pivot(const std::vector<PivotedRow<Number>>& rows);

}  // namespace oclspkt
