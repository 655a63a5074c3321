// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "oclspkt/bands.hpp"

namespace oclspkt {

/// What one pass over the bands finds.
struct Survey {
  double dominance =
      0;  ///< min over rows of |diag| / (|lower| + |upper|); infinity if all are uncoupled; 0 if not finite
  bool finite = false;     ///< no NaN or Inf in the bands that are read
  bool symmetric = false;  ///< lower[i+1] = upper[i] in every line
  bool shared = false;     ///< all lines, two at least, have the same rows to the bit but for the sign of zeros
  Index weakest_row = -1;  ///< offset of the row that gives the dominance, or of the first that is not finite
  double smallest_row = 0, largest_row = 0;  ///< largest number of a row, over rows that are not 0
};

/// False if the rows come so near the ends of T's range, or differ so much, that reciprocals of pivots, multipliers or
/// sums may overflow or vanish: such rows want a scale.
template <typename T>
bool in_range(const Survey& survey);

/// The lines whose rows by themselves are not in_range().
/// @pre as for survey()
template <typename T>
std::vector<Index> extreme_lines(const LineSet& lines, const BandsView<T>& bands);

/// The lines that a contiguous set really holds: cut wherever two neighbouring rows do not couple.
template <typename T>
LineSet uncoupled_lines(const LineSet& lines, const BandsView<T>& bands);

/// The dominance of line `line` alone.
/// @pre as for survey()
template <typename T>
double line_dominance(const LineSet& lines, const BandsView<T>& bands, Index line);

/// What a pass over line `line` alone finds; its first row's lower and its last row's upper count as couplings.
template <typename T>
Survey survey_line(const LineSet& lines, const BandsView<T>& bands, Index line);

/// @pre couplings out of the lines are 0 (Bands::close_lines)
template <typename T>
Survey survey(const LineSet& lines, const BandsView<T>& bands);

}  // namespace oclspkt
