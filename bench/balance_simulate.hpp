// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "shares.hpp"

namespace oclspkt::bench {

/// Rows a second that were measured with some processors of a machine.
struct MeasuredRate {
  std::vector<std::string> processors;
  double rows_per_second = 0;
};

/// Nodes that are joined by MPI; each solves an equal part of the rows.
struct Cluster {
  Index nodes = 1;
  double latency_seconds = 0;          ///< of a message
  double bytes_per_second = 0;         ///< of a node's link
  double numbers_per_neighbour = 2;    ///< that each side of a cut sends to the other
  double root_seconds_per_number = 0;  ///< of the small system that the root solves under an exact method
};

/// A machine as its file describes it.
struct Machine {
  std::string name, source;
  std::vector<std::string> fitted;       ///< each constant that was fitted, and to what
  std::vector<std::string> assumptions;  ///< figures that nobody measured
  std::vector<std::string> names;        ///< shape [processors]; equal for processors of a kind
  std::vector<ShareModel> models;        ///< shape [processors]
  NodeModel alone;                       ///< while one processor works
  NodeModel together;                    ///< while several do
  std::vector<Index> rows;               ///< to simulate
  Index grain = 1;
  std::vector<MeasuredRate> measured;
  std::optional<Cluster> cluster;
};

/// What takes most of an apply's time, and how many seconds.
struct Limit {
  std::string name;  ///< latency, host memory, processors, or the name of the only one
  double seconds = 0;
};

/// What is predicted of a set of processors.
struct Simulated {
  std::vector<std::size_t> members;  ///< places in Machine::models
  Shares ours;                       ///< what `time` chooses of the members
  double best_single = 0;            ///< seconds of the best member alone
  double by_rate = 0;                ///< seconds with shares in proportion to the members' rates, as the paper shares
  double by_kernel = 0;              ///< seconds, transfers included, with the shares that `kernel` chooses
  Limit limit;                       ///< of ours
  std::optional<double> measured;    ///< seconds
};

/// Seconds that messages of an apply take.
struct MessageSeconds {
  double neighbours = 0;  ///< the exchange over every cut
  double root = 0;        ///< exact methods only: up a tree to the root, its small system, and down again
};

/// Read a machine from a JSON file.
/// @throws InvalidInput if the file cannot be read, or a figure that is needed is missing or not positive
Machine read_machine(const std::string& file);

/// Predict an apply by some processors of a machine.
/// @throws InvalidInput if they do not hold the rows
Simulated simulate(const Machine& machine, const std::vector<std::size_t>& members, Index rows);

/// Predict the messages of an apply.
MessageSeconds predict_messages(const Cluster& cluster);

/// Print what every set of a machine's processors is predicted to do, or all together if they are more than four, and,
/// of a cluster, what limits it from one size to the next.
/// @return 0; 1 if what was measured has another order, or ours is predicted slower than the best processor alone
/// @throws InvalidInput as read_machine and simulate do
int simulate_balance(const std::string& file, std::ostream& out);

}  // namespace oclspkt::bench
