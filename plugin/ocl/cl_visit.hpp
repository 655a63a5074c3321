// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "registry.hpp"
#include "visit.hpp"

namespace oclspkt::ocl {

/// @param steps  whose solvers are all of that device
/// @return null if a solver's vectors do not stay on the device as wholes, see ClSolver::kept_vector_bytes()
/// @throws DeviceError, BuildError
template <typename T>
std::unique_ptr<Visit<T>> make_visit(int device, const std::shared_ptr<OpenDevice>& open, const VisitSteps<T>& steps);

}  // namespace oclspkt::ocl
