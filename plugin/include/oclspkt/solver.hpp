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

/// What a caller knows of a matrix and its bands do not show.
struct Known {
  bool symmetric = false;                  ///< but for rounding
  bool constant_null_space = false;        ///< the matrix times a constant vector is 0
  double rounding_limit = kRoundingLimit;  ///< what the caller leaves to the rounding of a solve, in eps
  bool as_given = false;                   ///< devices solve in the units in which columns are given
  /// Vectors lie on the device of this queue, and that device solves if the options name it and it can, see
  /// Solver::enqueue(). The queue lives until the next set_up, or the solver's end.
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

/// Bands that a caller fills ahead of a set-up, while the Solver still applies the operator of the one before. Solvers
/// take them for their own, so that no number is copied a second time.
/// @tparam T float or double
template <typename T>
class OCLSPKT_API FilledBands {
 public:
  FilledBands();
  ~FilledBands();
  FilledBands(FilledBands&&) noexcept;
  FilledBands& operator=(FilledBands&&) noexcept;

  /// Fill the bands of `lines` while they are looked at, as Solver::fill() does. Couplings out of the lines become 0.
  void fill(const LineSet& lines, const BandsFill<T>& fill);
  /// Fill bands of `rows` places whose lines are not known yet. They are kept as they are; the set-up that takes them
  /// has another look.
  void fill(Index rows, const BandsFill<T>& fill);

  Index extent() const { return bands_.lines().extent(); }
  std::int64_t bytes() const { return bands_.bytes(); }

 private:
  friend class Solver<T>;
  Bands<T> bands_;
  std::unique_ptr<Survey> survey_;
  bool surveyed_ = false;  ///< survey_ is of bands_
  bool rounded_ = false;   ///< a solver rounded them by precision narrow
};

/// Solve sets of tridiagonal systems `A x = y` with the SPIKE algorithm on the devices of the machine.
///
/// Set-up chooses device, method and partitioning once; every apply until the next set-up is then the same linear
/// operator, bit for bit. An object is used by one thread at a time; different objects may be used at once.
/// @tparam T float or double
template <typename T>
class OCLSPKT_API Solver {
 public:
  /// @throws InvalidInput if an option is out of range (devices are looked for at set-up)
  explicit Solver(Options options = {});
  ~Solver();
  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;

  /// Storage for the bands of `lines`, to be filled in place before set_up(). The reference stays good until the end of
  /// the solver, or a call for lines of another layout: write any of the numbers anew, and the next set_up solves what
  /// is written. set_up changes nothing in them but lower of a line's first row and upper of its last, which are
  /// ignored (it may set them to 0). Where some lines are fallback lines, or under precision narrow, it works on a
  /// copy: 3 words a row more, which fill() and its like do without. Between a change and the next set_up, apply() may
  /// solve with a mixture of old and new numbers.
  ///
  /// The call also brings back what fill(), swap_bands() or a set_up that copies brought, as floats under precision
  /// narrow.
  Bands<T>& bands(const LineSet& lines);

  /// The same, filled by `fill` while they are looked at, which saves set_up() a pass over memory: by all processors of
  /// this process where there are rows enough.
  void fill(const LineSet& lines, const BandsFill<T>& fill);

  /// The same, by a swap: what this solver had becomes that of `filled`, as bands(lines) would give it.
  /// @throws InvalidInput if `filled` has another number of places than `lines`
  void swap_bands(const LineSet& lines, FilledBands<T>& filled);

  /// Choose device, method and plan for the bands as they are now and move them to the device.
  /// @throws InvalidInput if an option names what is not there, or if bands that precision narrow has rounded are to be
  ///                      solved by another one
  /// @throws Breakdown    if no method solves the matrix (singular, NaN, Inf); apply then throws until a good set_up
  /// @throws DeviceError  only under OnDeviceFailure::error
  /// @cost   a few sweeps over the bands; for `exact` one trial solve at the first set-up
  void set_up(const Known& known = {});

  /// Copy the bands, each of shape [lines.extent()], then set_up().
  void set_up(const LineSet& lines, const T* lower, const T* diag, const T* upper, const Known& known = {});

  /// Solve A x = y for all lines.
  /// @param[in]  y shape [lines.extent()]
  /// @param[out] x shape [lines.extent()]; rows of no line are untouched; must not overlap y
  /// @throws InvalidInput without a good set_up, or if x and y overlap
  /// @throws Breakdown    under AboveBound::error if the answer is above the limits of method auto; x has it all the
  ///                      same, and other right-hand sides may be solved for
  void apply(const T* y, T* x);

  /// Solve A X = Y for all lines and several right-hand sides: the operator of apply() for each, bit for bit.
  /// @param[in]  y       shape [columns][lines.extent()], column k at y + k y_stride
  /// @param[out] x       shape [columns][lines.extent()], column k at x + k x_stride; must not overlap y
  /// @param      columns 0 does nothing
  /// @throws InvalidInput without a good set_up, for negative `columns`, for strides that are shorter than a column,
  ///                      or if x and y overlap
  void apply(const T* y, Index y_stride, T* x, Index x_stride, Index columns);

  /// The OpenCL objects of the device that the last set_up took; null where the host solves. They stay as long as
  /// set-ups take that device, and until release_devices().
  DeviceHandles device_handles() const;

  /// Solve A x = y for all lines with both vectors in buffers of the device: nothing is copied, and it is the operator
  /// of apply(), bit for bit. Returns when the device is done.
  ///
  /// Kernels go through the queue of device_handles(): what writes y in another queue has to be over before the call.
  /// If the device fails, its vectors are lost with it, so the error comes back whatever `on_device_failure` says; the
  /// next set_up takes another device, as it says.
  /// @param[in]  y a cl_mem of the context of device_handles(), lines().extent() scalars or more; buffers over memory
  ///               of the host aligned to 16 bytes
  /// @param[out] x the same, another one, or a part (sub-buffer) that does not overlap y
  /// @throws InvalidInput without a good set_up; where the host solves all lines or some of them; for a buffer of
  ///                      another context, too small, overlapping, not aligned, or with flags that forbid its use
  /// @throws DeviceError  x is then undefined
  void apply_on_device(_cl_mem* y, _cl_mem* x);

  /// True if enqueue() takes vectors on the device of that queue: the last set_up was told of the device
  /// (Known::queue), and it solves all lines.
  bool takes(const DeviceQueue& queue) const;
  /// True if enqueue_transpose() does; false until set_up_transpose() has run for the bands as they are.
  bool takes_transpose(const DeviceQueue& queue) const;

  /// Solve A X = Y for all lines with vectors in memory of the device of `queue`: kernels are enqueued, nothing is
  /// copied, and the operator is that of apply(), bit for bit. Returns as soon as that is done, before the device is:
  /// x is there for what comes later in `queue`. Another queue of the same device may be given every time.
  ///
  /// Where CUDA has no kernels for a card that OpenCL sees, OpenCL solves: vectors are copied on the card, and the call
  /// waits for the queue and for the solver, not for the copy of x. Report::device.vectors says so.
  ///
  /// If the device fails, its vectors are lost with it, so the error comes back whatever `on_device_failure` says; the
  /// next set_up takes another device, as it says.
  /// @param[in]  y opencl: a cl_mem, and there is one column; cuda: address of the first column in memory of the card,
  ///               column k being y_stride scalars times k further on. Shape [columns][lines.extent()]
  /// @param[out] x the same; must not overlap y
  /// @throws InvalidInput unless takes(queue); for memory of another device, too small, or overlapping
  /// @throws DeviceError  x is then undefined
  void enqueue(const DeviceQueue& queue, const void* y, Index y_stride, void* x, Index x_stride, Index columns);
  /// The same for A^T; its own set-up runs at the first call after a set_up, and waits.
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
  /// Of apply_transpose and its like.
  Times transpose_times() const;
  Counts counts() const;
  /// The lines, as they were given, that are singular wholly or in part and that the last set_up pinned; in order.
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

/// Drop the process's OpenCL contexts, programs and queues. Solvers that are alive keep nothing of them and refuse
/// apply afterwards; destroying them is safe at any time. A later set_up opens everything anew.
OCLSPKT_API void release_devices();

}  // namespace oclspkt
