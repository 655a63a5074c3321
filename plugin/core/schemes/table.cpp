// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <string>
#include <vector>

#include "oclspkt/error.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {

// A line for each scheme, in the order in which they are asked for plans; its function stands in the file of that name.
#define OCLSPKT_SCHEMES(X) \
  X(fpga_spktrunc)         \
  X(fpga_spkboth)          \
  X(fpga_spkjac)           \
  X(lanes_paper)           \
  X(tiles_paper)           \
  X(tiles_kept)            \
  X(tiles_halo)            \
  X(tiles_streamed)        \
  X(tiles_twopass)         \
  X(grids_streamed)        \
  X(grids_shared)          \
  X(grids_whole)           \
  X(grids_condensed)       \
  X(grids_factored)        \
  X(lanes_tiles)           \
  X(lanes_halo)            \
  X(lanes_streamed)        \
  X(lanes_twisted)         \
  X(lanes_twopass)         \
  X(fpga_batch)            \
  X(fpga_tdma)             \
  X(beside_halo)           \
  X(beside_factored)       \
  X(host_pivot)

#define OCLSPKT_DECLARE(name) const Scheme& name();
OCLSPKT_SCHEMES(OCLSPKT_DECLARE)

Cut Scheme::cut(const Plan& plan) const {
  const Index before = round_up(plan.halo, plan.lanes);  // whole blocks of `lanes` rows
  return {plan.tile_rows(), before, round_up(before + plan.m + plan.halo, plan.lanes) - before - plan.m, false};
}

static std::vector<const Scheme*>& table() {
#define OCLSPKT_ADDRESS(name) &name(),
  static auto* schemes = new std::vector<const Scheme*>{OCLSPKT_SCHEMES(OCLSPKT_ADDRESS)};  // outlives static objects
  return *schemes;
}

const std::vector<const Scheme*>& all_schemes() { return table(); }

void add_scheme(const Scheme& scheme) {
  if (find_scheme(scheme.name()) != nullptr) {
    throw InvalidInput(std::string("there is a scheme ") + scheme.name() + " already: give the new one another name");
  }
  table().insert(table().begin(), &scheme);
}

const Scheme* find_scheme(const std::string& name) {
  const auto& schemes = all_schemes();
  const auto at = std::find_if(schemes.begin(), schemes.end(), [&](const Scheme* s) { return s->name() == name; });
  return at == schemes.end() ? nullptr : *at;
}

const Scheme* owner_of(const Plan& plan) {
  const auto owns = [&](const Scheme* s) {
    return plan.made_by != nullptr ? std::string(s->name()) == plan.made_by : s->owns(plan);
  };
  const auto at = std::find_if(all_schemes().begin(), all_schemes().end(), owns);
  return at == all_schemes().end() ? nullptr : *at;
}

const Scheme& scheme_of(const Plan& plan) {
  if (const Scheme* owner = owner_of(plan)) return *owner;
  const std::string of = plan.made_by != nullptr ? plan.made_by : std::string("for method ") + name(plan.method);
  throw InvalidInput("this library has no scheme " + of + " and such a plan: choose another method");
}

}  // namespace oclspkt
