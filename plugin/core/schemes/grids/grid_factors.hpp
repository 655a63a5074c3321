// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "oclspkt/options.hpp"
#include "schemes/grids/segment_factors.hpp"

namespace oclspkt {

/// The lines of a level above the first, see GridFactors: side by side as those of `lines`, without gaps.
OCLSPKT_API LineSet lines_of_level(const LineSet& lines, Index rows);

/// What exact-factored by segments stores of lines side by side: the SegmentFactors of every line, each number at its
/// place beside that of the next line: of the first level in the layout of the vectors, of others in lines_of_level().
/// Where lines share their factors, those of one line, its rows end to end. Where they are symmetric, the coupling of
/// an inner row is the multiplier of the next one: of the first level's multipliers only those of second rows are kept,
/// in lines_of_level(lines, segments).
template <typename T>
class OCLSPKT_API GridFactors {
 public:
  using Level = typename SegmentFactors<T>::Level;

  /// @param form          shared: the first line stands for all; symmetric; general otherwise
  /// @param cut           of every line; whether it is symmetric is what the form says
  /// @pre lines.beside(), couplings out of the lines are 0
  /// @cost as SegmentFactors::factor() a line, by all processors of this process
  void factor(const LineSet& lines, const BandsView<T>& bands, Form form, SegmentCut cut);
  const std::vector<Level>& levels() const { return levels_; }

 private:
  std::vector<Level> levels_;
};

}  // namespace oclspkt
