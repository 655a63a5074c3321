// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "accord.hpp"
#include "cut_set.hpp"
#include "line_solver.hpp"

namespace oclspkt {

/// The cut lines that cannot be solved in parts: the root of each line solves it whole, on the host.
template <typename T>
class GatheredLines {
 public:
  explicit GatheredLines(const CutSet<T>& set) : set_(set) {}

  void clear();
  /// Collective: bring the bands of the gathered lines to their roots and factor them there.
  /// @param whole   the bands as they were given
  /// @param may_pin true if the last unknown of a singular line may be set to 0
  /// @throws Breakdown naming the first line that is too long for Options::gather_limit or singular
  void gather(Accord& accord, const Bands<T>& whole, const Options& options, bool may_pin);

  /// Right-hand sides and solutions of the lines gathered here, end to end in the order of the cut lines.
  T* y() { return y_.data(); }
  const T* x() const { return x_.data(); }
  /// Solve the lines gathered here. Other processes wait for the solutions: check() throws the errors later.
  void solve();
  /// @throws Breakdown if method auto must not return the last solution, see AboveBound
  void check() const {
    if (failure_) std::rethrow_exception(failure_);
  }
  /// Add the rounding bound to the report, and the reason if the limits of method auto are exceeded.
  void tell(CutReport& report) const;
  Index pinned() const { return pinned_; }
  std::int64_t bytes() const { return y_.bytes() + x_.bytes() + (solver_ ? solver_->bytes() : 0); }

 private:
  void check_limit(Index limit) const;
  void fill(const Wire<T>& wire, const Bands<T>& whole);
  void factor(const Options& options, bool may_pin);
  std::string name(std::size_t g) const;
  [[noreturn]] void refuse(const Options& options, const Breakdown& error);

  const CutSet<T>& set_;
  std::optional<LineSolver<T>> solver_;
  std::vector<Index> lines_;  ///< the cut lines that are gathered here
  Index pinned_ = 0;
  AlignedArray<T> y_, x_;
  std::exception_ptr failure_;  ///< of the last solve
};

}  // namespace oclspkt
