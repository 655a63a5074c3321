// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <complex>
#include <functional>
#include <memory>

#include "oclspkt/bands.hpp"
#include "oclspkt/cuts.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/operator.hpp"
#include "oclspkt/options.hpp"
#include "oclspkt/report.hpp"

namespace oclspkt {

/// Facts about a matrix that the caller knows and that its bands do not show.
struct Known {
  bool symmetric = false;                  ///< the matrix is symmetric, apart from rounding
  bool constant_null_space = false;        ///< the matrix times a constant vector is 0
  double rounding_limit = kRoundingLimit;  ///< largest rounding bound that the caller accepts, in eps
  bool as_given = false;                   ///< devices solve in the caller's units of the columns
  /// Vectors are on the device of this queue. This device solves if it can and the options allow it, see
  /// Operator::apply(). The queue must live until the next set_up, or the solver's end.
  DeviceQueue queue = {};
};

struct Survey;
template <typename T>
class OCLSPKT_API DeviceVisit;
template <typename T>
class SharedLines;
template <typename T>
class OCLSPKT_API Solver;

/// Bands that a caller fills before a set-up, while the Solver still applies the previous operator. The Solver takes
/// them over without a copy.
/// @tparam T float, double, std::complex<float> or std::complex<double>
template <typename T>
class OCLSPKT_API FilledBands {
 public:
  FilledBands();
  ~FilledBands();
  FilledBands(FilledBands&&) noexcept;
  FilledBands& operator=(FilledBands&&) noexcept;

  /// Fill the bands of `lines` and survey them meanwhile, as Solver::fill() does. Couplings out of the lines become 0.
  void fill(const LineSet& lines, const BandsFill<T>& fill);
  /// Fill bands of `rows` places whose lines are not known yet. Couplings keep their values. The set-up that takes the
  /// bands surveys them.
  void fill(Index rows, const BandsFill<T>& fill);

  Index extent() const { return bands_.lines().extent(); }
  std::int64_t bytes() const { return bands_.bytes(); }

 private:
  friend class Solver<T>;
  Bands<T> bands_;
  std::unique_ptr<Survey> survey_;
  bool surveyed_ = false;  ///< survey_ belongs to bands_
  bool rounded_ = false;   ///< a solver has rounded bands_ for precision narrow
};

/// Solve sets of tridiagonal systems `A x = y` with the SPIKE algorithm on the devices of the machine.
///
/// Set-up chooses device, method and partitioning once. Every apply until the next set-up is then the same linear
/// operator, bit for bit. One thread at a time may use an object; several threads may use different objects.
///
/// Lines may be cut among processes. Then set-ups and applies are collective over all processes of the exchange. Each
/// process eliminates the inner rows of its parts. The top and bottom unknowns of a line's parts form one tridiagonal
/// system, which one process of the chain solves. If the influence of a cut decays within each part, pairs of
/// neighbours solve it instead. If a process throws in set_up, all do.
/// @tparam T float, double, std::complex<float> or std::complex<double>
template <typename T>
class OCLSPKT_API Solver final : public Operator<T> {
 public:
  /// @throws InvalidInput if an option is out of range; only set_up() looks for devices
  explicit Solver(Options options = {});
  ~Solver() override;
  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;

  /// Storage for the bands of `lines`, to be filled in place before set_up(). The reference is valid for the solver's
  /// life, or until a call for lines of another layout. You may change numbers at any time; the next set_up uses them.
  /// Until then, apply() may solve with a mixture of old and new numbers.
  ///
  /// set_up() ignores lower of a line's first row and upper of its last row, and may set them to 0. It changes no other
  /// number. For fallback lines, for cut lines and under precision narrow, it works on a copy of 3 words a row.
  /// write(), fill() and swap_bands() avoid this copy.
  ///
  /// If lines are cut, lower of a part's first row couples to the part above. Upper of its last row couples to the part
  /// below. set_up reports errors in `cuts`, on all processes.
  ///
  /// If fill(), swap_bands() or the copying set_up() brought the present bands, this call restores their original
  /// values. Numbers that precision narrow rounded to float stay rounded.
  Bands<T>& bands(const ProcessLines& lines);
  /// Call `write` to fill the bands. `write` must keep no reference to the bands.
  void write(const ProcessLines& lines, const std::function<void(Bands<T>&)>& write);
  /// Replace the lines and cuts, and keep the numbers of the bands.
  void keep_bands(const ProcessLines& lines);
  /// Fill the bands by `fill` and, where no line is cut, survey them meanwhile, which saves set_up() a pass over
  /// memory. For many rows all processors of this process take part.
  void fill(const ProcessLines& lines, const BandsFill<T>& fill);
  /// Exchange the bands with `filled`, which receives the numbers that bands(lines) would return. For cut lines, fill
  /// `filled` by FilledBands::fill() for rows, because the fill() for lines sets the couplings at cuts to 0.
  /// @throws InvalidInput if `filled` does not have as many places as `lines`
  void swap_bands(const ProcessLines& lines, FilledBands<T>& filled);

  /// Choose device, method and plan for the present bands, and move the bands to the device. For cut lines, also choose
  /// how to solve each part and the interface systems at the cuts.
  /// @throws InvalidInput if an option names something that does not exist, or if the bands were rounded for precision
  ///                      narrow and another precision is set
  /// @throws Breakdown    if no method solves the matrix (singular, NaN, Inf); until a set_up succeeds, apply throws.
  ///                      An error of another process arrives as a Breakdown or InvalidInput that names the process
  /// @throws DeviceError  only under OnDeviceFailure::error
  /// @cost   a few sweeps over the bands; for `exact` one trial solve at the first set-up; for cut lines two solves for
  ///         the spikes, and two more if rows are not strictly dominant
  void set_up(const Known& known = {});
  /// Copy the bands, each of shape [lines.extent()], then set_up().
  void set_up(const LineSet& lines, const T* lower, const T* diag, const T* upper, const Known& known = {});

  using Operator<T>::apply;
  /// @cost for cut lines, 2 scalars are sent per line and cut, or up to 4 if nothing may be truncated
  void apply(const Place& place, Columns<const T> y, Columns<T> x, Index count) override;
  bool takes(const DeviceQueue& queue) const override;

  /// Solve A^T x = y. The first call after a set_up also runs the set-up of A^T.
  void apply_transpose(const T* y, T* x, const Place& place = {});
  /// takes() for A^T; false until set_up_transpose() has run for the current bands.
  bool takes_transpose(const DeviceQueue& queue) const;
  /// Run the set-up of A^T now, if it is due.
  /// @throws the errors of set_up()
  void set_up_transpose();

  /// The OpenCL objects of the device that the last set_up chose; null if the host solves. They stay valid as long as
  /// set-ups choose that device, and until release_devices().
  DeviceHandles device_handles() const;
  const Options& options() const;
  /// Change options, from the next set_up on.
  void set_options(Options options);
  const LineSet& lines() const;
  /// The report of this process's last set-up. If lines are cut, it does not cover the rows next to cuts.
  const Report& report() const;
  const CutReport& cut_report() const;
  Times times() const override;
  /// The solver of A^T, for its reports and times; not ready before the first set-up of A^T.
  const Solver& transposed() const;
  /// Times of this process since the last set_up, without the time in which it waits for other processes.
  Times part_times() const;
  Counts counts() const;
  /// Copy the bands of the last set_up, fallback lines included; couplings out of lines that are not cut are 0.
  void copy_bands(Bands<T>& out);
  std::int64_t bytes() const override;

 private:
  class Impl;
  friend class DeviceVisit<T>;
  friend class SharedLines<T>;
  std::unique_ptr<Impl> impl_;
};

extern template class FilledBands<float>;
extern template class FilledBands<double>;
extern template class FilledBands<std::complex<float>>;
extern template class FilledBands<std::complex<double>>;
extern template class Solver<float>;
extern template class Solver<double>;
extern template class Solver<std::complex<float>>;
extern template class Solver<std::complex<double>>;

/// Release the process's OpenCL contexts, programs and queues. Solvers that are alive keep none of them and refuse to
/// apply afterwards; destroying them is safe at any time. A later set_up opens everything anew.
OCLSPKT_API void release_devices();

}  // namespace oclspkt
