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
    queue,   ///< on the device of the caller's queue; the apply does not wait for the device
    buffers  ///< in cl_mem of the context of Solver::device_handles(); the apply waits for the device
  };
  Kind kind = Kind::host;
  DeviceQueue queue = {};  ///< used by Kind::queue alone

  /// The name of the apply function in messages.
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

/// The operator x = A^-1 y of a set of lines. One processor solves them, several processors share them, or several
/// processes hold parts of them. Every apply between two set-ups is the same linear operator, bit for bit, wherever the
/// vectors lie.
/// @tparam T float, double, std::complex<float> or std::complex<double>
template <typename T>
class OCLSPKT_API Operator {
 public:
  virtual ~Operator() = default;

  /// Solve A X = Y. Collective over all processes of the exchange if any process has a cut line. Cut lines are solved
  /// for one column after the other.
  ///
  /// Vectors on a device are not copied. Kernels are enqueued in the queue of `place`, or in the queue of
  /// device_handles(). Other commands that write y must have ended, or must precede the apply in this queue. If lines
  /// are cut, only the numbers next to the cuts go to the host, and the call waits for them. If CUDA has no kernels for
  /// a card that OpenCL sees, OpenCL solves. Vectors are then copied on the card (see Report::device.vectors), and the
  /// call waits for the queue and the solver, but not for the copy of x. If the device fails, its vectors are lost. The
  /// error is then thrown whatever `on_device_failure` says, and the next set_up takes another device.
  /// @param[in]  y shape [count][lines.extent()]. On a device of OpenCL: a cl_mem for one column, aligned to 16 bytes
  ///               if it is host memory. On a device of CUDA: an address in memory of the card
  /// @param[out] x like y; places between lines are untouched. x must not overlap y; sub-buffers are allowed
  /// @param      count columns; 0 does nothing
  /// @throws InvalidInput without a successful set_up; for a negative count, a stride shorter than a column, or vectors
  ///                      that overlap. Vectors on a device also throw it if takes() is false for their queue, if the
  ///                      host solves any line, or if their memory is unfit (of another device, too small, not aligned,
  ///                      with flags that forbid its use)
  /// @throws Breakdown    under AboveBound::error if an answer is above the limits of method auto; x still holds this
  ///                      answer, and further right-hand sides may be solved
  /// @throws DeviceError  x is then undefined
  virtual void apply(const Place& place, Columns<const T> y, Columns<T> x, Index count) = 0;
  /// True if apply() takes vectors on the device of `queue`: the last set_up got a queue of this device (Known::queue),
  /// the device solves all lines, and no line is gathered.
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
