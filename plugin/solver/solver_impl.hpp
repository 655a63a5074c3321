// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>

#include "cut_operator.hpp"
#include "line_solver.hpp"
#include "oclspkt/solver.hpp"

namespace oclspkt {

/// The operator of the last set-up, and the solver of A^T.
template <typename T>
class Solver<T>::Impl {
 public:
  explicit Impl(Options given) : options(std::move(given)), whole(options) {}

  /// Prepare for new bands of `lines`. The caller then writes them into the returned system.
  System<T>& begin(const ProcessLines& lines);
  /// @param rows  bounds on the survey of all rows, if known; the couplings out of whole lines must then be 0
  void fill(const ProcessLines& lines, const BandsFill<T>& fill, const std::optional<Survey>& rows);
  /// The solver of all lines; null if a line is cut on any process.
  LineSolver<T>* alone() { return active == &whole ? &whole : nullptr; }
  bool is_cut() const { return active == &cut; }
  bool ready() const { return active != nullptr && (is_cut() || whole.report().ready); }
  template <typename Work>
  void on_transposed(const Work& work);

  Options options;
  Known known;
  LineSolver<T> whole;
  CutOperator<T> cut{whole, options};
  Operator<T>* active = nullptr;  ///< `whole` or `cut`; null unless the last set-up succeeded
  std::unique_ptr<Solver<T>> transposed;
  bool transpose_stale = true;
  Times before;  ///< times of `whole` before the first apply
  std::int64_t set_ups = 0;

 private:
  void set_up_transpose();
};

}  // namespace oclspkt
