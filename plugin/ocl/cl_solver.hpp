// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "borders.hpp"
#include "device.hpp"
#include "device_state.hpp"

namespace oclspkt::ocl {

/// True if kernels work in the caller's memory. Kernels for GPUs cannot: they need an alignment of 16 bytes. Kernels
/// for FPGAs cannot: they need whole, aligned blocks of rows.
inline bool works_in_place(const FoundDevice& found, const DeviceSettings& settings) {
  return found.info.host_unified && settings.use.transfer != Transfer::copy && !found.by_groups(settings.variant) &&
         !found.by_task(settings.variant);
}

/// Make a solver that runs a scheme on a device. It manages chunks, memory, transfers of vectors and time limits.
/// @throws InvalidInput, DeviceError
template <typename T>
std::unique_ptr<DeviceSolver<T>> make_solver(int device, const DeviceSettings& settings);

/// The functions of a solver of make_solver() that a visit calls.
template <typename T>
class VisitedSolver : public DeviceSolver<T> {
 public:
  /// Bytes of the solver's buffer for a vector, including rows that kernels read behind the vector. The result is 0 if
  /// the solver does not hold whole vectors on the device.
  virtual std::int64_t kept_vector_bytes() const = 0;
  /// Enlarge the solver's vectors to the bytes that another solver's kernels need.
  /// @param what  the work in words, for errors
  /// @throws DeviceError
  virtual void keep_vectors(const char* what, std::int64_t bytes) = 0;
  /// Returns the solver's vectors y and x on the device; null after a release.
  virtual std::pair<Buffer, Buffer> vectors() const = 0;
  /// Copy a vector to a new buffer. @throws DeviceError
  virtual Buffer bring_vector(const char* what, const T* values) = 0;
  /// Solve with vectors on the host or on the device. @throws DeviceError; x is then undefined
  virtual void solve(const Vectors<T>& vectors) = 0;
};

/// Make a visit of solvers that pass vectors on in device memory.
/// @param steps  all their solvers are on `device`
/// @return null if a solver does not hold whole vectors on the device
/// @throws DeviceError, BuildError
template <typename T>
std::unique_ptr<Visit<T>> make_visit(int device, const std::shared_ptr<OpenDevice>& open, const VisitSteps<T>& steps);

/// Copy a layout to a device.
/// @param imported  the vectors of callers whose queues belong to another run-time; else null
/// @param bytes     bytes of a vector
/// @throws DeviceError, BuildError
template <typename T>
std::unique_ptr<Borders<T>> make_borders(int device, const std::shared_ptr<OpenDevice>& open,
                                         const BorderLayout<T>& layout,
                                         const std::shared_ptr<ImportedVectors>& imported, std::int64_t bytes);

}  // namespace oclspkt::ocl
