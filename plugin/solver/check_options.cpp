// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <iterator>
#include <string>

#include "format.hpp"
#include "line_solver.hpp"
#include "schemes/scheme.hpp"
#include "shares.hpp"

namespace oclspkt {
namespace {

/// Refuse a value outside an enumeration, which a C program may pass. @throws InvalidInput
template <typename Enum, std::size_t N>
void require_listed(const char* option, Enum value, const char* const (&names)[N]) {
  const int place = static_cast<int>(value);
  if (place >= 0 && place < static_cast<int>(N)) return;
  std::string text = std::string(option) + " has no value " + std::to_string(place) + "; there are:";
  for (const char* known : names) text.append(" ").append(known);
  throw InvalidInput(text);
}

/// The names of the forms of all schemes, such as " tiles-halo/kept fpga-tdma".
std::string scheme_names() {
  std::string all, family;
  for (const Scheme* scheme : all_schemes()) {
    for (const std::string name : scheme->forms()) {
      const std::string of = name.substr(0, name.find('-') + 1);
      const bool another = !of.empty() && of == family;
      all.append(another ? "/" : " ").append(name, another ? of.size() : 0);
      family = of;
    }
  }
  return all;
}

}  // namespace

void check_options(const Options& o) {
  require_listed("method", o.method, kMethodChoiceNames);
  require_listed("precision", o.precision, kPrecisionNames);
  require_listed("on_device_failure", o.on_device_failure, kOnDeviceFailureNames);
  require_listed("singular", o.singular, kSingularNames);
  require_listed("above_bound", o.above_bound, kAboveBoundNames);
  require_listed("transfer", o.use.transfer, kTransferNames);
  const auto require = [](bool holds, const std::string& text) {
    if (!holds) throw InvalidInput(text);
  };
  const auto listed = [](const std::string& word, const auto& names) {
    return std::find(std::begin(names), std::end(names), word) != std::end(names);
  };
  if (!listed(o.variant, kVariantNames) && find_scheme(o.variant) == nullptr) {
    throw InvalidInput("variant '" + o.variant +
                       "' does not exist; there are: default, cpu, gpu, fpga, paper, paper-gpu, and the schemes" +
                       scheme_names());
  }
  require(listed(o.use.fpga_banks, kFpgaBanksNames),
          "fpga_banks '" + o.use.fpga_banks + "' does not exist; there are: none, spread");
  require(o.rtol >= 0 && o.rtol < 1,
          format("rtol must lie in [0, 1), not %g (0: the rounding of the arithmetic)", o.rtol));
  parse_balance(o.balance);
  parse_rated(o.rated_power);
  const auto at_least = [&](Index value, Index least, const char* text) {
    require(value >= least, text + std::to_string(value));
  };
  at_least(o.partition, 0, "partition must be 0 (chosen at set-up) or a number of rows, not ");
  at_least(o.use.chunk, 0, "chunk must be 0 (as many rows as the device's memory holds) or a number of rows, not ");
  at_least(o.use.device_memory, 0, "device_memory must be 0 (the device's own limit) or a number of bytes, not ");
  at_least(o.gather_limit, -1,
           "gather_limit must be -1 (any line may be gathered), 0 (none), or the most rows of one, not ");
  require(o.use.timeout >= 0,
          format("timeout must be 0 (100 times the predicted time) or a number of seconds, not %g", o.use.timeout));
}

}  // namespace oclspkt
