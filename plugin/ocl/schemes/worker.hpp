// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "factors.hpp"
#include "layout.hpp"
#include "oclspkt/bands.hpp"
#include "oclspkt/report.hpp"
#include "pipeline.hpp"
#include "plan.hpp"
#include "runtime.hpp"

namespace oclspkt::ocl {

/// Three host arrays that are copied to the device chunk by chunk: the bands, or arrays that the scheme stores instead.
struct Stored {
  const void *lower = nullptr, *diag = nullptr, *upper = nullptr;
  std::int64_t word = 0;  ///< bytes of a number
};

template <typename S>
Stored stored(const FactorsView<S>& f) {
  return {f.multiplier, f.reciprocal, f.coupling, sizeof(S)};
}
template <typename S>
Stored stored(const BandsView<S>& b) {
  return {b.lower, b.diag, b.upper, sizeof(S)};
}

/// The stored arrays of a chunk, on the device. If Plan::symmetric(), lower and upper are one buffer.
struct ChunkBands {
  Buffer lower, diag, upper;
};

/// The solver's objects that a worker uses in one set-up or apply.
struct Site {
  OpenDevice& device;
  Waiter waiter;
  const Plan& plan;
  const LineSet& lines;
  const Layout& layout;
  Pipeline* pipeline;  ///< null if kernels work in place
  Times& times;
  const std::vector<ChunkBands>& bands;  ///< the bands of each chunk; if every pass refills them, a single entry
  const Buffer& scratch;                 ///< Layout::scratch_bytes bytes
  const Buffer &y, &x;                   ///< vectors of one chunk; empty if kernels work in place
  std::vector<Event>& earlier;           ///< launches of a pass except the last, until their times are read
  const std::string& files;              ///< DeviceUse::fpga_binary
  std::int64_t nan_safe_bytes;           ///< DeviceSettings::nan_safe_bytes
  Int& last_number;                      ///< number of the last launch that has a number (TileKernel)
  Bank own_bank;                         ///< bank for the scheme's own arrays with numbers of each row; 0: any
};

/// The buffers and the tiles of one pass.
struct Tiles {
  const ChunkBands& bands;
  const Buffer &y, &x;
  const Chunk& chunk;
  int pass = 0;  ///< index of the pass, less than Needs::passes
};

/// Solves by a plan on a device. A worker has the arrays that are stored instead of the bands, its own buffers, its
/// kernels and its launches. A solver uses one worker for successive set-ups, as long as their plans are of one scheme.
/// After the loss of a device its workers are never destroyed, because the device may still access their buffers.
template <typename T>
class OCLSPKT_API Worker {
 public:
  virtual ~Worker() = default;
  Worker& operator=(Worker&&) = delete;

  /// Make the stored arrays: the bands, unless the scheme stores other arrays instead.
  /// @param bands     bands of all rows; they live until after the worker's next set-up
  /// @param in_place  the device may make the arrays itself, in memory that it shares with the host
  virtual Stored store(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, bool in_place);
  virtual void release_stored() { narrow_ = {}; }
  /// The factors of eliminated rows, for evidence (core/evidence); null if the scheme has none.
  virtual const Factors<T>* factors() const { return nullptr; }
  /// The bound on rounding, if it depends on the factors (DeviceSolver::rounding()); 0: the plan's bound holds.
  virtual double rounding() const { return 0; }
  virtual std::int64_t host_bytes() const;

  /// Build the kernels, and allocate the worker's own buffers. The stored arrays, vectors and scratch already exist.
  /// Kernels and buffers of the last set-up are reused if they fit.
  /// @return bytes of the buffers on the device and of host memory that belongs to them
  virtual std::int64_t build(const Site& site, const BandsView<T>& bands) = 0;
  /// Enqueue one pass over `tiles`, which may be empty.
  /// @return the event of the last launch
  virtual Event enqueue(const Site& site, const Tiles& tiles) = 0;
  /// Launch the kernels over no tiles. Run-times that compile at the first launch compile now, and unsuitable launches
  /// fail now.
  virtual void rehearse(const Site& site);

 protected:
  /// Round three arrays of `n` numbers to float.
  /// @return the rounded arrays
  Stored keep_narrow(const std::array<const T*, 3>& from, Index n);
  /// Copy an array to its own buffer; an empty array has no buffer.
  /// @return bytes of the buffer
  std::int64_t bring_array(const Site& site, Buffer& buffer, const AlignedArray<T>& array) const;
  /// Build a kernel of the plan's scheme, unless `kernel` is that kernel already.
  static void make(const Site& site, Kernel& kernel, const char* name, const std::string& options = "",
                   bool is_double = sizeof(T) == sizeof(double));
  /// Build a kernel of one work-item from `text`, a text from outside the library. Its scalar_t is T.
  static void make_from(const Site& site, Kernel& kernel, const char* name, const std::string& text);

 private:
  std::array<AlignedArray<float>, 3> narrow_;
};

/// Base of workers that store factors. A scheme may override their order, which is the order of the rows.
template <typename T>
class OCLSPKT_API FactorWorker : public Worker<T> {
 public:
  Stored store(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, bool in_place) override;
  void release_stored() override {
    factors_.release();
    Worker<T>::release_stored();
  }
  const Factors<T>* factors() const override { return &factors_; }
  std::int64_t host_bytes() const override { return factors_.bytes() + Worker<T>::host_bytes(); }

 protected:
  Factors<T> factors_;
};

/// Launch down(i) for the first `downs` levels, then back(i) for all levels, last level first. site.earlier receives
/// the events of all launches except the last.
/// @return the event of back(0), the last launch
template <typename Down, typename Back>
Event launch_down_and_back(const Site& site, std::size_t downs, std::size_t levels, const Down& down,
                           const Back& back) {
  site.earlier.clear();
  for (std::size_t i = 0; i < downs; ++i) site.earlier.push_back(down(i));
  for (std::size_t i = levels; i-- > 1;) site.earlier.push_back(back(i));
  return back(0);
}

}  // namespace oclspkt::ocl
