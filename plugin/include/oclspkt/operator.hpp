// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "oclspkt/device_handles.hpp"
#include "oclspkt/export.hpp"
#include "oclspkt/line_set.hpp"
#include "oclspkt/report.hpp"

namespace oclspkt {

/// Where the vectors of an apply lie.
struct Place {
  enum class Kind {
    host,
    queue,   ///< on the device of a caller's queue; nothing waits for it
    buffers  ///< in cl_mem of the context of Solver::device_handles(); the apply waits for the device
  };
  Kind kind = Kind::host;
  DeviceQueue queue = {};  ///< for Kind::queue alone

  /// The name of the call in messages.
  const char* call() const {
    return kind == Kind::host ? "apply" : kind == Kind::queue ? "enqueue" : "apply_on_device";
  }
};

/// Vectors of one length, `stride` scalars apart. On a device, `first` stands for a handle or an address.
template <typename Scalar>
struct Columns {
  Scalar* first;
  Index stride = 0;
  Scalar* operator[](Index column) const { return first + column * stride; }
  Columns operator+(Index columns) const { return {first + columns * stride, stride}; }
};

/// The operator x = A^-1 y of a set of lines, whoever solves them: one processor, several that share them, or several
/// processes that hold parts of them. Every apply between two set-ups is the same linear operator, bit for bit,
/// wherever the vectors lie.
/// @tparam T float or double
template <typename T>
class OCLSPKT_API Operator {
 public:
  virtual ~Operator() = default;

  /// Solve A X = Y. Collective over all processes of the exchange if any of these has a cut line; cut lines take the
  /// columns one after the other.
  ///
  /// On a device nothing is copied. Kernels are enqueued in the queue of `place`, or in that of device_handles(): other
  /// commands that write y must have ended, or come before in that queue. Of cut lines only the numbers next to the
  /// cuts visit the host, and the call waits for them. If OpenCL sees a card for which CUDA has no kernels, OpenCL
  /// solves: vectors are then copied on the card, and the call waits for the queue and the solver, but not for the copy
  /// of x (see Report::device.vectors). If the device fails, the vectors are lost with it, so the error is thrown
  /// whatever `on_device_failure` says; the next set_up then takes another device.
  /// @param[in]  y shape [count][lines.extent()]. On a device of OpenCL a cl_mem, for one column, where host memory is
  ///               aligned to 16 bytes; of CUDA the address in memory of the card
  /// @param[out] x likewise; places between lines are untouched. Must not overlap y; a part (sub-buffer) may be used
  /// @param      count columns; 0 does nothing
  /// @throws InvalidInput without a good set_up; for a negative count, strides shorter than a column, or vectors that
  ///                      overlap; on a device, unless takes(), or where the host solves all lines or some of them, and
  ///                      for memory of another device, too small, not aligned, or with flags that forbid its use
  /// @throws Breakdown    under AboveBound::error if an answer is above the limits of method auto; x holds it all the
  ///                      same, and further right-hand sides may be solved
  /// @throws DeviceError  x is then undefined
  virtual void apply(const Place& place, Columns<const T> y, Columns<T> x, Index count) = 0;
  /// True if apply() takes vectors on the device of that queue: the last set_up got a queue of that device
  /// (Known::queue), the device solves all lines, and none of them is gathered.
  virtual bool takes(const DeviceQueue& queue) const = 0;
  virtual Times times() const = 0;
  /// Bytes held for bands, factors and scratch, on host and device.
  virtual std::int64_t bytes() const = 0;

  void apply(const T* y, T* x) { apply({}, {y}, {x}, 1); }
  void apply(const T* y, Index y_stride, T* x, Index x_stride, Index count) {
    apply({}, {y, y_stride}, {x, x_stride}, count);
  }
  void apply_on_device(_cl_mem* y, _cl_mem* x) { apply({Place::Kind::buffers}, {as_vector(y)}, {as_vector(x)}, 1); }
  void enqueue(const DeviceQueue& queue, const void* y, Index y_stride, void* x, Index x_stride, Index count) {
    apply({Place::Kind::queue, queue}, {static_cast<const T*>(y), y_stride}, {static_cast<T*>(x), x_stride}, count);
  }

 private:
  static T* as_vector(void* handle) { return static_cast<T*>(handle); }
};

}  // namespace oclspkt
