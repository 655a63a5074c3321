// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "backward_error.hpp"
#include "clock.hpp"
#include "measure_case.hpp"
#include "problem.hpp"
#include "run.hpp"
#include "text.hpp"

namespace oclspkt::bench::paper {

/// A peer that is not here.
struct Absent : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Judge the answer in problem.x, all by the same measure. @return whether it is right
template <typename T>
bool right(const Problem<T>& problem, nlohmann::ordered_json& record) {
  const double eps = normwise_backward_error(problem.lines, problem.bands.view(), problem.x.data(), problem.y.data()) /
                     static_cast<double>(std::numeric_limits<T>::epsilon());
  const bool good = eps <= gpu::kWrongEps;
  record["error_eps"] = std::stod(text("%.3g", good ? eps : 0));
  record["outcome"] = good ? "timed" : "wrong";
  if (!good) record["note"] = text("backward error of %.3g eps", eps);
  return good;
}

/// Results of f, each the seconds of a solve: `rounds` of them behind one that is not counted, fewer where the share is
/// spent, at least one.
/// @param before  seconds of a solve that was run already, which is the result where there is no time for another; 0:
/// none
template <typename F>
std::vector<double> times(int rounds, const Share& share, const F& f, double before = 0) {
  if (before > 0 && share.left() < before) return {before};
  double longest = before;
  const auto run = [&] {
    double seconds = 0;
    longest = std::max(longest, seconds_of([&] { seconds = f(); }));
    return seconds;
  };
  std::vector<double> seconds{run()};
  if (share.left() > longest) seconds.front() = run();
  while (static_cast<int>(seconds.size()) < rounds && share.left() > longest) seconds.push_back(run());
  return seconds;
}

}  // namespace oclspkt::bench::paper
