// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "schemes/problem.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {

/// Let a scheme plan problem.method and see whether the plan holds, short of the trial solve.
/// @pre scheme.takes(problem.method, problem)
/// @param[out] rejection the numbers in a line, if the result is empty, and the lines that alone stand in the way; none
///                       where the scheme has no plan for such lines
template <typename T>
std::optional<Proposal> judge(const Problem<T>& problem, const Scheme& scheme, Rejection& rejection);

}  // namespace oclspkt
