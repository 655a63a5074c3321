// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "oclspkt/bands.hpp"
#include "scalars.hpp"

/// The numbers in which PivotedLines eliminates: X(Number) for each.
#define OCLSPKT_PIVOTED(X) \
  X(double)                \
  X(long double)           \
  X(std::complex<double>)  \
  X(std::complex<long double>)

namespace oclspkt {

/// An equation of a tridiagonal system: lower x_(i-1) + diag x_i + upper x_(i+1) = f.
template <typename Number>
struct PivotedRow {
  Number lower = 0, diag = 0, upper = 0;
  Real<Number> made_of = 0;  ///< |diag|, or the larger operand if diag is a difference
};

/// The row that is eliminated next, after all previous eliminations.
template <typename Number>
struct WaitingRow {
  Number diag, upper = 0;
  Number taken = 0;           ///< the number that elimination subtracted from the diagonal
  Real<Number> in_block = 0;  ///< 1: the second row of a block, always its own pivot row
};

/// A row of the upper triangular factor, with its elimination step.
template <typename Number>
struct PivotStep {
  Number diag, upper = 0, upper2 = 0;
  Number multiplier = 0;     ///< the next row subtracts this row's right-hand side times this factor
  Real<Number> swapped = 0;  ///< 1: this row changed places with the next row before its elimination
};

/// Choose the pivot row from the waiting row and the next row, and eliminate its unknown from the other row.
///
/// Pivots are diagonal blocks of 1 and 2 rows. A single row enlarges the next diagonal by the factor
/// 1 + |upper next.lower| / |diag next.diag|. A block of two rows enlarges the diagonal of the row behind it, through
/// the couplings between that row and the second row of the block. The waiting row is a block of 1 if its factor is at
/// most 11, or smaller than the factor of the block of two. In each comparison, both sides have equal
/// units: no scaling of rows or columns changes the choice, and scaling by powers of two changes no bit of the result.
/// A block of two rows is eliminated by its second row first; its determinant is at least 0.9 |upper next.lower|.
/// @param after  the row behind a block of two; null at the end of the line
/// @source Bunch 1974, Erway and Marcia 2010 (diagonal pivoting of tridiagonal systems without interchanges)
template <typename Number>
PivotStep<Number> take_pivot(WaitingRow<Number>& waiting, const PivotedRow<Number>& next,
                             const PivotedRow<Number>* after = nullptr);

/// The results of eliminating a system.
struct PivotFacts {
  Index bad = -1;          ///< the first row whose pivot is zero or not finite; -1: none
  bool overflows = false;  ///< the pivot of `bad` is not finite, or a multiplier needs wider numbers
  bool lost = false;       ///< a pivot is at most 4 eps of the number subtracted to make it
  double growth = 0;       ///< the largest (|number subtracted from the diagonal| + |pivot|) / |diagonal|
  double bound = 0;        ///< |r_i| <= bound (|A| |x| + |y|)_i, in eps; infinity if a block has no bound
  double trial = 0;        ///< the largest |r_i| / (|A| |x| + |y|)_i of trial solves, in eps, or NaN; 0 without trials
};

/// Limits of componentwise errors, in eps, and of the growth.
struct PivotLimits {
  double bound;    ///< if the bound of a line is larger, the error of each solution is measured
  double refined;  ///< solutions with a larger measured error are refined
  double widened;  ///< solutions with a larger error after refinement are computed again in wider numbers
  double growth;   ///< lines of larger growth get trial solves, because refinement may not suffice
};

/// Solves many tridiagonal systems by Gaussian elimination with diagonal blocks of 1 and 2 rows. It serves the method
/// `pivot`, the reduced systems of cut lines, and lines beyond the range of their type. Systems of one length form
/// bundles, which have interleaved numbers and are eliminated side by side.
template <typename Number>
class PivotedLines {
 public:
  /// A bundle has kLanes systems or 1 system.
  static constexpr Index kLanes = 8;

  void clear();
  /// Place a bundle of `width` systems, kLanes or 1, of `rows` rows each.
  /// @return place of the bundle's first unknown among the unknowns of all systems
  Index place(Index rows, Index width);
  /// Allocate memory for all placed systems, and factor the systems of add().
  void make_room();
  Index bundles() const { return static_cast<Index>(bundles_.size()); }
  /// Factor a bundle. Threads may factor several bundles at once.
  /// @param[in]  bands shape [rows][width]; lower of first rows and upper of last rows are 0
  /// @param[out] facts shape [width]; all members but `trial` are written
  void factor(Index bundle, const BandsView<Number>& bands, PivotFacts* facts);
  /// Keep the bands of a factored bundle if the bound of a line exceeds limits.bound, so that solve() measures errors.
  /// Run trial solves for lines whose growth exceeds limits.growth.
  void watch(Index bundle, const BandsView<Number>& bands, const PivotLimits& limits, PivotFacts* facts);
  /// Place a system in a bundle of its own, which make_room() factors.
  /// @param[in] rows shape [n]; lower of the first row and upper of the last row are not read
  void add(const std::vector<PivotedRow<Number>>& rows);

  /// The number of unknowns of all systems.
  Index size() const { return size_; }
  /// Solve all systems in place. A NaN does not spread to other systems.
  /// @param[in,out] x shape [size()]; right-hand sides, then unknowns, in the order of place() and add()
  /// @cost 1 division, 3 multiplications and subtractions a row, by all processors of this process
  void solve(Number* x) const;
  /// Solve one bundle in place. If refinement does not suffice for a system, solve it again in wider numbers, which
  /// allocates memory.
  /// @param[in,out] x shape [rows][width]; right-hand sides, then unknowns
  /// @param work      shape [3][rows][width] if the bundle is measured()
  /// @param[out] errors shape [width]; errors, in eps, of measured lines with a finite right-hand side; 0 for others
  void solve(Index bundle, Number* x, Number* work, double* errors) const;
  bool measured(Index bundle) const { return !bundles_[static_cast<std::size_t>(bundle)].kept.empty(); }
  std::int64_t bytes() const;

 private:
  struct Bundle {
    Index at, rows, width;
    PivotLimits limits;
    std::vector<Number> kept;               ///< measured bundles: the bands
    std::vector<Real<Number>> is_measured;  ///< measured bundles, for each system: 1 if it is measured, else 0
  };
  template <Index kWidth>
  void factor_lanes(const Bundle& bundle, const BandsView<Number>& bands, PivotFacts* facts);
  void substitute(const Bundle& bundle, Number* x) const;
  void measure(const Bundle& bundle, const Number* y, const Number* x, Number* r, double* errors) const;
  void solve_refined(const Bundle& bundle, Number* x, Number* work, double* errors) const;
  void widen(const Bundle& bundle, Index lane, const Number* y, Number* x, double& error) const;
  void run_trials(const Bundle& bundle, const Real<Number>* tried, PivotFacts* facts) const;

  std::vector<Bundle> bundles_;
  Index size_ = 0;
  /// Members of PivotStep, shape [size()]. The real part of upper2 is -0 exactly where `swapped` is 0.
  AlignedArray<Number> diag_, upper_, upper2_, multiplier_;
  std::vector<PivotedRow<Number>> added_;
};

/// The smallest ratio of a pivot to PivotedRow::made_of in a system; NaN if a pivot is not finite. The first row of a
/// block of two does not count as a pivot.
template <typename Number>
Real<Number> smallest_pivot(const std::vector<PivotedRow<Number>>& rows);

}  // namespace oclspkt
