// SPDX-License-Identifier: BSD-2-Clause
// Sparse matrices row by row, and their product as it is defined.
#pragma once

#include "matrices.hpp"
#include "sparse_form.hpp"

namespace oclspkt::test {

/// @tparam I  of the pattern
template <typename T, typename I = std::int32_t>
struct Csr {
  Index rows = 0, columns = 0;
  std::vector<I> begin{0}, column;
  std::vector<T> values;

  SparsePattern<I> pattern() const { return {rows, columns, begin.data(), column.data()}; }
  void end_row() {
    begin.push_back(static_cast<I>(column.size()));
    ++rows;
  }
  void add(Index at, double value) {
    column.push_back(static_cast<I>(at));
    values.push_back(static_cast<T>(value));
  }

  struct Row {
    double sum = 0, magnitudes = 0;  ///< of a row's products
  };
  std::vector<Row> product(const std::vector<T>& x) const {
    std::vector<Row> all(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (auto k = static_cast<std::size_t>(begin[i]); k < static_cast<std::size_t>(begin[i + 1]); ++k) {
        const double term =
            static_cast<double>(values[k]) * static_cast<double>(x[static_cast<std::size_t>(column[k])]);
        all[i].sum += term;
        all[i].magnitudes += std::abs(term);
      }
    }
    return all;
  }
};

/// Numbers in (-2, -1) and (1, 2).
class Draw {
 public:
  double number() { return (sign_(engine_) ? 1 : -1) * size_(engine_); }
  Index below(Index end) { return std::uniform_int_distribution<Index>(0, end - 1)(engine_); }

 private:
  std::mt19937 engine_{kSeed};
  std::uniform_real_distribution<double> size_{1, 2};
  std::bernoulli_distribution sign_;
};

/// Neighbours of a grid's points along its axes.
template <typename T, typename I = std::int32_t>
Csr<T, I> stencil(Index nx, Index ny, Index nz) {
  Csr<T, I> a;
  Draw draw;
  a.columns = nx * ny * nz;
  for (Index i = 0; i < a.columns; ++i) {
    const Index x = i % nx, y = i / nx % ny, z = i / nx / ny;
    if (z > 0) a.add(i - nx * ny, draw.number());
    if (y > 0) a.add(i - nx, draw.number());
    if (x > 0) a.add(i - 1, draw.number());
    a.add(i, draw.number());
    if (x + 1 < nx) a.add(i + 1, draw.number());
    if (y + 1 < ny) a.add(i + nx, draw.number());
    if (z + 1 < nz) a.add(i + nx * ny, draw.number());
    a.end_row();
  }
  return a;
}

/// Rows of so many entries, length(row), in columns that are drawn: in any order, some of them twice.
template <typename T, typename I = std::int32_t, typename F>
Csr<T, I> scattered(Index rows, Index columns, const F& length) {
  Csr<T, I> a;
  Draw draw;
  a.columns = columns;
  for (Index i = 0; i < rows; ++i) {
    for (Index k = length(i); k > 0; --k) a.add(draw.below(columns), draw.number());
    a.end_row();
  }
  return a;
}

}  // namespace oclspkt::test
