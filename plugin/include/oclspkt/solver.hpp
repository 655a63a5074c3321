// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <vector>

#include "oclspkt/bands.hpp"
#include "oclspkt/device_handles.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/export.hpp"
#include "oclspkt/line_set.hpp"
#include "oclspkt/options.hpp"
#include "oclspkt/report.hpp"

namespace oclspkt {

/// What a caller knows of a matrix that its bands do not show.
struct Known {
  bool symmetric = false;                  ///< apart from rounding
  bool constant_null_space = false;        ///< the matrix times a constant vector is 0
  double rounding_limit = kRoundingLimit;  ///< rounding that the caller tolerates from a solve, in eps
  bool as_given = false;                   ///< devices solve in the units in which the columns were given
  /// Vectors are on the device of this queue. That device solves if the options allow it and it can, see
  /// Solver::enqueue(). The queue must live until the next set_up, or the solver's end.
  DeviceQueue queue = {};
};

struct Survey;
template <typename T>
struct BorderLayout;
template <typename T>
class Borders;
template <typename T>
class CutSolver;
template <typename T>
class DeviceVisit;
template <typename T>
class Solver;

/// Bands that a caller fills before a set-up, while the Solver still applies the previous operator. The Solver takes
/// them over without a copy.
/// @tparam T float or double
template <typename T>
class OCLSPKT_API FilledBands {
 public:
  FilledBands();
  ~FilledBands();
  FilledBands(FilledBands&&) noexcept;
  FilledBands& operator=(FilledBands&&) noexcept;

  /// Fill the bands of `lines` and survey them meanwhile, as Solver::fill() does. Couplings out of the lines become 0.
  void fill(const LineSet& lines, const BandsFill<T>& fill);
  /// Fill bands of `rows` places whose lines are not known yet. Couplings stay as they are; the set-up that takes the
  /// bands surveys them.
  void fill(Index rows, const BandsFill<T>& fill);

  Index extent() const { return bands_.lines().extent(); }
  std::int64_t bytes() const { return bands_.bytes(); }

 private:
  friend class Solver<T>;
  Bands<T> bands_;
  std::unique_ptr<Survey> survey_;
  bool surveyed_ = false;  ///< survey_ belongs to bands_
  bool rounded_ = false;   ///< a solver has rounded them for precision narrow
};

/// Solve sets of tridiagonal systems `A x = y` with the SPIKE algorithm on the devices of the machine.
///
/// Set-up chooses device, method and partitioning once. Every apply until the next set-up is then the same linear
/// operator, bit for bit. One thread at a time may use an object; several threads may use different objects.
/// @tparam T float or double
template <typename T>
class OCLSPKT_API Solver {
 public:
  /// @throws InvalidInput if an option is out of range; devices are looked for at set-up
  explicit Solver(Options options = {});
  ~Solver();
  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;

  /// Storage for the bands of `lines`, to be filled in place before set_up(). The reference is valid for the solver's
  /// life, or until a call for lines of another layout. Change any numbers, and the next set_up uses them. set_up may
  /// set lower of a line's first row and upper of its last to 0, which are ignored; it changes nothing else. For
  /// fallback lines, and under precision narrow, it works on a copy of 3 words a row, which fill() and swap_bands()
  /// avoid. Between a change and the next set_up, apply() may solve with a mixture of old and new numbers.
  ///
  /// The call also restores bands that fill(), swap_bands() or a copying set_up brought; precision narrow has rounded
  /// them to float.
  Bands<T>& bands(const LineSet& lines);

  /// Fill the bands by `fill` and survey them meanwhile, which saves set_up() a pass over memory. For many rows all
  /// processors of this process take part.
  void fill(const LineSet& lines, const BandsFill<T>& fill);

  /// Exchange the bands with `filled`, which gets the solver's bands as bands(lines) would return them.
  /// @throws InvalidInput if `filled` does not have as many places as `lines`
  void swap_bands(const LineSet& lines, FilledBands<T>& filled);

  /// Choose device, method and plan for the bands as they are now and move them to the device.
  /// @throws InvalidInput if an option names something that does not exist, or if the bands were rounded for precision
  ///                      narrow and another precision is set
  /// @throws Breakdown    if no method solves the matrix (singular, NaN, Inf); apply then throws until a good set_up
  /// @throws DeviceError  only under OnDeviceFailure::error
  /// @cost   a few sweeps over the bands; for `exact` one trial solve at the first set-up
  void set_up(const Known& known = {});

  /// Copy the bands, each of shape [lines.extent()], then set_up().
  void set_up(const LineSet& lines, const T* lower, const T* diag, const T* upper, const Known& known = {});

  /// Solve A x = y for all lines.
  /// @param[in]  y shape [lines.extent()]
  /// @param[out] x shape [lines.extent()]; places between lines are untouched; must not overlap y
  /// @throws InvalidInput without a good set_up, or if x and y overlap
  /// @throws Breakdown    under AboveBound::error if the answer is above the limits of method auto; x holds it all the
  ///                      same, and further right-hand sides may be solved
  void apply(const T* y, T* x);

  /// Solve A X = Y for all lines and several right-hand sides: the operator of apply() for each, bit for bit.
  /// @param[in]  y       shape [columns][lines.extent()], column k at y + k y_stride
  /// @param[out] x       shape [columns][lines.extent()], column k at x + k x_stride; must not overlap y
  /// @param      columns 0 does nothing
  /// @throws InvalidInput without a good set_up, for negative `columns`, for strides that are shorter than a column,
  ///                      or if x and y overlap
  void apply(const T* y, Index y_stride, T* x, Index x_stride, Index columns);

  /// The OpenCL objects of the device that the last set_up chose; null if the host solves. They stay valid as long as
  /// set-ups choose that device, and until release_devices().
  DeviceHandles device_handles() const;

  /// Solve A x = y for all lines with both vectors in buffers of the device. Nothing is copied, and the operator is
  /// that of apply(), bit for bit. Returns when the device is done.
  ///
  /// Kernels go through the queue of device_handles(). Commands in another queue that write y must have ended before
  /// the call. If the device fails, the vectors are lost with it, so the error is thrown whatever `on_device_failure`
  /// says; the next set_up then takes another device.
  /// @param[in]  y a cl_mem of the context of device_handles(), lines().extent() scalars or more; a buffer over host
  ///               memory must be aligned to 16 bytes
  /// @param[out] x the same cl_mem, another one, or a part (sub-buffer) that does not overlap y
  /// @throws InvalidInput without a good set_up; where the host solves all lines or some of them; for a buffer of
  ///                      another context, too small, overlapping, not aligned, or with flags that forbid its use
  /// @throws DeviceError  x is then undefined
  void apply_on_device(_cl_mem* y, _cl_mem* x);

  /// True if enqueue() takes vectors on the device of that queue: the last set_up got a queue of that device
  /// (Known::queue), and the device solves all lines.
  bool takes(const DeviceQueue& queue) const;
  /// True if enqueue_transpose() takes vectors on the device of that queue; false until set_up_transpose() has run for
  /// the current bands.
  bool takes_transpose(const DeviceQueue& queue) const;

  /// Solve A X = Y for all lines with vectors in memory of the device of `queue`. Kernels are enqueued and nothing is
  /// copied; the operator is that of apply(), bit for bit. Returns before the device is done: later commands in `queue`
  /// find x. Each call may pass another queue of the same device.
  ///
  /// If OpenCL sees a card for which CUDA has no kernels, OpenCL solves. Vectors are then copied on the card, and the
  /// call waits for the queue and the solver, but not for the copy of x. Report::device.vectors says so.
  ///
  /// If the device fails, the vectors are lost with it, so the error is thrown whatever `on_device_failure` says; the
  /// next set_up then takes another device.
  /// @param[in]  y opencl: a cl_mem, for one column; cuda: address of the first column in memory of the card, column k
  ///               begins y_stride scalars times k further on. Shape [columns][lines.extent()]
  /// @param[out] x as y, with x_stride; must not overlap y
  /// @throws InvalidInput unless takes(queue); for memory of another device, too small, or overlapping
  /// @throws DeviceError  x is then undefined
  void enqueue(const DeviceQueue& queue, const void* y, Index y_stride, void* x, Index x_stride, Index columns);
  /// Solve A^T x = y with vectors on a device; its own set-up runs, and waits, at the first call after a set_up.
  void enqueue_transpose(const DeviceQueue& queue, const void* y, void* x);

  /// Solve A^T x = y; its own set-up runs at the first call after a set_up.
  void apply_transpose(const T* y, T* x);
  /// Run the set-up of apply_transpose() and its like now, if it is due.
  /// @throws as set_up()
  void set_up_transpose();

  const Options& options() const;
  /// Change options; takes effect at the next set_up.
  void set_options(Options options);
  const LineSet& lines() const;
  const Report& report() const;
  /// The transposed operator's report; not ready before the first apply_transpose.
  const Report& transpose_report() const;
  Times times() const;
  /// Times of apply_transpose() and enqueue_transpose().
  Times transpose_times() const;
  Counts counts() const;
  /// The lines that the last set_up pinned because they, or a part of them, are singular; numbered as given, in order.
  std::vector<Index> pinned_lines() const;
  /// Copy the bands of the last set_up, fallback lines included; couplings out of lines are 0.
  void copy_bands(Bands<T>& out);
  /// Bytes held for bands, factors and scratch, on host and device.
  std::int64_t bytes() const;

 private:
  class Impl;
  friend class CutSolver<T>;
  friend class DeviceVisit<T>;
  std::unique_ptr<Borders<T>> borders(const BorderLayout<T>& layout);
  std::unique_ptr<Impl> impl_;
};

extern template class FilledBands<float>;
extern template class FilledBands<double>;
extern template class Solver<float>;
extern template class Solver<double>;

/// Release the process's OpenCL contexts, programs and queues. Solvers that are alive keep none of them and refuse to
/// apply afterwards; destroying them is safe at any time. A later set_up opens everything anew.
OCLSPKT_API void release_devices();

}  // namespace oclspkt
