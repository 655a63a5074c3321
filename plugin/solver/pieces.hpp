// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <vector>

#include "oclspkt/cut_solver.hpp"

namespace oclspkt {

/// The median time of applies: the throughput that later applies reach again, even if other programs interrupted some
/// of these. It is the median of a random sample, which covers all applies since the set-up. Of two applies it is the
/// quicker one, because the first apply runs with cold caches.
class MedianSeconds {
 public:
  void add(double seconds) {
    const std::size_t place = count_ < sample_.size() ? count_ : random_() % (count_ + 1);
    if (place < sample_.size()) sample_[place] = seconds;
    ++count_;
  }
  /// Median seconds; 0 before the first apply.
  double value() const {
    auto sorted = sample_;
    const std::size_t used = std::min(count_, sample_.size()), middle = used > 0 ? (used - 1) / 2 : 0;
    std::nth_element(sorted.begin(), sorted.begin() + middle, sorted.begin() + used);
    return sorted[middle];
  }
  std::size_t count() const { return count_; }

 private:
  std::array<double, 31> sample_{};
  std::size_t count_ = 0;
  std::minstd_rand random_;
};

/// Consecutive elements of a vector that one processor solves while others solve the rest.
struct Piece {
  Index first = 0;        ///< offset of its first row in the vector
  Index first_line = 0;   ///< index of that row's line
  std::size_t owner = 0;  ///< index of its processor, into `rows` of cut_into_pieces()
  LineSet lines = {};     ///< the lines or parts of lines in it
  Cuts cuts = {};         ///< how lines continue in other pieces, which count as processes; no chains: no line is cut
  double predicted_seconds = 0;  ///< of an apply
  MedianSeconds seconds = {};    ///< of applies, without waiting for other pieces
};

/// Divide a line set into consecutive pieces. Lines end to end: a piece ends at the end of a line if one is near the
/// wanted row; else it cuts a line. Lines side by side: a piece consists of whole blocks; if there is only one block,
/// all of its lines are cut at the same row.
/// @param rows  shape [processors]; rows wanted for each; their sum is lines.rows(). A piece may have more or less
/// @return pieces in the order of their offsets; a processor without rows has none
std::vector<Piece> cut_into_pieces(const LineSet& lines, std::span<const Index> rows);

}  // namespace oclspkt
