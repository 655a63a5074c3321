// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "oclspkt/cut_solver.hpp"
#include "oclspkt/team.hpp"
#include "pieces.hpp"
#include "scalars.hpp"
#include "survey.hpp"

namespace oclspkt {

/// Lines that several processors solve at the same time. Each has a piece of the rows, a CutSolver and a thread. Cuts
/// between pieces are handled like cuts between processes.
template <typename T>
class SharedLines {
 public:
  /// @param options  options of the solver whose rows are shared
  /// @param words    shape [processors]; a word of Options::devices for each; if one fails, the other devices take over
  SharedLines(const Options& options, std::vector<std::string> words);
  const std::vector<std::string>& words() const { return words_; }

  /// Give each processor its rows of the bands, and set up all processors at the same time.
  /// @param survey  survey of all rows
  /// @param pieces  their owners are indices into words(); they outlive this object, and applies record their seconds
  /// @throws what Solver::set_up() throws; and Breakdown if a line of a piece is pinned, or would be solved whole
  void set_up(const Bands<T>& bands, Survey survey, std::span<Piece> pieces, const Known& known);
  /// Solve for all columns, like Solver::apply().
  void apply(Columns<const T> y, Columns<T> x, Index columns);

  /// The solver of a piece.
  const CutSolver<T>& solver(const Piece& piece) const { return *solvers_[piece.owner]; }
  /// Write the shares, and the combined reports of their solvers.
  void write_report(Report& report) const;
  /// Update the figures of the report that change with applies.
  void update_report(Report& report) const;
  /// The sum of the times of all pieces since the set-up.
  Times times() const;
  std::int64_t bytes() const;

 private:
  std::vector<std::string> words_;
  std::vector<std::unique_ptr<CutSolver<T>>> solvers_;  ///< shape [words]
  std::span<Piece> pieces_;
  std::unique_ptr<Team> team_;  ///< one member for each piece
};

#define OCLSPKT_DECLARE(T) extern template class SharedLines<T>;
OCLSPKT_SCALARS(OCLSPKT_DECLARE)
#undef OCLSPKT_DECLARE

}  // namespace oclspkt
