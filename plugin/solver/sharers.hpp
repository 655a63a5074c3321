// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "meter.hpp"
#include "shares.hpp"
#include "ways.hpp"

namespace oclspkt {

/// If fewer applies follow a set-up, rows are not shared: the set-up of shares takes longer than sharing saves.
inline constexpr double kManyEnough = 16;

/// Seconds of an apply to all rows by one processor or several.
struct Estimate {
  double predicted = 0, measured = 0;  ///< measured is 0 if it was never measured
  bool sure = false;                   ///< measured after enough set-ups that one slow measurement does not matter
  double seconds() const { return measured > 0 ? measured : predicted; }
  /// The seconds by which processors are chosen. An estimate that is not sure counts half, so that every processor that
  /// may be the fastest is measured.
  double hoped() const { return sure ? seconds() : std::min(predicted, seconds()) / 2; }
};

/// A processor that may have a share of the rows.
struct Sharer {
  Processor processor;
  PoweredDevice meter;       ///< its description for the meter
  Estimate alone;            ///< by itself; if few applies follow a set-up, with a share of the set-up
  ShareModel beside;         ///< while the others work as well: measured, else predicted
  bool knows_watts = false;  ///< beside.watts is measured; else it is rated power
  bool copies() const { return !processor.host() && !processor.info.host_unified; }
};

/// Predict the times of those processors that can solve the lines, each by its fastest way, transfers included.
template <typename T>
std::vector<Sharer> predict_sharers(const Processors& processors, const Outlook<T>& outlook);

}  // namespace oclspkt
