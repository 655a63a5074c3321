// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "oclspkt/export.hpp"
#include "oclspkt/line_set.hpp"

namespace oclspkt {

/// The pattern of a sparse matrix, row by row (CSR). A row may name a column several times, in any order.
/// @tparam I  32 or 64 bits
template <typename I>
struct SparsePattern {
  Index rows = 0, columns = 0;
  const I* begin = nullptr;   ///< shape [rows + 1]; offset of each row's first entry; begin[0] may exceed 0
  const I* column = nullptr;  ///< shape [begin[rows]]; column of each entry
  Index entries() const { return rows > 0 ? static_cast<Index>(begin[rows]) - static_cast<Index>(begin[0]) : 0; }
};

enum class SparseFormat {
  automatic,  ///< the first of the formats below that suits the pattern
  dia,        ///< diagonals; no columns are stored
  sell,       ///< SELL-C-sigma: windows of rows are sorted by length, and cut into slices of C rows
  csr         ///< row by row, in blocks of equal work; long rows in segments
};
inline constexpr const char* kSparseFormatNames[] = {"auto", "dia", "sell", "csr"};
inline constexpr const char* name(SparseFormat f) { return kSparseFormatNames[static_cast<int>(f)]; }

/// An array of integers of 32 bits, or of 64 bits if a number may reach 2^31. Its values are initially undefined.
class Integers {
 public:
  Integers() = default;
  Integers(Index size, bool wide) : size_(size), wide_(wide) {
    const auto count = static_cast<std::size_t>(size);
    if (wide) {
      words_ = std::make_unique_for_overwrite<std::int64_t[]>(count);
    } else {
      halves_ = std::make_unique_for_overwrite<std::int32_t[]>(count);
    }
  }
  bool empty() const { return size_ == 0; }
  Index size() const { return size_; }
  Index operator[](Index i) const {
    return wide_ ? words_[static_cast<std::size_t>(i)] : halves_[static_cast<std::size_t>(i)];
  }
  void set(Index i, Index value) {
    if (wide_) {
      words_[static_cast<std::size_t>(i)] = value;
    } else {
      halves_[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(value);
    }
  }
  const void* data() const { return wide_ ? static_cast<const void*>(words_.get()) : halves_.get(); }
  std::int64_t bytes() const { return size_ * (wide_ ? 8 : 4); }

 private:
  Index size_ = 0;
  bool wide_ = false;
  std::unique_ptr<std::int64_t[]> words_;
  std::unique_ptr<std::int32_t[]> halves_;
};

/// Rows of a slice for kernels with many work-items in a work-group. Other kernels use slices of one row for each lane.
inline constexpr Index kGroupSlice = 32;
/// kBlockEntries: the most entries, and rows, of a block of csr. If the longest row is more than kUnlike times the mean
/// row, blocks have kBlockOfUnlikeRows entries, which shortens the wait for a block's longest row. On an H200, a
/// product takes 258 us in small blocks and 283 us in large blocks for rows of power-law lengths. For rows of 27 to 93
/// entries, it takes 247 us and 200 us.
inline constexpr Index kBlockEntries = 2048, kBlockOfUnlikeRows = 1024, kUnlike = 16;

/// A block of csr: whole rows, or a segment of one long row. It ends where the next block begins.
struct RowBlock {
  Index row, entry;
  Index segment;  ///< number of this segment among all segments; -1: whole rows
};

/// A row with more entries than a block may have.
struct LongRow {
  Index row, first_segment, end_segment;
};

/// The value at places of dia without an entry. Kernels must not take it for an entry of 0, because 0 times a NaN or
/// Inf in x is NaN. It is a NaN with special bits; a matrix entry with these bits becomes another NaN.
template <typename T>
inline constexpr auto kNoEntry = [] {
  if constexpr (sizeof(T) == sizeof(double)) {
    return std::int64_t{0x7ff80000'0c15b0f5};
  } else {
    return std::int32_t{0x7fc5b0f5};
  }
}();

/// The layout of a sparse matrix for the kernels of a device, without values. It has `places` places for values, at
/// least one for each entry. A slice of dia or sell has `slice` rows of equal width. Place k of row r of a slice is
/// begin + k * slice + r. The entries of a row keep their order, except in dia.
struct SparseForm {
  SparseFormat format = SparseFormat::automatic;  ///< the format in use, never `automatic`
  std::string reason;                             ///< why the format was chosen, with the numbers that decided
  Index rows = 0, columns = 0, entries = 0, places = 0;
  Index slice = 1;
  bool wide = false;                    ///< true: column and row numbers have 64 bits
  Index block_entries = kBlockEntries;  ///< csr: most entries of a block

  /// The position of each place's entry in the pattern's values; -1: no entry. Null: places have the order of the
  /// entries.
  std::shared_ptr<const Integers> positions;

  std::vector<Index> diagonals;    ///< dia: column minus row of each diagonal, ascending; as many as slices are wide
  std::vector<Index> slice_begin;  ///< sell: shape [slices + 1]; first place of each slice
  Integers row_of;                 ///< sell: matrix row of each row of the slices; empty: rows are not sorted
  Integers column;                 ///< sell, csr: shape [places]; column of each place; -1: no entry
  std::vector<RowBlock> blocks;    ///< csr: blocks, then the end mark {rows, entries, -1}
  std::vector<std::uint16_t> row_end;  ///< csr: shape [rows]; end of a row's entries, counted in its block; 0: long row
  std::vector<LongRow> long_rows;      ///< csr: rows of more than block_entries entries

  /// Bytes on the device. @param scalar  bytes of a value
  OCLSPKT_API std::int64_t bytes(std::int64_t scalar) const;
};

struct FormRequest {
  SparseFormat format = SparseFormat::automatic;
  Index slice = kGroupSlice;  ///< rows of a slice, see Space::slice_rows(); kGroupSlice or 4 to 16
};

/// Make the form of a pattern, on several threads.
/// @throws InvalidInput for an invalid pattern, or if the requested format cannot hold it (dia: a row has a column
///         twice, or there are more than kGroupSlice diagonals for each entry of a mean row)
/// @cost reads the pattern two to five times, writes each place once
template <typename I>
OCLSPKT_API SparseForm make_sparse_form(const SparsePattern<I>& pattern, const FormRequest& wanted);

/// Make the form of the transposed matrix, for values in the order of the original pattern.
template <typename I>
OCLSPKT_API SparseForm make_transposed_form(const SparsePattern<I>& pattern, const FormRequest& wanted);

/// A transposed pattern. The entries of a row are in ascending order of the original rows.
template <typename I>
struct TransposedPattern {
  Index rows, columns;
  std::vector<I> begin, column;
  std::vector<I> position;  ///< position of each entry in the original pattern
  SparsePattern<I> pattern() const { return {rows, columns, begin.data(), column.data()}; }
};
/// @pre the pattern is valid, see make_sparse_form()
template <typename I>
TransposedPattern<I> transpose(const SparsePattern<I>& pattern);

/// Copy values to places [first, first + count) of a form with positions, on several threads.
/// @param values  values in the order of the pattern
template <typename T>
OCLSPKT_API void gather_values(SparseFormat format, const Integers& positions, const T* values, Index first,
                               Index count, T* places);

}  // namespace oclspkt
