// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "oclspkt/export.hpp"
#include "oclspkt/line_set.hpp"

namespace oclspkt {

/// What the balancer knows of a processor for one apply.
struct ShareModel {
  double latency = 0;                 ///< seconds of an apply however few its rows are
  double seconds_per_row = 0;         ///< transfers included
  double kernel_seconds_per_row = 0;  ///< transfers left out
  double host_bytes_per_row = 0;      ///< that an apply reads from and writes to the host's memory
  double watts = 0;                   ///< while it works; 0: not known
  double idle_watts = 0;              ///< while others work
  std::string physical;               ///< equal for two drivers of one physical device, which only weights use together
};

/// What processors of a node share.
struct NodeModel {
  double host_bytes_per_second = std::numeric_limits<double>::infinity();  ///< of its memory, for all together
  double meeting_seconds = 0;  ///< added to an apply by several processors: threads are woken and wait for each other
};

/// What shares are made for.
///   time     the shortest apply, transfers included
///   kernel   the shortest apply if transfers took no time, as Macintosh, Banks and Kelson (2019) propose
///   even     the same number of rows for all
///   weights  rows in proportion to given numbers
///   energy   the fewest joules: of those that work, and of those that idle until the last one is done
enum class Objective { time, kernel, even, weights, energy };

struct Balance {
  Objective objective = Objective::time;
  std::vector<double> weights;  ///< for Objective::weights: one a processor, not negative, not all 0
};

/// Rows for each processor, and what the models predict of them.
struct Shares {
  std::vector<Index> rows;      ///< shape [processors]; their sum is the number of rows asked for
  std::vector<double> seconds;  ///< shape [processors]; of each processor's part; 0 where it has none
  double all_seconds = 0;       ///< of an apply
  double joules = 0;            ///< of an apply, by all processors; NaN if the watts of one are not known
  double best_single = 0;       ///< seconds of the processor that takes the least by itself
};

/// Parse the language of -pc_oclspkt_balance: time, kernel, even, energy, or weights joined by commas.
/// @throws InvalidInput if a word is none of these, or a weight is negative or not finite, or all are 0
OCLSPKT_API Balance parse_balance(const std::string& language);

/// Predict an apply with given shares: the slowest processor, or the host's memory if that is slower.
/// @param rows shape [models]
OCLSPKT_API Shares predict_shares(std::span<const Index> rows, std::span<const ShareModel> models,
                                  const NodeModel& node);

/// Give rows to processors. A pure function: the same figures give the same shares.
///
/// Under `time` and `kernel` a processor that does not pay gets nothing: several share the rows only if that is
/// predicted to take less than 1 / kLeastGain of the best one alone. Under `energy` an apply never takes more joules
/// than under `time`; all is as under `time` if the watts of a processor are not known.
/// @param grain  shares are multiples of it, but for the last one that is not 0
/// @pre models are not empty
/// @throws InvalidInput if the number of weights is not that of models
OCLSPKT_API Shares share_rows(Index rows, Index grain, std::span<const ShareModel> models, const NodeModel& node,
                              const Balance& balance);

/// By so much several processors must be faster than one.
inline constexpr double kLeastGain = 1.05;

}  // namespace oclspkt
