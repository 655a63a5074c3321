// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

#include "parallel.hpp"
#include "sparse_makers.hpp"

namespace oclspkt {
namespace {

/// Call f(column, row, entry) for all entries, by threads, in any order.
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
  // Threads fill a row in any order, so it is sorted afterwards.
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
  check_pattern(pattern);
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

#define OCLSPKT_INSTANTIATE(I)                                      \
  template TransposedPattern<I> transpose(const SparsePattern<I>&); \
  template SparseForm make_transposed_form(const SparsePattern<I>&, const FormRequest&);
OCLSPKT_INSTANTIATE(std::int32_t)
OCLSPKT_INSTANTIATE(std::int64_t)

}  // namespace oclspkt
