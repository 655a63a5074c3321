// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <memory>

#include "device.hpp"
#include "emulators.hpp"
#include "matrices.hpp"
#include "oclspkt/error.hpp"
#include "plan.hpp"
#include "reference.hpp"
#include "scalar_test.hpp"
#include "space.hpp"
#include "thrown.hpp"
#if __has_include("schemes/lanes/lane_plans.hpp")  // tests/house/deletable.py
#include "schemes/lanes/lane_plans.hpp"
#define OCLSPKT_LANES
#endif

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

/// The same for kernels that were made for GPUs, see emulators.hpp.
template <typename T, typename F>
void on_every_device_for_gpus(const F& f) {
  on_every_device<T>([&](const DeviceInfo& info) {
    if (runs_kernels_for_gpus(info)) f(info);
  });
}

/// By the kernels of the device's type, or those for CPUs where it stands in for an FPGA: plans made for lanes run
/// there.
template <typename T>
std::unique_ptr<DeviceSolver<T>> make_solver(int device, DeviceSettings settings = {}) {
  const auto& devices = module().devices();
  const bool known = device >= 0 && device < static_cast<int>(devices.size());
  if (settings.variant == Variant::by_type && known && devices[static_cast<std::size_t>(device)].emulated) {
    settings.variant = Variant::cpu;
  }
  if (settings.use.timeout == 0) settings.use.timeout = 300;  // on a busy machine the default ten seconds may pass
  if constexpr (sizeof(T) == sizeof(double)) {
    return module().make_double(device, settings);
  } else {
    return module().make_float(device, settings);
  }
}

template <typename T>
std::shared_ptr<Space<T>> make_space(int device, Variant variant = Variant::by_type, bool copies = false) {
  const DeviceSettings settings{.variant = variant, .use = {.transfer = copies ? Transfer::copy : Transfer::automatic}};
  if constexpr (sizeof(T) == sizeof(double)) {
    return module().space_double(device, settings);
  } else {
    return module().space_float(device, settings);
  }
}

/// Forward error allowed for a system of dominance d, in units of eps: its condition is at most (d + 1) / (d - 1).
inline double forward_limit(double d) { return 8 * (d + 1) / (d - 1); }

/// What a plan is made from.
struct Shape {
  Method method = Method::truncated_halo;
  Index halo = 0;       ///< of truncated-streamed: the reach; 0: whole partitions
  Index partition = 0;  ///< 0: chosen
};

#ifdef OCLSPKT_LANES
template <typename T>
Plan plan_for(int device, Index n, const Shape& shape, const DeviceSettings& settings = {}) {
  const DeviceTraits traits = module().traits(device, sizeof(T) == sizeof(double), settings);
  if (shape.method == Method::truncated_streamed) {
    return make_stored_plan(n, shape.halo, shape.partition, sizeof(T), traits);
  }
  if (shape.method == Method::exact_factored) return make_twisted_plan(n, shape.partition, sizeof(T), traits);
  return make_plan(shape.method, n, shape.halo, shape.partition, sizeof(T), traits);
}
#endif

/// Set up and solve once. @param before  what x holds until then
template <typename T>
std::vector<T> solve_by_plan(int device, const Plan& plan, const Bands<T>& bands, const std::vector<T>& y,
                             const DeviceSettings& settings, T before = std::numeric_limits<T>::quiet_NaN()) {
  const auto solver = make_solver<T>(device, settings);
  solver->set_up(plan, bands);
  std::vector<T> x(y.size(), before);
  solver->apply(y.data(), x.data());
  return x;
}

/// By kernels made for GPUs.
inline const DeviceSettings kForGpus{.variant = Variant::gpu};
/// The same as for large vectors.
inline const DeviceSettings kOnDemand{.variant = Variant::gpu, .nan_safe_bytes = 0};

/// solve_by_plan() by those kernels.
template <typename T>
std::vector<T> solve_for_gpus(int device, const Plan& plan, const Bands<T>& bands, const std::vector<T>& y,
                              const DeviceSettings& settings = kForGpus) {
  return solve_by_plan(device, plan, bands, y, settings);
}

/// solve_by_plan() by a plan of some shape.
template <typename T>
std::vector<T> solve(int device, const Bands<T>& bands, const std::vector<T>& y, const Shape& shape,
                     const DeviceSettings& settings = {}) {
  return solve_by_plan(device, plan_for<T>(device, bands.lines().extent(), shape, settings), bands, y, settings);
}

/// Places that belong to no line.
inline std::vector<Index> gaps(const LineSet& lines) {
  std::vector<bool> taken(static_cast<std::size_t>(lines.extent()));
  for (Index l = 0; l < lines.count(); ++l) {
    for (Index i = 0; i < lines.length(l); ++i) {
      taken[static_cast<std::size_t>(lines.first(l) + i * lines.row_stride())] = true;
    }
  }
  std::vector<Index> free;
  for (Index i = 0; i < lines.extent(); ++i) {
    if (!taken[static_cast<std::size_t>(i)]) free.push_back(i);
  }
  return free;
}

/// x with the gaps filled from `other`, so that rows can be compared.
template <typename T>
std::vector<T> without_gaps(const LineSet& lines, std::vector<T> x, const std::vector<T>& other) {
  for (const Index i : gaps(lines)) x[static_cast<std::size_t>(i)] = other[static_cast<std::size_t>(i)];
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
