// SPDX-License-Identifier: BSD-2-Clause
#include "host_methods.hpp"

#include "host_solver.hpp"
#include "pivot_solver.hpp"

namespace oclspkt {

template <typename T>
std::unique_ptr<DeviceSolver<T>> make_host_solver(Method method) {
  if (method == Method::pivot) return std::make_unique<PivotSolver<T>>();
  return std::make_unique<HostSolver<T>>();
}

template std::unique_ptr<DeviceSolver<float>> make_host_solver(Method);
template std::unique_ptr<DeviceSolver<double>> make_host_solver(Method);

}  // namespace oclspkt
