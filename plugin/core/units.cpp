// SPDX-License-Identifier: BSD-2-Clause
#include "units.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "parallel.hpp"
#include "survey.hpp"

namespace oclspkt {
namespace {

/// Ratios of units that count as jumps, in both directions: low times high, which is the square of what lies between,
/// and the square of the ratio that makes couplings symmetric. Advection by a ratio of 10 is below.
constexpr double kJump = 8, kUneven = 32;
/// By how much `low` may be above `high`: rows of dominance 0.95 and units at once.
constexpr double kSlack = 2;
/// Rows before a piece from which the ratio of the joint above it is found.
constexpr Index kEarly = 64;

/// True if one is `limit` times the other; a quotient would cost every row a division.
bool far_apart(double a, double b, double limit) { return a >= limit * b || b >= limit * a; }

template <typename T>
double size(T number) {
  return std::abs(static_cast<double>(number));
}

/// The ratio of units below a row in which couplings are symmetric where diagonals are equal, a power of two; 1 if it
/// is not far from that, or there is no joint.
template <typename T>
double even_ratio(const BandsView<T>& bands, Index row) {
  const double c = size(bands.upper[row]), a = c > 0 ? size(bands.lower[row + 1]) : 0;
  if (!(a > 0)) return 1;
  const double diag = size(bands.diag[row]), diag_below = size(bands.diag[row + 1]);
  if (!far_apart(c * diag_below, a * diag, kUneven)) return 1;
  const double even = c / diag * (diag_below / a);
  return std::isfinite(even) && even > 0 ? std::exp2(std::round(std::log2(even) / 2)) : 1;
}

}  // namespace

/// @param above  the ratio of units at the joint above
template <typename T>
typename ColumnUnits<T>::Jump ColumnUnits<T>::look(const BandsView<T>& bands, Index row, double above) {
  const double c = size(bands.upper[row]), a = size(bands.lower[row + 1]);
  const double diag = size(bands.diag[row]), diag_below = size(bands.diag[row + 1]);
  const double other = size(bands.lower[row]), other_below = size(bands.upper[row + 1]);
  Jump jump{row, 1, 1, even_ratio(bands, row)};
  if (!(c > 0 && a > 0) || (diag >= other + c && diag_below >= a + other_below)) return jump;
  const double left = diag - other * above, in_units_above = diag_below - other_below;
  // A row that its coupling downwards alone outweighs has the next jump below it.
  const double left_below = in_units_above > 0 ? in_units_above : diag_below - other_below / even_ratio(bands, row + 1);
  if (!(left > 0 && left_below > 0) || !far_apart(c * left_below, a * left, kJump)) return jump;
  const double low = c / left, high = left_below / a;
  const bool away = low > 1 || high < 1;
  if (low <= kSlack * high && away) {
    jump.low = low;
    jump.high = high;
  }
  return jump;
}

/// The jumps at the joints below the rows [begin, end) of a line that begins with row `first`.
template <typename T>
auto ColumnUnits<T>::find(Index first, Index begin, Index end) const -> std::vector<Jump> {
  double above = 1;
  std::vector<Jump> found;
  for (Index row = std::max(first, begin - kEarly); row < end; ++row) {
    const Jump jump = look(bands_, row, above);
    above = std::sqrt(jump.low * jump.high);
    if (row >= begin && jump.any()) found.push_back(jump);
  }
  return found;
}

template <typename T>
ColumnUnits<T>::ColumnUnits(const LineSet& lines, const BandsView<T>& bands) : bands_(bands), rows_(lines.extent()) {
  std::vector<char> weak(static_cast<std::size_t>(lines.count()), 1);
  if (lines.count() > 1) {
    for_pieces(lines.count(), lines_a_piece(lines), [&](Index begin, Index end) {
      for (Index l = begin; l < end; ++l) weak[static_cast<std::size_t>(l)] = !(line_dominance(lines, bands, l) >= 1);
    });
  }
  std::mutex mutex;
  for_row_pieces(lines, [&](Index l, Index begin, Index end) {
    if (weak[static_cast<std::size_t>(l)] == 0) return;
    const Index first = lines.first(l), last = lines.length(l) - 1;
    const std::vector<Jump> found = find(first, first + begin, first + std::min(end, last));
    const std::lock_guard lock(mutex);
    jumps_.insert(jumps_.end(), found.begin(), found.end());
  });
  const auto before = [](const Jump& a, const Jump& b) { return a.row < b.row; };
  std::sort(jumps_.begin(), jumps_.end(), before);
  for (Index l = 0; !none() && l < lines.count(); ++l) {
    if (weak[static_cast<std::size_t>(l)] != 0) ends_.push_back(lines.first(l) + lines.length(l));
  }
}

template <typename T>
void ColumnUnits<T>::each(const std::function<void(const BandsView<T>&, double)>& f) const {
  if (none()) return;
  constexpr double kSides = 2;
  AlignedArray<T> lower(rows_), upper(rows_);
  for_pieces(rows_, kPieceRows, [&](Index begin, Index end) {
    std::copy(bands_.lower + begin, bands_.lower + end, lower.data() + begin);
    std::copy(bands_.upper + begin, bands_.upper + end, upper.data() + begin);
  });
  for (double Jump::*ratio : {&Jump::low, &Jump::high, &Jump::even}) {
    bool any = false;
    for (const Jump& jump : jumps_) {
      const double t = jump.*ratio;
      any = any || t != 1;
      upper[jump.row] = static_cast<T>(static_cast<double>(bands_.upper[jump.row]) / t);
      lower[jump.row + 1] = static_cast<T>(static_cast<double>(bands_.lower[jump.row + 1]) * t);
    }
    if (any) f({lower.data(), bands_.diag, upper.data()}, ratio == &Jump::even ? 1 : kSides);
  }
}

template <typename T>
double ColumnUnits<T>::range() const {
  double largest = 0;
  for (const double Jump::*ratio : {&Jump::low, &Jump::high, &Jump::even}) {
    auto jump = jumps_.begin();
    for (const Index end : ends_) {
      double unit = 0, least = 0, most = 0;  // logarithms: a decay over many rows leaves any range
      for (; jump != jumps_.end() && jump->row < end; ++jump) {
        unit += std::log2((*jump).*ratio);
        least = std::min(least, unit);
        most = std::max(most, unit);
      }
      largest = std::max(largest, most - least);
    }
  }
  return std::exp2(largest);
}

template class ColumnUnits<float>;
template class ColumnUnits<double>;

}  // namespace oclspkt
