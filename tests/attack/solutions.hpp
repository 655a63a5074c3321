// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "families.hpp"

namespace oclspkt::attack {

/// Solutions that hurt: each line's the same kind.
///   borders  1 beside borders of partitions and tiles, 1e-3 elsewhere
///   balanced random, over the largest of each column: all columns weigh the same in A x
///   growing  from 1e-6 to 1, or from 1 to 1e-6
///   sources  1 in each row of the right-hand side
enum class Solution { alternating, random, constant, smooth, growing, borders, balanced, sources };
inline constexpr const char* kSolutionNames[] = {"alternating", "random",  "constant", "smooth",
                                                 "growing",     "borders", "balanced", "sources"};

/// A solution for `system` (the right-hand side for `sources`), of size 1 at most; places of no line are 0.
std::vector<double> make_solution(Solution kind, const System& system, Dice& dice);

}  // namespace oclspkt::attack
