// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>

#include "interface.hpp"

namespace oclspkt {

/// The rows of a level of TileFactors or SegmentFactors.
using LevelRows = std::function<ExcessRow<double>(Index)>;

/// Those of the first: the rows of the bands, which outlive them.
template <typename T>
LevelRows rows_of_bands(const BandsView<T>& bands) {
  return [bands](Index i) {
    const ExcessRow<T> row = make_row(bands.lower[i], bands.diag[i], bands.upper[i], T(0));
    return ExcessRow<double>{row.lower, row.upper, row.excess, 0, row.sign};
  };
}

}  // namespace oclspkt
