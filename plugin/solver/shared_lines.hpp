// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "median_of_many.hpp"
#include "oclspkt/cut_solver.hpp"
#include "oclspkt/team.hpp"
#include "pieces.hpp"
#include "survey.hpp"

namespace oclspkt {

/// Lines that several processors solve at once: each has a piece of the rows, and a CutSolver of its own in a thread of
/// its own; lines cut by pieces are joined as those cut by processes are.
/// @tparam T float or double
template <typename T>
class SharedLines {
 public:
  /// @param options  of the solver whose rows are shared
  /// @param words    of each processor, as Options::devices takes it; if one fails, the other devices take over
  SharedLines(const Options& options, std::vector<std::string> words);
  const std::vector<std::string>& words() const { return words_; }

  /// Give each processor its rows of the bands, and set all up at once.
  /// @param survey  of all rows
  /// @throws what Solver::set_up() throws; and Breakdown where a piece cannot stand by itself: a line of it is pinned,
  ///         or would be solved whole
  void set_up(const Bands<T>& bands, Survey survey, std::vector<Piece> pieces, const Known& known);
  /// Solve for all columns, as Solver::apply().
  void apply(const T* y, Index y_stride, T* x, Index x_stride, Index columns);

  const std::vector<Piece>& pieces() const { return pieces_; }
  const Report& report(std::size_t piece) const { return solvers_[pieces_[piece].owner]->report(); }
  const CutReport& cut_report(std::size_t piece) const { return solvers_[pieces_[piece].owner]->cut_report(); }
  /// Median seconds of the last applies of a piece, without waiting for others; 0 before the first.
  double seconds(std::size_t piece) const { return medians_[piece].value(); }
  /// The same of all together.
  double all_seconds() const { return all_.value(); }
  std::int64_t all_applies() const { return all_.count(); }
  /// Of a piece, since the set-up.
  Times times(std::size_t piece) const { return solvers_[pieces_[piece].owner]->part_times(); }
  Times times() const;
  std::int64_t bytes() const;

 private:
  std::vector<std::string> words_;
  std::vector<std::unique_ptr<CutSolver<T>>> solvers_;  ///< shape [words]
  std::vector<Piece> pieces_;
  std::unique_ptr<Team> team_;  ///< a member for each piece
  std::vector<MedianOfMany> medians_;
  std::vector<double> before_;  ///< shape [pieces]; seconds of part_times() before an apply
  MedianOfMany all_;
};

extern template class SharedLines<float>;
extern template class SharedLines<double>;

}  // namespace oclspkt
