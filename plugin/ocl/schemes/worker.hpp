// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
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

/// Three arrays of the host that go with the chunks: bands, or what is stored instead.
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

/// The stored arrays of a chunk, on the device; lower is upper where Plan::symmetric().
struct ChunkBands {
  Buffer lower, diag, upper;
};

/// What a worker works with in one set-up or apply; all of it belongs to the solver.
struct Site {
  OpenDevice& device;
  const Waiter& waiter;
  const Plan& plan;
  const LineSet& lines;
  const Layout& layout;
  Pipeline* pipeline;  ///< null in place
  Times& times;
  const std::vector<ChunkBands>& bands;  ///< of each chunk, or of the one that is refilled
  const Buffer& scratch;                 ///< Layout::scratch_bytes
  const Buffer &y, &x;                   ///< of one chunk; not made in place
  std::vector<Event>& earlier;           ///< launches of a pass but the last, until their times are known
  const std::string& files;              ///< see DeviceSettings::fpga_binary
  std::int64_t nan_safe_bytes;           ///< see DeviceSettings
  Int& last_number;                      ///< of the last launch that has one, see TileKernel
  Bank own_bank;                         ///< of what the scheme keeps of each row itself; 0: any
};

/// What a worker reads and writes in one pass over some tiles.
struct Tiles {
  const ChunkBands& bands;
  const Buffer &y, &x;
  const Chunk& chunk;
  int pass = 0;  ///< of Needs::passes
};

/// A plan at work on a device: what it stores in place of the bands, its own buffers, kernels and launches. One object
/// serves a solver from set-up to set-up while plans are of one kind. It owns all that the device may touch of its own,
/// so it outlives a device that was lost.
template <typename T>
class OCLSPKT_API Worker {
 public:
  virtual ~Worker() = default;
  Worker& operator=(Worker&&) = delete;  // nor copied

  /// Make what is stored in place of the bands; the bands themselves, unless a scheme has something better.
  /// @param bands  of all rows; they outlive the worker's next set-up
  /// @param in_place  the device may make it itself, in memory that it shares with the host
  virtual Stored store(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, bool in_place);
  /// Give back what the device holds now.
  virtual void release_stored() { narrow_ = {}; }
  /// Factors of rows as they were eliminated, which are evidence; null where there are none.
  virtual const Factors<T>* factors() const { return nullptr; }
  /// A bound on rounding that only the factors give, see DeviceSolver::rounding(); 0: the plan's holds.
  virtual double rounding() const { return 0; }
  /// Bytes of host memory.
  virtual std::int64_t host_bytes() const;

  /// Make kernels, and buffers beside the arrays that were stored, vectors and scratch, which are there; those of the
  /// last set-up are kept where they fit. @return bytes on the device, and of host memory that goes with them
  virtual std::int64_t build(const Site& site, const BandsView<T>& bands) = 0;
  /// Enqueue a pass over some tiles, or over none. @return the event of the last launch
  virtual Event enqueue(const Site& site, const Tiles& tiles) = 0;
  /// Launch kernels over no tiles: run-times that compile at the first launch do so now, and what does not fit fails.
  virtual void rehearse(const Site& site);

 protected:
  /// Round three arrays of `n` numbers to float, which then stand for them.
  Stored keep_narrow(const std::array<const T*, 3>& from, Index n);
  /// Bring an array to a buffer of its own; an empty one has none. @return its bytes
  std::int64_t bring_array(const Site& site, Buffer& buffer, const AlignedArray<T>& array) const;
  /// Build a kernel of the plan's scheme unless it is `kernel` already.
  static void make(const Site& site, Kernel& kernel, const char* name, const std::string& options = "",
                   bool is_double = sizeof(T) == sizeof(double));
  /// Build a kernel of one work-item from a text that is not the library's. There T is scalar_t.
  static void make_from(const Site& site, Kernel& kernel, const char* name, const std::string& text);

 private:
  std::array<AlignedArray<float>, 3> narrow_;
};

/// A worker by stored factors, in the order of the rows unless a scheme has another one.
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

/// Launch down(i) for the first `downs` levels, and back(i) for all, the last first. The event is that of back(0),
/// those of the others are kept.
template <typename Down, typename Back>
Event launch_down_and_back(const Site& site, std::size_t downs, std::size_t levels, const Down& down,
                           const Back& back) {
  site.earlier.clear();
  for (std::size_t i = 0; i < downs; ++i) site.earlier.push_back(down(i));
  for (std::size_t i = levels; i-- > 1;) site.earlier.push_back(back(i));
  return back(0);
}

}  // namespace oclspkt::ocl
