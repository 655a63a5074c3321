// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <optional>

#include "backward_error.hpp"
#include "matrices.hpp"
#include "pivot_solver.hpp"
#include "reference.hpp"

namespace oclspkt::test {

/// One line of a set by itself: how it lies, and the pointers to add to.
inline LineSet line_alone(const LineSet& lines, Index line) {
  return LineSet::strided(lines.length(line), lines.row_stride(), 1, 1);
}

/// Largest errors of lines that are right, in eps: by components, and by norm where components do not show it.
struct Accepted {
  double componentwise = 0, normwise = 0;
};

/// Judge answers to A x = y line by line, LAPACK's being the measure.
///
/// An answer is right if its componentwise backward error is at most 100 eps or its normwise one at most 10
/// max(LAPACK's, eps). Lines whose y is not finite are not judged. Where the solution, or
/// its product with an entry of the matrix, comes within a factor of 1024 of the largest number, or LAPACK's is none,
/// another order of elimination may overflow, as long as that shows.
template <typename T>
class LineJudge {
 public:
  static constexpr double eps = std::numeric_limits<T>::epsilon();
  static constexpr T kNearOverflow = std::numeric_limits<T>::max() / 1024;

  /// @param bands, y outlive the judge
  LineJudge(const Bands<T>& bands, const std::vector<T>& y) : bands_(bands), y_(y) {
    const LineSet& lines = bands.lines();
    for (Index l = 0; l < lines.count(); ++l) finite_ = finite_ && finite_bands(l);
    if (!finite_) return;
    std::vector<T> x(y.size());
    reference_.factor(lines, bands.view());
    reference_.solve(y.data(), x.data());
    wide_.set_up({}, bands);
    std::vector<T> wide(y.size());
    wide_.apply(y.data(), wide.data());
    for (Index l = 0; l < lines.count(); ++l) {
      const auto doubts_it = [&](const auto& doubt) { return doubt.line == l; };
      doubted_.push_back(std::any_of(reference_.doubts().begin(), reference_.doubts().end(), doubts_it));
      lapack_.push_back(error(normwise_backward_error<T>, l, x.data(), y.data()));
      near_overflow_.push_back(!well_in_range(l, x.data()) || !well_in_range(l, wide.data()));
    }
  }

  /// True if all numbers of the bands that are read are finite.
  bool finite() const { return finite_; }

  /// True if LAPACK finds no line singular and solves each with a normwise backward error of 10 eps at most, for y and
  /// for another right-hand side, if there is one.
  bool lapack_manages(const std::vector<T>& another = {}) {
    const auto& doubts = reference_.doubts();
    if (!finite_ || std::any_of(doubts.begin(), doubts.end(), [](const auto& d) { return d.singular; })) return false;
    std::vector<T> x(another.size()), wide(another.size());
    if (!another.empty()) reference_.solve(another.data(), x.data());
    if (!another.empty()) wide_.apply(another.data(), wide.data());
    for (Index l = 0; l < bands_.lines().count(); ++l) {
      if (finite_in(l, y_.data()) && !(lapack_[static_cast<std::size_t>(l)] <= 10 * eps)) return false;
      if (another.empty()) continue;
      if (!(error(normwise_backward_error<T>, l, x.data(), another.data()) <= 10 * eps)) return false;
      if (!well_in_range(l, wide.data())) return false;  // by luck
    }
    return true;
  }

  /// What is wrong with x, or nothing.
  /// @param normwise what the normwise backward error may exceed the usual limit by: a truncation that was asked for
  /// @param pinned   lines that LAPACK cannot solve, or whose last pivot it rounds to about nothing, are not judged
  /// @param accepted takes part in its maxima, if there is one
  std::optional<std::string> wrong(const T* x, double normwise = 0, bool pinned = false,
                                   Accepted* accepted = nullptr) const {
    if (!finite_) return "the bands hold NaN or Inf";
    for (Index l = 0; l < bands_.lines().count(); ++l) {
      if (!finite_in(l, y_.data())) continue;
      const double lapack = lapack_[static_cast<std::size_t>(l)];
      const bool may_overflow = std::isnan(lapack) || near_overflow_[static_cast<std::size_t>(l)];
      if ((std::isnan(lapack) && pinned) || (may_overflow && !finite_in(l, x))) continue;  // visible
      const double by_rows = error(componentwise_backward_error<T>, l, x, y_.data());
      if (by_rows <= 100 * eps) {
        if (accepted) accepted->componentwise = std::max(accepted->componentwise, by_rows / eps);
        continue;
      }
      const double by_norm = error(normwise_backward_error<T>, l, x, y_.data());
      if (by_norm <= 10 * std::max(eps, lapack) + normwise) {
        if (accepted) accepted->normwise = std::max(accepted->normwise, by_norm / eps);
        continue;
      }
      if (pinned && (doubted_[static_cast<std::size_t>(l)] || !(lapack <= 10 * eps))) continue;
      return "line " + std::to_string(l) + " of " + bands_.lines().describe() + ": componentwise " +
             std::to_string(by_rows / eps) + " eps, normwise " + std::to_string(by_norm / eps) + " eps, LAPACK " +
             std::to_string(lapack / eps) + " eps";
    }
    return std::nullopt;
  }

 private:
  template <typename Measure>
  double error(const Measure& measure, Index line, const T* x, const T* y) const {
    if (bands_.lines().length(line) == 0) return 0;
    const Index first = bands_.lines().first(line);
    const BandsView<T> b = bands_.view();
    return measure(line_alone(bands_.lines(), line), {b.lower + first, b.diag + first, b.upper + first}, x + first,
                   y + first);
  }
  /// Call f(offset, row within the line) for the rows of a line until it is false.
  template <typename F>
  bool all_rows(Index line, const F& f) const {
    const LineSet& lines = bands_.lines();
    for (Index i = 0; i < lines.length(line); ++i) {
      if (!f(lines.first(line) + i * lines.row_stride(), i)) return false;
    }
    return true;
  }
  bool finite_in(Index line, const T* v) const {
    return all_rows(line, [&](Index at, Index) { return std::isfinite(v[at]); });
  }
  bool well_in_range(Index line, const T* x) const {
    const BandsView<T> b = bands_.view();
    const Index step = bands_.lines().row_stride(), last = bands_.lines().length(line) - 1;
    const auto well = [](T entry, T unknown) { return std::abs(static_cast<T>(entry * unknown)) < kNearOverflow; };
    return all_rows(line, [&](Index at, Index i) {
      return well(1, x[at]) && well(b.diag[at], x[at]) && (i == 0 || well(b.lower[at], x[at - step])) &&
             (i == last || well(b.upper[at], x[at + step]));
    });
  }
  bool finite_bands(Index line) const {
    const BandsView<T> b = bands_.view();
    const Index last = bands_.lines().length(line) - 1;
    return all_rows(line, [&](Index at, Index i) {
      return std::isfinite(b.diag[at]) && (i == 0 || std::isfinite(b.lower[at])) &&
             (i == last || std::isfinite(b.upper[at]));
    });
  }
  const Bands<T>& bands_;
  const std::vector<T>& y_;
  bool finite_ = true;
  Reference<T> reference_;
  WideSolver<T> wide_;
  std::vector<double> lapack_;       ///< normwise backward error of each line
  std::vector<bool> doubted_;        ///< LAPACK doubts that the line is regular
  std::vector<bool> near_overflow_;  ///< the solution of the line, LAPACK's or that in wider numbers
};

}  // namespace oclspkt::test
