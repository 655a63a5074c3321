// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure_case.hpp"
#include "problem.hpp"
#include "residual.hpp"
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

/// `rounds` results of f, each the seconds of a solve, behind one that is not counted.
template <typename F>
std::vector<double> times(int rounds, const F& f) {
  f();
  std::vector<double> seconds;
  for (int round = 0; round < rounds; ++round) seconds.push_back(f());
  return seconds;
}

}  // namespace oclspkt::bench::paper
