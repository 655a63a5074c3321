// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "oclspkt/cut_solver.hpp"
#include "oclspkt/team.hpp"
#include "pieces.hpp"
#include "survey.hpp"

namespace oclspkt {

/// The mean of the seconds of applies, but for the first one, which is that of cold caches.
class MeanSeconds {
 public:
  void add(double seconds) { (count_++ == 0 ? first_ : others_) += seconds; }
  /// 0 before the first.
  double value() const { return count_ < 2 ? first_ : others_ / static_cast<double>(count_ - 1); }
  std::int64_t count() const { return count_; }

 private:
  double first_ = 0, others_ = 0;
  std::int64_t count_ = 0;
};

/// Lines that several processors solve at once: each has a piece of the rows, and a CutSolver of its own in a thread of
/// its own; lines cut by pieces are joined as those cut by processes are.
/// @tparam T float or double
template <typename T>
class SharedLines {
 public:
  struct Part {
    Piece piece;
    CutSolver<T>* solver;
    double before = 0;         ///< seconds of the solver before an apply
    MeanSeconds seconds = {};  ///< of applies, without waiting for others
  };

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

  const std::vector<Part>& parts() const { return parts_; }
  /// Seconds of applies of all together.
  const MeanSeconds& seconds() const { return seconds_; }
  /// Of all parts, since the set-up.
  Times times() const;
  std::int64_t bytes() const;

 private:
  std::vector<std::string> words_;
  std::vector<std::unique_ptr<CutSolver<T>>> solvers_;  ///< shape [words]
  std::vector<Part> parts_;
  std::unique_ptr<Team> team_;  ///< a member for each part
  MeanSeconds seconds_;
};

extern template class SharedLines<float>;
extern template class SharedLines<double>;

}  // namespace oclspkt
