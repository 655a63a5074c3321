// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "factors.hpp"
#include "plan.hpp"

namespace oclspkt {

/// Stored factors of lines laid end to end, in the order in which a device's lanes take them: row i of the partitions
/// of a tile side by side, so that a vector is loaded where scalars of as many partitions would have to be gathered.
///
/// Row i of partition j of tile t stands at (t m + i) lanes + j; rows beyond the last are rows of the identity.
template <typename T>
class OCLSPKT_API TurnedFactors {
 public:
  /// Make room for factors that a device is about to make.
  void reserve(const Plan& plan);
  /// Turn factors.
  /// @param plan  stored
  /// @param factors  of Order::down, or Order::towards for exact-factored, shape [plan.n]
  void turn(const Plan& plan, const FactorsView<T>& factors);
  /// Shape [tiles m lanes].
  FactorsView<T> view() const { return {multiplier_.data(), reciprocal_.data(), coupling_.data()}; }
  /// What becomes of an unknown that enters a partition from above (down), below (up) when it leaves on the other side:
  /// products of the partition's multipliers and couplings, or 0 beyond plan.reach; shape [tiles lanes].
  const T* down() const { return down_.data(); }
  const T* up() const { return up_.data(); }
  /// Words of each array of view().
  Index words() const { return multiplier_.size(); }
  std::int64_t bytes() const {
    return multiplier_.bytes() + reciprocal_.bytes() + coupling_.bytes() + down_.bytes() + up_.bytes();
  }

 private:
  AlignedArray<T> multiplier_, reciprocal_, coupling_, down_, up_;
};

}  // namespace oclspkt
