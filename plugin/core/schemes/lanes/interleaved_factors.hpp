// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>

#include "factors.hpp"
#include "schemes/lanes/lane_plans.hpp"

namespace oclspkt {

/// The rows of the tiles that share_rows() keeps, as one line: their factors are those of the tiles of all rows.
template <typename T>
OCLSPKT_API Bands<T> kept_rows(const Plan& plan, const BandsView<T>& bands);

/// Stored factors of lines laid end to end, in the order in which a device's lanes take them: row i of the partitions
/// of a tile side by side, so that one load of a vector replaces a gather from as many partitions.
///
/// Row i of partition j of tile t stands at (t m + i) lanes + j; rows beyond the last are rows of the identity. Shared
/// tiles (plan.form) are numbered as they are stored. In the symmetric form, the multiplier of a row is, to the bit,
/// the coupling of the row above. There are then m + 1 rows: couplings stand one row further and begin with the
/// multipliers of the partitions' first rows, and the last reciprocals are not read.
///
/// Narrow factors (plan.narrow) are rounded to float. The products down() and up() are made of the rounded factors, so
/// that they agree with the sweeps.
template <typename T>
class OCLSPKT_API InterleavedFactors {
 public:
  /// Make room for factors that a device is about to make.
  void reserve(const Plan& plan);
  /// Interleave factors.
  /// @param plan  of stored factors
  /// @param factors  of Order::down, or Order::towards for exact-factored, shape [rows]
  /// @param rows     plan.n; those of one line, or of kept_rows(), where tiles are shared
  void interleave(const Plan& plan, const FactorsView<T>& factors, Index rows);
  /// Shape [factor_tiles(plan) factor_words(plan)]; no multipliers if symmetric. Null if the factors are narrow.
  FactorsView<T> view() const { return same_.view(); }
  /// The narrow factors, in the shape of view(); null if the factors are not narrow.
  FactorsView<float> narrow_view() const { return narrow_.view(); }
  /// The factor by which an unknown from above (down) or from below (up) passes through a partition: products of the
  /// partition's multipliers and couplings, or 0 beyond StoredFactors::reach; shape [factor_tiles(plan) lanes].
  const T* down() const { return down_.data(); }
  const T* up() const { return up_.data(); }
  /// Words of each array of view(), or narrow_view().
  Index words() const { return std::max(same_.coupling.size(), narrow_.coupling.size()); }
  std::int64_t bytes() const { return same_.bytes() + narrow_.bytes() + down_.bytes() + up_.bytes(); }

 private:
  template <typename S>
  void interleave_partition(FactorArrays<S>& arrays, const Plan& plan, const FactorsView<T>& factors, Index rows,
                            Index k);
  template <typename S>
  void interleave_into(FactorArrays<S>& arrays, const Plan& plan, const FactorsView<T>& factors, Index rows);

  FactorArrays<T> same_;  ///< either same_ or narrow_ is empty
  FactorArrays<float> narrow_;
  AlignedArray<T> down_, up_;
};

}  // namespace oclspkt
