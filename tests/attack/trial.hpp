// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>

#include "oclspkt/solver.hpp"
#include "solutions.hpp"
#include "truth.hpp"

namespace oclspkt::attack {

/// Backward errors over eps above which an answer is wrong; a report has to tell of it.
inline constexpr double kWrong = 100;
/// The goal.
inline constexpr double kGoal = 30;
/// Forward errors are held against kForward times LAPACK's + kWrong eps.
inline constexpr double kForward = 100;
/// Forward errors in a unit are held against this many eps times |A^-1| |A| |x|.
inline constexpr double kSpreads = 3;

/// Who solves.
struct Setting {
  std::string device = "host";
  std::string variant = "default";
  MethodChoice method = MethodChoice::automatic;
};

/// A right-hand side and what is known of its solution.
template <typename T>
struct Question {
  Solution kind;
  std::vector<T> y;
  Truth truth;
  std::vector<double> lapack;  ///< forward errors of LAPACK, one a piece
  double lapack_unit = 0;      ///< unit_error() of LAPACK
};

/// A case in arithmetic T with its right-hand sides, for any number of settings.
template <typename T>
struct Exam {
  Case about;
  Bands<T> bands;                      ///< as a solver gets them
  Bands<T> judged;                     ///< of the operator that is applied: the transpose of `bands` for Use::transpose
  Bands<T> tame;                       ///< of an earlier set-up, for Use::later
  std::vector<Piece> pieces;           ///< of `judged`
  std::vector<double> units;           ///< units_of() `judged`
  std::vector<int> decade;             ///< of the units of the unknowns
  std::vector<Question<T>> questions;  ///< those whose y is finite
};

template <typename T>
Exam<T> make_exam(const Case& c);

/// The numbers of a system as T has them.
template <typename T>
Bands<T> to_bands(const System& system) {
  Bands<T> bands(system.lines);
  const auto round = [](const std::vector<double>& from, T* to) {
    std::transform(from.begin(), from.end(), to, [](double value) { return static_cast<T>(value); });
  };
  round(system.lower, bands.lower());
  round(system.diag, bands.diag());
  round(system.upper, bands.upper());
  return bands;
}

/// The units in which a promise by rows in units is judged: the dominant_units() next to those in which devices solve.
template <typename T>
std::vector<double> units_of(const Bands<T>& bands, const std::vector<Piece>& pieces);

/// What a report says of rounding: a bound, in eps. 0 from a library whose reports say nothing.
template <typename R>
double rounding_bound(const R& report) {
  if constexpr (requires { report.rounding; }) {
    return report.rounding;
  } else {
    return 0;
  }
}

/// What a report's bound holds for.
///   row        |r_i| / (|A_i| max |x| + |y_i|)
///   units      the same where x is measured in the columns' units
///   component  |r_i| / (|A| |x| + |y|)_i
enum class Promised { row, units, component };
inline constexpr const char* kPromisedNames[] = {"row", "units", "component"};

/// Libraries whose reports do not say hold elimination without truncation on the host for right by component.
template <typename R>
Promised promise_of(const R& report) {
  if constexpr (requires { report.promise; }) {
    using Promise = decltype(report.promise);
    if (report.promise == Promise::by_component) return Promised::component;
    if constexpr (requires { report.units; }) {
      if (report.units > 0) return Promised::units;
    }
    return Promised::row;
  } else {
    const bool plain = report.method == Method::exact_factored && report.device.type == "host" && report.groups.empty();
    return plain ? Promised::component : Promised::row;
  }
}

/// One answer against what the report promises of it.
struct Answer {
  Solution kind = Solution::random;
  Errors errors = {};
  double bound = 0;           ///< what the report says once it has seen this answer, in eps
  double forward = 0;         ///< the largest over pieces
  double lapack_forward = 0;  ///< the same of LAPACK
  double unit = 0;            ///< unit_error() without what the certificate tells; above kSpreads of Truth::averaged()
  double rows = 0;            ///< unit_error() over what a bound by rows of 1 eps allows
  double lapack_unit = 0;     ///< the same of LAPACK
  double forward_share = 0;   ///< (forward - certificate / eps) / (kForward LAPACK's + kWrong)
};

/// What became of an exam.
struct Outcome {
  std::string refused;     ///< why there are no answers; empty if there are
  bool broke = false;      ///< a device failed or a kernel did not build
  bool automatic = false;  ///< nobody named the method
  std::string method, shape, device;
  bool above_tolerance = false;  ///< the report says that the certificate does not cover the method
  double bound = 0;              ///< rounding + certificate, in eps; NaN or infinite: nothing is known
  std::vector<Answer> answers;

  Promised promised = Promised::row;  ///< what `bound` holds for

  double error(const Answer& a) const {
    return promised == Promised::component ? a.errors.component
           : promised == Promised::units   ? a.errors.units
                                           : a.errors.row;
  }
  /// Pivoting measures answers, and its report grows with them.
  double bound_of(const Answer& a) const { return a.bound > bound ? a.bound : bound; }
  bool told(const Answer& a) const { return above_tolerance || !exceeded(a); }
  /// Wrong, and nobody said so.
  bool failed(const Answer& a) const { return error(a) > kWrong && !told(a); }
  bool exceeded(const Answer& a) const { return bound_of(a) < error(a); }
  /// Farther from the truth than the bound allows, whatever the matrix is. With r = y - A x*, x* - x is A^-1 r:
  ///   by component  at most bound eps |A^-1| |A| (|x| + |x*|)
  ///   by rows       at most bound eps |A^-1| |A| (|x| + d max |x*| / d), d the columns' units
  bool beyond(const Answer& a) const {
    return (promised == Promised::component ? a.unit / 2 : a.rows) > bound_of(a) && !above_tolerance;
  }
  /// Far from the truth in a unit. A bound by component tells of twice as many spreads: |y| is at most |A| |x|.
  bool astray(const Answer& a) const { return a.unit > kSpreads && !told_in_units(a); }
  bool told_in_units(const Answer& a) const {
    const double most = bound_of(a);
    return above_tolerance || !(most <= kWrong) || (promised == Promised::component && a.unit <= 2 * most);
  }
};

/// Set up a solver, or two times, and judge its answers to all questions.
template <typename T>
Outcome take(const Exam<T>& exam, const Setting& setting);

}  // namespace oclspkt::attack
