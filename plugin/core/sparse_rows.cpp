// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>

#include "parallel.hpp"
#include "sparse_makers.hpp"

namespace oclspkt {
namespace {

/// Cuts rows into blocks of at most so many rows and entries, one row after the other.
class BlockCutter {
 public:
  explicit BlockCutter(SparseForm& form) : form_(form), most_(form.block_entries) {}

  /// @param first, count  entries of the row
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
  bool open_ = false;  ///< the last block takes more rows
};

}  // namespace

template <typename I>
void make_rows(const SparsePattern<I>& pattern, SparseForm& form) {
  form.format = SparseFormat::csr;
  form.places = form.entries;
  form.row_end.assign(static_cast<std::size_t>(form.rows), 0);
  Index longest = 0;
  for (Index row = 0; row < form.rows; ++row) longest = std::max(longest, RowEntries<I>(pattern, row).count);
  // A long row times many rows would exceed 64 bits.
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

template void make_rows(const SparsePattern<std::int32_t>&, SparseForm&);
template void make_rows(const SparsePattern<std::int64_t>&, SparseForm&);

}  // namespace oclspkt
