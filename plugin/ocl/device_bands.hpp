// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "schemes/part.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt::ocl {

/// Where buffers lie that a scheme wants in two banks of memory; none: wherever the run-time puts them.
using Placed = std::optional<SecondBank>;

/// The bank of an array.
inline Bank bank_of(const Placed& placed, bool SecondBank::*array) { return placed ? ((*placed).*array ? 2 : 1) : 0; }

/// The three arrays that go with the chunks as the device sees them: in place, wrappers of the host's; else copies, of
/// all chunks or, where these do not fit at once, of one, which every pass brings anew.
class DeviceBands {
 public:
  /// The host's arrays of the last set-up are about to be given back.
  void forget(bool in_place);
  /// Give all buffers back.
  void clear() { chunks_.clear(); }

  /// Take the host's arrays. They stay where they are until forget(), or until fill() has copied all of them.
  void take(const Resident& arrays) { arrays_ = arrays; }
  /// Make the buffers, or keep those that are large enough.
  /// @param block  rows that they hold a multiple of
  /// @return their bytes on the device
  /// @throws cl::Error
  std::int64_t make(const Site& site, Index block, const Placed& placed);
  /// Have the arrays where the device sees them, or, if they come with every pass, lock their pages.
  /// @throws DeviceError, cl::Error; commands may then still run
  void fill(const Site& site);

  /// Of each chunk; of the one that is refilled, if there is but one.
  const std::vector<ChunkBands>& chunks() const { return chunks_; }
  /// Those of a chunk, brought if they are not there.
  /// @throws DeviceError, cl::Error; commands may then still run
  const ChunkBands& give(const Site& site, std::size_t chunk);

 private:
  void upload(const Site& site, const ChunkBands& to, const Chunk& places) const;
  void lock(const Site& site);

  Resident arrays_;
  std::vector<ChunkBands> chunks_;
  std::vector<std::shared_ptr<void>> locks_;  ///< of pages that every apply reads
};

}  // namespace oclspkt::ocl
