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

/// Three host arrays that are copied to the device chunk by chunk: the bands, or what the scheme stores instead.
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

/// The stored arrays of a chunk, on the device. lower and upper are one buffer if Plan::symmetric().
struct ChunkBands {
  Buffer lower, diag, upper;
};

/// The objects that a worker uses in one set-up or apply; all belong to the solver.
struct Site {
  OpenDevice& device;
  Waiter waiter;
  const Plan& plan;
  const LineSet& lines;
  const Layout& layout;
  Pipeline* pipeline;  ///< null if the device works in the host's arrays
  Times& times;
  const std::vector<ChunkBands>& bands;  ///< the bands of each chunk, or of the only chunk buffer, which is refilled
  const Buffer& scratch;                 ///< Layout::scratch_bytes bytes
  const Buffer &y, &x;                   ///< vectors of one chunk; empty if the device works in place
  std::vector<Event>& earlier;           ///< launches of a pass except the last, until their times are read
  const std::string& files;              ///< see DeviceUse::fpga_binary
  std::int64_t nan_safe_bytes;           ///< see DeviceSettings::nan_safe_bytes
  Int& last_number;                      ///< number of the last launch that has one, see TileKernel
  Bank own_bank;                         ///< bank for the numbers that a scheme itself keeps of each row; 0: any
};

/// The buffers and the tiles of one pass.
struct Tiles {
  const ChunkBands& bands;
  const Buffer &y, &x;
  const Chunk& chunk;
  int pass = 0;  ///< index of the pass, less than Needs::passes
};

/// Solves by a plan on a device. A worker has the arrays that are stored in place of the bands, its own buffers,
/// kernels and launches. A solver uses one worker for all successive set-ups whose plans are of one scheme. After the
/// loss of a device its workers are never destroyed, because the device may still access their buffers.
template <typename T>
class OCLSPKT_API Worker {
 public:
  virtual ~Worker() = default;
  Worker& operator=(Worker&&) = delete;  // workers are not copied either

  /// Make the arrays that are stored: the bands, unless the scheme stores something better in their place.
  /// @param bands  of all rows; they outlive the worker's next set-up
  /// @param in_place  the device may make the arrays itself, in memory that it shares with the host
  virtual Stored store(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, bool in_place);
  /// Release the memory of the stored arrays.
  virtual void release_stored() { narrow_ = {}; }
  /// The factors of eliminated rows, from which evidence is computed (core/evidence); null if the scheme has none.
  virtual const Factors<T>* factors() const { return nullptr; }
  /// The bound on rounding, if only the factors give it, see DeviceSolver::rounding(); 0: the plan's bound holds.
  virtual double rounding() const { return 0; }
  /// Bytes of host memory that the worker holds.
  virtual std::int64_t host_bytes() const;

  /// Build the kernels, and allocate the worker's own buffers. The stored arrays, vectors and scratch exist already.
  /// Kernels and buffers of the last set-up are reused if they fit.
  /// @return bytes on the device, and bytes of host memory for them
  virtual std::int64_t build(const Site& site, const BandsView<T>& bands) = 0;
  /// Enqueue one pass over `tiles`, which may be none.
  /// @return the event of the last launch
  virtual Event enqueue(const Site& site, const Tiles& tiles) = 0;
  /// Launch the kernels over no tiles. Run-times that compile at the first launch do so now, and unsuitable launches
  /// fail now.
  virtual void rehearse(const Site& site);

 protected:
  /// Round three arrays of `n` numbers to float.
  /// @return the rounded arrays, which replace them
  Stored keep_narrow(const std::array<const T*, 3>& from, Index n);
  /// Copy an array to a buffer of its own; an empty array has no buffer.
  /// @return bytes of the buffer
  std::int64_t bring_array(const Site& site, Buffer& buffer, const AlignedArray<T>& array) const;
  /// Build a kernel of the plan's scheme, unless `kernel` is that kernel already.
  static void make(const Site& site, Kernel& kernel, const char* name, const std::string& options = "",
                   bool is_double = sizeof(T) == sizeof(double));
  /// Build a kernel of one work-item from `text`, which is not part of the library. Its scalar_t is T.
  static void make_from(const Site& site, Kernel& kernel, const char* name, const std::string& text);

 private:
  std::array<AlignedArray<float>, 3> narrow_;
};

/// A worker that stores factors, in the order of the rows unless a scheme overrides the order.
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

/// Launch down(i) for the first `downs` levels, then back(i) for all levels, last level first. site.earlier keeps the
/// events of all launches but the last one.
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
