// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "oclspkt/device_handles.hpp"
#include "oclspkt/line_set.hpp"

namespace oclspkt {

/// Offsets in the vectors for the rows next to cuts. Each array has shape [2][slots]: the rows next to the cuts above,
/// then the rows next to the cuts below. -1: the slot has no such row.
struct RowsNextToCuts {
  std::vector<Index> y;  ///< offsets of the right-hand sides
  std::vector<Index> z;  ///< offsets of the nearest inner rows in the solution
  std::vector<Index> x;  ///< offsets of the unknowns
};

/// The rows next to cuts, and the spikes, that an apply needs if vectors lie on a device. CutParts numbers the slots.
template <typename T>
struct BorderLayout {
  /// The spikes of one bundle for the cuts above it, or for the cuts below it.
  struct Run {
    Index before;  ///< how many numbers the previous runs of this side hold
    Index at;      ///< offset of the run in `spikes`; rows outer, lines inner
    Index first;   ///< offset of the first line's first row in the vector
    Index wide;    ///< number of lines side by side
    Index slot;    ///< slot of the first line
  };
  Index slots = 0;
  Index stride = 1;  ///< elements from row to row of a line
  RowsNextToCuts rows;
  std::vector<Run> above, below;  ///< spikes from the cuts above, from the cuts below
  Index above_entries = 0, below_entries = 0;
  const T* spikes = nullptr;
  Index spike_count = 0;
};

/// Reads and corrects the rows next to cuts, in vectors on a device. Only numbers of these rows go through the host.
template <typename T>
class Borders {
 public:
  virtual ~Borders() = default;
  /// Copy the arguments of CutParts::right_hand_sides() to `numbers`, and wait for the device.
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
