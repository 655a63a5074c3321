// SPDX-License-Identifier: BSD-2-Clause
// How each format is made of a pattern: parts of make_sparse_form().
#pragma once

#include "sparse_form.hpp"

namespace oclspkt {

/// Entries of a row, counted from the pattern's first one.
template <typename I>
struct RowEntries {
  RowEntries(const SparsePattern<I>& pattern, Index row)
      : first(static_cast<Index>(pattern.begin[row]) - static_cast<Index>(pattern.begin[0])),
        count(static_cast<Index>(pattern.begin[row + 1]) - static_cast<Index>(pattern.begin[row])),
        column(pattern.column + pattern.begin[row]) {}
  Index first, count;
  const I* column;
};

/// @throws InvalidInput for rows that end before they begin, and columns that do not exist
template <typename I>
void check_pattern(const SparsePattern<I>& pattern);

/// Rows of a pattern in slices.
struct Slices {
  Index window = 1;          ///< rows that are sorted together
  std::vector<Index> begin;  ///< see SparseForm::slice_begin
  Integers row_of;
  Index places() const { return begin.back(); }
};
// The caller has set the form's sizes, slice and width of integers.
template <typename I>
Slices cut_in_slices(const SparsePattern<I>& pattern, const SparseForm& form, Index window);
template <typename I>
void make_sell(const SparsePattern<I>& pattern, Slices slices, SparseForm& form);
/// @return false if a row has a column twice
template <typename I>
bool make_dia(const SparsePattern<I>& pattern, std::vector<Index> diagonals, SparseForm& form);
template <typename I>
void make_rows(const SparsePattern<I>& pattern, SparseForm& form);

}  // namespace oclspkt
