// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "oclspkt/bands.hpp"
#include "oclspkt/export.hpp"
#include "oclspkt/solver.hpp"

namespace oclspkt {

template <typename T>
class DeviceVisit;
template <typename T>
class SharedLines;

/// How the lines of this process are continued on others.
struct Cuts {
  /// Each: the processes that hold a part of a line, from top to bottom; this process is one of them, none comes twice.
  std::vector<std::vector<int>> chains;
  std::vector<int> chain_of;  ///< shape [lines]; index into chains; empty: all lines have chain 0, or none is cut
  /// shape [lines]; the line's number in all processes together, picks its root process; empty: its place
  /// among the lines of the same chain. Lines of one chain have the same order on all of its processes.
  std::vector<Index> number;
};

/// How processes talk. Every call is collective over those concerned, in the same order on each.
class OCLSPKT_API Exchange {
 public:
  /// What goes to or comes from a process.
  struct Leg {
    int process = 0;
    Index count = 0;  ///< of scalars
  };
  /// A fixed pattern, opened once at set-up and used by every apply. Several may be under way at once, each once.
  class OCLSPKT_API Channel {
   public:
    virtual ~Channel() = default;
    /// Begin to receive, then to send. Legs lie in the buffers one after the other.
    /// @param[in]  out all legs that go out; may not change before finish()
    /// @param[out] in  all legs that come in; valid after finish()
    virtual void start(const void* out, void* in) = 0;
    virtual void finish() = 0;
  };

  virtual ~Exchange() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Open a channel; two processes agree on the count of what goes from one to the other, and a process has at most one
  /// leg for each other in each direction.
  virtual std::unique_ptr<Channel> open(std::vector<Leg> out, std::vector<Leg> in, std::size_t scalar_bytes) = 0;
  /// The largest over all processes, entry by entry; NaN wins.
  virtual void largest(std::span<double> values) = 0;
};

/// What a set-up made of the lines that are cut among processes.
struct CutReport {
  Index lines = 0;               ///< of this process that are cut
  Index longest_chain = 0;       ///< processes that hold the line with most parts, over all processes
  bool truncated = false;        ///< neighbours solve a 2x2 system per cut
  bool above_tolerance = false;  ///< truncation was named, and the bound does not cover it
  double bound = 0;              ///< of the error by truncation relative to max |x|, NaN: unknown; over all processes
  double tolerance = 0;          ///< what the bound was held against
  /// Bound on what rounding leaves in a row, as Report::rounding: of cut lines over all processes, of lines gathered
  /// over those of this one.
  double rounding = 0;
  std::string above_bound;    ///< of lines gathered here, or of an answer that is not finite; see Report::above_bound
  double backward_error = 0;  ///< componentwise, of the trial solves before lines were gathered; 0 if none was needed
  Index gathered = 0;         ///< lines of this process that are solved whole on one process
  Index first_gathered = -1;  ///< number of the first of them
  std::string gathered_why;   ///< of the first of them
  Index pinned = 0;           ///< lines that this process gathered and that are singular: their last unknown is 0
  Index spike_rows = 0;       ///< most rows of a part that an apply corrects from one side
  Index sent = 0, received = 0;  ///< scalars, by one apply of this process
};

/// Solve sets of tridiagonal systems whose lines are cut among processes. The calls are those of Solver, and collective
/// over all processes of the exchange if a line is cut on any of them.
///
/// Each process eliminates the inner rows of its parts by a Solver of its own; what is left is one tridiagonal system
/// a line in the top and bottom unknowns of its parts, solved by one process of its chain, or by pairs of neighbours
/// where the parts decay. If a process throws in set_up, all do.
/// @tparam T float or double
template <typename T>
class OCLSPKT_API CutSolver {
 public:
  /// @throws InvalidInput if an option is out of range
  explicit CutSolver(Options options = {});
  ~CutSolver();
  CutSolver(CutSolver&&) noexcept;
  CutSolver& operator=(CutSolver&&) noexcept;

  /// Storage for the bands of `lines`, see Solver::bands(). lower of a part's first row couples to the last row of the
  /// part above, upper of its last row to the first row of the part below; at the ends of the whole line they are
  /// ignored. What is wrong with `cuts` is told by set_up, to all processes.
  Bands<T>& bands(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange);
  /// The same for lines of which none is cut; nobody is talked to.
  Bands<T>& bands(const LineSet& lines);

  /// The same for a `write` that fills them and keeps no reference: where lines are cut, nothing is copied.
  void write(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange,
             const std::function<void(Bands<T>&)>& write);
  /// Those that the solver has, for lines and cuts that may be others.
  void keep_bands(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange);

  /// The same, filled by `fill`, see Solver::fill().
  void fill(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange, const BandsFill<T>& fill);

  /// The same, by a swap, see Solver::swap_bands(). Where lines are cut, `filled` was filled without them.
  void swap_bands(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange, FilledBands<T>& filled);

  /// Choose how to solve each part and the interface systems at the cuts.
  /// @throws InvalidInput, Breakdown, DeviceError as Solver::set_up, the process concerned; the others throw a
  ///         Breakdown or InvalidInput that names it
  /// @cost   besides Solver::set_up two solves for the spikes; where rows are not strictly dominant two more
  void set_up(const Known& known = {});

  /// Solve A x = y. @param[in] y, [out] x shape [lines.extent()] as in Solver::apply
  /// @cost 2 or, where nothing may be truncated, up to 4 scalars sent a line and cut
  void apply(const T* y, T* x);
  /// Solve A X = Y for several right-hand sides as Solver::apply does; lines that are cut take one after the other.
  void apply(const T* y, Index y_stride, T* x, Index x_stride, Index columns);
  /// Solve A^T x = y; its own set-up runs at the first call after a set_up.
  void apply_transpose(const T* y, T* x);
  /// Run that set-up now, if it is due.
  void set_up_transpose();
  /// The same for vectors in memory of a device, see Solver::takes() and Solver::enqueue(). Where lines are cut, the
  /// calls are collective as apply() is, processes may take theirs on the host or on a device, only the numbers next to
  /// cuts visit the host, and enqueue() waits for them. Not where a line of this process is gathered.
  bool takes(const DeviceQueue& queue) const;
  bool takes_transpose(const DeviceQueue& queue) const;
  void enqueue(const DeviceQueue& queue, const void* y, Index y_stride, void* x, Index x_stride, Index columns);
  void enqueue_transpose(const DeviceQueue& queue, const void* y, void* x);

  const Options& options() const;
  void set_options(Options options);
  const LineSet& lines() const;
  /// Of the Solver of this process, which knows the lines without the rows next to cuts.
  const Report& report() const;
  const Report& transpose_report() const;
  const CutReport& cut_report() const;
  const CutReport& transpose_cut_report() const;
  Times times() const;
  Times transpose_times() const;
  /// Of the Solver of this process alone: no time in which it waits for others.
  Times part_times() const;
  Counts counts() const;
  std::int64_t bytes() const;

 private:
  class Impl;
  friend class DeviceVisit<T>;
  friend class SharedLines<T>;
  Solver<T>* whole();
  /// The same as fill(), where bounds of what a survey finds are known and couplings out of whole lines are 0.
  void fill_known(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange, const BandsFill<T>& fill,
                  const Survey& rows);
  std::unique_ptr<Impl> impl_;
};

extern template class CutSolver<float>;
extern template class CutSolver<double>;

}  // namespace oclspkt
