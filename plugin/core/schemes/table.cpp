// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "oclspkt/error.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {

// One line for each scheme, in the order in which schemes are asked for plans. The function that returns a scheme
// stands in the folder of the scheme's family.
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
  X(grids)                 \
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

Index Scheme::pieces(const Plan& plan, const LineSet& /*lines*/) const {
  return in_pieces(plan) ? plan.partitions() : 0;
}

bool Scheme::first_rows_tell(const Plan& plan) const { return truncates(plan.method) && plan.form != Form::shared; }

bool Scheme::fits(const Plan& plan, const LineSet& lines) const {
  return plan.n == lines.rows() && (plan.n == 0 || lines.contiguous());
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

const Scheme* find_scheme(std::string_view name) {
  const auto is_it = [&](const Scheme* scheme) {
    const std::vector<const char*> forms = scheme->forms();
    return scheme->name() == name || std::find(forms.begin(), forms.end(), name) != forms.end();
  };
  const auto at = std::find_if(all_schemes().begin(), all_schemes().end(), is_it);
  return at == all_schemes().end() ? nullptr : *at;
}

const Scheme& scheme_of(const Plan& plan) {
  const std::string maker = plan.made_by != nullptr ? plan.made_by : "without a name";
  for (const Scheme* scheme : all_schemes()) {
    if (scheme->name() == maker) return *scheme;
  }
  throw InvalidInput("this library has no scheme " + maker + " for plans of method " + name(plan.method) +
                     ": choose another method");
}

}  // namespace oclspkt
