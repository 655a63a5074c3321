// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "oclspkt/device_handles.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/export.hpp"

namespace oclspkt {

/// Room for the vectors of an apply in a card's memory, by the run-time that the caller's queue is of and in a form
/// that another run-time of the same card can import. Used by one thread at a time.
class CardVectors {
 public:
  enum class Which { y, x };
  struct Exported {
    int descriptor;      ///< a file descriptor: the caller closes it, unless an import takes it over
    std::int64_t bytes;  ///< of the memory, which is made of whole pages
  };
  /// A call of the caller's, with addresses in the card's memory.
  struct Call {
    DeviceQueue queue;
    const void* y;
    void* x;
    std::int64_t bytes;  ///< of each
  };

  virtual ~CardVectors() = default;
  /// @throws DeviceError
  virtual Exported exported(Which which) = 0;
  /// Write a word at the beginning, and wait until it is there.
  /// @throws DeviceError
  virtual void mark(Which which, std::uint32_t word) = 0;
  /// True if the queue is of this card, in the context that is current in this thread.
  virtual bool takes(const DeviceQueue& queue) const = 0;
  /// Copy y, and x as well if `both`, to this memory behind what the queue holds, and wait.
  /// @throws InvalidInput for another card's queue, and for vectors that are none, too short or overlap; DeviceError
  virtual void bring(const Call& call, bool both) = 0;
  /// Enqueue the copy of x back.
  /// @throws as bring()
  virtual void take(const Call& call) = 0;
};

/// A device cannot share memory with the run-time of the caller's queue. It can solve for vectors of the host.
class OCLSPKT_API VectorsNotShared : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

}  // namespace oclspkt
