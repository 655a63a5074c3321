// SPDX-License-Identifier: BSD-2-Clause
#include "sparse_form.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <numeric>

#include "format.hpp"
#include "oclspkt/error.hpp"
#include "parallel.hpp"
#include "plan.hpp"

namespace oclspkt {
namespace {

/// The entries of a row, numbered from the pattern's first entry.
template <typename I>
struct RowEntries {
  RowEntries(const SparsePattern<I>& pattern, Index row)
      : first(static_cast<Index>(pattern.begin[row]) - static_cast<Index>(pattern.begin[0])),
        count(static_cast<Index>(pattern.begin[row + 1]) - static_cast<Index>(pattern.begin[row])),
        column(pattern.column + pattern.begin[row]) {}
  Index first, count;
  const I* column;
};

/// Cuts rows, one after the other, into blocks of at most form.block_entries rows and entries.
class BlockCutter {
 public:
  explicit BlockCutter(SparseForm& form) : form_(form), most_(form.block_entries) {}

  /// Add the next row. @param first, count  first entry and number of entries of the row
  void take(Index row, Index first, Index count) {
    if (count > most_) {
      const Index segments_before = segments_;
      for (Index done = 0; done < count; done += most_) form_.blocks.push_back({row, first + done, segments_++});
      form_.long_rows.push_back({row, segments_before, segments_});
      open_ = false;
      return;
    }
    const bool fits =
        open_ && row - form_.blocks.back().row < most_ && first + count - form_.blocks.back().entry <= most_;
    if (!fits) form_.blocks.push_back({row, first, -1});
    open_ = true;
    form_.row_end[static_cast<std::size_t>(row)] =
        static_cast<std::uint16_t>(first + count - form_.blocks.back().entry);
  }

 private:
  SparseForm& form_;
  const Index most_;
  Index segments_ = 0;
  bool open_ = false;  ///< whether more rows may join the last block
};

template <typename I>
void make_rows(const SparsePattern<I>& pattern, SparseForm& form) {
  form.format = SparseFormat::csr;
  form.places = form.entries;
  form.row_end.assign(static_cast<std::size_t>(form.rows), 0);
  Index longest = 0;
  for (Index row = 0; row < form.rows; ++row) longest = std::max(longest, RowEntries<I>(pattern, row).count);
  // Divide, because longest * rows may exceed 64 bits.
  if (longest > kUnlike * form.entries / std::max<Index>(1, form.rows)) form.block_entries = kBlockOfUnlikeRows;
  BlockCutter cutter(form);
  for (Index row = 0; row < form.rows; ++row) {
    const RowEntries<I> entries(pattern, row);
    cutter.take(row, entries.first, entries.count);
  }
  form.blocks.push_back({form.rows, form.entries, -1});
  form.column = Integers(form.entries, form.wide);
  for_pieces(form.entries, kPieceRows, [&](Index first, Index end) {
    const I* const column = pattern.column + pattern.begin[0];
    for (Index k = first; k < end; ++k) form.column.set(k, static_cast<Index>(column[k]));
  });
}

/// A division of a pattern's rows into slices.
struct Slices {
  Index window = 1;          ///< rows of a window; each window is sorted by itself
  std::vector<Index> begin;  ///< first place of each slice
  Integers row_of;
  Index places() const { return begin.back(); }
};

Index slices_a_piece(Index slice) { return std::max<Index>(1, kPieceRows / 8 / slice); }

/// Sort the rows of each window by length, longest first; rows of equal length keep their order.
template <typename I>
Integers sorted_rows(const SparsePattern<I>& pattern, Index window, bool wide) {
  Integers row_of(pattern.rows, wide);
  const Index windows = quotient_up(pattern.rows, window);
  for_pieces(windows, std::max<Index>(1, kPieceRows / 8 / window), [&](Index first, Index end) {
    std::vector<Index> order;
    for (Index w = first; w < end; ++w) {
      const Index begin = w * window;
      order.resize(static_cast<std::size_t>(std::min(window, pattern.rows - begin)));
      std::iota(order.begin(), order.end(), begin);
      std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
        return RowEntries<I>(pattern, a).count > RowEntries<I>(pattern, b).count;
      });
      for (std::size_t i = 0; i < order.size(); ++i) row_of.set(begin + static_cast<Index>(i), order[i]);
    }
  });
  return row_of;
}

// @pre form has its sizes, `slice` and `wide`
template <typename I>
Slices cut_in_slices(const SparsePattern<I>& pattern, const SparseForm& form, Index window) {
  const Index slice = form.slice;
  Slices slices{window, {}, {}};
  const Index count = quotient_up(pattern.rows, slice);
  slices.begin.assign(static_cast<std::size_t>(count) + 1, 0);
  if (window > 1) slices.row_of = sorted_rows(pattern, window, form.wide);
  for_pieces(count, slices_a_piece(slice), [&](Index first, Index end) {
    for (Index s = first; s < end; ++s) {
      Index width = 0;
      for (Index at = s * slice; at < std::min(pattern.rows, (s + 1) * slice); ++at) {
        width = std::max(width, RowEntries<I>(pattern, window > 1 ? slices.row_of[at] : at).count);
      }
      slices.begin[static_cast<std::size_t>(s) + 1] = width * slice;
    }
  });
  std::partial_sum(slices.begin.begin(), slices.begin.end(), slices.begin.begin());
  return slices;
}

template <typename I>
void make_sell(const SparsePattern<I>& pattern, Slices slices, SparseForm& form) {
  form.format = SparseFormat::sell;
  form.places = slices.places();
  form.slice_begin = std::move(slices.begin);
  form.row_of = std::move(slices.row_of);
  form.column = Integers(form.places, form.wide);
  auto positions = std::make_shared<Integers>(form.places, form.entries > INT32_MAX);
  for_pieces(quotient_up(form.rows, form.slice), slices_a_piece(form.slice), [&](Index first, Index end) {
    for (Index s = first; s < end; ++s) {
      const Index begin = form.slice_begin[static_cast<std::size_t>(s)];
      const Index end_of_slice = form.slice_begin[static_cast<std::size_t>(s) + 1];
      for (Index r = 0; r < form.slice; ++r) {
        Index at = begin + r;
        if (const Index row = s * form.slice + r; row < form.rows) {
          const RowEntries<I> entries(pattern, form.row_of.empty() ? row : form.row_of[row]);
          for (Index k = 0; k < entries.count; ++k, at += form.slice) {
            form.column.set(at, static_cast<Index>(entries.column[k]));
            positions->set(at, entries.first + k);
          }
        }
        for (; at < end_of_slice; at += form.slice) {
          form.column.set(at, -1);
          positions->set(at, -1);
        }
      }
    }
  });
  form.positions = std::move(positions);
}

/// @return false if a row has a column twice
template <typename I>
bool make_dia(const SparsePattern<I>& pattern, std::vector<Index> diagonals, SparseForm& form) {
  const auto width = static_cast<Index>(diagonals.size());
  const Index slices = quotient_up(form.rows, form.slice);
  const Index places = slices * form.slice * width;
  auto positions = std::make_shared<Integers>(places, form.entries > INT32_MAX);
  std::atomic<bool> twice{false};
  for_pieces(slices, slices_a_piece(form.slice), [&](Index first, Index end) {
    for (Index at = first * form.slice * width; at < end * form.slice * width; ++at) positions->set(at, -1);
    for (Index row = first * form.slice; row < std::min(form.rows, end * form.slice); ++row) {
      const Index begin = row / form.slice * form.slice * width + row % form.slice;
      const RowEntries<I> entries(pattern, row);
      auto next = diagonals.begin();
      for (Index k = 0; k < entries.count; ++k) {
        const Index diagonal = static_cast<Index>(entries.column[k]) - row;
        if (next == diagonals.end() || *next != diagonal) {
          next = std::lower_bound(diagonals.begin(), diagonals.end(), diagonal);
        }
        const Index at = begin + (next - diagonals.begin()) * form.slice;
        if ((*positions)[at] >= 0) twice = true;
        positions->set(at, entries.first + k);
        ++next;
      }
    }
  });
  if (twice) return false;
  form.format = SparseFormat::dia;
  form.places = places;
  form.positions = std::move(positions);
  form.diagonals = std::move(diagonals);
  return true;
}

// The most places per entry for which dia and sell are chosen. In double, a place takes 8 bytes in dia, 12 in sell and
// csr. Products with csr also go through local memory.
constexpr double kMostOfDia = 1.3, kMostOfSell = 1.3;
/// Places per entry above which rows are sorted in windows.
constexpr double kUnsorted = 1.05;
constexpr Index kWindows[] = {1, 1024, 32768};
/// Rows in sell, one for each lane, may have kLongestInLane entries, or 1 / kEntriesALane of all entries if that is
/// more. A GPU reads all entries in the time that a lane takes for such a row.
constexpr Index kLongestInLane = 128, kEntriesALane = 32768;

/// The diagonals of some rows, in ascending order.
class Diagonals {
 public:
  /// Add a diagonal. @param hint  in: likely place of the diagonal; out: the place behind it
  void add(Index diagonal, std::size_t& hint) {
    if (hint < all_.size() && all_[hint] == diagonal) {
      ++hint;
      return;
    }
    const auto at = std::lower_bound(all_.begin(), all_.end(), diagonal);
    hint = static_cast<std::size_t>(at - all_.begin()) + 1;
    if (at == all_.end() || *at != diagonal) all_.insert(at, diagonal);
  }
  void add(const Diagonals& others) {
    std::size_t hint = 0;
    for (const Index diagonal : others.all_) add(diagonal, hint);
  }
  Index size() const { return static_cast<Index>(all_.size()); }
  std::vector<Index> take() { return std::move(all_); }

 private:
  std::vector<Index> all_;
};

struct PatternSurvey {
  Index shortest = std::numeric_limits<Index>::max(), longest = 0;
  bool few_diagonals = true;  ///< false: the search stopped at too many diagonals
  Diagonals diagonals;
};

/// @throws InvalidInput if a row ends before it begins, or has a column outside of the matrix
template <typename I>
void check_row(const SparsePattern<I>& pattern, Index row) {
  const RowEntries<I> entries(pattern, row);
  if (entries.count < 0) throw InvalidInput(format("row %ld of the matrix ends before it begins", long{row}));
  for (Index k = 0; k < entries.count; ++k) {
    if (entries.column[k] < 0 || entries.column[k] >= pattern.columns) {
      throw InvalidInput(format("row %ld of the matrix names column %ld; columns are 0 to %ld", long{row},
                                static_cast<long>(entries.column[k]), long{pattern.columns - 1}));
    }
  }
}

/// Find diagonals and lengths of rows [first, end). @return the first row that check_row() would reject, or end
template <typename I>
Index survey_rows(const SparsePattern<I>& pattern, Index first, Index end, Index most_diagonals,
                  const std::atomic<bool>& few, PatternSurvey& survey) {
  for (Index row = first; row < end; ++row) {
    const RowEntries<I> entries(pattern, row);
    if (entries.count < 0) return row;
    survey.shortest = std::min(survey.shortest, entries.count);
    survey.longest = std::max(survey.longest, entries.count);
    bool inside = true;
    for (Index k = 0; k < entries.count; ++k) {
      inside = inside && entries.column[k] >= 0 && entries.column[k] < pattern.columns;
    }
    if (!inside) return row;
    std::size_t hint = 0;
    for (Index k = 0; k < entries.count && survey.few_diagonals; ++k) {
      survey.diagonals.add(static_cast<Index>(entries.column[k]) - row, hint);
      survey.few_diagonals = survey.diagonals.size() <= most_diagonals;
    }
    survey.few_diagonals = survey.few_diagonals && few;
  }
  return end;
}

template <typename I>
PatternSurvey survey_pattern(const SparsePattern<I>& pattern, Index most_diagonals) {
  PatternSurvey all;
  std::mutex mutex;
  std::atomic<bool> few{most_diagonals > 0};
  Index broken = pattern.rows;
  for_pieces(pattern.rows, kPieceRows / 8, [&](Index first, Index end) {
    PatternSurvey piece;
    piece.few_diagonals = few;
    const Index stopped = survey_rows(pattern, first, end, most_diagonals, few, piece);
    const std::lock_guard lock(mutex);
    if (stopped < end) broken = std::min(broken, stopped);
    all.shortest = std::min(all.shortest, piece.shortest);
    all.longest = std::max(all.longest, piece.longest);
    if (few && piece.few_diagonals) all.diagonals.add(piece.diagonals);
    few = few && piece.few_diagonals && all.diagonals.size() <= most_diagonals;
  });
  if (broken < pattern.rows) check_row(pattern, broken);
  all.few_diagonals = few;
  return all;
}

double places_an_entry(const SparseForm& form, Index places) {
  return static_cast<double>(places) / static_cast<double>(std::max<Index>(1, form.entries));
}

Index padded_rows(const SparseForm& form) { return quotient_up(form.rows, form.slice) * form.slice; }

/// Make the form dia. @return false, and the reason in `why`, if dia cannot hold the matrix
template <typename I>
bool try_dia(const SparsePattern<I>& pattern, PatternSurvey& survey, SparseForm& form, std::string& why) {
  if (!survey.few_diagonals || form.entries == 0) {
    why = "its diagonals are many or sparse";
    return false;
  }
  const Index diagonals = survey.diagonals.size();
  const double filled = places_an_entry(form, diagonals * padded_rows(form));
  if (!make_dia(pattern, survey.diagonals.take(), form)) {
    why = "a row has a column twice";
    return false;
  }
  form.reason = format("%ld diagonals take %.3g places an entry", static_cast<long>(diagonals), filled);
  return true;
}

/// Choose the slices of the smallest window that takes at most kUnsorted places per entry, else of the window that
/// takes the fewest places.
template <typename I>
Slices choose_slices(const SparsePattern<I>& pattern, const PatternSurvey& survey, const SparseForm& form, bool sort) {
  Slices best;
  for (const Index window : kWindows) {
    Slices slices = cut_in_slices(pattern, form, window);
    if (window == 1 || slices.places() < best.places()) best = std::move(slices);
    if (places_an_entry(form, best.places()) <= kUnsorted || survey.shortest == survey.longest) break;
    if (window >= pattern.rows || !sort) break;
  }
  return best;
}

template <typename I>
bool try_sell(const SparsePattern<I>& pattern, const PatternSurvey& survey, double most, SparseForm& form,
              std::string& why) {
  const Index longest = std::max(kLongestInLane, form.entries / kEntriesALane);
  const bool forced = most == std::numeric_limits<double>::infinity();
  if (!forced && survey.longest > longest) {
    why = format("a row of %ld entries is too long for one lane", static_cast<long>(survey.longest));
    return false;
  }
  // Do not sort for CPUs, whose cores take longer for sorted rows than for csr.
  Slices slices = choose_slices(pattern, survey, form, forced || form.slice == kGroupSlice);
  const Index window = slices.window;
  const double filled = places_an_entry(form, slices.places());
  const std::string how =
      format("rows of %ld to %ld entries take %.3g places an entry in slices of %ld%s",
             static_cast<long>(form.rows > 0 ? survey.shortest : 0), static_cast<long>(survey.longest), filled,
             static_cast<long>(form.slice),
             window > 1 ? format(", sorted in windows of %ld", static_cast<long>(window)).c_str() : "");
  if (!(filled <= most)) {
    why = how;
    return false;
  }
  make_sell(pattern, std::move(slices), form);
  form.reason = how;
  return true;
}

/// The most diagonals of dia. If the options name dia, dia may take as many places as sell takes in the worst case.
Index most_diagonals(const SparseForm& form, bool named) {
  if (named) return kGroupSlice * std::max<Index>(1, form.entries / std::max<Index>(1, form.rows));
  return static_cast<Index>(kMostOfDia * static_cast<double>(form.entries)) / std::max<Index>(1, padded_rows(form));
}

/// Call f(column, row, entry) for all entries, on several threads, in any order.
template <typename I, typename F>
void for_entries(const SparsePattern<I>& pattern, const F& f) {
  for_pieces(pattern.rows, kPieceRows / 8, [&](Index first, Index end) {
    for (Index row = first; row < end; ++row) {
      const RowEntries<I> entries(pattern, row);
      for (Index k = 0; k < entries.count; ++k) f(static_cast<std::size_t>(entries.column[k]), row, entries.first + k);
    }
  });
}

}  // namespace

std::int64_t SparseForm::bytes(std::int64_t scalar) const {
  const auto of = [](const auto& numbers) { return static_cast<std::int64_t>(numbers.size() * sizeof(numbers[0])); };
  return scalar * (places + (long_rows.empty() ? 0 : long_rows.back().end_segment)) + of(diagonals) + of(slice_begin) +
         row_of.bytes() + column.bytes() + of(blocks) + of(row_end) + of(long_rows);
}

template <typename I>
SparseForm make_sparse_form(const SparsePattern<I>& pattern, const FormRequest& wanted) {
  SparseForm form;
  form.rows = pattern.rows;
  form.columns = pattern.columns;
  form.entries = pattern.entries();
  form.slice = wanted.slice;
  form.wide = std::max(form.rows, form.columns) > std::numeric_limits<std::int32_t>::max();
  const bool any = wanted.format == SparseFormat::automatic;
  const bool dia = any || wanted.format == SparseFormat::dia, sell = any || wanted.format == SparseFormat::sell;
  PatternSurvey survey = survey_pattern(pattern, dia ? most_diagonals(form, !any) : 0);
  std::string no_dia, no_sell;
  if (dia && try_dia(pattern, survey, form, no_dia)) return form;
  if (wanted.format == SparseFormat::dia && form.entries > 0) {
    throw InvalidInput("format dia cannot hold the matrix: " + no_dia +
                       "; let the format be auto, or name sell or csr");
  }
  const double most_of_sell = any ? kMostOfSell : std::numeric_limits<double>::infinity();
  if ((sell || form.entries == 0) && try_sell(pattern, survey, most_of_sell, form, no_sell)) return form;
  make_rows(pattern, form);
  form.reason = any ? no_dia + "; " + no_sell : "the options name it";
  return form;
}

template <typename T>
void gather_values(SparseFormat format, const Integers& positions, const T* values, Index first, Index count,
                   T* places) {
  const auto bits = [](T value) { return std::bit_cast<std::remove_const_t<decltype(kNoEntry<T>)>>(value); };
  const T padding = format == SparseFormat::dia ? std::bit_cast<T>(kNoEntry<T>) : T(0);
  for_pieces(count, kPieceRows, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index entry = positions[first + i];
      const T value = entry < 0 ? padding : values[entry];
      places[i] = entry >= 0 && bits(value) == kNoEntry<T> ? std::numeric_limits<T>::quiet_NaN() : value;
    }
  });
}

template <typename I>
TransposedPattern<I> transpose(const SparsePattern<I>& pattern) {
  const auto entries = static_cast<std::size_t>(pattern.entries());
  TransposedPattern<I> t{pattern.columns, pattern.rows, {}, std::vector<I>(entries), std::vector<I>(entries)};
  t.begin.assign(static_cast<std::size_t>(pattern.columns) + 1, 0);
  std::vector<I> row_of(entries);
  for_entries(pattern, [&](std::size_t column, Index row, Index entry) {
    std::atomic_ref(t.begin[column + 1]).fetch_add(1, std::memory_order_relaxed);
    row_of[static_cast<std::size_t>(entry)] = static_cast<I>(row);
  });
  std::partial_sum(t.begin.begin(), t.begin.end(), t.begin.begin());
  // Threads fill a row in any order; the row is sorted below.
  std::vector<I> free = t.begin;
  for_entries(pattern, [&](std::size_t column, Index /*row*/, Index entry) {
    const I at = std::atomic_ref(free[column]).fetch_add(1, std::memory_order_relaxed);
    t.position[static_cast<std::size_t>(at)] = static_cast<I>(entry);
  });
  for_pieces(t.rows, kPieceRows / 8, [&](Index first, Index end) {
    for (Index row = first; row < end; ++row) {
      const auto begin = static_cast<std::size_t>(t.begin[static_cast<std::size_t>(row)]),
                 behind = static_cast<std::size_t>(t.begin[static_cast<std::size_t>(row) + 1]);
      std::sort(t.position.data() + begin, t.position.data() + behind);
      for (std::size_t k = begin; k < behind; ++k) t.column[k] = row_of[static_cast<std::size_t>(t.position[k])];
    }
  });
  return t;
}

template <typename I>
SparseForm make_transposed_form(const SparsePattern<I>& pattern, const FormRequest& wanted) {
  survey_pattern(pattern, 0);  // throws if the pattern is invalid
  const TransposedPattern<I> transposed = transpose(pattern);
  SparseForm form = make_sparse_form(transposed.pattern(), wanted);
  auto positions = std::make_shared<Integers>(form.places, form.entries > std::numeric_limits<std::int32_t>::max());
  for_pieces(form.places, kPieceRows, [&](Index first, Index end) {
    for (Index at = first; at < end; ++at) {
      const Index entry = form.positions ? (*form.positions)[at] : at;
      positions->set(at, entry < 0 ? -1 : static_cast<Index>(transposed.position[static_cast<std::size_t>(entry)]));
    }
  });
  form.positions = std::move(positions);
  return form;
}

#define OCLSPKT_INSTANTIATE(I)                                                       \
  template SparseForm make_sparse_form(const SparsePattern<I>&, const FormRequest&); \
  template TransposedPattern<I> transpose(const SparsePattern<I>&);                  \
  template SparseForm make_transposed_form(const SparsePattern<I>&, const FormRequest&);
OCLSPKT_INSTANTIATE(std::int32_t)
OCLSPKT_INSTANTIATE(std::int64_t)
template void gather_values(SparseFormat, const Integers&, const float*, Index, Index, float*);
template void gather_values(SparseFormat, const Integers&, const double*, Index, Index, double*);

}  // namespace oclspkt
