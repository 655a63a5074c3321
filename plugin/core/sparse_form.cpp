// SPDX-License-Identifier: BSD-2-Clause
#include "sparse_form.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>

#include "format.hpp"
#include "oclspkt/error.hpp"
#include "parallel.hpp"
#include "plan.hpp"
#include "sparse_makers.hpp"

namespace oclspkt {
namespace {

// The most places an entry with which a format suits. In double, a place of dia takes 8 bytes, one of sell 12, one of
// csr 12 and the detour by local memory.
constexpr double kMostOfDia = 1.3, kMostOfSell = 1.3;
/// Rows are sorted in windows if they take more places an entry than this.
constexpr double kUnsorted = 1.05;
constexpr Index kWindows[] = {1, 1024, 32768};
/// A lane of sell takes its row alone. A row of kLongestInLane entries always passes, and so does one with a share of
/// 1 / kEntriesALane of all entries: a GPU reads all of them in the time that the lane takes for its own.
constexpr Index kLongestInLane = 128, kEntriesALane = 32768;

/// Diagonals of some rows, rising.
class Diagonals {
 public:
  /// @param hint  place where the diagonal may be; the place behind it on return
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

/// The results of one pass over a pattern.
struct PatternSurvey {
  Index shortest = std::numeric_limits<Index>::max(), longest = 0;
  bool few_diagonals = true;  ///< all of them are known
  Diagonals diagonals;
};

/// @throws InvalidInput for rows that end before they begin, and columns that do not exist
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

/// Diagonals and lengths of rows [first, end). @return the first row that check_row() would refuse, or end
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

/// Rows of all slices.
Index padded_rows(const SparseForm& form) { return quotient_up(form.rows, form.slice) * form.slice; }

/// @param why  why dia does not hold the matrix, if so
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

/// The smallest window of rows that is as good as sorted; else the one with the fewest places.
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
  // A processor's core takes longer for sorted rows than for csr.
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

/// The most diagonals that dia may have. If the options name dia, it may have as many places as sell in the worst case.
Index most_diagonals(const SparseForm& form, bool named) {
  if (named) return kGroupSlice * std::max<Index>(1, form.entries / std::max<Index>(1, form.rows));
  return static_cast<Index>(kMostOfDia * static_cast<double>(form.entries)) / std::max<Index>(1, padded_rows(form));
}

}  // namespace

template <typename I>
void check_pattern(const SparsePattern<I>& pattern) {
  survey_pattern(pattern, 0);
}

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

template void check_pattern(const SparsePattern<std::int32_t>&);
template void check_pattern(const SparsePattern<std::int64_t>&);
template SparseForm make_sparse_form(const SparsePattern<std::int32_t>&, const FormRequest&);
template SparseForm make_sparse_form(const SparsePattern<std::int64_t>&, const FormRequest&);
template void gather_values(SparseFormat, const Integers&, const float*, Index, Index, float*);
template void gather_values(SparseFormat, const Integers&, const double*, Index, Index, double*);

}  // namespace oclspkt
