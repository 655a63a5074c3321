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

/// The mean time of applies, without the first one, which runs with cold caches.
class MeanSeconds {
 public:
  void add(double seconds) { (count_++ == 0 ? first_ : others_) += seconds; }
  /// Mean seconds: 0 before the first apply; after one apply, its time.
  double value() const { return count_ < 2 ? first_ : others_ / static_cast<double>(count_ - 1); }
  std::int64_t count() const { return count_; }

 private:
  double first_ = 0, others_ = 0;
  std::int64_t count_ = 0;
};

/// Lines that several processors solve at the same time. Each has a piece of the rows, a CutSolver and a thread. Cuts
/// between pieces are handled like cuts between processes.
/// @tparam T float or double
template <typename T>
class SharedLines {
 public:
  struct Part {
    Piece piece;
    CutSolver<T>* solver;
    double before = 0;         ///< total seconds of the solver before the present apply
    MeanSeconds seconds = {};  ///< mean of an apply, without waiting for other parts
  };

  /// @param options  options of the solver whose rows are shared
  /// @param words    shape [processors]; a word of Options::devices for each; if one fails, the other devices take over
  SharedLines(const Options& options, std::vector<std::string> words);
  const std::vector<std::string>& words() const { return words_; }

  /// Give each processor its rows of the bands, and set up all processors at the same time.
  /// @param survey  survey of all rows
  /// @throws what Solver::set_up() throws; and Breakdown if a line of a piece is pinned, or would be solved whole
  void set_up(const Bands<T>& bands, Survey survey, std::vector<Piece> pieces, const Known& known);
  /// Solve for all columns, like Solver::apply().
  void apply(const T* y, Index y_stride, T* x, Index x_stride, Index columns);

  const std::vector<Part>& parts() const { return parts_; }
  /// Time of an apply by all parts together.
  const MeanSeconds& seconds() const { return seconds_; }
  /// The sum of the times of all parts since the set-up.
  Times times() const;
  std::int64_t bytes() const;

 private:
  std::vector<std::string> words_;
  std::vector<std::unique_ptr<CutSolver<T>>> solvers_;  ///< shape [words]
  std::vector<Part> parts_;
  std::unique_ptr<Team> team_;  ///< one member for each part
  MeanSeconds seconds_;
};

extern template class SharedLines<float>;
extern template class SharedLines<double>;

}  // namespace oclspkt
