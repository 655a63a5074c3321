// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "oclspkt/device_handles.hpp"
#include "oclspkt/line_set.hpp"

namespace oclspkt {

/// Places in the vectors of the rows next to cuts. Each shape [2][slots]: above, below; -1: there is none.
struct RowsNextToCuts {
  std::vector<Index> y;  ///< right-hand sides
  std::vector<Index> z;  ///< the inner rows beside them
  std::vector<Index> x;  ///< unknowns
};

/// The work of an apply on rows next to cuts if vectors lie on a device. Slots are those of CutParts.
template <typename T>
struct BorderLayout {
  /// Spikes of a bundle that reach from the cuts on one side.
  struct Run {
    Index before;  ///< numbers in the runs before this one, of the same side
    Index at;      ///< in `spikes`; rows outer, lines inner
    Index first;   ///< place in the vector of the first row's first line
    Index wide;    ///< lines side by side
    Index slot;    ///< of the first line
  };
  Index slots = 0;
  Index stride = 1;  ///< from row to row of a line
  RowsNextToCuts rows;
  std::vector<Run> above, below;  ///< spikes from the cuts above, below
  Index above_entries = 0, below_entries = 0;
  const T* spikes = nullptr;
  Index spike_count = 0;
};

/// The rows next to cuts of vectors on a device: only their numbers visit the host.
template <typename T>
class Borders {
 public:
  virtual ~Borders() = default;
  /// Read the arguments of CutParts::right_hand_sides(); waits for the device.
  /// @param y, z     right-hand side and solution of the inner rows, as Solver::enqueue() takes them
  /// @param numbers  shape [4][slots]: y next to the cuts above and below, z beside them
  /// @throws InvalidInput, DeviceError
  virtual void take(const DeviceQueue& queue, const void* y, const void* z, T* numbers) = 0;
  /// Enqueue the corrections of CutParts::correct().
  /// @param unknowns  shape [2][slots]: next to the cuts above, below; read before the call returns
  /// @throws InvalidInput, DeviceError
  virtual void put(const DeviceQueue& queue, const T* unknowns, void* x) = 0;
};

}  // namespace oclspkt
