// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "oclspkt/bands.hpp"

namespace oclspkt {

/// An equation of a tridiagonal system: lower x_(i-1) + diag x_i + upper x_(i+1) = f.
template <typename Number>
struct PivotedRow {
  Number lower = 0, diag = 0, upper = 0;
  Number made_of = 0;  ///< |diag|, or the size of what was subtracted to make it
};

/// What is left of the row that is eliminated next.
template <typename Number>
struct WaitingRow {
  Number diag, upper = 0;
  Number taken = 0;     ///< what its elimination took off the diagonal
  Number in_block = 0;  ///< 1: it closes a block of two rows and is its own pivot row, whatever its size
};

/// A row of the upper triangle, and what led to it.
template <typename Number>
struct PivotStep {
  Number diag, upper = 0, upper2 = 0;
  Number multiplier = 0;  ///< times this row's right-hand side goes from the next one's
  Number swapped = 0;     ///< 1: with the next row, before
};

/// Take the pivot row of the waiting row and the next one, and eliminate it from the other.
///
/// Pivots are diagonal blocks of 1 and 2 rows. A row alone multiplies what is on the next diagonal by 1 + |upper
/// next.lower| / |diag next.diag|, a block does so to the row behind it, by what the row in its middle couples to. The
/// waiting row stands alone if its growth is at most 11, else the smaller growth decides. Both sides of each comparison
/// have the same units, so that no scaling of rows or columns changes the choice, and none by powers of two a bit of
/// the result. A block of two rows is eliminated by its second row first; its determinant is at least 0.9 |upper
/// next.lower|.
/// @param after  the row behind a block; null: there is none
/// @source Bunch 1974, Erway and Marcia 2010 (diagonal pivoting of tridiagonal systems without interchanges)
template <typename Number>
PivotStep<Number> take_pivot(WaitingRow<Number>& waiting, const PivotedRow<Number>& next,
                             const PivotedRow<Number>* after = nullptr);

/// What elimination found of a system.
struct PivotFacts {
  Index bad = -1;          ///< the first row whose pivot is zero or not finite; -1: none
  bool overflows = false;  ///< that pivot is not finite, or a multiplier is so large that wider numbers are asked for
  bool lost = false;       ///< a pivot is at most 4 eps of what was subtracted to make it
  double growth = 0;       ///< the largest (|l_i u_(i-1)| + |p_i|) / |b_i|
  double bound = 0;        ///< |r_i| <= bound (|A| |x| + |y|)_i, in eps; infinity where blocks do not tell
  double trial = 0;        ///< the largest error of that kind in trial solves, in eps, if there were any; or NaN
};

/// What is done about errors by component, in eps.
struct PivotLimits {
  double bound;    ///< of a line with a larger bound, each answer is measured
  double refined;  ///< an answer that is measured with a larger error is refined
  double widened;  ///< an answer that keeps a larger error is solved in wider numbers
  double growth;   ///< a line of larger growth is tried: refinement may be too little for it
};

/// Many tridiagonal systems, solved by Gaussian elimination with diagonal blocks of 1 and 2 rows: the method `pivot`,
/// what is left of cut lines, and lines beyond the range of their own type. Systems of one length are eliminated side
/// by side, in bundles whose numbers are interleaved.
template <typename Number>
class PivotedLines {
 public:
  /// Systems of a bundle: as many, or one.
  static constexpr Index kLanes = 8;

  void clear();
  /// Place a bundle of `width` systems, kLanes or 1, of `rows` rows each.
  /// @return where its unknowns begin among those of all
  Index place(Index rows, Index width);
  /// Get memory for all that is placed, and factor what was added.
  void make_room();
  Index bundles() const { return static_cast<Index>(bundles_.size()); }
  /// Factor a bundle. May run for several at once.
  /// @param[in]  bands shape [rows][width]; lower of first rows and upper of last rows are 0
  /// @param[out] facts shape [width]; all but `trial`
  void factor(Index bundle, const BandsView<Number>& bands, PivotFacts* facts);
  /// Keep the bands of a factored bundle if a line of it has no bound within `limits`, so that solve() measures. Solve
  /// trial systems of lines that refinement may be too little for.
  void watch(Index bundle, const BandsView<Number>& bands, const PivotLimits& limits, PivotFacts* facts);
  /// Place one more system, which make_room() factors.
  /// @param[in] rows shape [n]; lower of the first and upper of the last are not read
  void add(const std::vector<PivotedRow<Number>>& rows);
  /// The largest PivotFacts::bound of the systems that were added.
  double added_bound() const { return added_bound_; }

  /// Unknowns of all systems.
  Index size() const { return size_; }
  /// Solve all systems in place. NaN stays in its system.
  /// @param[in,out] x shape [size()]; right-hand sides, then unknowns, in the order of place() and add()
  /// @cost 1 division, 3 multiplications and subtractions a row, by all processors of this process
  void solve(Number* x) const;
  /// Solve one bundle in place.
  /// What refinement cannot mend is solved again in wider numbers, which gets memory.
  /// @param[in,out] x shape [rows][width]  @param work  shape [3][rows][width], if the bundle is measured()
  /// @param[out] errors shape [width]; in eps, of lines that are measured and whose x was finite; else 0
  void solve(Index bundle, Number* x, Number* work, double* errors) const;
  bool measured(Index bundle) const { return !bundles_[static_cast<std::size_t>(bundle)].kept.empty(); }
  std::int64_t bytes() const;

 private:
  struct Bundle {
    Index at, rows, width;
    PivotLimits limits;
    std::vector<Number> kept;  ///< of a bundle that is measured: its bands, then 1 for each system that is, or 0
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
  double added_bound_ = 0;
};

/// The smallest pivot of a system against what was subtracted to make it; NaN if one is not finite. Rows that a block
/// takes first are no pivots.
template <typename Number>
Number smallest_pivot(const std::vector<PivotedRow<Number>>& rows);

}  // namespace oclspkt
