// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "device_state.hpp"

namespace oclspkt::ocl {

/// One apply: the passes of a scheme over the chunks, in host memory, in buffers of the device, or through the
/// pipeline.
template <typename T>
class Passes {
 public:
  /// @param pieces  of each chunk; empty in place
  Passes(const Site& site, DeviceState<T>& state, const std::vector<Pieces>& pieces, const Vectors<T>& vectors)
      : site_(site), state_(state), pieces_(pieces), vectors_(vectors) {}

  /// Returns when the apply is done or, for enqueued vectors, when all commands are in the queue.
  /// @throws DeviceError, InvalidInput, cl::Error; commands may then still run
  void run();

 private:
  /// The first or the second pass of a scheme.
  enum class Step { begin, finish };

  bool in_place() const { return site_.pipeline == nullptr; }
  Event launch(const Tiles& tiles, Step step) const;
  void pass(std::size_t chunk, Step step);
  void pass_in_place(std::size_t chunk, Step step);
  void pass_on_device(std::size_t chunk, Step step);
  void pass_on_blocks(std::size_t chunk, Step step);
  void pass_through(std::size_t chunk, Step step);
  void take_in_place(const Chunk& chunk);
  Buffer piece(const Buffer& vector, const Chunk& chunk) const;

  const Site& site_;
  DeviceState<T>& state_;
  const std::vector<Pieces>& pieces_;
  const Vectors<T>& vectors_;
  Index first_ = 0;  ///< row of element 0 of the vectors of the pass
};

}  // namespace oclspkt::ocl
