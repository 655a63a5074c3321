// SPDX-License-Identifier: BSD-2-Clause
#include "judge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace oclspkt::attack {
namespace {

using Wide = long double;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Call use(number, column) for the numbers of a row.
template <typename T, typename Use>
void for_row(const BandsView<T>& b, const Piece& piece, Index row, const Use& use) {
  const std::size_t at = piece.place(row);
  use(Wide{b.diag[at]}, at);
  if (row > 0) use(Wide{b.lower[at]}, piece.place(row - 1));
  if (row + 1 < piece.rows) use(Wide{b.upper[at]}, piece.place(row + 1));
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

/// max |x|, as it is and in units.
struct Largest {
  Wide x = 0, in_units = 0;
};

template <typename T>
Largest largest(const Piece& piece, const std::vector<double>& units, const T* x) {
  Largest most;
  for (Index i = 0; i < piece.rows; ++i) {
    const std::size_t at = piece.place(i);
    const Wide size = std::abs(Wide{x[at]});
    most.x = std::max(most.x, size);
    most.in_units = std::max(most.in_units, size / Wide{units[at]});
  }
  return most;
}

template <typename T>
bool all_finite(const Piece& piece, const T* x) {
  for (Index i = 0; i < piece.rows; ++i) {
    if (!std::isfinite(x[piece.place(i)])) return false;
  }
  return true;
}

/// A row's residual and sums of sizes.
struct RowSums {
  Wide residual, size = 0, by_component = 0, in_units = 0;
};

template <typename T>
RowSums row_sums(const Bands<T>& bands, const Piece& piece, const std::vector<double>& units, Index row, const T* x,
                 const T* y) {
  RowSums sums{Wide{y[piece.place(row)]}};
  for_row(bands.view(), piece, row, [&](Wide number, std::size_t column) {
    sums.residual -= number * x[column];
    sums.size += std::abs(number);
    sums.by_component += std::abs(number * x[column]);
    sums.in_units += std::abs(number) * units[column];
  });
  return sums;
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
std::vector<long double> largest_in_units(const std::vector<Piece>& pieces, const std::vector<double>& units,
                                          const T* x) {
  std::vector<Wide> sizes(units.size());
  for (const Piece& piece : pieces) {
    const Wide most = largest(piece, units, x).in_units;
    for (Index i = 0; i < piece.rows; ++i) sizes[piece.place(i)] = most * units[piece.place(i)];
  }
  return sizes;
}

template <typename T>
Errors judge(const Bands<T>& bands, const std::vector<Piece>& pieces, const std::vector<double>& units, const T* x,
             const T* y) {
  constexpr Wide eps = std::numeric_limits<T>::epsilon(), tiny = std::numeric_limits<T>::denorm_min() / eps;
  Errors errors;
  Wide most_residual = 0, most_size = 0, most_x = 0, most_y = 0;
  for (const Piece& piece : pieces) {
    if (!all_finite(piece, x)) return {kInfinite, kInfinite, kInfinite, kInfinite, piece.first, piece.first};
    if (units[piece.place(0)] == 0) errors.units = kInfinite;
    const Largest scale = largest(piece, units, x);
    for (Index i = 0; i < piece.rows; ++i) {
      const auto at = static_cast<Index>(piece.place(i));
      const RowSums sums = row_sums(bands, piece, units, i, x, y);
      const Wide residual = std::abs(sums.residual), right = std::abs(Wide{y[at]}) + tiny * (1 + sums.size);
      const auto over = [&](Wide size) {
        return residual == 0 ? 0 : static_cast<double>(residual / (size + right) / eps);
      };
      const double row = over(sums.size * scale.x), component = over(sums.by_component);
      if (row > errors.row) errors.row = row, errors.row_at = at;
      if (component > errors.component) errors.component = component, errors.component_at = at;
      errors.units = std::max(errors.units, over(sums.in_units * scale.in_units));
      most_residual = std::max(most_residual, residual);
      most_size = std::max(most_size, sums.size);
      most_y = std::max(most_y, right);
    }
    most_x = std::max(most_x, scale.x);
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
      Wide sum = 0;
      for_row(bands.view(), piece, i, [&](Wide number, std::size_t column) { sum += number * x[column]; });
      y[piece.place(i)] = static_cast<T>(sum);
    }
  }
  return y;
}

#define OCLSPKT_JUDGE(T)                                                                                               \
  template std::vector<Piece> pieces_of(const Bands<T>&);                                                              \
  template Errors judge(const Bands<T>&, const std::vector<Piece>&, const std::vector<double>&, const T*, const T*);   \
  template std::vector<long double> largest_in_units(const std::vector<Piece>&, const std::vector<double>&, const T*); \
  template std::vector<T> multiply(const Bands<T>&, const std::vector<Piece>&, const std::vector<T>&);
OCLSPKT_JUDGE(float)
OCLSPKT_JUDGE(double)

}  // namespace oclspkt::attack
