// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <string>
#include <vector>

#include "oclspkt/error.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {

// A line for each scheme; its function stands in the file of that name.
#define OCLSPKT_SCHEMES(X) \
  X(beside_factored)       \
  X(beside_halo)           \
  X(grids_condensed)       \
  X(grids_factored)        \
  X(grids_shared)          \
  X(grids_streamed)        \
  X(grids_whole)           \
  X(host_pivot)            \
  X(host_streamed)         \
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

#define OCLSPKT_DECLARE(name) const Scheme& name();
OCLSPKT_SCHEMES(OCLSPKT_DECLARE)

Cut Scheme::cut(const Plan& plan) const {
  const Index before = round_up(plan.halo, plan.lanes);  // whole blocks of `lanes` rows
  return {plan.tile_rows(), before, round_up(before + plan.m + plan.halo, plan.lanes) - before - plan.m, false};
}

const Scheme* find_scheme(const std::string& name) {
#define OCLSPKT_ADDRESS(name) &name(),
  static const std::vector<const Scheme*> schemes{OCLSPKT_SCHEMES(OCLSPKT_ADDRESS)};
  const auto at = std::find_if(schemes.begin(), schemes.end(), [&](const Scheme* s) { return s->name() == name; });
  return at == schemes.end() ? nullptr : *at;
}

const Scheme& scheme_of(const Plan& plan) {
  const Scheme* scheme = find_scheme(plan.scheme());
  if (scheme == nullptr) {
    throw InvalidInput(std::string("this library has no scheme ") + plan.scheme() + ": choose another method");
  }
  return *scheme;
}

}  // namespace oclspkt
