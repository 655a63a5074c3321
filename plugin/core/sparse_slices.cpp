// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <atomic>
#include <numeric>

#include "parallel.hpp"
#include "plan.hpp"
#include "sparse_makers.hpp"

namespace oclspkt {
namespace {

/// Slices that a thread takes at a time.
Index slices_a_piece(Index slice) { return std::max<Index>(1, kPieceRows / 8 / slice); }

/// The rows of each window, longest first; those of a length keep their order.
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

}  // namespace

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

#define OCLSPKT_INSTANTIATE(I)                                                      \
  template Slices cut_in_slices(const SparsePattern<I>&, const SparseForm&, Index); \
  template void make_sell(const SparsePattern<I>&, Slices, SparseForm&);            \
  template bool make_dia(const SparsePattern<I>&, std::vector<Index>, SparseForm&);
OCLSPKT_INSTANTIATE(std::int32_t)
OCLSPKT_INSTANTIATE(std::int64_t)

}  // namespace oclspkt
