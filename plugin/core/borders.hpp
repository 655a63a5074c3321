// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "oclspkt/device_handles.hpp"
#include "oclspkt/line_set.hpp"

namespace oclspkt {

/// Places in the vectors, for the rows next to cuts. Shape of each: [2][slots], rows next to the cuts above, then
/// below. -1: the slot has no such row.
struct RowsNextToCuts {
  std::vector<Index> y;  ///< right-hand sides
  std::vector<Index> z;  ///< solution of the nearest inner rows
  std::vector<Index> x;  ///< unknowns
};

/// The rows next to cuts, and the spikes, that an apply needs if vectors lie on a device. CutParts numbers the slots.
template <typename T>
struct BorderLayout {
  /// The spikes of one bundle that begin at the cuts above it, or those that begin at the cuts below it.
  struct Run {
    Index before;  ///< how many numbers the previous runs of this side have
    Index at;      ///< offset in `spikes`; rows outer, lines inner
    Index first;   ///< offset in the vector of the first row's first line
    Index wide;    ///< lines side by side
    Index slot;    ///< slot of the first line
  };
  Index slots = 0;
  Index stride = 1;  ///< elements from row to row of a line
  RowsNextToCuts rows;
  std::vector<Run> above, below;  ///< spikes from the cuts above, below
  Index above_entries = 0, below_entries = 0;
  const T* spikes = nullptr;
  Index spike_count = 0;
};

/// Reads and corrects the rows next to cuts, in vectors on a device. Only their numbers go through the host.
template <typename T>
class Borders {
 public:
  virtual ~Borders() = default;
  /// Read the arguments of CutParts::right_hand_sides(); waits for the device.
  /// @param y, z     right-hand side and solution of the inner rows, as Solver::enqueue() takes them
  /// @param numbers  shape [4][slots]: y next to the cuts above and below, then z of the nearest inner rows
  /// @throws InvalidInput, DeviceError
  virtual void take(const DeviceQueue& queue, const void* y, const void* z, T* numbers) = 0;
  /// Enqueue the corrections of CutParts::correct().
  /// @param unknowns  shape [2][slots]: x next to the cuts above, then below; the call reads them before it returns
  /// @throws InvalidInput, DeviceError
  virtual void put(const DeviceQueue& queue, const T* unknowns, void* x) = 0;
};

}  // namespace oclspkt
