// SPDX-License-Identifier: BSD-2-Clause
#include "second_look.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace oclspkt {

std::optional<std::size_t> second_look(std::span<const double> seconds, std::size_t chosen, std::int64_t set_up) {
  const auto* const early = std::find(std::begin(kEarlyLooks), std::end(kEarlyLooks), set_up);
  const bool is_early = early != std::end(kEarlyLooks);
  if (set_up <= 0 || (set_up % kSecondLook != 0 && !is_early)) return std::nullopt;
  if (chosen >= seconds.size() || !std::isfinite(seconds[chosen])) return std::nullopt;
  std::vector<std::size_t> others;
  for (std::size_t k = 0; k < seconds.size(); ++k) {
    const bool counts = is_early ? seconds[k] <= kNearlyAsFast * seconds[chosen] : std::isfinite(seconds[k]);
    if (k != chosen && counts) others.push_back(k);
  }
  if (others.empty()) return std::nullopt;
  if (is_early) return others[static_cast<std::size_t>(early - std::begin(kEarlyLooks)) % others.size()];
  const auto count = static_cast<std::int64_t>(others.size());
  const std::int64_t turn = set_up / kSecondLook - 1, round = turn / count + 1;
  const std::size_t who = others[static_cast<std::size_t>(turn % count)];
  // Slower ones have fewer turns, so that none costs more than those near.
  const double slower = seconds[who] / (kWorthALook * seconds[chosen]);
  const double turns = std::ceil(slower * slower);
  if (std::fmod(static_cast<double>(round), std::fmax(1, turns)) != 0) return std::nullopt;
  return who;
}

}  // namespace oclspkt
