// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "cut_set.hpp"
#include "line_solver.hpp"
#include "pair_systems.hpp"
#include "pivoted_lines.hpp"

namespace oclspkt {

/// The cut lines that cannot be solved in parts. The root of each line solves the whole line on the host.
template <typename T>
class GatheredLines {
 public:
  explicit GatheredLines(const CutSet<T>& set) : set_(set) {}

  void clear();
  /// Collective: bring the bands of the gathered lines to their roots and factor them there.
  /// @param whole   the bands as the user gave them
  /// @param may_pin true if the last unknown of a singular line may be set to 0
  /// @throws Breakdown naming the first line that is too long for Options::gather_limit or singular
  void gather(Accord& accord, const Bands<T>& whole, const Options& options, bool may_pin);

  /// Right-hand sides and solutions of the lines gathered here, end to end in the order of the cut lines.
  T* y() { return y_.data(); }
  const T* x() const { return x_.data(); }
  /// Solve the lines gathered here. The call throws no error, because other processes wait for the solutions. check()
  /// throws the error later.
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
  void fill(const Wire<T>& wire, const Bands<T>& whole);
  void factor(const Options& options, bool may_pin);
  std::string name(std::size_t g) const;
  [[noreturn]] void refuse(const Options& options, const Breakdown& error);

  const CutSet<T>& set_;
  std::optional<LineSolver<T>> solver_;
  std::vector<Index> lines_;  ///< the cut lines that are gathered here
  Index pinned_ = 0;
  AlignedArray<T> y_, x_;
  std::exception_ptr failure_;  ///< error of the last solve
};

/// Copies values from fixed places of an array to fixed places of another array.
class Moves {
 public:
  /// @param stride  distance between consecutive values of an add() in the first array; in the second array it is 1
  void clear(Index stride = 1) {
    moves_.clear();
    stride_ = stride;
  }
  void add(Index from, Index to, Index count = 1) {
    if (!moves_.empty()) {
      Move& last = moves_.back();
      if (last.from + last.count * stride_ == from && last.to + last.count == to) {
        last.count += count;
        return;
      }
    }
    moves_.push_back({from, to, count});
  }
  /// @param from  null: NaN goes to all places
  template <typename From, typename To>
  void run(const From* from, To* to) const {
    for (const Move& move : moves_) {
      for (Index i = 0; i < move.count; ++i) {
        to[move.to + i] =
            from ? static_cast<To>(from[move.from + i * stride_]) : To(std::numeric_limits<Real<To>>::quiet_NaN());
      }
    }
  }
  /// Copy values back from the second array to the first array.
  template <typename To, typename From>
  void run_back(const To* to, From* from) const {
    for (const Move& move : moves_) {
      for (Index i = 0; i < move.count; ++i) from[move.from + i * stride_] = static_cast<From>(to[move.to + i]);
    }
  }
  std::int64_t bytes() const { return static_cast<std::int64_t>(moves_.capacity() * sizeof(Move)); }

 private:
  struct Move {
    Index from, to, count;
  };
  Index stride_ = 1;
  std::vector<Move> moves_;
};

/// The interface systems of cut lines, and the exchange of their values with other processes. Set-up finds the place
/// of each value, so an apply has no loop over lines.
template <typename T>
class CutInterface {
 public:
  CutInterface(CutSet<T>& set, GatheredLines<T>& gathered) : set_(set), gathered_(gathered) {}

  /// Collective: open the channels of an apply and factor the systems that this process solves.
  /// @pre the roots have judged their lines, and gathered lines are factored
  void wire();
  /// Collective: send the right-hand sides, receive the unknowns next to the cuts, and correct the inner rows.
  /// @param y null if this process failed to solve its inner rows; it then sends NaN and does not change x
  /// @return false if an unknown next to a cut of this process is not finite
  bool solve(const T* y, T* x);
  /// Collective: send the right-hand sides of the set's parts, solve the interface systems, and write the unknowns next
  /// to the cuts into the parts.
  /// @param y right-hand side, of which only rows of gathered lines are read; null: these rows are NaN
  void exchange(const T* y = nullptr);

  /// Scalars that this process sends and receives in an apply.
  Index sent() const { return across_.route.out_count + up_.route.out_count + back_.route.out_count; }
  Index received() const { return across_.route.in_count + up_.route.in_count + back_.route.in_count; }
  std::int64_t bytes() const;

 private:
  void wire_cuts();
  void wire_roots();
  void add_part(Index c, Index to, Moves& numbers, Moves& rows) const;
  Index told(Index c, int place) const;

  CutSet<T>& set_;
  GatheredLines<T>& gathered_;
  PairSystems<T> pairs_;               ///< 2x2 systems at cuts
  PivotedLines<Doubled<T>> systems_;   ///< reduced systems of the lines that are rooted here
  AlignedArray<Doubled<T>> unknowns_;  ///< unknowns of systems_; right-hand sides before a solve
  Moves to_cuts_;                      ///< from CutParts::g() into the messages across cuts
  Moves to_roots_;     ///< from CutParts::g() into messages to roots, and back into CutParts::unknowns()
  Moves own_, told_;   ///< from CutParts::g() (own_) and from messages (told_) into unknowns_, and back
  Moves sent_, kept_;  ///< gathered rows of y into messages (sent_) and into gathered_ (kept_), and back
  Moves got_;          ///< gathered rows from messages into gathered_, and back
  Wire<T> across_, up_, back_;
};

}  // namespace oclspkt
