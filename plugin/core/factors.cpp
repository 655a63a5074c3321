// SPDX-License-Identifier: BSD-2-Clause
#include "factors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "factor_rows.hpp"
#include "forgiven.hpp"
#include "interface.hpp"
#include "parallel.hpp"
#include "rounding.hpp"

namespace oclspkt {
namespace {

/// The most and the fewest neighbouring lines that are swept together. The excesses of kWidest lines still stay in the
/// first-level cache; rows of kNarrowest lines are still long streams.
constexpr Index kWidest = 512, kNarrowest = 64;
/// The least number of bundles that gives all processors work, if the set has enough lines.
constexpr Index kFewestBundles = 8;
/// How many lines, or pieces of a long line, are swept abreast if lines are not side by side.
constexpr Index kAbreast = 8;
/// kShortLine: rows of the longest line that is swept with kAbreast - 1 others; a second-level cache holds all of them.
/// Longer lines are faster one by one, from both ends. kRowsAtOnce: rows of a short line read and written at once.
constexpr Index kShortLine = 256, kRowsAtOnce = 64;
/// The least number of rows in a piece of a long line.
constexpr Index kPieceOfLine = 16384;
/// Two pivots count as converged if they differ by at most this many eps, which is within their own rounding.
constexpr int kForgottenEps = 8;

/// The bundles of lines of a set. Each bundle is factored by itself.
struct Bundles {
  Index width, a_block, count;

  explicit Bundles(const LineSet& lines) {
    const bool beside = lines.beside();
    const Index block = beside ? lines.block_lines() : lines.count(), blocks = beside ? lines.blocks() : 1;
    const Index fair = (block * blocks / kFewestBundles + kNarrowest - 1) / kNarrowest * kNarrowest;
    width = beside ? std::min(kWidest, std::max(kNarrowest, fair)) : kAbreast;
    a_block = (block + width - 1) / width;
    count = blocks * a_block;
  }
  /// First line and number of lines of bundle k.
  std::pair<Index, Index> lines_of(Index k, const LineSet& lines) const {
    const Index block = lines.beside() ? lines.block_lines() : lines.count(), first = k % a_block * width;
    return {k / a_block * block + first, std::min(width, block - first)};
  }
};

}  // namespace

/// A row after elimination, without its coupling to the previous row of the sweep. All zeros: no row yet.
template <typename T>
struct Factors<T>::Pivot {
  ExcessRow<T> row;
  T reciprocal = 0;
};

/// Sweeps of equal length that advance together: the next row of each, and the results of its previous row.
template <typename T>
struct Factors<T>::Abreast {
  Index next[kAbreast];
  T upper[kAbreast] = {}, reciprocal[kAbreast] = {};
  Real<T> excess[kAbreast] = {};

  /// Let sweep j begin at an end of a line.
  void begin(Index j) { upper[j] = reciprocal[j] = 0, excess[j] = 0; }
  /// Start a lead-in: each sweep's next row counts its coupling to the previous row as excess. Pivots then converge
  /// from above, as in the whole sweep. From below, pivots might stop a few roundings short of the limit.
  void lead_in() {
    std::fill_n(upper, kAbreast, T(0));
    std::fill_n(reciprocal, kAbreast, T(1));
    std::fill_n(excess, kAbreast, Real<T>(1));
  }
  /// True if sweep j ended with the pivot with which sweep k of `begun` started.
  bool arrived(Index j, const Abreast& begun, Index k) const {
    const Real<T> most = kForgottenEps * kEpsOf<T>;
    return std::abs(reciprocal[j] - begun.reciprocal[k]) <= most * std::abs(reciprocal[j]) &&
           std::abs(excess[j] - begun.excess[k]) <= most * std::abs(excess[j]);
  }
  Pivot last(Index j) const {
    const bool negative = std::signbit(std::real(reciprocal[j]));
    return {{.upper = upper[j], .excess = excess[j], .sign = negative && !kIsComplex<T> ? T(-1) : T(1)}, reciprocal[j]};
  }
};

template <typename T>
[[gnu::always_inline]] inline void Factors<T>::keep(Index to, T multiplier, T reciprocal, T coupling) {
  const auto write = [&]<typename S>(FactorArrays<S>& arrays) {
    if (!serves_) arrays.multiplier[to] = static_cast<S>(multiplier);
    arrays.reciprocal[to] = static_cast<S>(reciprocal);
    arrays.coupling[to] = static_cast<S>(coupling);
  };
  is_narrow_ ? write(narrow_) : write(same_);
}

template <typename T>
[[gnu::always_inline]] inline ExcessRow<T> Factors<T>::take_row(const BandsView<T>& bands, Index at,
                                                                PivotExtremes<T>& extremes) const {
  ExcessRow<T> row = make_row(bands.lower[at], bands.diag[at], bands.upper[at], T(0), false);
  const bool forgiven = is_forgiven(row.excess, bands.diag[at]);
  extremes.forgiven = extremes.forgiven || forgiven;
  if (forgiven && forgives_) row.excess = 0;
  return row;
}

/// Eliminate `last`, the previous row of the sweep, from the next row, carrying the excess as factor_entry() does.
/// @param bands  lower couples to the previous row of the sweep
/// @param i   number of the row in its line
/// @param at  offset of the row in the vectors
template <typename T>
[[gnu::always_inline]] inline void Factors<T>::eliminate_row(const BandsView<T>& bands, Index i, Index at, Pivot& last,
                                                             PivotExtremes<T>& extremes) {
  const Index to = place(at, i);
  const ExcessRow<T> row = take_row(bands, at, extremes);
  const T multiplier = row.lower * last.reciprocal, taken = multiplier * last.row.upper;
  const PivotRow<T> left =
      pivot_of(eliminate_above(last.row, multiplier, row), row.sign * taken, row.lower, bands.diag[at], row.upper);
  last = {left.row, left.reciprocal};
  keep(to, multiplier, last.reciprocal, row.upper * last.reciprocal);
  extremes.see(row_rounding(row.lower, bands.diag[at], row.upper, taken, left.size), multiplier, last.reciprocal,
               bands.diag[at]);
}

template <typename T>
void Factors<T>::meet(const BandsView<T>& bands, Index line, Index i, const Pivot& above, const Pivot& below,
                      PivotExtremes<T>& extremes) {
  const Index at = lines_.first(line) + i * lines_.row_stride(), to = place(at, i);
  const ExcessRow<T> row = take_row(bands, at, extremes);
  const T from_above = row.lower * above.reciprocal, from_below = row.upper * below.reciprocal;
  const T off_above = from_above * above.row.upper, off_below = from_below * below.row.upper;
  const Real<T> taken = modulus(off_above) + modulus(off_below);
  ExcessRow<T> both = eliminate_above(above.row, from_above, row);
  both.upper = eliminate(both, from_below, below.row, below.row.upper, below.row.lower);
  const PivotRow<T> left = pivot_of(both, row.sign * (off_above + off_below), row.lower, bands.diag[at], row.upper);
  const Pivot met{left.row, left.reciprocal};
  const bool towards = order_ == Order::towards;
  const T multiplier = towards && at >= towards_ ? from_below : from_above;
  if (towards && at == towards_) {
    meeting_ = {from_above, met.reciprocal};
    keep(to, multiplier, 0, -1);
  } else {
    keep(to, multiplier, met.reciprocal, towards ? T(0) : from_below);
  }
  const Real<T> once =
      row_rounding(T(modulus(row.lower) + modulus(row.upper)), bands.diag[at], T(0), T(taken), left.size);
  // If rows are eliminated from both sides, one after the other, the diagonal between the two steps is rounded as well.
  const bool both_sides = above.reciprocal != T(0) && below.reciprocal != T(0);
  const Real<T> between = both_sides ? Real<T>(1.5) * taken + Real<T>(0.5) * std::abs(row.excess) : Real<T>(0);
  extremes.see(once + between, std::max(modulus(from_above), modulus(from_below)), met.reciprocal, bands.diag[at]);
}

template <typename T>
Index Factors<T>::meeting_row(Index line) const {
  const Index last = lines_.length(line) - 1;
  if (order_ == Order::towards) return std::clamp<Index>(towards_ - lines_.first(line), 0, last);
  return order_ == Order::down ? last : (last + 1) / 2;
}

template <typename T>
typename Factors<T>::Pivots Factors<T>::factor_line(const BandsView<T>& bands, Index line) {
  const Index length = lines_.length(line);
  if (length == 0) return {};
  const BandsView<T> upside_down{bands.upper, bands.diag, bands.lower};
  const Index meeting = meeting_row(line), rows_below = length - 1 - meeting;
  Pivot above, below;
  PivotExtremes<T> extremes;
  const Index first = lines_.first(line), stride = lines_.row_stride();
  const Index done_above = sweep_pieces(bands, first, 1, meeting, above, extremes);
  const Index done_below = sweep_pieces(upside_down, first + length - 1, -1, rows_below, below, extremes);
  for (Index i = std::min(done_above, done_below); i < std::max(meeting, rows_below); ++i) {
    const Index j = length - 1 - i;
    if (i >= done_above && i < meeting) eliminate_row(bands, i, first + i * stride, above, extremes);
    if (i >= done_below && i < rows_below) eliminate_row(upside_down, j, first + j * stride, below, extremes);
  }
  meet(bands, line, meeting, above, below, extremes);
  return extremes.pivots();
}

template <typename T>
typename Factors<T>::Pivots Factors<T>::factor_beside(const BandsView<T>& bands, Index line, Index width) {
  const T kNothing[kWidest] = {};
  T multiplier[kWidest], reciprocal[2][kWidest], coupling[kWidest];
  Real<T> excess[kWidest] = {};
  PivotExtremes<T> extremes;
  const T *upper_above = kNothing, *reciprocal_above = kNothing;
  for (Index i = 0, at = lines_.first(line); i < lines_.length(line); ++i, at += lines_.row_stride()) {
    const BundleRow<T> row{bands.lower + at,
                           bands.diag + at,
                           bands.upper + at,
                           upper_above,
                           reciprocal_above,
                           excess,
                           serves_ || is_narrow_ ? multiplier : &same_.multiplier[at],
                           is_narrow_ ? reciprocal[i % 2] : &same_.reciprocal[at],
                           is_narrow_ ? coupling : &same_.coupling[at],
                           forgives_};
    factor_row(width, row, extremes);
    if (is_narrow_) {
      if (!serves_) std::copy_n(multiplier, width, &narrow_.multiplier[at]);
      std::copy_n(row.reciprocal, width, &narrow_.reciprocal[at]);
      std::copy_n(coupling, width, &narrow_.coupling[at]);
    }
    upper_above = row.upper;
    reciprocal_above = row.reciprocal;
  }
  return extremes.pivots();
}

/// Continue kAbreast sweeps.
/// @tparam kRows how many rows of each sweep are read, and written, at once. Many rows pay off if the lines are so
///                close in memory that a cache treats them as one stream, or maps them to the same set
/// @param step  elements from row to row; negative for sweeps up
/// @param keep  whether to write the factors
template <typename T>
template <Index kRows>
void Factors<T>::sweep_abreast(const BandsView<T>& bands, Index rows, Index step, bool keep, Abreast& sweeps,
                               PivotExtremes<T>& extremes) {
  T lower[kRows][kAbreast], diag[kRows][kAbreast], upper[kRows][kAbreast];
  T multiplier[kRows][kAbreast], reciprocal[kRows][kAbreast], coupling[kRows][kAbreast];
  for (Index begin = 0; begin < rows; begin += kRows) {
    const Index count = std::min(kRows, rows - begin), last = count - 1;
    for (Index j = 0; j < kAbreast; ++j) {
      for (Index i = 0, at = sweeps.next[j] + begin * step; i < count; ++i, at += step) {
        lower[i][j] = bands.lower[at];
        diag[i][j] = bands.diag[at];
        upper[i][j] = bands.upper[at];
      }
    }
    for (Index i = 0; i < count; ++i) {
      factor_row(kAbreast,
                 {lower[i], diag[i], upper[i], i > 0 ? upper[i - 1] : sweeps.upper,
                  i > 0 ? reciprocal[i - 1] : sweeps.reciprocal, sweeps.excess, multiplier[i], reciprocal[i],
                  coupling[i], forgives_},
                 extremes);
    }
    std::copy_n(upper[last], kAbreast, sweeps.upper);
    std::copy_n(reciprocal[last], kAbreast, sweeps.reciprocal);
    for (Index j = 0; keep && j < kAbreast; ++j) {
      for (Index i = 0, to = sweeps.next[j] + begin * step; i < count; ++i, to += step) {
        same_.multiplier[to] = multiplier[i][j];
        same_.reciprocal[to] = reciprocal[i][j];
        same_.coupling[to] = coupling[i][j];
      }
    }
  }
  for (Index& next : sweeps.next) next += rows * step;
}

/// Factor kAbreast lines of equal length, at any places, downwards or inwards.
template <typename T>
template <Index kRows>
typename Factors<T>::Pivots Factors<T>::factor_abreast(const BandsView<T>& bands, Index line) {
  const Index length = lines_.length(line), stride = lines_.row_stride();
  Abreast above, below;
  for (Index j = 0; j < kAbreast; ++j) {
    above.next[j] = lines_.first(line + j);
    below.next[j] = above.next[j] + (length - 1) * stride;
  }
  PivotExtremes<T> extremes;
  if (order_ == Order::down || length == 0) {
    sweep_abreast<kRows>(bands, length, stride, true, above, extremes);
    return extremes.pivots();
  }
  const BandsView<T> upside_down{bands.upper, bands.diag, bands.lower};
  const Index meeting = meeting_row(line);
  sweep_abreast<kRows>(bands, meeting, stride, true, above, extremes);
  sweep_abreast<kRows>(upside_down, length - 1 - meeting, -stride, true, below, extremes);
  for (Index j = 0; j < kAbreast; ++j) meet(bands, line + j, meeting, above.last(j), below.last(j), extremes);
  return extremes.pivots();
}

/// The lead-in after which the pivots of a long sweep have converged, by a trial with the rows of its first piece; 0 if
/// none of the tried lengths suffices.
/// @param first, step  see sweep_pieces()
template <typename T>
Index Factors<T>::enough_lead_in(const BandsView<T>& bands, Index first, Index step) {
  PivotExtremes<T> unused;
  Abreast all;
  std::fill_n(all.next, kAbreast, first);
  sweep_abreast<1>(bands, kPieceOfLine, step, false, all, unused);
  for (const Index rows : {kLeadIn, kPieceOfLine / 2}) {
    Abreast late;
    std::fill_n(late.next, kAbreast, first + step * (kPieceOfLine - rows));
    late.lead_in();
    sweep_abreast<1>(bands, rows, step, false, late, unused);
    if (all.arrived(0, late, 0)) return rows;
  }
  return 0;
}

/// Eliminate most rows of a long sweep in pieces, several abreast, on all processors. Each piece has a lead-in. The
/// results hold if each piece starts with the pivot with which the previous piece ends.
/// @param first  offset of the sweep's first row
/// @param step   1 or -1
/// @param[out] last  the last eliminated row
/// @return the number of eliminated rows; 0 if the sweep is too short, or if pivots do not converge in the lead-in
template <typename T>
Index Factors<T>::sweep_pieces(const BandsView<T>& bands, Index first, Index step, Index rows, Pivot& last,
                               PivotExtremes<T>& extremes) {
  const Index bundles = rows / (kAbreast * kPieceOfLine);
  if (bundles == 0 || shared_ || is_narrow_ || lines_.row_stride() != 1) return 0;
  const Index piece = rows / (kAbreast * bundles), lead_in = enough_lead_in(bands, first, step);
  if (lead_in == 0) return 0;
  std::vector<Abreast> begun(static_cast<std::size_t>(bundles)), ended(begun.size());
  std::vector<PivotExtremes<T>> seen(begun.size());
  for_pieces(bundles, 1, [&](Index b, Index) {
    const auto at = static_cast<std::size_t>(b);
    Abreast sweeps;
    for (Index j = 0; j < kAbreast; ++j) {
      sweeps.next[j] = first + step * std::max<Index>(0, (b * kAbreast + j) * piece - lead_in);
    }
    PivotExtremes<T> of_lead_in;
    sweeps.lead_in();
    sweep_abreast<1>(bands, lead_in, step, false, sweeps, of_lead_in);
    if (b == 0) {
      sweeps.begin(0);
      sweeps.next[0] = first;
    }
    begun[at] = sweeps;
    sweep_abreast<1>(bands, piece, step, true, sweeps, seen[at]);
    ended[at] = sweeps;
  });
  for (Index k = 1; k < kAbreast * bundles; ++k) {
    const auto bundle = static_cast<std::size_t>(k / kAbreast), before = static_cast<std::size_t>((k - 1) / kAbreast);
    if (!ended[before].arrived((k - 1) % kAbreast, begun[bundle], k % kAbreast)) return 0;
  }
  for (const PivotExtremes<T>& some : seen) extremes.add(some);
  last = ended.back().last(kAbreast - 1);
  return kAbreast * bundles * piece;
}

template <typename T>
typename Factors<T>::Pivots Factors<T>::factor_bundle(const BandsView<T>& bands, Index line, Index width) {
  if (order_ == Order::down && lines_.beside()) return factor_beside(bands, line, width);
  const bool is_short = lines_.length(line) <= kShortLine;
  bool alike = width == kAbreast && (order_ == Order::down || (order_ == Order::inwards && is_short));
  for (Index l = line; l < line + width; ++l) alike = alike && lines_.length(l) == lines_.length(line);
  if (alike) return is_short ? factor_abreast<kRowsAtOnce>(bands, line) : factor_abreast<1>(bands, line);
  return {std::numeric_limits<double>::quiet_NaN(), false};  // factor_lines() then factors each line by itself
}

template <typename T>
void Factors<T>::Pivots::add(const Pivots& some) {
  rounding = larger(rounding, some.rounding);
  forgiven = forgiven || some.forgiven;
}

/// Factor `width` lines from `line` on: together, then one by one if the result is not sound.
template <typename T>
void Factors<T>::factor_lines(const BandsView<T>& bands, Index line, Index width, std::mutex& mutex) {
  const Pivots all = factor_bundle(bands, line, width);
  if (all.sound()) {
    const std::lock_guard lock(mutex);
    of_sound_.add(all);
    return;
  }
  for (Index l = line; l < line + width; ++l) {
    const Pivots one = factor_line(bands, l);
    const std::lock_guard lock(mutex);
    (one.sound() ? of_sound_ : pivots_).add(one);
    if (!one.sound()) doubtful_.push_back(l);
  }
}

template <typename T>
void Factors<T>::factor(const LineSet& lines, const BandsView<T>& bands, Form form, Order order, Index towards,
                        bool narrow) {
  lines_ = lines;
  order_ = order;
  towards_ = towards;
  meeting_ = {};
  shared_ = form == Form::shared && lines.count() > 0;
  serves_ = form == Form::symmetric && lines.beside() && order == Order::down;
  is_narrow_ = narrow;
  const Index size = shared_ ? lines.length(0) : lines.extent();
  narrow ? make_room(narrow_, same_, size, serves_) : make_room(same_, narrow_, size, serves_);
  forgives_ = true;
  sweep(bands);
  if constexpr (!kIsComplex<T>) {
    if (!pivots_.forgiven || forgiving_ == Forgiving::always || !forgiving_harms(lines, bands)) return;
    forgives_ = false;
    sweep(bands);
  }
}

template <typename T>
void Factors<T>::sweep(const BandsView<T>& bands) {
  const LineSet& lines = lines_;
  pivots_ = of_sound_ = {};
  doubtful_.clear();
  if (shared_) {
    pivots_.add(factor_line(bands, 0));
    if (pivots_.sound()) return;
    doubtful_.resize(static_cast<std::size_t>(lines.count()));
    std::iota(doubtful_.begin(), doubtful_.end(), Index{0});
    return;
  }
  const Bundles bundles(lines);
  const Index rows_of_one = 1 + lines.rows() / std::max<Index>(1, bundles.count);
  std::mutex mutex;
  for_pieces(bundles.count, 1 + kPieceRows / rows_of_one, [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) {
      const auto [first, width] = bundles.lines_of(k, lines);
      factor_lines(bands, first, width, mutex);
    }
  });
  pivots_.add(of_sound_);
  std::sort(doubtful_.begin(), doubtful_.end());
}

template <typename T>
bool Factors<T>::drop(const std::vector<Index>& lines) {
  const bool sound = std::includes(lines.begin(), lines.end(), doubtful_.begin(), doubtful_.end());
  if (!sound || shared_ || pivots_.forgiven) return false;
  for (const Index line : lines) {
    for (Index i = 0, at = lines_.first(line); i < lines_.length(line); ++i, at += lines_.row_stride())
      keep(at, 0, 1, 0);
  }
  pivots_ = of_sound_;
  doubtful_.clear();
  return true;
}

#define OCLSPKT_INSTANTIATE(T) template class Factors<T>;
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt
