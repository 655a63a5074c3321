// SPDX-License-Identifier: BSD-2-Clause
#include "oclspkt/device_visit.hpp"

#include "solver_impl.hpp"

namespace oclspkt {

template <typename T>
DeviceVisit<T>::DeviceVisit() = default;
template <typename T>
DeviceVisit<T>::~DeviceVisit() = default;
template <typename T>
DeviceVisit<T>::DeviceVisit(DeviceVisit&&) noexcept = default;
template <typename T>
DeviceVisit<T>& DeviceVisit<T>::operator=(DeviceVisit&&) noexcept = default;

template <typename T>
void DeviceVisit<T>::forget() {
  visit_.reset();
  uploads_.clear();
  order_ = {};
}

template <typename T>
void DeviceVisit<T>::set_up(Order order) {
  forget();
  order_ = std::move(order);
  VisitSteps<T> steps{.solvers = {}, .sum = order_.sum, .between = order_.between};
  const Solver<T>& front = *order_.solvers.front();
  const LineSolver<T>* const first = front.impl_->alone();
  for (const Solver<T>* of_order : order_.solvers) {
    const LineSolver<T>* const solver = of_order->impl_->alone();
    DeviceSolver<T>* const on_device = solver != nullptr ? solver->alone_on_device() : nullptr;
    if (on_device == nullptr || solver->device() != first->device() ||
        solver->lines().extent() != first->lines().extent()) {
      return;
    }
    steps.solvers.push_back(on_device);
    uploads_.push_back(solver->counts().uploads);
  }
  try {
    visit_ = steps.solvers.front()->visit(steps);
  } catch (const DeviceError&) {  // the solvers report the fault of the device when they use it
    if (front.options().on_device_failure == OnDeviceFailure::error) throw;
  }
}

template <typename T>
bool DeviceVisit<T>::ready() const {
  if (visit_ == nullptr) return false;
  for (std::size_t k = 0; k < uploads_.size(); ++k) {
    const LineSolver<T>* const solver = order_.solvers[k]->impl_->alone();
    if (solver == nullptr || solver->alone_on_device() == nullptr) return false;
    if (solver->counts().uploads != uploads_[k]) return false;
  }
  return true;
}

template <typename T>
bool DeviceVisit<T>::apply(const T* y, Index y_stride, T* x, Index x_stride, Index columns) {
  if (!ready()) return false;
  const std::size_t last = order_.solvers.size() - 1;
  for (Index k = 0; k < columns; ++k) {
    for (std::size_t step = 0; step <= last; ++step) {
      LineSolver<T>& solver = *order_.solvers[step]->impl_->alone();
      const T* const from = step == 0 ? y + k * y_stride : nullptr;
      if (!solver.take_step(*visit_, step, from, step == last ? x + k * x_stride : nullptr)) return false;
    }
  }
  return true;
}

template <typename T>
std::int64_t DeviceVisit<T>::bytes() const {
  return visit_ != nullptr ? visit_->bytes() : 0;
}

template class DeviceVisit<float>;
template class DeviceVisit<double>;

}  // namespace oclspkt
