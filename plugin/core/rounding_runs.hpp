// SPDX-License-Identifier: BSD-2-Clause
// Bounds on rounding of lines laid end to end, whose interface systems are solved by scans or by cyclic reduction.
#pragma once

#include "geometry.hpp"
#include "rounding.hpp"

namespace oclspkt {

/// Of runs of tiles (kernels/gpu/tile_stored.cl, truncated-streamed), by the values of the rows.
/// @cost 1 division, some 50 additions and multiplications a row, by all processors of this process
template <typename T>
Rounding bound_runs(const Plan& plan, const BandsView<T>& bands);

/// The same for all rows that have such shares and ratios: |a_i| and |c_i| of |b_i|, |a_i p_i| and |c_i p_i|, p the
/// reciprocal pivots, at most.
struct RatioLimits {
  double lower_share, upper_share, down, up;
  /// What the survey shows of all rows.
  explicit RatioLimits(const Survey& survey);
  /// True if neither sweep makes rounding grow.
  bool shrink() const { return down <= 1 && up <= 1; }
};
Rounding bound_runs(const Plan& plan, const RatioLimits& limits);

/// Of tiles by the factors of one line that work-groups keep (kernels/gpu/tile_shared.cl), with a halo or without.
Rounding bound_kept(const Plan& plan, const RatioLimits& limits);

/// Of tiles whose interface systems are solved by cyclic reduction (kernels/gpu/tile_halo.cl), by the values of the
/// rows.
/// @cost 3 divisions, some 60 additions and multiplications a row, by all processors of this process
template <typename T>
Rounding bound_tiles(const Plan& plan, const BandsView<T>& bands);
Rounding bound_tiles(const Plan& plan, const RatioLimits& limits);

/// Of tiles that are reduced to their last rows (kernels/gpu/tile_reduce.cl), by what the survey finds of all rows.
/// @pre rows of dominance 1 at least, but for one rounding of the diagonal, which is forgiven
template <typename T>
Rounding bound_reduced(const Plan& plan, const Survey& survey);

/// The same by the values of the rows.
/// @cost 1 division, some 40 additions and multiplications a row, by all processors of this process
template <typename T>
Rounding bound_reduced(const Plan& plan, const BandsView<T>& bands);

/// Of the paper's form, by the values of the rows.
/// @cost 2 divisions, some 60 additions and multiplications a row
template <typename T>
Rounding bound_paper_form(const Plan& plan, const BandsView<T>& bands);

}  // namespace oclspkt
