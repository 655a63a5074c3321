// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "device.hpp"
#include "problem.hpp"
#include "progress.hpp"
#include "record.hpp"

namespace oclspkt::bench {

/// Somebody who writes an answer to Problem::x.
template <typename T>
struct Contestant {
  /// What the answer is compared with: the known solution, or the sums of a stream.
  enum class Answer { solution, sum };

  Record record;
  Answer answer = Answer::solution;
  double rounding = std::numeric_limits<T>::epsilon();  ///< what its errors are measured by
  /// Write the answer so many times. Not callable if record.outcome is `failed` or `absent`.
  /// @return seconds of one; copies that only protect the input are not counted
  std::function<double(int repeats)> run;
};

/// What runs if the user names nothing.
inline constexpr const char* kDefaultMethods =
    "stream,stream-opencl,truncated-halo,exact-twopass,exact-factored,gtsv,thomas";

/// What --methods takes: the streams, the methods of the library, and the peers.
std::string known_methods();

/// The first device that a selection names, or the host.
/// @throws InvalidInput if the selection matches nothing
DeviceInfo first_device(const std::string& devices);

/// Every method of the library as METHOD@host and, where that device carries it, as METHOD@device; the others as they
/// are.
std::vector<std::string> on_host_and_device(const std::vector<std::string>& names, const DeviceInfo& device);

/// Split and check a list of names joined by commas. A method of the library may carry a selection of its own:
/// METHOD@SELECTION, one word of the selection language. `stream` comes first, named or not: shares are quoted against
/// it.
/// @throws InvalidInput naming those there are
std::vector<std::string> parse_methods(const std::string& list);

/// Arrays of n scalars that the contestants hold beside the problem, for require_memory().
double contestant_arrays(const std::vector<std::string>& names);

template <typename T>
struct Field {
  std::vector<Contestant<T>> contestants;  ///< in the order of the names
  DeviceInfo device;                       ///< the one that solves, if not the host
};

/// Set everyone up; nothing is run yet. A set-up that refuses gives a contestant that failed, with the cause.
/// `stream-opencl` runs on the device of the solvers, and is left out if they are all on the host.
/// @param devices   selection language
/// @param precision of the library's solvers
/// @throws InvalidInput if the selection matches nothing
template <typename T>
Field<T> make_field(const std::vector<std::string>& names, const std::string& devices, Problem<T>& problem,
                    Progress& progress, Precision precision = Precision::same);

}  // namespace oclspkt::bench
