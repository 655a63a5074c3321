// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "device.hpp"
#include "matrices.hpp"
#include "oclspkt/error.hpp"
#include "plan.hpp"
#include "reference.hpp"

extern "C" oclspkt::DeviceModule* oclspkt_cl_module(const char* abi, std::string* error);

namespace oclspkt::test {

/// The module, without which there is nothing to test.
inline DeviceModule& module() {
  std::string why;
  DeviceModule* module = oclspkt_cl_module(kDeviceModuleAbi, &why);
  if (module == nullptr) throw std::runtime_error("no OpenCL module: " + why);
  return *module;
}

/// Call f(info) for every device that can do T.
template <typename T, typename F>
void on_every_device(const F& f) {
  for (const DeviceInfo& info : module().devices()) {
    if (sizeof(T) == sizeof(double) && !info.fp64) continue;
    SCOPED_TRACE("device " + std::to_string(info.index) + ": " + info.name + " (" + info.platform + ")");
    f(info);
  }
}

template <typename T>
std::unique_ptr<DeviceSolver<T>> make_solver(int device, const DeviceSettings& settings = {}) {
  if constexpr (sizeof(T) == sizeof(double)) {
    return module().make_double(device, settings);
  } else {
    return module().make_float(device, settings);
  }
}

/// What a plan is made from.
struct Shape {
  Method method = Method::truncated_halo;
  Index halo = 0;          ///< of truncated-streamed: the reach; 0: whole partitions
  Index partition = 0;     ///< 0: chosen
  bool from_ends = false;  ///< exact-twopass: pivots made in two sweeps from both ends
};

template <typename T>
Plan plan_for(int device, Index n, const Shape& shape, const DeviceSettings& settings = {}) {
  const DeviceTraits traits = module().traits(device, sizeof(T) == sizeof(double), settings);
  if (shape.method == Method::truncated_streamed) {
    return make_stored_plan(n, shape.halo, shape.partition, sizeof(T), traits);
  }
  if (shape.from_ends) return make_ends_plan(n, shape.partition, sizeof(T), traits);
  if (shape.method == Method::exact_factored) return make_twisted_plan(n, shape.partition, sizeof(T), traits);
  return make_plan(shape.method, n, shape.halo, shape.partition, sizeof(T), traits);
}

/// A closed matrix: what a solver hands to a device.
template <typename T>
Bands<T> closed(Bands<T> bands) {
  bands.close_lines();
  return bands;
}

/// Set up and solve once.
template <typename T>
std::vector<T> solve(int device, const Bands<T>& bands, const std::vector<T>& y, const Shape& shape,
                     const DeviceSettings& settings = {}) {
  const auto solver = make_solver<T>(device, settings);
  solver->set_up(plan_for<T>(device, bands.lines().extent(), shape, settings), bands);
  std::vector<T> x(y.size(), std::numeric_limits<T>::quiet_NaN());
  solver->apply(y.data(), x.data());
  return x;
}

template <typename T>
std::vector<T> solve_by_reference(const Bands<T>& bands, const std::vector<T>& y) {
  Reference<T> reference;
  reference.factor(bands.lines(), bands.view());
  std::vector<T> x(y.size());
  reference.solve(y.data(), x.data());
  return x;
}

/// max |a - b| / max |b|; NaN if any number is NaN.
template <typename T>
double relative_difference(const std::vector<T>& a, const std::vector<T>& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (std::isnan(d)) return std::numeric_limits<double>::quiet_NaN();
    difference = std::max(difference, d);
    size = std::max(size, std::abs(static_cast<double>(b[i])));
  }
  return size > 0 ? difference / size : difference;
}

template <typename T>
inline constexpr double kEps = std::numeric_limits<T>::epsilon();

}  // namespace oclspkt::test
