// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/table.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "oclspkt/error.hpp"

namespace oclspkt::ocl {

// A line for each scheme; its function stands in the file of that name.
#define OCLSPKT_SCHEMES(X) \
  X(beside_factored)       \
  X(beside_halo)           \
  X(grids_condensed)       \
  X(grids_factored)        \
  X(grids_shared)          \
  X(grids_streamed)        \
  X(grids_whole)           \
  X(lanes_ends)            \
  X(lanes_halo)            \
  X(lanes_streamed)        \
  X(lanes_twisted)         \
  X(lanes_twopass)         \
  X(lanes_walk)            \
  X(tiles_condensed)       \
  X(tiles_halo)            \
  X(tiles_kept)            \
  X(tiles_lines)           \
  X(tiles_paper)           \
  X(tiles_streamed)        \
  X(tiles_twopass)

#define OCLSPKT_DECLARE(name) Carrier name();
OCLSPKT_SCHEMES(OCLSPKT_DECLARE)

const Carrier& carrier_of(const Plan& plan) {
#define OCLSPKT_CARRIER(name) name(),
  static const std::vector<Carrier> carriers{OCLSPKT_SCHEMES(OCLSPKT_CARRIER)};
  const std::string scheme = plan.scheme();
  const auto at =
      std::find_if(carriers.begin(), carriers.end(), [&](const Carrier& carrier) { return carrier.name == scheme; });
  if (at == carriers.end()) {
    throw InvalidInput("this library has no scheme " + scheme +
                       " for devices: choose another method, or let the host "
                       "solve");
  }
  return *at;
}

}  // namespace oclspkt::ocl
