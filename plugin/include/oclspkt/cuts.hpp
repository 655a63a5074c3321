// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "oclspkt/export.hpp"
#include "oclspkt/line_set.hpp"

namespace oclspkt {

/// How the lines of this process continue on other processes.
struct Cuts {
  /// shape [chains]; the processes that hold the parts of a chain's lines, from top to bottom. Every chain contains
  /// this process, and no process twice.
  std::vector<std::vector<int>> chains;
  std::vector<int> chain_of;  ///< shape [lines]; index into chains; empty: all lines belong to chain 0, or none is cut
  /// shape [lines]; number of the line among the lines of all processes. The number decides which process is the line's
  /// root. Empty: lines are numbered within their chain. The lines of a chain have the same order on all its processes.
  std::vector<Index> number;
};

/// How processes exchange messages. All processes that take part call each function, in the same order.
class OCLSPKT_API Exchange {
 public:
  /// The message to or from one process.
  struct Leg {
    int process = 0;
    Index count = 0;  ///< of scalars
  };
  /// A fixed pattern of messages, opened at set-up, used by every apply. Several channels may be under way at
  /// once, but each must finish before its next start.
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
  /// Open a channel. Two processes must agree on the count of a leg between them. A process has at most one leg to each
  /// other process, and one from it.
  virtual std::unique_ptr<Channel> open(std::vector<Leg> out, std::vector<Leg> in, std::size_t scalar_bytes) = 0;
  /// Replace each entry by its largest value over all processes, or by NaN if a process has NaN there.
  virtual void largest(std::span<double> values) = 0;
};

/// The lines of this process, and how they continue on other processes.
struct ProcessLines {
  ProcessLines() = default;
  /// @param continued, messages  left out: no line is cut, and no messages are sent
  ProcessLines(LineSet own, Cuts continued = {}, std::shared_ptr<Exchange> messages = nullptr)
      : lines(std::move(own)), cuts(std::move(continued)), exchange(std::move(messages)) {}
  LineSet lines;
  Cuts cuts;
  std::shared_ptr<Exchange> exchange;  ///< null if no line is cut on any process
};

/// The result of a set-up for the lines that are cut among processes.
struct CutReport {
  Index lines = 0;               ///< cut lines of this process
  Index longest_chain = 0;       ///< most parts of a line, over all processes
  bool truncated = false;        ///< neighbours solve a 2x2 system per cut
  bool above_tolerance = false;  ///< the user named truncation, and the bound is above the tolerance
  double bound = 0;      ///< bound on the truncation error relative to max |x|, over all processes; NaN: unknown
  double tolerance = 0;  ///< the largest bound that is accepted
  /// Bound on rounding as Report::rounding, over the cut lines of all processes and the gathered lines of this process.
  double rounding = 0;
  /// As Report::above_bound, for lines gathered on this process or an answer that is not finite.
  std::string above_bound;
  double backward_error = 0;     ///< componentwise, of trial solves before lines were gathered; 0 if none was needed
  Index gathered = 0;            ///< lines of this process that are solved whole on one process
  Index first_gathered = -1;     ///< number of the first gathered line
  std::string gathered_why;      ///< why the first gathered line is gathered
  Index pinned = 0;              ///< singular lines that this process gathered; their last unknown is set to 0
  Index spike_rows = 0;          ///< most rows of a part that an apply corrects from one side
  Index sent = 0, received = 0;  ///< scalars that this process sends and receives per apply
};

}  // namespace oclspkt
