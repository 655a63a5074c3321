// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "schemes/part.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt::ocl {

/// In which of two memory banks a scheme wants its buffers; none: the run-time decides.
using Placed = std::optional<SecondBank>;

/// The bank of an array.
inline Bank bank_of(const Placed& placed, bool SecondBank::*array) { return placed ? ((*placed).*array ? 2 : 1) : 0; }

/// The three arrays that belong to the chunks, as the device sees them. In place they wrap the host's arrays. Else they
/// are copies of all chunks, or, if these do not fit at once, of one chunk, which every pass copies again.
class DeviceBands {
 public:
  /// Prepare for the release of the host's arrays of the last set-up.
  void forget(bool in_place);
  /// Release all buffers.
  void clear() { chunks_.clear(); }

  /// Take over the host's arrays. They must not move until forget(), or until fill() has copied them.
  void take(const Resident& arrays) { arrays_ = arrays; }
  /// Make the buffers, or keep those that are large enough.
  /// @param block  buffers hold a multiple of so many rows
  /// @return bytes of the buffers on the device
  /// @throws cl::Error
  std::int64_t make(const Site& site, Index block, const Placed& placed);
  /// Copy the arrays to the device; if every pass copies them again, lock their pages instead.
  /// @throws DeviceError, cl::Error; commands may then still run
  void fill(const Site& site);

  /// The buffers of each chunk; one set of buffers if every pass refills them.
  const std::vector<ChunkBands>& chunks() const { return chunks_; }
  /// The buffers of a chunk, copied first if they are not on the device.
  /// @throws DeviceError, cl::Error; commands may then still run
  const ChunkBands& give(const Site& site, std::size_t chunk);

 private:
  void upload(const Site& site, const ChunkBands& to, const Chunk& places) const;
  void lock(const Site& site);

  Resident arrays_;
  std::vector<ChunkBands> chunks_;
  std::vector<std::shared_ptr<void>> locks_;  ///< locks of pages that every apply reads
};

}  // namespace oclspkt::ocl
