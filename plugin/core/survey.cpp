// SPDX-License-Identifier: BSD-2-Clause
#include "survey.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "parallel.hpp"
#include "plan.hpp"
#include "residual.hpp"
#include "wide.hpp"
#include "write_bands.hpp"

namespace oclspkt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kMost = std::numeric_limits<double>::max();
/// Rows of a block. As many rows are written at once, so they are still in the core's first-level cache.
constexpr Index kBlockRows = kWrittenRows;

/// `count` rows, `stride` elements apart, the first at offset `first`.
struct Rows {
  Index first, count, stride;
};

struct Row {
  double lower, diag, upper;
  bool finite() const { return (lower <= kMost) & (diag <= kMost) & (upper <= kMost); }
  double size() const { return std::max(std::max(lower, diag), upper); }
  double dominance() const {
    // If the sum overflows, add quarters of both couplings.
    const double sum = lower + upper, scale = sum <= kMost ? 1.0 : 0.25;
    const double off = sum <= kMost ? sum : lower / 4 + upper / 4;
    return off > 0 ? diag * scale / off : diag > 0 ? kInfinity : 0.0;
  }
  double share(double coupling) const { return coupling > 0 ? coupling / diag : 0.0; }
};

/// Extremes of rows, see Survey.
struct Extremes {
  double dominance = kInfinity, lower_share = 0, upper_share = 0;
  double smallest_row = kInfinity, largest_row = 0;
};

struct Look {
  Index uncoupled = 0;
  Index records = 0;  ///< number of rows whose dominance or share is beyond Extremes, or that are not finite
};

template <typename T>
[[gnu::always_inline]] inline Row row_at(const BandsView<T>& bands, Index at) {
  return {modulus(widened<double>(bands.lower[at])), modulus(widened<double>(bands.diag[at])),
          modulus(widened<double>(bands.upper[at]))};
}

// Functions of one row that return numbers by value, because compilers do not vectorise variables with an address.
template <typename T>
[[gnu::always_inline]] inline double size_at(const BandsView<T>& bands, Index at) {
  return row_at(bands, at).size();
}
template <typename T>
[[gnu::always_inline]] inline double dominance_at(const BandsView<T>& bands, Index at) {
  return row_at(bands, at).dominance();
}
template <typename T>
[[gnu::always_inline]] inline double lower_share_at(const BandsView<T>& bands, Index at) {
  const Row row = row_at(bands, at);
  return row.share(row.lower);
}
template <typename T>
[[gnu::always_inline]] inline double upper_share_at(const BandsView<T>& bands, Index at) {
  const Row row = row_at(bands, at);
  return row.share(row.upper);
}
template <typename T>
[[gnu::always_inline]] inline bool finite_at(const BandsView<T>& bands, Index at) {
  return row_at(bands, at).finite();
}
/// True if the row is within the extremes. False if its sum overflows or is NaN (infinity * 0 is NaN as well).
template <typename T>
[[gnu::always_inline]] inline bool keeps_records(const BandsView<T>& bands, Index at, double dominance,
                                                 double lower_share, double upper_share) {
  const Row row = row_at(bands, at);
  const double off = row.lower + row.upper;
  return (row.diag > 0) & (row.diag >= dominance * off) & (row.lower <= lower_share * row.diag) &
         (row.upper <= upper_share * row.diag) & (off + row.diag <= kMost);
}

/// A minimum of rows. OpenMP starts one at infinity or, as Clang does, at the largest finite number.
inline double least(double of_rows) { return of_rows < kMost ? of_rows : kInfinity; }

/// Update the extremes that need no division.
/// @tparam kStride elements from row to row; 0: rows.stride, which does not vectorise
template <Index kStride, typename T>
[[gnu::always_inline]] inline Look look_at_rows(const BandsView<T>& bands, const Rows& rows, Extremes& e) {
  const BandsView<T> from{bands.lower + rows.first, bands.diag + rows.first, bands.upper + rows.first};
  const Index stride = kStride > 0 ? kStride : rows.stride, count = rows.count;
  const double dominance = e.dominance, lower_share = e.lower_share, upper_share = e.upper_share;
  double largest = e.largest_row, smallest = e.smallest_row;
  Index records = 0, uncoupled = 0;
#pragma omp simd reduction(max : largest) reduction(min : smallest) reduction(+ : records, uncoupled)
  for (Index i = 0; i < count; ++i) {
    const double size = size_at(from, i * stride), seen = size > 0 ? size : kInfinity;
    largest = size > largest ? size : largest;
    smallest = seen < smallest ? seen : smallest;
    uncoupled += from.lower[i * stride] == T(0) ? 1 : 0;
    records += keeps_records(from, i * stride, dominance, lower_share, upper_share) ? 0 : 1;
  }
  e.largest_row = largest;
  e.smallest_row = least(smallest);
  return {uncoupled, records};
}

/// Update the extremes that are quotients. @return the number of rows that are not finite
template <Index kStride, typename T>
[[gnu::always_inline]] inline Index take_records(const BandsView<T>& bands, const Rows& rows, Extremes& e) {
  const BandsView<T> from{bands.lower + rows.first, bands.diag + rows.first, bands.upper + rows.first};
  const Index stride = kStride > 0 ? kStride : rows.stride, count = rows.count;
  double dominance = e.dominance, lower_share = e.lower_share, upper_share = e.upper_share;
  Index bad = 0;
#pragma omp simd reduction(min : dominance) reduction(max : lower_share, upper_share) reduction(+ : bad)
  for (Index i = 0; i < count; ++i) {
    const double d = dominance_at(from, i * stride);
    const double of_lower = lower_share_at(from, i * stride), of_upper = upper_share_at(from, i * stride);
    dominance = d < dominance ? d : dominance;
    lower_share = of_lower > lower_share ? of_lower : lower_share;
    upper_share = of_upper > upper_share ? of_upper : upper_share;
    bad += finite_at(from, i * stride) ? 0 : 1;
  }
  e.dominance = least(dominance);
  e.lower_share = lower_share;
  e.upper_share = upper_share;
  return bad;
}

#define OCLSPKT_INSTANTIATE(T)                                                                     \
  OCLSPKT_WIDE Look look_at_neighbours(const BandsView<T>& bands, const Rows& rows, Extremes& e) { \
    return look_at_rows<1>(bands, rows, e);                                                        \
  }                                                                                                \
  OCLSPKT_WIDE Index take_neighbours(const BandsView<T>& bands, const Rows& rows, Extremes& e) {   \
    return take_records<1>(bands, rows, e);                                                        \
  }
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)
#undef OCLSPKT_INSTANTIATE

/// Surveys rows block by block. Divides only in blocks with a row beyond the extremes so far.
template <typename T>
class RowScan {
 public:
  explicit RowScan(const BandsView<T>& bands) : bands_(bands) {}

  /// Survey rows, up to the first block with a number that is not finite.
  void take(const Rows& rows) {
    for (Index i = 0; i < rows.count && first_bad_ < 0; i += kBlockRows) {
      const Rows block{rows.first + i * rows.stride, std::min(kBlockRows, rows.count - i), rows.stride};
      take_block(bands_, block, block.first);
    }
  }
  /// Survey a block of rows from a copy in the cache. In the bands, the rows begin at `first`.
  void take_copy(const BandsView<T>& copy, Index first, Index count) {
    if (first_bad_ < 0) take_block(copy, {0, count, 1}, first);
  }

  Survey result() const {
    if (first_bad_ >= 0) return {.weakest_row = first_bad_};
    const Index weakest = first_row(weakest_, [&](const Row& row) { return row.dominance() == extremes_.dominance; });
    return {.dominance = extremes_.dominance,
            .finite = true,
            .weakest_row = weakest,
            .smallest_row = extremes_.smallest_row,
            .largest_row = extremes_.largest_row,
            .lower_share = extremes_.lower_share,
            .upper_share = extremes_.upper_share,
            .uncoupled_above = uncoupled_};
  }

 private:
  /// @param first  offset of the first row in the bands
  void take_block(const BandsView<T>& from, const Rows& rows, Index first) {
    const bool side_by_side = rows.stride == 1;
    const Rows place{first, rows.count, rows.stride};
    const double before = extremes_.dominance;
    const Look look = side_by_side ? look_at_neighbours(from, rows, extremes_) : look_at_rows<0>(from, rows, extremes_);
    uncoupled_ += look.uncoupled;
    if (look.records == 0) return;
    const Index bad = side_by_side ? take_neighbours(from, rows, extremes_) : take_records<0>(from, rows, extremes_);
    if (bad > 0) first_bad_ = first_row(place, [](const Row& row) { return !row.finite(); });
    if (extremes_.dominance < before) weakest_ = place;
  }

  /// Offset of the first row for which `asked` holds; -1 if there is none.
  template <typename F>
  Index first_row(const Rows& rows, const F& asked) const {
    for (Index i = 0; i < rows.count; ++i) {
      const Index at = rows.first + i * rows.stride;
      if (asked(row_at(bands_, at))) return at;
    }
    return -1;
  }

  const BandsView<T> bands_;
  Extremes extremes_;
  Rows weakest_{0, 0, 1};  ///< the first block that has a row of the least dominance
  Index uncoupled_ = 0, first_bad_ = -1;
};

/// Merges the surveys of pieces, in any order.
class Sum {
 public:
  void add(const Survey& piece) {
    const std::lock_guard lock(mutex_);
    const bool first = piece.weakest_row >= 0 && (sum_.weakest_row < 0 || piece.weakest_row < sum_.weakest_row);
    if (!piece.finite || !sum_.finite) {
      if (!piece.finite && (sum_.finite || first)) sum_ = piece;
      return;
    }
    if (piece.dominance < sum_.dominance || (piece.dominance == sum_.dominance && first)) {
      sum_.dominance = piece.dominance;
      sum_.weakest_row = piece.weakest_row;
    }
    sum_.smallest_row = std::min(sum_.smallest_row, piece.smallest_row);
    sum_.largest_row = std::max(sum_.largest_row, piece.largest_row);
    sum_.lower_share = std::max(sum_.lower_share, piece.lower_share);
    sum_.upper_share = std::max(sum_.upper_share, piece.upper_share);
    sum_.uncoupled_above += piece.uncoupled_above;
  }
  const Survey& value() const { return sum_; }

 private:
  std::mutex mutex_;
  Survey sum_{.dominance = kInfinity, .finite = true, .smallest_row = kInfinity};
};

Rows rows_of(const LineSet& lines, Index line) { return {lines.first(line), lines.length(line), lines.row_stride()}; }

template <typename T>
Survey scan_line(const LineSet& lines, const BandsView<T>& bands, Index line) {
  RowScan<T> scan(bands);
  scan.take(rows_of(lines, line));
  return scan.result();
}

/// True if lower[at] = upper[at - above] for all of `rows`.
template <typename T>
bool couplings_agree(const BandsView<T>& bands, const Rows& rows, Index above) {
  for (Index i = 0; i < rows.count; i += kBlockRows) {
    Index differing = 0;
    for (Index k = i; k < std::min(rows.count, i + kBlockRows); ++k) {
      const Index at = rows.first + k * rows.stride;
      differing += bands.lower[at] != bands.upper[at - above];
    }
    if (differing > 0) return false;
  }
  return true;
}

template <typename T>
bool line_is_symmetric(const LineSet& lines, const BandsView<T>& bands, Index line) {
  const Index stride = lines.row_stride();
  return couplings_agree(bands, {lines.first(line) + stride, lines.length(line) - 1, stride}, stride);
}

/// True if the `count` rows from `at` on, in steps of `step`, equal the rows from `pattern` on, in steps of
/// `pattern_step`.
template <typename T>
bool same_rows(const BandsView<T>& bands, Index at, Index step, Index pattern, Index pattern_step, Index count) {
  Index differing = 0;
  for (Index i = 0; i < count; ++i) {
    const Index a = at + i * step, b = pattern + i * pattern_step;
    const bool lower = bands.lower[a] != bands.lower[b], diag = bands.diag[a] != bands.diag[b];
    const bool upper = bands.upper[a] != bands.upper[b];
    differing += lower | diag | upper;
  }
  return differing == 0;
}

}  // namespace

double Survey::decay() const {
  const double discriminant = 1 - 4 * lower_share * upper_share, larger = std::max(lower_share, upper_share);
  if (!(dominance >= 1 && discriminant > 0 && larger > 0)) return dominance;
  return std::max(dominance, (1 + std::sqrt(discriminant)) / (2 * larger));
}

bool shrinks(const Survey& survey) {
  const double larger = std::max(survey.lower_share, survey.upper_share);
  const double discriminant = 1 - 4 * survey.lower_share * survey.upper_share;
  return survey.dominance >= 1 && discriminant >= 0 && 2 * larger <= 1 + std::sqrt(discriminant);
}

template <typename T>
Survey survey_line(const LineSet& lines, const BandsView<T>& bands, Index line, bool symmetry) {
  // All processors survey a single long line.
  const bool alone = lines.count() == 1 && lines.rows() == lines.extent() && lines.rows() > kPieceRows;
  Survey s = alone ? survey_rows(lines, bands) : scan_line(lines, bands, line);
  s.symmetric = symmetry && s.finite && (alone ? is_symmetric(lines, bands) : line_is_symmetric(lines, bands, line));
  s.shared = s.finite;
  return s;
}

template <typename T>
Survey survey_rows(const LineSet& lines, const BandsView<T>& bands) {
  Sum sum;
  const bool by_place = lines.rows() == lines.extent();
  const Index lines_a_piece = 1 + kPieceRows * lines.count() / std::max<Index>(1, lines.rows());
  for_pieces(by_place ? lines.extent() : lines.count(), by_place ? kPieceRows : lines_a_piece,
             [&](Index first, Index end) {
               RowScan<T> scan(bands);
               if (by_place) scan.take({first, end - first, 1});
               for (Index l = first; !by_place && l < end; ++l) scan.take(rows_of(lines, l));
               sum.add(scan.result());
             });
  return sum.value();
}

template <typename T>
Survey survey_while(Bands<T>& bands, const BandsFill<T>& fill) {
  const LineSet& lines = bands.lines();
  if (!lines.gapless()) {
    write_bands(bands, fill);
    bands.close_lines();
    return survey_rows(lines, bands.view());
  }
  const BandsFill<T> closed = [&](const BandsPart<T>& to, Index first, Index end) {
    fill(to, first, end);
    close_lines(lines, to, first, end);
  };
  Sum sum;
  for_pieces(lines.extent(), kPieceRows, [&](Index first, Index end) {
    RowScan<T> scan(bands.view());
    write_piece(bands, closed, first, end, [&](const BandsPart<T>& block, Index at, Index count) {
      scan.take_copy({block.lower, block.diag, block.upper}, at, count);
    });
    sum.add(scan.result());
  });
  return sum.value();
}

template <typename T>
bool is_symmetric(const LineSet& lines, const BandsView<T>& bands) {
  const Index stride = lines.row_stride();
  if (lines.gapless()) {  // between lines, both couplings are 0
    return all_of_pieces(lines.extent() - stride, kPieceRows, [&](Index first, Index end) {
      return couplings_agree(bands, {first + stride, end - first, 1}, stride);
    });
  }
  bool symmetric = true;
  for (Index l = 0; l < lines.count() && symmetric; ++l) symmetric = line_is_symmetric(lines, bands, l);
  return symmetric;
}

template <typename T>
bool is_shared(const LineSet& lines, const BandsView<T>& bands) {
  const Index length = equal_length(lines);
  if (lines.count() < 2 || length == 0) return false;
  const Index stride = lines.row_stride(), pattern = lines.first(0);
  if (lines.beside()) {  // compare row by row: neighbouring lines are adjacent
    const Index piece = 1 + kPieceRows / lines.block_lines();
    return all_of_pieces(lines.blocks() * length, piece, [&](Index first, Index end) {
      for (Index k = first; k < end; ++k) {
        const Index row = k % length * stride, block = k / length * lines.block_lines();
        if (!same_rows(bands, lines.first(block) + row, 1, pattern + row, 0, lines.block_lines())) return false;
      }
      return true;
    });
  }
  return all_of_pieces(lines.count(), 1 + kPieceRows / length, [&](Index first, Index end) {
    for (Index l = std::max<Index>(first, 1); l < end; ++l) {
      if (!same_rows(bands, lines.first(l), stride, pattern, stride, length)) return false;
    }
    return true;
  });
}

template <typename T>
bool is_uniform(const LineSet& lines, const BandsView<T>& bands) {
  if (lines.count() != 1 || !lines.contiguous() || lines.rows() < 4) return false;
  return all_of_pieces(lines.rows() - 2, kPieceRows, [&](Index first, Index end) {
    for (Index i = first; i < end; i += kBlockRows) {
      if (!same_rows(bands, 1 + i, 1, 1, 0, std::min(kBlockRows, end - i))) return false;
    }
    return true;
  });
}

template <typename T>
Survey survey(const LineSet& lines, const BandsView<T>& bands) {
  Survey s = survey_rows(lines, bands);
  s.symmetric = s.finite && is_symmetric(lines, bands);
  s.shared = s.finite && is_shared(lines, bands);
  return s;
}

template <typename T>
bool in_range(const Survey& survey) {
  constexpr int kBits = std::numeric_limits<Real<T>>::max_exponent;
  // Limits for the sizes of rows: each lies between 1 / farthest and farthest, and two differ by a factor of at most
  // `widest`. The remaining exponents are for solutions and sums that are larger than the rows.
  const double farthest = std::ldexp(1.0, kBits / 8 * 7), widest = std::ldexp(1.0, kBits / 2);
  if (!(survey.largest_row > 0)) return true;  // no rows, or only zeros
  return survey.largest_row <= farthest && survey.smallest_row >= 1 / farthest &&
         survey.largest_row / widest <= survey.smallest_row;
}

template <typename T>
std::vector<Index> extreme_lines(const LineSet& lines, const BandsView<T>& bands) {
  std::vector<Index> extreme;
  for (Index l = 0; l < lines.count(); ++l) {
    const Survey s = scan_line(lines, bands, l);
    if (!s.finite || !in_range<T>(s)) extreme.push_back(l);
  }
  return extreme;
}

std::string row_name(const LineSet& lines, Index at) {
  for (Index l = 0; l < lines.count(); ++l) {
    const Index distance = at - lines.first(l), row = distance / lines.row_stride();
    if (distance < 0 || distance % lines.row_stride() != 0 || row >= lines.length(l)) continue;
    return "row " + std::to_string(row) + (lines.count() > 1 ? " of line " + std::to_string(l) : "");
  }
  return "row " + std::to_string(at);
}

template <typename T>
std::optional<std::string> zero_row_text(const LineSet& lines, const BandsView<T>& bands, Index first, Index end) {
  for (Index l = first; l < end; ++l) {
    for (Index i = 0, at = lines.first(l); i < lines.length(l); ++i, at += lines.row_stride()) {
      if (bands.lower[at] != T(0) || bands.diag[at] != T(0) || bands.upper[at] != T(0)) continue;
      return "all numbers of " + row_name(lines, at) + " are 0";
    }
  }
  return std::nullopt;
}

template <typename T>
double line_dominance(const LineSet& lines, const BandsView<T>& bands, Index line) {
  return scan_line(lines, bands, line).dominance;
}

template <typename T>
LineSet uncoupled_lines(const LineSet& lines, const BandsView<T>& bands) {
  std::vector<Index> starts{0};
  std::mutex mutex;
  for_pieces(std::max<Index>(lines.rows(), 1) - 1, kPieceRows, [&](Index first, Index end) {
    std::vector<Index> found;
    for (Index i = first + 1; i <= end; ++i) {
      if (bands.lower[i] == T(0) && bands.upper[i - 1] == T(0)) found.push_back(i);
    }
    if (found.empty()) return;
    const std::lock_guard lock(mutex);
    starts.insert(starts.end(), found.begin(), found.end());
  });
  if (static_cast<Index>(starts.size()) <= lines.count()) return lines;
  std::sort(starts.begin(), starts.end());
  starts.push_back(lines.rows());
  return LineSet::unequal(std::move(starts));
}

#define OCLSPKT_INSTANTIATE(T)                                                                          \
  template bool in_range<T>(const Survey&);                                                             \
  template std::vector<Index> extreme_lines(const LineSet&, const BandsView<T>&);                       \
  template std::optional<std::string> zero_row_text(const LineSet&, const BandsView<T>&, Index, Index); \
  template Survey survey(const LineSet&, const BandsView<T>&);                                          \
  template Survey survey_rows(const LineSet&, const BandsView<T>&);                                     \
  template Survey survey_while(Bands<T>&, const BandsFill<T>&);                                         \
  template Survey survey_line(const LineSet&, const BandsView<T>&, Index, bool);                        \
  template bool is_symmetric(const LineSet&, const BandsView<T>&);                                      \
  template bool is_shared(const LineSet&, const BandsView<T>&);                                         \
  template bool is_uniform(const LineSet&, const BandsView<T>&);                                        \
  template LineSet uncoupled_lines(const LineSet&, const BandsView<T>&);                                \
  template double line_dominance(const LineSet&, const BandsView<T>&, Index);
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt
