// SPDX-License-Identifier: BSD-2-Clause
#include "chosen.hpp"

#include "host_solver.hpp"
#include "pivot_solver.hpp"

namespace oclspkt {
namespace {

std::unique_ptr<DeviceSolver<float>> make_device_solver(DeviceModule& m, int device, const DeviceSettings& s, float) {
  return m.make_float(device, s);
}
std::unique_ptr<DeviceSolver<double>> make_device_solver(DeviceModule& m, int device, const DeviceSettings& s, double) {
  return m.make_double(device, s);
}

}  // namespace

template <typename T>
std::unique_ptr<DeviceSolver<T>> make_host_solver(Method method) {
  if (method == Method::pivot) return std::make_unique<PivotSolver<T>>();
  return std::make_unique<HostSolver<T>>();
}

template <typename T>
void Chosen<T>::take(const Way& way, const Options& options) {
  const Processor& processor = *way.processor;
  // A device solves by any method with the buffers that it has.
  const bool same = (!processor.host() || method_ == way.plan.method) && name_ == processor.name() &&
                    platform_ == processor.info.platform && device_ == processor.index;
  if (solver_ == nullptr || !reusable_ || !same) {
    retire();
    solver_ = processor.host() ? make_host_solver<T>(way.plan.method)
                               : make_device_solver(*processor.module, processor.index, device_settings(options), T());
  }
  reusable_ = true;
  device_ = processor.index;
  by_cuda_ = processor.info.cuda;
  method_ = way.plan.method;
  name_ = processor.name();
  platform_ = processor.info.platform;
}

template <typename T>
void Chosen<T>::retire() {
  if (solver_ == nullptr) return;
  finished_ = finished_ + solver_->times();
  solver_.reset();
}

template <typename T>
void Chosen<T>::give_way() {
  retire();
  device_ = -1;
  reusable_ = false;
}

template std::unique_ptr<DeviceSolver<float>> make_host_solver(Method);
template std::unique_ptr<DeviceSolver<double>> make_host_solver(Method);
template class Chosen<float>;
template class Chosen<double>;

}  // namespace oclspkt
