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

/// Refuse a number that stands for none of an option's words, as a C program may pass it.
template <typename Enum, std::size_t N>
void require_listed(const char* option, Enum value, const char* const (&names)[N]) {
  const int place = static_cast<int>(value);
  if (place >= 0 && place < static_cast<int>(N)) return;
  std::string text = std::string(option) + " has no value " + std::to_string(place) + "; there are:";
  for (const char* known : names) text.append(" ").append(known);
  throw InvalidInput(text);
}

/// The names of the forms of all schemes: " tiles-halo/kept fpga-tdma".
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
  require_listed("transfer", o.transfer, kTransferNames);
  const bool listed =
      std::find(std::begin(kVariantNames), std::end(kVariantNames), o.variant) != std::end(kVariantNames);
  if (!listed && find_scheme(o.variant) == nullptr) {
    throw InvalidInput("variant '" + o.variant +
                       "' does not exist; there are: default, cpu, gpu, fpga, paper, paper-gpu, and the schemes" +
                       scheme_names());
  }
  if (std::find(std::begin(kFpgaBanksNames), std::end(kFpgaBanksNames), o.fpga_banks) == std::end(kFpgaBanksNames)) {
    throw InvalidInput("fpga_banks '" + o.fpga_banks + "' does not exist; there are: none, spread");
  }
  if (!(o.rtol >= 0 && o.rtol < 1))
    throw InvalidInput(format("rtol must lie in [0, 1), not %g (0: the rounding of the arithmetic)", o.rtol));
  parse_balance(o.balance);
  parse_rated(o.rated_power);
  if (o.partition < 0)
    throw InvalidInput("partition must be 0 (chosen at set-up) or a number of rows, not " +
                       std::to_string(o.partition));
  if (o.chunk < 0)
    throw InvalidInput("chunk must be 0 (as many rows as the device's memory holds) or a number of rows, not " +
                       std::to_string(o.chunk));
  if (o.device_memory < 0)
    throw InvalidInput("device_memory must be 0 (the device's own limit) or a number of bytes, not " +
                       std::to_string(o.device_memory));
  if (o.gather_limit < -1) {
    throw InvalidInput("gather_limit must be -1 (any line may be gathered), 0 (none), or the most rows of one, not " +
                       std::to_string(o.gather_limit));
  }
  if (!(o.timeout >= 0))
    throw InvalidInput(
        format("timeout must be 0 (100 times the predicted time) or a number of seconds, not %g", o.timeout));
}

}  // namespace oclspkt
