// SPDX-License-Identifier: BSD-2-Clause
#include "second_look.hpp"

#include <cmath>
#include <vector>

namespace oclspkt {

std::optional<std::size_t> second_look(std::span<const double> seconds, std::size_t chosen, std::int64_t set_up) {
  if (set_up <= 0 || set_up % kSecondLook != 0) return std::nullopt;
  if (chosen >= seconds.size() || !std::isfinite(seconds[chosen])) return std::nullopt;
  std::vector<std::size_t> near;
  for (std::size_t k = 0; k < seconds.size(); ++k) {
    if (k != chosen && std::isfinite(seconds[k]) && seconds[k] <= kWorthALook * seconds[chosen]) near.push_back(k);
  }
  if (near.empty()) return std::nullopt;
  return near[static_cast<std::size_t>(set_up / kSecondLook - 1) % near.size()];
}

}  // namespace oclspkt
