// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "line_group.hpp"
#include "solved_bands.hpp"

namespace oclspkt {

inline constexpr const char* kPinCure = "the option singular pin sets the last unknown of each singular line to 0";

/// The few lines of a set that fail a test of the method for the other lines. The host solves them separately. In the
/// bands of the set they hold the identity, so that the method for the other lines computes finite numbers there.
template <typename T>
class FallbackLines {
 public:
  /// @param bands  of the set; they outlive this object
  explicit FallbackLines(SolvedBands<T>& bands) : bands_(bands) {}

  bool none() const { return lines_.empty(); }
  /// True if every line is a fallback line.
  bool all() const { return !none() && static_cast<Index>(lines_.size()) == bands_.now().lines().count(); }
  bool contains(Index line) const;
  /// True if enough lines remain for the method without `more` lines. @param by_host  the host runs the method
  bool may_add(const std::vector<Index>& more, Method method, bool by_host) const;
  /// Solve the identity in the place of a rejection's lines; make_solvers() makes their solvers.
  void add(const Rejection& rejection);
  /// Set up each line by the first method of the host that holds for it, and report the groups.
  /// @param pin_why  why singular lines are pinned; null: they are not
  /// @throws Breakdown that names a line for which no method holds
  void make_solvers(const char* pin_why, Report& report);
  /// Overwrite the lines' rows of each column of x with their solutions.
  void solve(const T* y, Index y_stride, T* x, Index x_stride, Index columns);
  /// See DeviceSolver::take_errors().
  double take_errors();
  /// Put the lines back into the bands and forget them. @return false if there was none
  bool put_back();
  /// Forget the lines, whatever the bands hold.
  void forget();
  /// The lines that are solved with the last unknown set to 0, in order.
  std::vector<Index> pinned() const;
  std::int64_t bytes() const;

  /// Call f while the bands hold these lines as well.
  template <typename F>
  void with_whole_bands(const F& f) {
    bands_.without(none() ? bands_.overlaid() : others_, f);
  }

 private:
  std::vector<Index> add_group(Method method, std::vector<Index> members, bool pinned, std::string& why);

  SolvedBands<T>& bands_;
  std::vector<Index> lines_;  ///< in order
  std::size_t others_ = 0;    ///< rows of the overlay that are not of these lines
  std::string why_;           ///< of the first rejection
  std::vector<LineGroup<T>> groups_;
};

/// The lines with rows near the ends of the number range, if there are any: the host solves them separately and scales
/// them exactly. None if the user names a method that solves them unscaled.
template <typename T>
std::optional<Rejection> lines_out_of_range(const Options& options, const Survey& survey, const Bands<T>& bands);

/// Why lines are not factored without pivoting: such factors fail for many lines of a sample. Empty: they may hold.
template <typename T>
Rejection refused_by_sample(const Bands<T>& bands);

extern template class FallbackLines<float>;
extern template class FallbackLines<double>;

}  // namespace oclspkt
