// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "ways.hpp"

namespace oclspkt::test {

/// The plan of a method on the processor of a problem: that of the scheme that streams least, of those that hold.
/// @param[out] rejection  the last one
template <typename T>
std::optional<Proposal> propose(Problem<T> problem, Method method, Rejection& rejection) {
  problem.method = method;
  std::vector<std::pair<double, const Scheme*>> schemes;
  for (const Scheme* scheme : all_schemes()) {
    if (!scheme->takes(method, problem)) continue;
    if (const auto plan = scheme->least(problem)) schemes.emplace_back(scheme->stream_words(*plan, sizeof(T)), scheme);
    if (scheme->nature().only_asked_for) break;
  }
  std::stable_sort(schemes.begin(), schemes.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [words, scheme] : schemes) {
    Rejection why;
    if (auto proposal = judge(problem, *scheme, why)) return proposal;
    if (why) rejection = std::move(why);
  }
  return std::nullopt;
}

}  // namespace oclspkt::test
