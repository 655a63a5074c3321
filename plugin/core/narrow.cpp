// SPDX-License-Identifier: BSD-2-Clause
#include "narrow.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <mutex>

#include "interface.hpp"
#include "oclspkt/error.hpp"
#include "parallel.hpp"
#include "survey.hpp"
#include "wide.hpp"

namespace oclspkt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kMost = std::numeric_limits<double>::max();
/// Relative rounding of float.
constexpr double kHalfEps = 0x1p-24;
/// Least ratio of a number to the largest number of its row. Floats keep 24 bits down to 2^-126, and the largest number
/// is scaled to [1/2, 1).
constexpr double kLeastShare = 0x1p-125;
/// Limits of row sizes, and of the ratio of row sizes (kWidest), for factors in float. Within these limits, reciprocal
/// pivots and multipliers are in range, because pivots are not much smaller than their rows.
constexpr double kSmallestRow = 0x1p-100, kLargestRow = 0x1p100, kWidest = 0x1p60;
/// Rows that one call of look_at() checks.
constexpr Index kBlockRows = 512;

/// `count` rows, `stride` places apart, the first at offset `first`.
struct Rows {
  Index first, count, stride;
};

/// Round a number to 24 bits, ties to even, for any exponent.
[[gnu::always_inline]] inline double rounded(double value) {
  constexpr int kBits = std::numeric_limits<double>::digits - std::numeric_limits<float>::digits;
  constexpr std::uint64_t kBelowHalf = (std::uint64_t{1} << (kBits - 1)) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return std::bit_cast<double>((bits + kBelowHalf + (bits >> kBits & 1)) >> kBits << kBits);
}

/// True if a rounded number keeps its 24 bits: as a double, and as a float once its row of size `size` is scaled.
[[gnu::always_inline]] inline bool keeps_bits(double value, double size) {
  const double magnitude = std::abs(value);
  return magnitude == 0 || (magnitude >= kLeastShare * size && magnitude >= std::numeric_limits<double>::min());
}

struct Narrowing {
  bool finite = true, in_range = true;
  double before = 0, after = 0;  ///< excess of the row before and after rounding

  bool holds() const { return std::abs(after - before) <= kNarrowChange * std::abs(before) && in_range; }
  double change() const { return before == 0 ? 0 : std::abs(after - before) / std::abs(before); }
};

[[gnu::always_inline]] inline Narrowing narrow_row(double lower, double diag, double upper) {
  const double size = std::max(std::max(std::abs(lower), std::abs(diag)), std::abs(upper));
  const double new_lower = rounded(lower), new_diag = rounded(diag), new_upper = rounded(upper);
  Narrowing row;
  row.finite = std::abs(lower) <= kMost && std::abs(diag) <= kMost && std::abs(upper) <= kMost;
  row.in_range = keeps_bits(lower, size) && keeps_bits(diag, size) && keeps_bits(upper, size) && rounded(size) <= kMost;
  row.before = row_excess(lower, diag, upper);
  row.after = row_excess(new_lower, new_diag, new_upper);
  return row;
}

/// The number of rows in a block for which Narrowing::holds() is false, and the largest change of the other rows.
struct Look {
  Index bad = 0;
  double change = 0;
};

OCLSPKT_WIDE Look look_at(const BandsView<double>& bands, const Rows& rows) {
  const double *lower = bands.lower + rows.first, *diag = bands.diag + rows.first, *upper = bands.upper + rows.first;
  const Index stride = rows.stride, count = rows.count;
  Index bad = 0;
  double change = 0;
#pragma omp simd reduction(+ : bad) reduction(max : change)
  for (Index i = 0; i < count; ++i) {
    const Narrowing row = narrow_row(lower[i * stride], diag[i * stride], upper[i * stride]);
    const bool counts = row.finite && row.holds();
    bad += row.finite && !row.holds() ? 1 : 0;
    const double own = counts ? row.change() : 0.0;
    change = own > change ? own : change;
  }
  return {bad, change};
}

OCLSPKT_WIDE void round_all(double* band, const Rows& rows) {
  double* const at = band + rows.first;
  const Index stride = rows.stride, count = rows.count;
#pragma omp simd
  for (Index i = 0; i < count; ++i) {
    const double value = at[i * stride];
    at[i * stride] = std::abs(value) <= kMost ? rounded(value) : value;
  }
}

/// Merges the results of several threads.
class Sum {
 public:
  void add(const Look& look) {
    const std::lock_guard lock(mutex_);
    change_ = std::max(change_, look.change);
  }
  void add_bad(Index at) {
    const std::lock_guard lock(mutex_);
    first_bad_ = first_bad_ < 0 ? at : std::min(first_bad_, at);
  }
  double change() const { return change_; }
  Index first_bad() const { return first_bad_; }

 private:
  std::mutex mutex_;
  double change_ = 0;
  Index first_bad_ = -1;
};

/// Call f for all rows of some lines, block by block. Lines without gaps count as one line.
template <typename F>
void for_blocks(const LineSet& lines, Index first_line, Index end_line, const F& f) {
  const auto blocks = [&](const Rows& rows) {
    for (Index i = 0; i < rows.count; i += kBlockRows) {
      f(Rows{rows.first + i * rows.stride, std::min(kBlockRows, rows.count - i), rows.stride});
    }
  };
  if (first_line == 0 && end_line == lines.count() && lines.rows() == lines.extent()) {
    for_pieces(lines.extent(), kPieceRows, [&](Index first, Index end) { blocks({first, end - first, 1}); });
    return;
  }
  const Index lines_a_piece = 1 + kPieceRows * lines.count() / std::max<Index>(1, lines.rows());
  for_pieces(end_line - first_line, lines_a_piece, [&](Index first, Index end) {
    for (Index l = first_line + first; l < first_line + end; ++l) {
      blocks({lines.first(l), lines.length(l), lines.row_stride()});
    }
  });
}

[[noreturn]] void refuse(const LineSet& lines, const BandsView<double>& bands, Index at) {
  const Narrowing row = narrow_row(bands.lower[at], bands.diag[at], bands.upper[at]);
  char numbers[128], why[160];
  std::snprintf(numbers, sizeof numbers, " (%.9g, %.9g, %.9g) ", bands.lower[at], bands.diag[at], bands.upper[at]);
  if (row.in_range) {
    std::snprintf(why, sizeof why,
                  "does not keep its excess |diag| - |lower| - |upper| within %.0f %% as floats, %.3g becomes %.3g",
                  100 * kNarrowChange, row.before, row.after);
  } else {
    std::snprintf(why, sizeof why, "has entries too large, too small or too far apart for float");
  }
  throw InvalidInput("precision narrow: " + row_name(lines, at) + numbers + why + ": use precision same");
}

double narrow_lines(Bands<double>& bands, Index first_line, Index end_line) {
  const LineSet& lines = bands.lines();
  const BandsView<double> view = bands.view();
  Sum sum;
  for_blocks(lines, first_line, end_line, [&](const Rows& rows) {
    const Look look = look_at(view, rows);
    sum.add(look);
    for (Index i = 0; look.bad > 0 && i < rows.count; ++i) {
      const Index at = rows.first + i * rows.stride;
      const Narrowing row = narrow_row(view.lower[at], view.diag[at], view.upper[at]);
      if (row.finite && !row.holds()) return sum.add_bad(at);
    }
  });
  if (sum.first_bad() >= 0) refuse(lines, view, sum.first_bad());
  for_blocks(lines, first_line, end_line, [&](const Rows& rows) {
    for (double* band : {bands.lower(), bands.diag(), bands.upper()}) round_all(band, rows);
  });
  return sum.change();
}

}  // namespace

template <>
double narrow_bands(Bands<double>& bands) {
  return narrow_lines(bands, 0, bands.lines().count());
}
template <>
double narrow_line(Bands<double>& bands, Index line) {
  return narrow_lines(bands, line, line + 1);
}
template <>
double narrow_bands(Bands<float>& /*bands*/) {
  return 0;
}
template <>
double narrow_line(Bands<float>& /*bands*/, Index /*line*/) {
  return 0;
}

double narrow_factors_change(double d) { return d > 1 ? kHalfEps * (1 + 7 / (d - 1)) : kInfinity; }

std::string why_not_narrow_factors(const Survey& survey) {
  char text[128];
  const double d = survey.dominance, of_bands = kHalfEps * (1 + 2 / (d - 1));
  if (!(d > 1 && (1 + narrow_factors_change(d)) / (1 - of_bands) - 1 <= kNarrowChange)) {
    std::snprintf(text, sizeof text,
                  "with row dominance %.6f rounding might change the excess of a row by more than %.0f %%", d,
                  100 * kNarrowChange);
    return text;
  }
  const bool fits = survey.smallest_row >= kSmallestRow && survey.largest_row <= kLargestRow &&
                    survey.largest_row <= kWidest * survey.smallest_row;
  if (fits || !(survey.largest_row > 0)) return {};
  std::snprintf(text, sizeof text, "factors of rows between %.1e and %.1e exceed the range of float",
                survey.smallest_row, survey.largest_row);
  return text;
}

}  // namespace oclspkt
