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

/// How the lines of this process continue on other processes.
struct Cuts {
  /// The processes of each chain, which hold the parts of its lines from top to bottom: this one is in it, none twice.
  std::vector<std::vector<int>> chains;
  std::vector<int> chain_of;  ///< shape [lines]; index into chains; empty: all lines have chain 0, or none is cut
  /// shape [lines]; the line's number among those of all processes, which decides on its root process; empty: its place
  /// among the lines of the same chain. Lines of one chain have the same order on all of its processes.
  std::vector<Index> number;
};

/// How processes exchange messages. All processes concerned call each function, in the same order.
class OCLSPKT_API Exchange {
 public:
  /// The message to or from one process.
  struct Leg {
    int process = 0;
    Index count = 0;  ///< of scalars
  };
  /// A fixed pattern of messages, opened at set-up, used by every apply. Several may be started at once, each once.
  class OCLSPKT_API Channel {
   public:
    virtual ~Channel() = default;
    /// Begin to receive, then to send. The buffers hold the legs one after the other.
    /// @param[in]  out all outgoing legs; must not change before finish()
    /// @param[out] in  all incoming legs; valid after finish()
    virtual void start(const void* out, void* in) = 0;
    virtual void finish() = 0;
  };

  virtual ~Exchange() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Open a channel. Two processes must agree on the count of a leg between them. A process has at most one leg to and
  /// one from each other process.
  virtual std::unique_ptr<Channel> open(std::vector<Leg> out, std::vector<Leg> in, std::size_t scalar_bytes) = 0;
  /// The largest over all processes, entry by entry; NaN wins.
  virtual void largest(std::span<double> values) = 0;
};

/// The result of a set-up for the lines that are cut among processes.
struct CutReport {
  Index lines = 0;               ///< cut lines of this process
  Index longest_chain = 0;       ///< processes that hold the line with most parts, over all processes
  bool truncated = false;        ///< neighbours solve a 2x2 system per cut
  bool above_tolerance = false;  ///< the user named truncation, and the bound is above the tolerance
  double bound = 0;              ///< on the truncation error relative to max |x|, over all processes; NaN: unknown
  double tolerance = 0;          ///< the largest bound that is accepted
  /// Bound on rounding as Report::rounding: for cut lines over all processes, for gathered lines over those of this
  /// process.
  double rounding = 0;
  std::string above_bound;    ///< for lines gathered here, or an answer that is not finite; see Report::above_bound
  double backward_error = 0;  ///< of the trial solves before lines were gathered, componentwise; 0 if none was needed
  Index gathered = 0;         ///< lines of this process that are solved whole on one process
  Index first_gathered = -1;  ///< number of the first gathered line
  std::string gathered_why;   ///< why the first of them is gathered
  Index pinned = 0;           ///< singular lines that this process gathered: their last unknown is 0
  Index spike_rows = 0;       ///< most rows of a part that an apply corrects from one side
  Index sent = 0, received = 0;  ///< scalars per apply of this process
};

/// Solve sets of tridiagonal systems whose lines are cut among processes. It has the calls of Solver; they are
/// collective over all processes of the exchange if any of these has a cut line.
///
/// Each process eliminates the inner rows of its parts by a Solver of its own. The top and bottom unknowns of a line's
/// parts form one tridiagonal system. One process of the chain solves it, or pairs of neighbours if the parts decay. If
/// a process throws in set_up, all do.
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
  /// ignored. set_up reports errors in `cuts`, on all processes.
  Bands<T>& bands(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange);
  /// Storage for the bands of lines none of which is cut; no messages are sent.
  Bands<T>& bands(const LineSet& lines);

  /// Fill the bands by `write`, which keeps no reference to them: nothing is copied if lines are cut.
  void write(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange,
             const std::function<void(Bands<T>&)>& write);
  /// Keep the numbers of the bands for lines and cuts that may have changed.
  void keep_bands(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange);

  /// Fill the bands by `fill`, see Solver::fill().
  void fill(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange, const BandsFill<T>& fill);

  /// Exchange the bands with `filled`, see Solver::swap_bands(). For cut lines `filled` was filled without their cuts.
  void swap_bands(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange, FilledBands<T>& filled);

  /// Choose how to solve each part and the interface systems at the cuts.
  /// @throws InvalidInput, Breakdown, DeviceError as Solver::set_up, on the process concerned; the others throw a
  ///         Breakdown or InvalidInput that names it
  /// @cost   besides Solver::set_up two solves for the spikes, and two more if rows are not strictly dominant
  void set_up(const Known& known = {});

  /// Solve A x = y. @param[in] y, [out] x shape [lines.extent()] as in Solver::apply
  /// @cost 2 scalars sent a line and cut, up to 4 if nothing may be truncated
  void apply(const T* y, T* x);
  /// Solve A X = Y for several right-hand sides as Solver::apply does; cut lines take them one after the other.
  void apply(const T* y, Index y_stride, T* x, Index x_stride, Index columns);
  /// Solve A^T x = y; its own set-up runs at the first call after a set_up.
  void apply_transpose(const T* y, T* x);
  /// Run the set-up of apply_transpose() now, if it is due.
  void set_up_transpose();
  /// Solve with vectors in memory of a device, see Solver::takes() and Solver::enqueue(). For cut lines the calls are
  /// collective as apply() is, and each process may solve on the host or on a device. Only the numbers next to cuts
  /// visit the host, and enqueue() waits for them. Not available if a line of this process is gathered.
  bool takes(const DeviceQueue& queue) const;
  bool takes_transpose(const DeviceQueue& queue) const;
  void enqueue(const DeviceQueue& queue, const void* y, Index y_stride, void* x, Index x_stride, Index columns);
  void enqueue_transpose(const DeviceQueue& queue, const void* y, void* x);

  const Options& options() const;
  void set_options(Options options);
  const LineSet& lines() const;
  /// Report of this process's Solver, which has the lines without the rows next to cuts.
  const Report& report() const;
  const Report& transpose_report() const;
  const CutReport& cut_report() const;
  const CutReport& transpose_cut_report() const;
  Times times() const;
  Times transpose_times() const;
  /// Times of this process's Solver alone, without waiting for other processes.
  Times part_times() const;
  Counts counts() const;
  std::int64_t bytes() const;

 private:
  class Impl;
  friend class DeviceVisit<T>;
  friend class SharedLines<T>;
  Solver<T>* whole();
  /// Fill as fill() does, with known bounds of a survey, and couplings out of whole lines that are 0.
  void fill_known(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange, const BandsFill<T>& fill,
                  const Survey& rows);
  std::unique_ptr<Impl> impl_;
};

extern template class CutSolver<float>;
extern template class CutSolver<double>;

}  // namespace oclspkt
