// SPDX-License-Identifier: BSD-2-Clause
// What oclspkt-freeze runs: cases by name, each of which tells in a text what was chosen and computed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "oclspkt/cut_solver.hpp"
#include "oclspkt/report.hpp"

namespace oclspkt::freeze {

struct Case {
  std::string name;
  bool quick = false;  ///< among those of the ctest
  std::function<std::string()> run;
};
using Cases = std::vector<Case>;

void add_solver_cases(Cases& cases);
void add_recorded_cases(Cases& cases);
/// Longer lives, hard matrices and fallback lines.
void add_life_cases(Cases& cases);
void add_cut_cases(Cases& cases);
/// These alone need headers that are not public.
void add_plan_cases(Cases& cases);

/// Everything in a report but times, one line.
std::string text_of(const Report& report);
std::string text_of(const CutReport& report);

/// Devices of the recording driver, see recording_driver.cpp.
inline constexpr const char* kRecordedDevices[] = {"recorded-large-gpu", "recorded-small-gpu", "recorded-few-cores",
                                                   "recorded-many-cores", "recorded-fpga"};
/// The device whose kernels run.
inline constexpr const char* kRunningDevice = "Portable";

/// What recorded devices are told from now on.
void start_recording();
/// Hashes of what they were told since, "" if nothing. The text goes to the file of --log, behind `name`.
std::string stop_recording(const std::string& name);
/// Have all devices measured, which a set-up does at its first use of each: how often kernels are launched for that
/// depends on the clock.
void measure_devices();

/// Where logs are written; "" for nowhere.
void write_logs_to(const std::string& path);

template <typename T>
inline constexpr const char* kScalarName = sizeof(T) == sizeof(double) ? "double" : "float";

}  // namespace oclspkt::freeze
