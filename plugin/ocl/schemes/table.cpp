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

#define OCLSPKT_DECLARE(name) SchemeRow name();
OCLSPKT_SCHEMES(OCLSPKT_DECLARE)

const SchemeRow& row_of(const Plan& plan) {
#define OCLSPKT_ROW(name) name(),
  static const std::vector<SchemeRow> rows{OCLSPKT_SCHEMES(OCLSPKT_ROW)};
  const std::string scheme = plan.scheme();
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const SchemeRow& row) { return row.name == scheme; });
  if (at == rows.end()) {
    throw InvalidInput("this library has no scheme " + scheme +
                       " for devices: choose another method, or let the host "
                       "solve");
  }
  return *at;
}

}  // namespace oclspkt::ocl
