// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device.hpp"

namespace oclspkt {

/// The vectors of applies whose pages are locked, see Options::lock_vectors. To lock a vector takes some 50 us a
/// megabyte, a few times what an apply gains, so that only vectors that come again are locked.
class LockedVectors {
 public:
  /// A vector goes to, or comes from, a device that copies.
  void see(DeviceModule& module, int device, const void* p, std::int64_t bytes);
  void clear() { seen_.clear(); }

 private:
  struct Seen {
    const void* p;
    std::int64_t bytes;
    int times;
    std::shared_ptr<void> lock;  ///< null until it has come often enough, and where it cannot be locked
  };
  std::vector<Seen> seen_;  ///< the latest last
};

}  // namespace oclspkt
