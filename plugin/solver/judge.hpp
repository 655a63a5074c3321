// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "schemes/problem.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {

/// Let a scheme plan problem.method, and judge whether the plan holds, without the trial solve.
/// @pre scheme.takes(problem.method, problem)
/// @param[out] rejection if the result is empty, the deciding numbers in a text, and the lines that alone fail; none if
///                       the scheme has no plan for such lines
template <typename T>
std::optional<Proposal> judge(const Problem<T>& problem, const Scheme& scheme, Rejection& rejection);

}  // namespace oclspkt
