// SPDX-License-Identifier: BSD-2-Clause
#include "pivoted_lines.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "interface.hpp"
#include "parallel.hpp"

namespace oclspkt {

template <typename Number>
void eliminate_pivoted(PivotStep<Number>& row, Number& scale, PivotStep<Number>& next, Number& next_scale,
                       Number lower) {
  if (std::abs(lower) * scale > std::abs(row.diag) * next_scale) {
    std::swap(row.diag, lower);
    std::swap(row.upper, next.diag);
    std::swap(row.upper2, next.upper);
    std::swap(scale, next_scale);
    row.swapped = true;
  }
  row.multiplier = lower == 0 ? Number(0) : lower / row.diag;
  next.diag -= coupled(row.multiplier, row.upper);
  next.upper -= coupled(row.multiplier, row.upper2);
}

template <typename Number>
void PivotedLines<Number>::clear() {
  rows_.clear();
  starts_.assign(1, 0);
}

template <typename Number>
Number PivotedLines<Number>::add(const std::vector<PivotedRow<Number>>& rows) {
  Number smallest = std::numeric_limits<Number>::infinity();
  bool finite = true;
  Row row{};
  Number scale = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool last = i + 1 == rows.size();
    if (i == 0) {
      row = {rows[0].diag, last ? Number(0) : rows[0].upper};
      scale = rows[0].scale;
    }
    Row next{};
    Number next_scale = 0;
    if (!last) {
      next = {rows[i + 1].diag, i + 2 < rows.size() ? rows[i + 1].upper : Number(0)};
      next_scale = rows[i + 1].scale;
      eliminate_pivoted(row, scale, next, next_scale, rows[i + 1].lower);
    }
    const Number pivot = std::abs(row.diag) / scale;
    finite = finite && std::isfinite(pivot);
    if (!(pivot >= smallest)) smallest = pivot;
    rows_.push_back(row);
    row = next;
    scale = next_scale;
  }
  starts_.push_back(size());
  return finite ? smallest : std::numeric_limits<Number>::quiet_NaN();
}

template <typename Number>
void PivotedLines<Number>::solve(Number* x) const {
  constexpr Index kPiece = Index{1} << 12;  // some 100 microseconds of short systems
  for_pieces(static_cast<Index>(starts_.size()) - 1, kPiece, [&](Index begin, Index end) {
    for (Index s = begin; s < end; ++s) {
      solve(x, starts_[static_cast<std::size_t>(s)], starts_[static_cast<std::size_t>(s) + 1]);
    }
  });
}

/// Solve the system of rows [first, end).
template <typename Number>
void PivotedLines<Number>::solve(Number* x, Index first, Index end) const {
  for (Index i = first; i + 1 < end; ++i) {
    const Row& row = rows_[static_cast<std::size_t>(i)];
    if (row.swapped) std::swap(x[i], x[i + 1]);
    x[i + 1] -= coupled(row.multiplier, x[i]);
  }
  Number below = 0, below2 = 0;
  for (Index i = end - 1; i >= first; --i) {
    const Row& row = rows_[static_cast<std::size_t>(i)];
    x[i] = (x[i] - coupled(row.upper, below) - coupled(row.upper2, below2)) / row.diag;
    below2 = std::exchange(below, x[i]);
  }
}

template <typename Number>
std::int64_t PivotedLines<Number>::bytes() const {
  return static_cast<std::int64_t>(rows_.capacity() * sizeof(Row) + starts_.capacity() * sizeof(Index));
}

template void eliminate_pivoted(PivotStep<double>&, double&, PivotStep<double>&, double&, double);

template class PivotedLines<double>;
template class PivotedLines<long double>;

}  // namespace oclspkt
