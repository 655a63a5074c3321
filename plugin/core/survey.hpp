// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "oclspkt/bands.hpp"

namespace oclspkt {

/// The results of a pass over the bands.
struct Survey {
  double dominance = 0;    ///< min over rows of |diag| / (|lower| + |upper|); infinity: all uncoupled; 0: not finite
  bool finite = false;     ///< no NaN or Inf in the bands that are read
  bool symmetric = false;  ///< lower[i+1] = upper[i] in every line
  bool shared = false;     ///< all lines, two at least, have the same rows to the bit but for the sign of zeros
  Index weakest_row = -1;  ///< offset of the row that gives the dominance, or of the first that is not finite
  double smallest_row = 0, largest_row = 0;  ///< largest number of a row, over rows that are not 0
  double lower_share = 0, upper_share = 0;   ///< max over rows of |lower| / |diag|, |upper| / |diag|
  Index uncoupled_above = 0;                 ///< rows whose lower is 0
  /// The factor by which the influence of a boundary value decays from row to row, at least. It is the dominance, or
  /// follows from the shares p and q of dominant rows: |upper / pivot| <= g with g = q / (1 - p g), which is sharp if
  /// all rows are alike.
  double decay() const;
};

/// True if |lower / pivot| and |upper / pivot| are at most 1 from either end, by the shares of dominant rows.
bool shrinks(const Survey& survey);

/// False if the rows come so near the ends of T's range, or differ so much, that reciprocals of pivots, multipliers or
/// sums may overflow or vanish: such rows need scaling.
template <typename T>
bool in_range(const Survey& survey);

/// The lines whose rows by themselves are not in_range().
/// @pre as for survey()
template <typename T>
std::vector<Index> extreme_lines(const LineSet& lines, const BandsView<T>& bands);

/// "row 3 of line 17", or "row 3" of a single line. @param at  its place in a vector
std::string row_name(const LineSet& lines, Index at);

/// Why a line is singular, "all numbers of row 3 of line 17 are 0", for the first such row of lines [first, end);
/// nothing if there is none.
template <typename T>
std::optional<std::string> zero_row_text(const LineSet& lines, const BandsView<T>& bands, Index first, Index end);

/// The lines that a contiguous set really holds: cut wherever two neighbouring rows do not couple.
template <typename T>
LineSet uncoupled_lines(const LineSet& lines, const BandsView<T>& bands);

/// The dominance of line `line` alone.
/// @pre as for survey()
template <typename T>
double line_dominance(const LineSet& lines, const BandsView<T>& bands, Index line);

/// Survey line `line` alone; its first row's lower and its last row's upper count as couplings.
/// @param symmetry  false: `symmetric` stays false, and 2 words a row are not read
template <typename T>
Survey survey_line(const LineSet& lines, const BandsView<T>& bands, Index line, bool symmetry);

/// Survey the rows one by one: all but `symmetric` and `shared`, which stay false.
/// @pre couplings out of the lines are 0 (Bands::close_lines)
/// @cost 3 words a row, by all processors of this process
template <typename T>
Survey survey_rows(const LineSet& lines, const BandsView<T>& bands);

/// survey_rows() of the bands while they are written, each block while it is in the cache.
/// @param fill couplings out of the lines are overwritten with 0
/// @cost as write_bands(), and another 3 words a row unless the lines are gapless()
template <typename T>
Survey survey_while(Bands<T>& bands, const BandsFill<T>& fill);

/// Survey::symmetric; the first difference in a line ends the search.
/// @pre as for survey()
template <typename T>
bool is_symmetric(const LineSet& lines, const BandsView<T>& bands);

/// Survey::shared; the first line that differs ends the search.
/// @pre as for survey()
template <typename T>
bool is_shared(const LineSet& lines, const BandsView<T>& bands);

/// True if all rows of one line laid end to end, except the first and the last, are equal to the bit, up to the sign of
/// zeros. The first row that differs ends the search.
template <typename T>
bool is_uniform(const LineSet& lines, const BandsView<T>& bands);

/// A survey with all members set.
/// @pre couplings out of the lines are 0 (Bands::close_lines)
template <typename T>
Survey survey(const LineSet& lines, const BandsView<T>& bands);

}  // namespace oclspkt
