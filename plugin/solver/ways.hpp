// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "processors.hpp"
#include "schemes/problem.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {

/// True if the method that the user named is stored factors, or a family that they belong to.
inline bool names_factored(MethodChoice choice) {
  return choice == MethodChoice::exact || choice == MethodChoice::exact_factored;
}

/// A scheme on a processor by a method.
struct Way {
  const Processor* processor;
  const Scheme* scheme;
  Method method;
  Plan plan;              ///< the least that it may come to, and once it was judged the plan that it came to
  std::string_view form;  ///< of the least
  double words = 0;       ///< stream_words(): by these ways of one processor are compared
  double apply = 0;       ///< seconds that are predicted
  double seconds = 0;     ///< the same with a share of the set-up: by these processors are compared
  bool remedy = false;    ///< for when nothing else holds
  bool singular = false;  ///< lines of it are, which pivoting found
  std::optional<Proposal> judged = {};  ///< what judge() said, as far as the bands are still the same
};

/// A way, whatever plan it comes to.
struct WayName {
  int device = -1;  ///< Processor::index
  std::string_view form;
  Method method = Method::pivot;
  friend bool operator==(const WayName&, const WayName&) = default;
};

/// What is known of a set-up before ways are judged.
template <typename T>
struct Outlook {
  const Options& options;
  const Bands<T>& bands;
  const Survey& survey;
  bool symmetric;  ///< the operator has to be
  double applies;  ///< that are expected before the next one
  double rounding_limit;
};

/// The bands as a processor is to solve them.
template <typename T>
Problem<T> problem_on(const Processor& processor, const Outlook<T>& outlook);

DeviceSettings device_settings(const Options& options);

/// All that may solve the lines by the method that the user asked for, in the order of processors and of the table.
/// @param host  the host, as a processor
template <typename T>
std::vector<Way> find_ways(const Processors& processors, const Processor& host, const Outlook<T>& outlook);

/// What the first scheme that a device has for the lines and the method objects to; empty if it has none, or all of
/// them are silent.
/// @pre find_ways() found no way on the device
template <typename T>
std::string why_no_way(const Processor& device, const Outlook<T>& outlook);

/// Write a plan's figures into a way.
template <typename T>
void weigh(Way& way, const Outlook<T>& outlook);

/// The way that takes the least time: on each processor by what it streams, and of processors the first that takes at
/// most a tenth more than the best, so that the noise of measurements does not decide; remedies after all others.
/// @pre ways are not empty
std::vector<Way>::iterator least(std::vector<Way>& ways);

/// Seconds of an apply on the host by stored factors, with its share of the set-up.
template <typename T>
double host_seconds(const Outlook<T>& outlook);

}  // namespace oclspkt
