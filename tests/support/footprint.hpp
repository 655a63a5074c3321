// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <ostream>

namespace oclspkt::test {

/// What our libraries have taken from the heap and from OpenCL. Programs that link footprint.cpp replace operator new,
/// aligned_alloc() and OpenCL's functions by ones that count and pass on; they must export their symbols
/// (ENABLE_EXPORTS), so that the libraries find these first.
struct Footprint {
  std::int64_t allocations = 0;  ///< since the start, by code of our libraries; what drivers allocate is not counted
  std::int64_t builds = 0;       ///< programs compiled since the start
  std::int64_t buffers = 0, events = 0, kernels = 0, programs = 0;  ///< alive

  bool operator==(const Footprint&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Footprint& f) {
    return out << f.allocations << " allocations, " << f.builds << " builds, alive: " << f.buffers << " buffers, "
               << f.events << " events, " << f.kernels << " kernels, " << f.programs << " programs";
  }
};

Footprint footprint();

/// Buffers made since the start: shows that OpenCL was counted at all.
std::int64_t buffers_made();

}  // namespace oclspkt::test
