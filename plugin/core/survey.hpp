// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oclspkt/bands.hpp"

namespace oclspkt {

/// The results of a pass over the bands.
struct Survey {
  double dominance = 0;    ///< min over rows of |diag| / (|lower| + |upper|); infinity: no couplings; 0: not finite
  bool finite = false;     ///< no NaN or Inf in the bands that are read
  bool symmetric = false;  ///< lower[i+1] = upper[i] in every line
  bool shared = false;     ///< all lines (at least two) have bitwise equal rows, except for the sign of zeros
  Index weakest_row = -1;  ///< offset of the row with the least dominance, or of the first row that is not finite
  double smallest_row = 0, largest_row = 0;  ///< least and greatest max |number| of a row, without rows of zeros
  double lower_share = 0, upper_share = 0;   ///< max over rows of |lower| / |diag|, |upper| / |diag|
  Index uncoupled_above = 0;                 ///< rows whose lower is 0
  /// The least factor by which the influence of a boundary value decays from row to row: the larger of the dominance
  /// and 1 / g. In dominant rows with p = lower_share and q = upper_share, |upper / pivot| <= g = q / (1 - p g);
  /// likewise upwards, with p and q exchanged. This bound is sharp if all rows are equal.
  double decay() const;
};

/// True if the shares of lower and upper prove that |lower / pivot| and |upper / pivot| are at most 1 in dominant rows,
/// for elimination from either end.
bool shrinks(const Survey& survey);

/// False if rows need scaling: their sizes are so near the ends of T's range, or differ so much, that reciprocal
/// pivots, multipliers or sums may overflow or vanish.
template <typename T>
bool in_range(const Survey& survey);

/// The lines that are not in_range(), each judged by its own rows.
/// @pre couplings out of the lines are 0
template <typename T>
std::vector<Index> extreme_lines(const LineSet& lines, const BandsView<T>& bands);

/// The name of a row in messages: "row 3 of line 17", or "row 3" if the set has one line.
/// @param at  offset of the row in a vector
std::string row_name(const LineSet& lines, Index at);

/// A message about the first row of zeros in lines [first, end): "all numbers of row 3 of line 17 are 0"; none if no
/// row is zero.
template <typename T>
std::optional<std::string> zero_row_text(const LineSet& lines, const BandsView<T>& bands, Index first, Index end);

/// Split the lines of a contiguous set wherever two neighbouring rows do not couple.
template <typename T>
LineSet uncoupled_lines(const LineSet& lines, const BandsView<T>& bands);

/// The dominance of line `line` alone.
/// @pre couplings out of the lines are 0
template <typename T>
double line_dominance(const LineSet& lines, const BandsView<T>& bands, Index line);

/// Survey line `line` alone. Its first row's lower and its last row's upper count as couplings.
/// @param symmetry  false: leave `symmetric` false, which saves reading 2 words a row
template <typename T>
Survey survey_line(const LineSet& lines, const BandsView<T>& bands, Index line, bool symmetry);

/// All members of Survey but `symmetric` and `shared`, which stay false.
/// @pre couplings out of the lines are 0 (Bands::close_lines)
/// @cost 3 words a row, by all processors of this process
template <typename T>
Survey survey_rows(const LineSet& lines, const BandsView<T>& bands);

/// Write the bands and survey their rows, each block while it is in the cache, see survey_rows().
/// @param fill  writes the bands; couplings out of the lines are then set to 0
/// @cost the cost of write_bands(), and 3 more words a row unless the lines are gapless()
template <typename T>
Survey survey_while(Bands<T>& bands, const BandsFill<T>& fill);

/// Compute Survey::symmetric. The search ends at the first difference in a line.
/// @pre couplings out of the lines are 0
template <typename T>
bool is_symmetric(const LineSet& lines, const BandsView<T>& bands);

/// Compute Survey::shared. The search ends at the first line that differs.
/// @pre couplings out of the lines are 0
template <typename T>
bool is_shared(const LineSet& lines, const BandsView<T>& bands);

/// True if the set is one contiguous line of at least 4 rows, and all its inner rows are equal to the bit, except for
/// the sign of zeros. The search ends at the first row that differs.
template <typename T>
bool is_uniform(const LineSet& lines, const BandsView<T>& bands);

/// The survey of all lines.
/// @pre couplings out of the lines are 0 (Bands::close_lines)
template <typename T>
Survey survey(const LineSet& lines, const BandsView<T>& bands);

}  // namespace oclspkt
