// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device.hpp"
#include "oclspkt/report.hpp"
#include "plan.hpp"
#include "schemes/problem.hpp"
#include "solved_bands.hpp"

namespace oclspkt {

inline constexpr const char* kPinCure = "the option singular pin sets the last unknown of each singular line to 0";

/// Rules by which trial solves judge a solver.
struct TrialRules {
  /// Run the smooth trial in addition to the rough trial. Stored factors with sound pivots, and partial pivoting, need
  /// one trial, because they are right for every right-hand side or for none. Sweeps without a check need both trials:
  /// the large solution of the rough trial hides errors that the smooth trial shows.
  bool both = false;
  /// Divide a row's error by the row times the largest unknown, instead of the row times its own unknowns. Tiles and
  /// partitions that are solved separately agree only to the rounding of their largest unknowns. This is a large
  /// relative error where an unknown passes through 0.
  bool by_row = false;
};

/// Test `solver`, which is set up for `bands`: by the rounding bound of stored factors, by the singular lines that
/// `pivot` found, and by trial solves.
/// @param rules               see TrialRules
/// @param[in,out] trial_error in: result of the trial solve, negative if it must still run; out: the result
/// @param         names       numbers of the lines for messages; null: their indices in `bands`
template <typename T>
Rejection examine(const Bands<T>& bands, DeviceSolver<T>& solver, const TrialRules& rules, double& trial_error,
                  const std::vector<Index>* names = nullptr);

/// The lines that are singular because their rows sum to 0, see sums_are_zero(); empty if no line is.
/// @param names see examine()
template <typename T>
Rejection object_to_sums(const Bands<T>& bands, const std::vector<Index>* names = nullptr);

/// Lines of a set that the host solves by a fallback method, because they fail a test of the other lines' method. Rows
/// near the ends of the number range are scaled by powers of two. If that does not suffice, the lines are solved in a
/// wider number type.
template <typename T>
class LineGroup {
 public:
  /// @param pinned the last unknown of each line is 0 and the last equation is dropped
  LineGroup(Method method, std::vector<Index> members, bool pinned, std::string why)
      : members_(std::move(members)), method_(method), pinned_(pinned), why_(std::move(why)) {}

  /// Set up the solver of the members, whose bands are in `all`, and examine() it. The lines of a rejection are indices
  /// into members().
  Rejection set_up(const Bands<T>& all);
  const std::vector<Index>& members() const { return members_; }
  bool pinned() const { return pinned_; }
  /// Overwrite the members' rows of x with their solutions.
  /// @param all the line set of x and y
  void solve(const LineSet& all, const T* y, T* x);
  GroupReport report() const;
  double rounding() const { return solver_ ? solver_->rounding() : 0; }
  double take_errors();
  std::int64_t bytes() const;

 private:
  std::vector<Index> members_;
  Method method_;
  bool pinned_;
  std::string why_;
  LineSet lines_;  ///< the members, laid end to end
  std::unique_ptr<DeviceSolver<T>> solver_;
  double trial_error_ = 0;
  std::vector<int> exponent_;  ///< row i is scaled by 2^exponent_[i]; empty: no row is scaled
  AlignedArray<T> y_, x_;
  bool leaves_range_ = false;  ///< scaling moved a right-hand side out of the range
};

/// The few lines of a set that fail a test of the method for the other lines. The host solves them separately. The
/// identity replaces their rows in the set's bands, so that the method for the other lines computes finite numbers.
template <typename T>
class FallbackLines {
 public:
  /// @param bands  bands of the set; must outlive this object
  explicit FallbackLines(SolvedBands<T>& bands) : bands_(bands) {}

  bool none() const { return lines_.empty(); }
  bool all() const { return !none() && static_cast<Index>(lines_.size()) == bands_.now().lines().count(); }
  bool contains(Index line) const;
  /// True if the method keeps enough lines without the lines `more`. @param by_host  the host runs the method
  bool may_add(const std::vector<Index>& more, Method method, bool by_host) const;
  /// Make the lines of a rejection fallback lines: replace their rows by the identity. make_solvers() sets them up.
  void add(const Rejection& rejection);
  /// Set up each line by the first method of the host that passes its tests for the line, and report the groups.
  /// @param pin_why  reason to pin singular lines; null: do not pin them
  /// @throws Breakdown naming a line for which no method passes
  void make_solvers(const char* pin_why, Report& report);
  /// Overwrite the fallback lines' rows of each column of x with their solutions.
  void solve(const T* y, Index y_stride, T* x, Index x_stride, Index columns);
  double take_errors();
  /// Put the lines back into the bands and forget the lines. @return false if there were no fallback lines
  bool put_back();
  /// Forget the lines without a change of the bands.
  void forget();
  /// The lines that are solved with the last unknown set to 0, ascending.
  std::vector<Index> pinned() const;
  std::int64_t bytes() const;

  /// Call f while the bands hold the rows of the fallback lines instead of the identity.
  template <typename F>
  void with_whole_bands(const F& f) {
    bands_.without(none() ? bands_.overlaid() : others_, f);
  }

 private:
  std::vector<Index> add_group(Method method, std::vector<Index> members, bool pinned, std::string& why);

  SolvedBands<T>& bands_;
  std::vector<Index> lines_;  ///< ascending
  std::size_t others_ = 0;    ///< rows of the overlay that do not belong to fallback lines
  std::string why_;           ///< reason of the first rejection
  std::vector<LineGroup<T>> groups_;
};

/// The lines with rows near the ends of the number range, which the host solves separately and scales exactly. Nothing
/// if there are no such lines, or if the user names a method that solves them unscaled.
template <typename T>
std::optional<Rejection> lines_out_of_range(const Options& options, const Survey& survey, const Bands<T>& bands);

/// A rejection of stored factors, if they fail for many lines of a sample; else empty.
template <typename T>
Rejection refused_by_sample(const Bands<T>& bands);

}  // namespace oclspkt
