// SPDX-License-Identifier: BSD-2-Clause
#include "units.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>

#include "oclspkt/report.hpp"
#include "parallel.hpp"
#include "survey.hpp"
#include "write_bands.hpp"

namespace oclspkt {
namespace {

/// Units jump in two cases: low * high is not between 1 / kJump and kJump; the square of the ratio that makes couplings
/// symmetric is not between 1 / kUneven and kUneven. Advection with couplings in a ratio of 10 is below kUneven.
constexpr double kJump = 8, kUneven = 32;
/// `low` may exceed `high` by this factor, so that rows of dominance 0.95 may have units, too.
constexpr double kSlack = 2;
/// How many rows above a piece the search begins, to find the ratio at the joint above the piece.
constexpr Index kEarly = 64;
/// The least jump of a unit at which columns are scaled.
constexpr double kLeastJump = 8;
/// The largest ratio of a line's units.
template <typename T>
constexpr double kMostRange = sizeof(T) == sizeof(float) ? 0x1p100 : 0x1p400;
/// Lines of at least this dominance keep their units: their row sums are 0 up to rounding, as at material interfaces.
constexpr double kMeantDominance = 0.999;

/// True if the larger number is at least `limit` times the smaller number. Avoids a division for each row.
bool far_apart(double a, double b, double limit) { return a >= limit * b || b >= limit * a; }

template <typename T>
double size(T number) {
  return std::abs(static_cast<double>(number));
}

/// The ratio of the units of a row and of the row below it. With it, their two couplings are equal once both rows are
/// scaled to equal diagonals. A power of two; 1 if the ratio is near 1, or if the rows do not couple.
template <typename T>
double even_ratio(const BandsView<T>& bands, Index row) {
  const double c = size(bands.upper[row]), a = c > 0 ? size(bands.lower[row + 1]) : 0;
  if (!(a > 0)) return 1;
  const double diag = size(bands.diag[row]), diag_below = size(bands.diag[row + 1]);
  if (!far_apart(c * diag_below, a * diag, kUneven)) return 1;
  const double even = c / diag * (diag_below / a);
  return std::isfinite(even) && even > 0 ? std::exp2(std::round(std::log2(even) / 2)) : 1;
}

/// The ratio of the units of two rows that makes their couplings symmetric; 1 if units do not jump.
template <typename T>
double jump_between(const BandsView<T>& bands, Index row, Index below) {
  const double c = size(bands.upper[row]), a = c > 0 ? size(bands.lower[below]) : 0;
  if (!(a > 0)) return 1;
  const double diag = size(bands.diag[row]), diag_below = size(bands.diag[below]);
  if (!far_apart(c * diag_below, a * diag, kLeastJump * kLeastJump)) return 1;
  const double ratio = std::sqrt(a / diag_below * (diag / c));
  return std::isfinite(ratio) && ratio > 0 && far_apart(ratio, 1, kLeastJump) ? ratio : 1;
}

template <typename T>
bool any_jumps(const LineSet& lines, const BandsView<T>& bands) {
  const Index step = lines.row_stride();
  std::atomic<bool> any{false};
  for_row_pieces(lines, [&](Index line, Index begin, Index end) {
    const Index first = lines.first(line), last = first + std::min(end, lines.length(line) - 1) * step;
    for (Index at = first + begin * step; at < last && !any; at += step) any = jump_between(bands, at, at + step) != 1;
  });
  return any;
}

/// The power of two nearest to `jump` if it is in [least, most]; else the number of [least, most] nearest to `jump`.
double ratio_between(double least, double most, double jump) {
  const double power = std::exp2(std::round(std::log2(jump)));
  return least <= power && power <= most ? power : std::max(least, std::min(most, jump));
}

/// Finds the units in which the rows of one line are dominant, and the units by which its columns are scaled.
template <typename T>
class DominantUnits {
 public:
  DominantUnits(const LineSet& lines, const BandsView<T>& bands, Index line)
      : bands_(bands), first_(lines.first(line)), step_(lines.row_stride()), rows_(lines.length(line)) {}

  /// @param[out] units  units of the line's columns; not valid if the result is 0
  /// @param[out] factor see FoundUnits
  /// @return the number of runs of columns of equal unit; 0 if the line keeps its units
  Index find(T* units, double& factor) {
    if (!find_least()) return 0;
    double ratio = 1, unit = 1, taken = 1, smallest = 1, largest = 1, least_apart = 1, most_apart = 1;
    Index runs = 1;
    for (Index i = 0, at = first_; i < rows_; ++i, at += step_) {
      const double before = taken;
      if (i > 0 && bands_.lower[at] == 0 && bands_.upper[at - step_] == 0) {
        ratio = unit = taken = 1;
      } else if (i > 0) {
        ratio = ratio_below(i - 1, ratio);
        unit *= ratio;
        if (!(ratio > 0 && std::isfinite(unit))) return 0;
        if (jump_below(i - 1) != 1 && far_apart(ratio, 1, kLeastJump)) taken = unit;
      }
      runs += taken != before;
      smallest = std::min(smallest, taken);
      largest = std::max(largest, taken);
      least_apart = std::min(least_apart, unit / taken);
      most_apart = std::max(most_apart, unit / taken);
      if (largest > kMostRange<T> * smallest || !scales(i, units[at] = static_cast<T>(taken))) return 0;
    }
    factor = most_apart / least_apart;
    return runs > 1 && factor < kRoundingLimit - 1 ? runs : 0;  // with a larger factor, no bound is within the limit
  }

 private:
  /// For the joint above each row, find the least ratio of units with which all rows below are dominant: eliminate
  /// upwards.
  /// @return false if no units make all rows dominant
  bool find_least() {
    least_.resize(static_cast<std::size_t>(rows_));
    double taken_off = 0;
    for (Index i = rows_; i-- > 0;) {
      const Index at = first_ + i * step_;
      const double left = size(bands_.diag[at]) - taken_off;
      if (!(left > 0)) return false;
      if (i == 0) break;
      least_[static_cast<std::size_t>(i)] = size(bands_.lower[at]) / left;
      taken_off = size(bands_.upper[at - step_]) * least_[static_cast<std::size_t>(i)];
    }
    return true;
  }

  double jump_below(Index i) const {
    const Index at = first_ + i * step_;
    return i + 1 < rows_ ? jump_between(bands_, at, at + step_) : 1;
  }

  /// The ratio of units at the joint below row i; 1 if row i and the rows below can be dominant with this ratio.
  /// @param above  the ratio at the joint above row i
  double ratio_below(Index i, double above) const {
    const Index at = first_ + i * step_, below = at + step_;
    const double other = i > 0 ? size(bands_.lower[at]) / above : 0, coupling = size(bands_.upper[at]);
    const double most =
        coupling > 0 ? (size(bands_.diag[at]) - other) / coupling : std::numeric_limits<double>::infinity();
    double least = least_[static_cast<std::size_t>(i + 1)];
    if (least <= 1 && most >= 1) return 1;
    // The least ratio here would leave only the least ratios at all joints below. Take a larger ratio.
    const double next = i + 2 < rows_ ? std::max(least_[static_cast<std::size_t>(i + 2)], jump_below(i + 1)) : 0;
    const double enough = size(bands_.lower[below]) / (size(bands_.diag[below]) - size(bands_.upper[below]) * next);
    if (enough > least && enough <= most) least = enough;
    return ratio_between(least, most, jump_below(i));
  }

  /// True if the scaled numbers of a column are in the range of T.
  bool scales(Index i, T unit) const {
    const auto stays = [unit](T number) {
      const T size = std::abs(number * unit);
      return number == 0 || (size >= std::numeric_limits<T>::min() && size <= std::numeric_limits<T>::max());
    };
    const Index at = first_ + i * step_;
    if (unit == 1) return true;
    const bool above = i == 0 || stays(bands_.upper[at - step_]);
    return above && stays(bands_.diag[at]) && (i + 1 == rows_ || stays(bands_.lower[at + step_]));
  }

  const BandsView<T>& bands_;
  Index first_, step_, rows_;
  std::vector<double> least_;
};

}  // namespace

/// The jump at the joint below a row. @param above  the ratio of units at the joint above
template <typename T>
typename ColumnUnits<T>::Jump ColumnUnits<T>::look(const BandsView<T>& bands, Index row, double above) {
  const double c = size(bands.upper[row]), a = size(bands.lower[row + 1]);
  const double diag = size(bands.diag[row]), diag_below = size(bands.diag[row + 1]);
  const double other = size(bands.lower[row]), other_below = size(bands.upper[row + 1]);
  Jump jump{row, 1, 1, even_ratio(bands, row)};
  if (!(c > 0 && a > 0) || (diag >= other + c && diag_below >= a + other_below)) return jump;
  const double left = diag - other * above, in_units_above = diag_below - other_below;
  // If the lower row's diagonal is smaller than its coupling to the row below it, the next jump is below the lower row.
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
      double unit = 0, least = 0, most = 0;  // logarithms, because a product over many rows may leave any range
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

template <typename T>
FoundUnits find_units(const LineSet& lines, const BandsView<T>& bands, AlignedArray<T>& units) {
  FoundUnits found;
  if (!any_jumps(lines, bands)) return found;
  units.resize(lines.extent());
  for_pieces(lines.extent(), kPieceRows,
             [&](Index begin, Index end) { std::fill(units.data() + begin, units.data() + end, T(1)); });
  std::mutex mutex;
  for_pieces(lines.count(), lines_a_piece(lines), [&](Index begin, Index end) {
    for (Index l = begin; l < end; ++l) {
      if (line_dominance(lines, bands, l) >= kMeantDominance) continue;
      double factor = 1;
      const Index runs = DominantUnits<T>(lines, bands, l).find(units.data(), factor);
      for (Index i = 0; runs == 0 && i < lines.length(l); ++i) units[lines.first(l) + i * lines.row_stride()] = 1;
      if (runs == 0) continue;
      const std::lock_guard lock(mutex);
      found.runs = std::max(found.runs, runs);
      found.factor = std::max(found.factor, factor);
    }
  });
  return found;
}

template <typename T>
void scale_columns(const Bands<T>& bands, const T* units, Bands<T>& scaled) {
  const LineSet& lines = bands.lines();
  scaled.reshape(lines);
  write_bands(scaled, copy_of(bands.view()));
  const Index step = lines.row_stride();
  for_row_pieces(lines, [&](Index line, Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index at = lines.first(line) + i * step;
      if (i > 0) scaled.lower()[at] *= units[at - step];
      scaled.diag()[at] *= units[at];
      if (i + 1 < lines.length(line)) scaled.upper()[at] *= units[at + step];
    }
  });
}

#define OCLSPKT_INSTANTIATE(T)                                                           \
  template class ColumnUnits<T>;                                                         \
  template FoundUnits find_units(const LineSet&, const BandsView<T>&, AlignedArray<T>&); \
  template void scale_columns(const Bands<T>&, const T*, Bands<T>&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
