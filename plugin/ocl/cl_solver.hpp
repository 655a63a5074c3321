// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "borders.hpp"
#include "device.hpp"
#include "device_state.hpp"

namespace oclspkt::ocl {

/// True if kernels work in the caller's memory. Kernels for GPUs need an alignment of 16 bytes, and those for FPGAs
/// whole blocks of aligned rows, which a caller's memory may lack.
inline bool works_in_place(const FoundDevice& found, const DeviceSettings& settings) {
  return found.info.host_unified && !settings.copy_vectors && !found.by_groups(settings.variant) &&
         !found.by_task(settings.variant);
}

/// A scheme on a device: its chunks and memory, the transfer of vectors, time limits.
/// @throws InvalidInput, DeviceError
template <typename T>
std::unique_ptr<DeviceSolver<T>> make_solver(int device, const DeviceSettings& settings);

/// A solver of make_solver(), as a visit uses it.
template <typename T>
class VisitedSolver : public DeviceSolver<T> {
 public:
  /// Bytes of a vector in this solver's memory, including those that kernels read behind it; 0 if vectors do not stay
  /// there as wholes.
  virtual std::int64_t kept_vector_bytes() const = 0;
  /// Make its own vectors as long as another solver's kernels need them.
  /// @param what  the work in words, for errors
  /// @throws DeviceError
  virtual void keep_vectors(const char* what, std::int64_t bytes) = 0;
  /// Its own vectors y and x; null after a release.
  virtual std::pair<Buffer, Buffer> vectors() const = 0;
  /// Copy a vector to a new buffer. @throws DeviceError
  virtual Buffer bring_vector(const char* what, const T* values) = 0;
  /// @throws DeviceError; x is then undefined
  virtual void solve(const Vectors<T>& vectors) = 0;
};

/// @param steps  whose solvers are all of that device
/// @return null if a solver's vectors do not stay on the device as wholes
/// @throws DeviceError, BuildError
template <typename T>
std::unique_ptr<Visit<T>> make_visit(int device, const std::shared_ptr<OpenDevice>& open, const VisitSteps<T>& steps);

/// Copy a layout to a device.
/// @param imported  where callers' vectors are if their queues belong to another run-time; else null
/// @param bytes     of a vector
/// @throws DeviceError, BuildError
template <typename T>
std::unique_ptr<Borders<T>> make_borders(int device, const std::shared_ptr<OpenDevice>& open,
                                         const BorderLayout<T>& layout,
                                         const std::shared_ptr<ImportedVectors>& imported, std::int64_t bytes);

}  // namespace oclspkt::ocl
