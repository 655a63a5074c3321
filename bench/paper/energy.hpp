// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "device.hpp"

namespace oclspkt::bench::paper {

/// Watts of devices while they work, where nothing is measured; 0: by the table.
struct Rated {
  double gpu = 0;   ///< of a card
  double cpu = 0;   ///< of a core
  double fpga = 0;  ///< of a board
};

/// Parse "gpu=700,cpu=8,fpga=60".
/// @throws InvalidInput for other words, and watts that are not positive
Rated parse_rated(const std::string& text);

/// Joules of one solve.
struct Joules {
  double joules = 0, watts = 0;
  std::string source;  ///< where they come from, in words
};

/// Find the joules of a solve. `solve` is not called where power is rated.
/// @param devices  that work; all of them until the solve ends
/// @param seconds  of a solve
Joules joules_of(const std::vector<DeviceInfo>& devices, const Rated& rated, double seconds,
                 const std::function<void()>& solve);

}  // namespace oclspkt::bench::paper
