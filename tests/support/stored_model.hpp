// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <vector>

#include "factors.hpp"
#include "plan.hpp"

namespace oclspkt {

/// Truncated-streamed by stored factors in plain C++: what kernels/cpu/interleaved_streamed.cl does, partition by
/// partition instead of side by side, by factors that stand in the order of the rows.
template <typename T>
class StoredModel {
 public:
  /// @param plan stored
  /// @pre contiguous lines with couplings between lines 0
  void set_up(const Plan& plan, const Bands<T>& bands);
  /// @param y, x shape [plan.n], apart from each other
  void apply(const T* y, T* x);
  const Factors<T>& factors() const { return factors_; }
  std::int64_t bytes() const;

 private:
  /// Rows [first, end) of the system.
  struct Partition {
    Index first, end;
  };
  /// What is kept of a tile between its sweeps.
  struct Tile {
    std::vector<T> d;     ///< shape [m lanes]: y as the sweep down leaves it
    std::vector<T> tops;  ///< shape [lanes]: first unknown of each partition if what it couples to below were 0
  };
  Partition partition(Index k) const;
  T* kept_d(Index tile, Index k);
  T sweep(Index tile, T above, const T* y);
  T find_tops(Index tile);
  void substitute(Index tile, T below, T* x);
  void stream_run(Index begin, Index end, const T* y, T* x);

  Plan plan_;
  Factors<T> factors_;
  std::vector<T> down_, up_;  ///< shape [partitions], see InterleavedFactors
  std::array<Tile, 2> kept_;  ///< the tile that is substituted, and the next
};

}  // namespace oclspkt
