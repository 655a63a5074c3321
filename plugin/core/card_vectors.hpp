// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "oclspkt/device_handles.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/export.hpp"

namespace oclspkt {

/// Room for the vectors of an apply in a card's memory. The run-time of the caller's queue allocates it; another
/// run-time of the same card can import it. One thread at a time uses it.
class CardVectors {
 public:
  enum class Which { y, x };
  struct Exported {
    int descriptor;      ///< a file descriptor: the caller closes it, unless an import takes it over
    std::int64_t bytes;  ///< bytes of the memory, in whole pages
  };
  /// The arguments of a caller's solve: addresses in the card's memory.
  struct Call {
    DeviceQueue queue;
    const void* y;
    void* x;
    std::int64_t bytes;  ///< bytes of each vector
  };

  virtual ~CardVectors() = default;
  /// @throws DeviceError
  virtual Exported exported(Which which) = 0;
  /// Write a word at the beginning of a vector's memory, and wait until it is written.
  /// @throws DeviceError
  virtual void mark(Which which, std::uint32_t word) = 0;
  /// True if the queue belongs to this card and to this thread's current context.
  virtual bool takes(const DeviceQueue& queue) const = 0;
  /// Enqueue copies of y, and of x as well if `both`, to this memory, and wait for them.
  /// @throws InvalidInput for another card's queue, and for vectors that are not in its memory, too short, or overlap;
  ///         DeviceError
  virtual void bring(const Call& call, bool both) = 0;
  /// Enqueue the copy of x to the caller's vector.
  /// @throws the errors of bring()
  virtual void take(const Call& call) = 0;
};

/// Thrown if a device cannot share memory with the run-time of the caller's queue. The device can still solve for
/// vectors in host memory.
class OCLSPKT_API VectorsNotShared : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

}  // namespace oclspkt
