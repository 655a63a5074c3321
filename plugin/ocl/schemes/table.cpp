// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/table.hpp"

#include <algorithm>
#include <deque>
#include <string>

#include "oclspkt/error.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt::ocl {

// One entry for each scheme. Entry `name` is also the function that returns the carrier, in the folder of the family.
#define OCLSPKT_SCHEMES(X) \
  X(beside_factored)       \
  X(beside_halo)           \
  X(fpga_batch)            \
  X(fpga_spkboth)          \
  X(fpga_spkjac)           \
  X(fpga_spktrunc)         \
  X(fpga_tdma)             \
  X(grids)                 \
  X(grids_condensed)       \
  X(lanes_halo)            \
  X(lanes_paper)           \
  X(lanes_streamed)        \
  X(lanes_twisted)         \
  X(lanes_twopass)         \
  X(lanes_tiles)           \
  X(tiles_halo)            \
  X(tiles_kept)            \
  X(tiles_paper)           \
  X(tiles_streamed)        \
  X(tiles_twopass)

#define OCLSPKT_DECLARE(name) Carrier name();
OCLSPKT_SCHEMES(OCLSPKT_DECLARE)

namespace {

std::deque<Carrier>& table() {
#define OCLSPKT_CARRIER(name) name(),
  static auto* carriers = new std::deque<Carrier>{OCLSPKT_SCHEMES(OCLSPKT_CARRIER)};  // outlives static objects
  return *carriers;
}

const Carrier* find(const std::string& name) {
  const auto at = std::find_if(table().begin(), table().end(), [&](const Carrier& c) { return c.name == name; });
  return at == table().end() ? nullptr : &*at;
}

}  // namespace

void add_carrier(const Carrier& carrier) {
  if (find(carrier.name) != nullptr) {
    throw InvalidInput(std::string("devices have a scheme ") + carrier.name + " already: give yours another name");
  }
  table().push_back(carrier);  // a deque keeps references from carrier_of() valid
}

const Carrier& carrier_of(const Plan& plan) {
  const Scheme& scheme = scheme_of(plan);
  const char* const name = scheme.name();
  if (const Carrier* carrier = find(scheme.form(plan))) return *carrier;
  if (const Carrier* carrier = find(name)) return *carrier;
  throw InvalidInput(std::string("this library has no scheme ") + name +
                     " for devices: choose another method, or let the host solve");
}

}  // namespace oclspkt::ocl
