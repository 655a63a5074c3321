// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "factors.hpp"
#include "layout.hpp"
#include "non_finite.hpp"
#include "oclspkt/bands.hpp"
#include "oclspkt/report.hpp"
#include "pipeline.hpp"
#include "plan.hpp"
#include "runtime.hpp"

namespace oclspkt::ocl {

/// Three arrays of the host that go with the chunks: bands, or what is stored instead.
struct Resident {
  const void *lower = nullptr, *diag = nullptr, *upper = nullptr;
  std::int64_t word = 0;  ///< bytes of a number
};

template <typename S>
Resident resident(const FactorsView<S>& f) {
  return {f.multiplier, f.reciprocal, f.coupling, sizeof(S)};
}
template <typename S>
Resident resident(const BandsView<S>& b) {
  return {b.lower, b.diag, b.upper, sizeof(S)};
}

/// The same of a chunk on the device; lower is upper where Plan::symmetric().
struct ChunkBands {
  Buffer lower, diag, upper;
};

/// What a scheme needs on a device beside bands and vectors, for chunks of so many tiles.
struct Needs {
  Index slot = 1;            ///< vectors of scratch of a work-group
  std::int64_t largest = 0;  ///< bytes of the largest buffer of its own
  std::int64_t all = 0;      ///< bytes of all of them
  int arrays = 5;            ///< of a number a row that a chunk has: three bands, y and x
};

/// What a scheme works with in one set-up or apply; all of it belongs to the solver.
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
  NonFinite& non_finite;
  bool nan_safe;                ///< see Part::nan_safe_at_once()
  std::vector<Event>& earlier;  ///< launches of a pass but the last, until their times are known
  const std::string& files;     ///< see DeviceSettings::fpga_binary
  Bank own_bank;                ///< of what the scheme keeps of each row itself; 0: any
};

/// What a scheme reads and writes in one pass over some tiles.
struct Tiles {
  const ChunkBands& bands;
  const Buffer &y, &x;
  const Chunk& chunk;
};

/// A scheme on a device: its own buffers, kernels, launches, and what it stores in place of the bands. One object
/// serves a solver from set-up to set-up while plans are of one kind. Owns all that the device may touch of its own, so
/// it outlives a device that was lost.
template <typename T>
class OCLSPKT_API Part {
 public:
  Part() = default;
  virtual ~Part() = default;
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  /// Make what is stored in place of the bands; the bands themselves, unless a scheme has something better.
  /// @param bands  of all rows; they outlive the scheme's next set-up
  /// @param in_place  the device may make it itself, in memory that it shares with the host
  virtual Resident store(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, bool in_place);
  /// Give back what the device holds now.
  virtual void release_stored() { narrow_ = {}; }
  /// Factors of rows as they were eliminated, which are evidence; null where there are none.
  virtual const Factors<T>* factors() const { return nullptr; }
  /// A bound on rounding that only the factors give, see DeviceSolver::rounding(); 0: the plan's holds.
  virtual double rounding() const { return 0; }
  /// Bytes of host memory.
  virtual std::int64_t host_bytes() const;

  /// Build the kernels of a plan, those of the last set-up kept where they are the same.
  virtual void make_kernels(const Site& site) = 0;
  /// Make buffers beside bands, vectors and scratch. @return bytes on the device and of host memory that goes with them
  virtual std::int64_t make_buffers(const Site&) { return 0; }
  /// Bring what is stored beside resident arrays, which are there, to the device. @return further bytes on the device
  virtual std::int64_t bring(const Site&, const BandsView<T>&) { return 0; }
  /// Launch kernels over no tiles: run-times that compile at the first launch do so now, and what does not fit fails.
  virtual void rehearse(const Site& site);

  /// True if a solve takes two passes over all tiles, begin() and finish(), with join() between them.
  virtual bool two_passes() const { return false; }
  /// Enqueue the first pass over some tiles. @return the event of the last launch
  virtual Event begin(const Site&, const Tiles&) { return {}; }
  /// Between the passes: solve for the outer unknowns of all partitions.
  virtual void join(const Site&) {}
  /// Enqueue the pass over some tiles that gives x. @return the event of the last launch
  virtual Event finish(const Site& site, const Tiles& tiles) = 0;

  /// Buffers of bands and vectors hold a multiple of so many rows: kernels read and write whole blocks.
  virtual Index block_rows(const Plan& /*plan*/) const { return 1; }
  /// Vectors are aligned to so many bytes.
  virtual std::size_t alignment() const { return sizeof(T); }
  /// Where a launch begins shows in the bits of the solution.
  virtual bool begins_show() const { return false; }
  /// True if the exact kernels are used at once, or there are no others; false: those that only note non-finite
  /// numbers come first, see NonFinite.
  /// @param nan_safe_bytes  of a vector, up to which exactness costs little, see DeviceSettings
  virtual bool nan_safe_at_once(const Plan& /*plan*/, std::int64_t /*nan_safe_bytes*/) const { return true; }

 protected:
  /// Round three arrays of `n` numbers to float, which then stand for them.
  Resident keep_narrow(const std::array<const T*, 3>& from, Index n);
  /// Bring an array to a buffer of its own; an empty one has none. @return its bytes
  std::int64_t bring_array(const Site& site, Buffer& buffer, const AlignedArray<T>& array) const;
  /// Build a kernel unless it is `kernel` already. @param lanes  as in OpenDevice::kernel()
  static void make(const Site& site, Kernel& kernel, const char* name, const std::string& options, int lanes,
                   bool is_double = sizeof(T) == sizeof(double));
  /// Build a kernel of one work-item from a text that is not the library's. There T is scalar_t.
  static void make_from(const Site& site, Kernel& kernel, const char* name, const std::string& text);

 private:
  std::array<AlignedArray<float>, 3> narrow_;
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
