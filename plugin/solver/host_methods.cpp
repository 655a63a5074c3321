// SPDX-License-Identifier: BSD-2-Clause
#include "host_methods.hpp"

#include <chrono>

#include "host_solver.hpp"

namespace oclspkt {

template <typename T>
void PivotSolver<T>::set_up(const Plan& /*plan*/, const Bands<T>& bands) {
  reference_.factor(bands.lines(), bands.view());
}

template <typename T>
void PivotSolver<T>::apply(const T* y, T* x) {
  const auto start = std::chrono::steady_clock::now();
  reference_.solve(y, x);
  times_.kernel_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ++times_.applies;
}

template <typename T>
std::unique_ptr<DeviceSolver<T>> make_host_solver(Method method) {
  if (method == Method::pivot) return std::make_unique<PivotSolver<T>>();
  return std::make_unique<HostSolver<T>>();
}

template class PivotSolver<float>;
template class PivotSolver<double>;
template std::unique_ptr<DeviceSolver<float>> make_host_solver(Method);
template std::unique_ptr<DeviceSolver<double>> make_host_solver(Method);

}  // namespace oclspkt
