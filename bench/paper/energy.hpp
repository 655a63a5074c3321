// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "device.hpp"
#include "meter.hpp"

namespace oclspkt::bench::paper {

/// Joules of one solve.
struct Joules {
  double joules = 0, watts = 0;
  std::string source;  ///< where they come from, in words
  // Of the first device that something measures, else NaN:
  double by_counter = Energy::kNone, by_samples = Energy::kNone;
  double spread = Energy::kNone, idle_watts = Energy::kNone;
};

/// How many windows are measured: one, several with a pause before each, or the same behind one of idle power.
enum class Windows { one, several, with_idle };

/// Find the joules of a solve, of the whole time that it takes. Without `solve`, or where no device has anything
/// better, power is rated.
/// @param seconds  of a solve
/// @param solve    `each` of them; called for some seconds where something is measured
Joules joules_of(const std::vector<DeviceInfo>& devices, const RatedWatts& rated, double seconds,
                 const std::function<void()>& solve, Windows windows = Windows::one, int each = 1);

/// The devices whose joules count while only one of them works. Rated power is that of work, so the others count only
/// where a meter shows what they take.
/// @param works  name of the one
std::vector<DeviceInfo> that_count(const std::vector<DeviceInfo>& devices, const std::string& works);

/// Put the joules of a record's solves into it, as joules_of(), with rows a second and a joule.
/// @param record  has the rows, and the seconds of a solve
void add_joules(const std::vector<DeviceInfo>& devices, const RatedWatts& rated, const std::function<void()>& solve,
                Windows windows, nlohmann::ordered_json& record, int each = 1);

}  // namespace oclspkt::bench::paper
