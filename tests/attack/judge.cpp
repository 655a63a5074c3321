// SPDX-License-Identifier: BSD-2-Clause
#include "judge.hpp"

#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace oclspkt::attack {
namespace {

using Wide = long double;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

std::size_t place(const Piece& piece, Index row) { return static_cast<std::size_t>(piece.first + row * piece.stride); }

/// A row's product with x and the sum of its sizes.
struct RowSums {
  Wide product, size;
};

template <typename T>
RowSums row_sums(const BandsView<T>& b, const Piece& piece, Index row, const T* x) {
  const std::size_t at = place(piece, row);
  RowSums sums{Wide{b.diag[at]} * x[at], std::abs(Wide{b.diag[at]})};
  const auto add = [&](T coupling, std::size_t other) {
    sums.product += Wide{coupling} * x[other];
    sums.size += std::abs(Wide{coupling});
  };
  if (row > 0) add(b.lower[at], place(piece, row - 1));
  if (row + 1 < piece.rows) add(b.upper[at], place(piece, row + 1));
  return sums;
}

/// One piece's bands by themselves.
template <typename S>
struct Rows {
  std::vector<S> lower, diag, upper, x;

  template <typename T>
  Rows(const BandsView<T>& b, const Piece& piece, const std::vector<T>& y) {
    for (Index i = 0; i < piece.rows; ++i) {
      const std::size_t at = place(piece, i);
      lower.push_back(i > 0 ? b.lower[at] : 0);
      diag.push_back(b.diag[at]);
      upper.push_back(i + 1 < piece.rows ? b.upper[at] : 0);
      x.push_back(y[at]);
    }
  }
};

/// Elimination with row exchanges, as gtsv has it; x holds the right-hand side and then the solution.
void eliminate(Rows<Wide>& m) {
  const std::size_t n = m.diag.size();
  std::vector<Wide> second(n);  // the diagonal above `upper`, which exchanges fill
  for (std::size_t i = 0; i + 1 < n; ++i) {
    if (std::abs(m.lower[i + 1]) > std::abs(m.diag[i])) {
      std::swap(m.diag[i], m.lower[i + 1]);
      std::swap(m.upper[i], m.diag[i + 1]);
      second[i] = std::exchange(m.upper[i + 1], 0);
      std::swap(m.x[i], m.x[i + 1]);
    }
    const Wide multiplier = m.lower[i + 1] / m.diag[i];
    m.diag[i + 1] -= multiplier * m.upper[i];
    m.upper[i + 1] -= multiplier * second[i];
    m.x[i + 1] -= multiplier * m.x[i];
  }
  for (std::size_t i = n; i-- > 0;) {
    if (i + 1 < n) m.x[i] -= m.upper[i] * m.x[i + 1];
    if (i + 2 < n) m.x[i] -= second[i] * m.x[i + 2];
    m.x[i] /= m.diag[i];
  }
}

int gtsv(int n, float* lower, float* diag, float* upper, float* x) {
  return LAPACKE_sgtsv_work(LAPACK_COL_MAJOR, n, 1, lower, diag, upper, x, n);
}
int gtsv(int n, double* lower, double* diag, double* upper, double* x) {
  return LAPACKE_dgtsv_work(LAPACK_COL_MAJOR, n, 1, lower, diag, upper, x, n);
}

template <typename T>
std::vector<Piece> pieces_of_line(const Bands<T>& bands, Index line) {
  const LineSet& lines = bands.lines();
  const BandsView<T> b = bands.view();
  std::vector<Piece> pieces;
  Piece piece{lines.first(line), 0, lines.row_stride()};
  for (Index i = 0; i < lines.length(line); ++i) {
    const Index at = lines.first(line) + i * lines.row_stride();
    ++piece.rows;
    if (i + 1 == lines.length(line) || (b.upper[at] == 0 && b.lower[at + lines.row_stride()] == 0)) {
      pieces.push_back(piece);
      piece = {at + lines.row_stride(), 0, lines.row_stride()};
    }
  }
  return pieces;
}

template <typename T>
Wide largest(const Piece& piece, const T* x) {
  Wide most = 0;
  for (Index i = 0; i < piece.rows; ++i) most = std::max(most, std::abs(Wide{x[place(piece, i)]}));
  return most;
}

template <typename T>
bool all_finite(const Piece& piece, const T* x) {
  for (Index i = 0; i < piece.rows; ++i) {
    if (!std::isfinite(x[place(piece, i)])) return false;
  }
  return true;
}

}  // namespace

template <typename T>
std::vector<Piece> pieces_of(const Bands<T>& bands) {
  std::vector<Piece> pieces;
  for (Index l = 0; l < bands.lines().count(); ++l) {
    const std::vector<Piece> more = pieces_of_line(bands, l);
    pieces.insert(pieces.end(), more.begin(), more.end());
  }
  return pieces;
}

template <typename T>
Errors judge(const Bands<T>& bands, const std::vector<Piece>& pieces, const T* x, const T* y) {
  constexpr Wide eps = std::numeric_limits<T>::epsilon();
  Errors errors;
  Wide most_residual = 0, most_size = 0, most_x = 0, most_y = 0;
  for (const Piece& piece : pieces) {
    if (!all_finite(piece, x)) return {kInfinite, piece.first, kInfinite};
    const Wide scale = largest(piece, x);
    for (Index i = 0; i < piece.rows; ++i) {
      const std::size_t at = place(piece, i);
      const RowSums sums = row_sums(bands.view(), piece, i, x);
      const Wide residual = std::abs(Wide{y[at]} - sums.product), against = sums.size * scale + std::abs(Wide{y[at]});
      const double error = residual == 0 ? 0 : static_cast<double>(residual / against / eps);
      if (error > errors.row) errors = {error, static_cast<Index>(at), 0};
      most_residual = std::max(most_residual, residual);
      most_size = std::max(most_size, sums.size);
      most_y = std::max(most_y, std::abs(Wide{y[at]}));
    }
    most_x = std::max(most_x, scale);
  }
  const Wide against = most_size * most_x + most_y;
  errors.norm = most_residual == 0 ? 0 : static_cast<double>(most_residual / against / eps);
  return errors;
}

template <typename T>
std::vector<T> multiply(const Bands<T>& bands, const std::vector<Piece>& pieces, const std::vector<T>& x) {
  std::vector<T> y(x.size());
  for (const Piece& piece : pieces) {
    for (Index i = 0; i < piece.rows; ++i) {
      y[place(piece, i)] = static_cast<T>(row_sums(bands.view(), piece, i, x.data()).product);
    }
  }
  return y;
}

template <typename T>
std::vector<long double> solve_exactly(const Bands<T>& bands, const std::vector<Piece>& pieces,
                                       const std::vector<T>& y) {
  std::vector<Wide> x(y.size());
  for (const Piece& piece : pieces) {
    Rows<Wide> rows(bands.view(), piece, y);
    eliminate(rows);
    for (Index i = 0; i < piece.rows; ++i) x[place(piece, i)] = rows.x[static_cast<std::size_t>(i)];
  }
  return x;
}

template <typename T>
std::vector<T> solve_by_lapack(const Bands<T>& bands, const std::vector<Piece>& pieces, const std::vector<T>& y) {
  std::vector<T> x(y.size());
  for (const Piece& piece : pieces) {
    Rows<T> rows(bands.view(), piece, y);
    const int failed =
        gtsv(static_cast<int>(piece.rows), rows.lower.data() + 1, rows.diag.data(), rows.upper.data(), rows.x.data());
    for (Index i = 0; i < piece.rows; ++i) {
      x[place(piece, i)] = failed == 0 ? rows.x[static_cast<std::size_t>(i)] : std::numeric_limits<T>::quiet_NaN();
    }
  }
  return x;
}

template <typename T>
std::vector<double> forward_errors(const std::vector<Piece>& pieces, const T* x,
                                   const std::vector<long double>& exact) {
  std::vector<double> errors;
  for (const Piece& piece : pieces) {
    Wide most = 0;
    for (Index i = 0; i < piece.rows; ++i) {
      const std::size_t at = place(piece, i);
      const Wide difference = std::abs(x[at] - exact[at]);
      if (!(difference <= most)) most = difference;  // NaN stays
    }
    const Wide scale = largest(piece, exact.data());
    const bool known = all_finite(piece, exact.data()) && scale > 0;
    errors.push_back(known ? static_cast<double>(most / scale / Wide{std::numeric_limits<T>::epsilon()})
                           : std::numeric_limits<double>::quiet_NaN());
  }
  return errors;
}

#define OCLSPKT_JUDGE(T)                                                                                              \
  template std::vector<Piece> pieces_of(const Bands<T>&);                                                             \
  template Errors judge(const Bands<T>&, const std::vector<Piece>&, const T*, const T*);                              \
  template std::vector<T> multiply(const Bands<T>&, const std::vector<Piece>&, const std::vector<T>&);                \
  template std::vector<long double> solve_exactly(const Bands<T>&, const std::vector<Piece>&, const std::vector<T>&); \
  template std::vector<T> solve_by_lapack(const Bands<T>&, const std::vector<Piece>&, const std::vector<T>&);         \
  template std::vector<double> forward_errors(const std::vector<Piece>&, const T*, const std::vector<long double>&);
OCLSPKT_JUDGE(float)
OCLSPKT_JUDGE(double)

}  // namespace oclspkt::attack
