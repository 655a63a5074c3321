// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>

#include "oclspkt/bands.hpp"
#include "parallel.hpp"
#include "past_caches.hpp"

namespace oclspkt {

/// Rows of a block, which stays in the first-level cache while it is written. Blocks are short, so that the processor
/// reads for the next block while it stores this block. Blocks of 512 rows take 1.1 times as long for copies of bands,
/// and 1.2 times for a matrix.
inline constexpr Index kWrittenRows = 128;

/// Prefetch numbers for later blocks. The hardware's prefetch stops at the end of a page, and starts anew for each
/// array. With this function, set-ups of 2e6 rows from arrays take 0.6 of the time (AMD EPYC).
/// @param first  the first of the current block's `count` numbers
template <typename T>
inline void fetch_blocks_to_come(const T* first, Index count) {
  constexpr Index kBlocks = 3;
  prefetch(first + kBlocks * count, count);
}

/// Make a function that fills bands with copies of other bands.
template <typename T>
BandsFill<T> copy_of(const BandsView<T>& bands) {
  return [=](const BandsPart<T>& to, Index first, Index end) {
    const auto copy = [&](const T* from, T* part) {
      fetch_blocks_to_come(from + first, end - first);
      std::copy(from + first, from + end, part);
    };
    copy(bands.lower, to.lower);
    copy(bands.diag, to.diag);
    copy(bands.upper, to.upper);
  };
}

/// Set the couplings out of lines to 0, in a part of the bands with places [first, end).
/// @pre lines.gapless()
template <typename T>
void close_lines(const LineSet& lines, const BandsPart<T>& part, Index first, Index end) {
  if (lines.contiguous()) {
    for (Index l = lines.line_of(first); l < lines.count() && lines.first(l) < end; ++l) {
      const Index top = lines.first(l), bottom = top + lines.length(l) - 1;
      if (top >= first && bottom >= top) part.lower[top - first] = T(0);
      if (bottom >= first && bottom < end) part.upper[bottom - first] = T(0);
    }
    return;
  }
  const Index block = lines.block_extent(), last_row = block - lines.block_lines();
  for (Index at = first; at < end;) {
    const Index start = at - at % block, stop = std::min(end, start + block);
    const Index top_end = std::min(stop, start + lines.block_lines()), bottom = std::max(at, start + last_row);
    if (at < top_end) std::fill(part.lower + (at - first), part.lower + (top_end - first), T(0));
    if (bottom < stop) std::fill(part.upper + (bottom - first), part.upper + (stop - first), T(0));
    at = stop;
  }
}

/// Write places [first, end) of the bands block by block. Call look(block, place, count) for each block of the bands
/// while it is still in the cache.
template <typename T, typename F>
void write_piece(Bands<T>& bands, const BandsFill<T>& fill, Index first, Index end, const F& look) {
  alignas(AlignedArray<T>::kAlignment) T room[3][kWrittenRows];
  const BandsPart<T> block{room[0], room[1], room[2]};
  T* const to[] = {bands.lower(), bands.diag(), bands.upper()};
  const bool past_caches = 3 * bands.lines().extent() * static_cast<Index>(sizeof(T)) > kPastCaches;
  for (Index at = first; at < end; at += kWrittenRows) {
    const Index count = std::min(kWrittenRows, end - at);
    fill(block, at, at + count);
    for (int band = 0; band < 3; ++band) {
      if (past_caches) {
        copy_past_caches(room[band], count, to[band] + at);
      } else {
        std::copy_n(room[band], count, to[band] + at);
      }
    }
    look(block, at, count);
  }
  if (past_caches) order_stores();
}

/// Write the bands block by block. Large bands are written past the caches, which saves reading the old memory.
/// @cost 3 words a row, and the words that `fill` reads; by all processors of this process
template <typename T>
void write_bands(Bands<T>& bands, const BandsFill<T>& fill) {
  for_pieces(bands.lines().extent(), kPieceRows, [&](Index first, Index end) {
    write_piece(bands, fill, first, end, [](const BandsPart<T>&, Index, Index) {});
  });
}

}  // namespace oclspkt
