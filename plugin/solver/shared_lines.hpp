// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "oclspkt/cut_solver.hpp"
#include "oclspkt/team.hpp"
#include "pieces.hpp"
#include "survey.hpp"

namespace oclspkt {

/// The median time of applies: the throughput that later applies reach again, even if other programs interrupted some
/// of these. It is the median of a random sample, which covers all applies since the set-up. Of two applies it is the
/// quicker one, because the first apply runs with cold caches.
class MedianSeconds {
 public:
  void add(double seconds) {
    const std::size_t place = count_ < kSample ? count_ : random_() % (count_ + 1);
    if (place < kSample) sample_[place] = seconds;
    ++count_;
  }
  /// Median seconds; 0 before the first apply.
  double value() const {
    std::array<double, kSample> sorted = sample_;
    const auto used = static_cast<std::ptrdiff_t>(std::min(count_, kSample));
    const auto middle = sorted.begin() + std::max<std::ptrdiff_t>(used - 1, 0) / 2;
    std::nth_element(sorted.begin(), middle, sorted.begin() + used);
    return *middle;
  }
  std::size_t count() const { return count_; }

 private:
  static constexpr std::size_t kSample = 31;
  std::array<double, kSample> sample_{};
  std::size_t count_ = 0;
  std::minstd_rand random_;
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
    MedianSeconds seconds = {};  ///< of an apply, without waiting for other parts
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
  const MedianSeconds& seconds() const { return seconds_; }
  /// The sum of the times of all parts since the set-up.
  Times times() const;
  std::int64_t bytes() const;

 private:
  std::vector<std::string> words_;
  std::vector<std::unique_ptr<CutSolver<T>>> solvers_;  ///< shape [words]
  std::vector<Part> parts_;
  std::unique_ptr<Team> team_;  ///< one member for each part
  MedianSeconds seconds_;
};

extern template class SharedLines<float>;
extern template class SharedLines<double>;

}  // namespace oclspkt
