// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "oclspkt/export.hpp"

namespace oclspkt {

/// Every so many set-ups, one that was measured to be slower is measured anew.
inline constexpr std::int64_t kSecondLook = 32;
/// So does one of the first set-ups, but only of those that took no longer than kNearlyAsFast times what the chosen one
/// takes: which of them is the faster one is chance as long as each was measured once.
inline constexpr std::int64_t kEarlyLooks[] = {5, 12};
inline constexpr double kNearlyAsFast = 1.25;
/// Those that took longer than this times what the chosen one takes have a turn less often, by the square: looks cost
/// 1.8 % of all applies at most, on average.
inline constexpr double kWorthALook = 1.5;

/// Whose figures are to be measured anew. A figure that was taken while others used the machine would otherwise keep a
/// processor out of work for as long as the profile lives.
/// @param seconds  of an apply, by those that may solve; not finite: never measured
/// @param chosen   the one that solves otherwise
/// @param set_up   counts set-ups of this kind, from 1 on; all that were measured have turns
/// @return nothing at most set-ups
OCLSPKT_API std::optional<std::size_t> second_look(std::span<const double> seconds, std::size_t chosen,
                                                   std::int64_t set_up);

}  // namespace oclspkt
