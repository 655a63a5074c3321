// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>

#include "factors.hpp"
#include "schemes/lanes/lane_plans.hpp"

namespace oclspkt {

/// The rows of the tiles whose factors share_rows() stores, as one line.
template <typename T>
OCLSPKT_API Bands<T> kept_rows(const Plan& plan, const BandsView<T>& bands);

/// Stored factors of lines laid end to end, in the order in which a device's lanes read them. Row i of all partitions
/// of a tile stands side by side. One load of a vector then replaces a gather from as many partitions as lanes.
///
/// Row i of partition j of tile t stands at (t m + i) lanes + j; if tiles are shared (plan.form), t counts the stored
/// tiles. Rows after the last row are identity rows. In the symmetric form, the multiplier of a row equals the coupling
/// of the row above, to the bit. Each array then has m + 1 rows: first the multipliers of the partitions' first rows,
/// then the couplings, one row further down. The last reciprocals are not read.
///
/// Narrow factors (plan.narrow) are rounded to float. The products down() and up() use the rounded factors, so that
/// they agree with the sweeps.
template <typename T>
class OCLSPKT_API InterleavedFactors {
 public:
  /// Reserve memory for factors that the device computes.
  void reserve(const Plan& plan);
  /// @param plan     a plan of stored factors
  /// @param factors  of Order::down, or of Order::towards for exact-factored, shape [rows]
  /// @param rows     plan.n; if tiles are shared, rows of one line, or of kept_rows()
  void interleave(const Plan& plan, const FactorsView<T>& factors, Index rows);
  /// The factors, shape [factor_tiles(plan) factor_words(plan)], without multipliers if symmetric. Null if they are
  /// narrow.
  FactorsView<T> view() const { return same_.view(); }
  /// The narrow factors, in the shape of view(); null if the factors are not narrow.
  FactorsView<float> narrow_view() const { return narrow_.view(); }
  /// The factor by which the influence of the unknown above a partition decays through it: the product of its
  /// multipliers, and 0 beyond StoredFactors::reach. Shape [factor_tiles(plan) lanes].
  const T* down() const { return down_.data(); }
  /// The factor of down() for the unknown below a partition: the product of its couplings. Shape of down().
  const T* up() const { return up_.data(); }
  /// Words of each array of view() or narrow_view().
  Index words() const { return std::max(same_.coupling.size(), narrow_.coupling.size()); }
  std::int64_t bytes() const { return same_.bytes() + narrow_.bytes() + down_.bytes() + up_.bytes(); }

 private:
  template <typename S>
  void interleave_partition(FactorArrays<S>& arrays, const Plan& plan, const FactorsView<T>& factors, Index rows,
                            Index k);
  template <typename S>
  void interleave_into(FactorArrays<S>& arrays, const Plan& plan, const FactorsView<T>& factors, Index rows);

  FactorArrays<T> same_;  ///< empty if the factors are narrow; otherwise narrow_ is empty
  FactorArrays<float> narrow_;
  AlignedArray<T> down_, up_;
};

}  // namespace oclspkt
