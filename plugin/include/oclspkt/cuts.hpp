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
  /// shape [chains]; each chain lists the processes that hold the parts of its lines, from top to bottom. A chain
  /// contains this process, and lists no process twice.
  std::vector<std::vector<int>> chains;
  std::vector<int> chain_of;  ///< shape [lines]; index into chains. Empty: all lines use chain 0, or no line is cut
  /// shape [lines]; number of the line among the lines of all processes. The number decides which process is the line's
  /// root. Empty: lines are numbered within their chain. The lines of a chain have the same order on all its processes.
  std::vector<Index> number;
};

/// How processes exchange messages. All processes call each function, in the same order.
class OCLSPKT_API Exchange {
 public:
  /// The message to or from one process.
  struct Leg {
    int process = 0;
    Index count = 0;  ///< scalars in the message
  };
  /// A fixed pattern of messages. A set-up opens it, and every apply uses it. Several channels may run at once. A
  /// channel must finish before its next start().
  class OCLSPKT_API Channel {
   public:
    virtual ~Channel() = default;
    /// Start to receive the incoming legs, then to send the outgoing legs. A buffer holds its legs one after the other.
    /// @param[in]  out all outgoing legs; must not change before finish()
    /// @param[out] in  all incoming legs; valid after finish()
    virtual void start(const void* out, void* in) = 0;
    virtual void finish() = 0;
  };

  virtual ~Exchange() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Open a channel. The sender and the receiver of a leg must name the same count. Between two processes there is at
  /// most one leg in each direction.
  virtual std::unique_ptr<Channel> open(std::vector<Leg> out, std::vector<Leg> in, std::size_t scalar_bytes) = 0;
  /// Replace each entry by its largest value over all processes, or by NaN if a process has NaN there.
  virtual void largest(std::span<double> values) = 0;
};

/// The lines of this process, and how they continue on other processes.
struct ProcessLines {
  ProcessLines() = default;
  /// @param continued, messages  by default no line is cut and no message is sent
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
  bool truncated = false;        ///< truncation is used: neighbours solve a 2x2 system per cut
  bool above_tolerance = false;  ///< the user named truncation, and the bound is above the tolerance
  double bound = 0;      ///< bound on the truncation error relative to max |x|, over all processes; NaN: unknown
  double tolerance = 0;  ///< the largest bound that is accepted
  /// The rounding bound (see Report::rounding) for the cut lines of all processes and this process's gathered lines.
  double rounding = 0;
  /// A message if a gathered line of this process exceeds the limits of method auto, or if an answer is not finite.
  std::string above_bound;
  double backward_error = 0;  ///< componentwise backward error of trial solves before lines were gathered; 0: no trial
  Index gathered = 0;         ///< lines of this process that are solved whole on one process
  Index first_gathered = -1;  ///< number of the first gathered line
  std::string gathered_why;   ///< why the first gathered line is gathered
  Index pinned = 0;           ///< singular lines that this process gathered; their last unknown is set to 0
  Index spike_rows = 0;       ///< the largest number of rows that one spike corrects
  Index sent = 0, received = 0;  ///< scalars that this process sends and receives per apply
};

}  // namespace oclspkt
