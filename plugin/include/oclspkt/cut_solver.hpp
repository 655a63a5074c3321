// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "oclspkt/solver.hpp"

namespace oclspkt {

/// A Solver whose lines may be cut among processes.
template <typename T>
using CutSolver = Solver<T>;

}  // namespace oclspkt
