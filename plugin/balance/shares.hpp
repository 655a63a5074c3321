// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "oclspkt/export.hpp"
#include "oclspkt/line_set.hpp"

namespace oclspkt {

/// The balancer's model of a processor in one apply.
struct ShareModel {
  double latency = 0;                 ///< fixed seconds of an apply
  double seconds_per_row = 0;         ///< transfers included
  double kernel_seconds_per_row = 0;  ///< transfers left out
  double host_bytes_per_row = 0;      ///< bytes that an apply moves from and to the host's memory
  double watts = 0;                   ///< power while it works; 0: not known
  double idle_watts = 0;              ///< power while only others work
  std::string physical;               ///< equal for two drivers of a device; only `weights` and `even` use both
};

/// The resources that processors of a node share.
struct NodeModel {
  double host_bytes_per_second = std::numeric_limits<double>::infinity();  ///< rate of the memory
  double meeting_seconds = 0;  ///< cost of an apply by several processors: their threads wake and wait
};

/// The objective by which shares are chosen.
///   time     the shortest apply, transfers included
///   kernel   the shortest apply if transfers took no time, as Macintosh, Banks and Kelson (2019) propose
///   even     the same number of rows for all
///   weights  rows in proportion to given numbers
///   energy   the fewest joules: of processors at work, and of processors that idle until the last one is done
enum class Objective { time, kernel, even, weights, energy };

struct Balance {
  Objective objective = Objective::time;
  std::vector<double> weights;  ///< for Objective::weights: one for each processor, not negative, not all 0
};

/// Rows for each processor, and what the models predict of them.
struct Shares {
  std::vector<Index> rows;      ///< shape [processors]; their sum is the number of rows asked for
  std::vector<double> seconds;  ///< shape [processors]; of each processor's part; 0 if it has no rows
  double all_seconds = 0;       ///< of an apply by all of them
  double joules = 0;            ///< of an apply by all of them; NaN if the watts of one are not known
};

/// Parse the language of -pc_oclspkt_balance: time, kernel, even, energy, or weights separated by commas.
/// @throws InvalidInput for any other word, for a weight that is negative or not finite, or if all weights are 0
OCLSPKT_API Balance parse_balance(const std::string& language);

/// Predict an apply with given shares: the time of the slowest processor, or of the host's memory if that is slower.
/// @param rows shape [models]
OCLSPKT_API Shares predict_shares(std::span<const Index> rows, std::span<const ShareModel> models,
                                  const NodeModel& node);

/// predict_shares() of rows that one processor solves alone. @param one  its index in models
OCLSPKT_API Shares predict_single(std::size_t one, Index rows, std::span<const ShareModel> models,
                                  const NodeModel& node);

/// Give rows to processors. Under `time` and `kernel` a processor that does not pay gets no rows: several processors
/// share the rows only if the predicted time is below 1 / kLeastGain of the best one's time alone. Under `energy` an
/// apply never takes more joules than under `time`; if the watts of a processor are not known, `energy` gives the
/// shares of `time`.
/// @param grain  shares are multiples of it, except the last share that is not 0
/// @pre models are not empty
/// @throws InvalidInput if the number of weights is not that of models
OCLSPKT_API Shares share_rows(Index rows, Index grain, std::span<const ShareModel> models, const NodeModel& node,
                              const Balance& balance);

/// The factor by which several processors must be faster than the best one alone, and any change than what it replaces.
inline constexpr double kLeastGain = 1.05;

}  // namespace oclspkt
