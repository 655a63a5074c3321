// SPDX-License-Identifier: BSD-2-Clause
#include "truth.hpp"

#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace oclspkt::attack {
namespace {

using Wide = long double;

constexpr Wide kUnknown = std::numeric_limits<Wide>::quiet_NaN();

/// NaN stays.
void enlarge(Wide& most, Wide value) {
  if (!(value <= most) && !std::isnan(most)) most = value;
}

/// One piece's bands by themselves.
template <typename S>
struct Rows {
  std::vector<S> lower, diag, upper;

  template <typename T>
  Rows(const BandsView<T>& b, const Piece& piece) {
    for (Index i = 0; i < piece.rows; ++i) {
      const std::size_t at = piece.place(i);
      lower.push_back(i > 0 ? b.lower[at] : 0);
      diag.push_back(b.diag[at]);
      upper.push_back(i + 1 < piece.rows ? b.upper[at] : 0);
    }
  }
  std::size_t size() const { return diag.size(); }
};

template <typename S, typename T>
std::vector<S> gather(const Piece& piece, const T* from) {
  std::vector<S> numbers;
  for (Index i = 0; i < piece.rows; ++i) numbers.push_back(from[piece.place(i)]);
  return numbers;
}

template <typename S, typename T>
void scatter(const Piece& piece, const std::vector<S>& numbers, T* to) {
  for (Index i = 0; i < piece.rows; ++i) to[piece.place(i)] = numbers[static_cast<std::size_t>(i)];
}

/// Diagonal blocks of 1 and 2 rows as pivots. Both sides of the test have the same units.
/// @param x y; overwritten by the solution
void eliminate(const Rows<Wide>& m, std::vector<Wide>& x) {
  constexpr Wide kAlone = 0.6L;
  const std::size_t n = m.size();
  std::vector<Wide> pivot = m.diag;
  std::vector<bool> paired(n);  // the row is the first of a block of 2
  const auto determinant = [&](std::size_t i) { return pivot[i] * pivot[i + 1] - m.upper[i] * m.lower[i + 1]; };
  for (std::size_t i = 0; i < n; i += paired[i] ? 2 : 1) {
    paired[i] = i + 1 < n && std::abs(pivot[i] * m.diag[i + 1]) < kAlone * std::abs(m.upper[i] * m.lower[i + 1]);
    if (!paired[i]) {
      if (i + 1 == n) continue;
      const Wide multiplier = m.lower[i + 1] / pivot[i];
      pivot[i + 1] -= multiplier * m.upper[i];
      x[i + 1] -= multiplier * x[i];
    } else if (i + 2 < n) {
      const Wide multiplier = m.lower[i + 2] / determinant(i);
      pivot[i + 2] -= multiplier * pivot[i] * m.upper[i + 1];
      x[i + 2] -= multiplier * (pivot[i] * x[i + 1] - m.lower[i + 1] * x[i]);
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    if (i > 0 && paired[i - 1]) {  // rows are walked upwards: the second row of a block comes first
      const std::size_t k = i - 1;
      const Wide second = x[i] - (i + 1 < n ? m.upper[i] * x[i + 1] : 0), first = x[k], whole = determinant(k);
      x[i] = (pivot[k] * second - m.lower[i] * first) / whole;
      x[k] = (pivot[i] * first - m.upper[k] * second) / whole;
      i = k;
    } else {
      x[i] = (x[i] - (i + 1 < n ? m.upper[i] * x[i + 1] : 0)) / pivot[i];
    }
  }
}

/// Take x off y, row by row. @return the largest |r_i| / (|A| |x| + |y|)_i, NaN if one is
Wide take_off(const Rows<Wide>& m, const std::vector<Wide>& x, std::vector<Wide>& y) {
  Wide worst = 0;
  for (std::size_t i = 0; i < m.size(); ++i) {
    const Wide above = i > 0 ? m.lower[i] * x[i - 1] : 0, own = m.diag[i] * x[i],
               below = i + 1 < m.size() ? m.upper[i] * x[i + 1] : 0;
    const Wide size = std::abs(above) + std::abs(own) + std::abs(below) + std::abs(y[i]);
    y[i] -= own + (above + below);
    enlarge(worst, y[i] == 0 ? 0 : std::abs(y[i]) / size);
  }
  return worst;
}

/// @return NaN where rounding in long double may show in T
std::vector<Wide> solve(const Rows<Wide>& m, const std::vector<Wide>& y) {
  constexpr Wide kWorst = 100 * std::numeric_limits<Wide>::epsilon();
  std::vector<Wide> x = y;
  eliminate(m, x);
  for (int steps = 0; steps < 3; ++steps) {
    std::vector<Wide> rest = y;
    const Wide error = take_off(m, x, rest);
    if (error <= kWorst) return x;
    if (!std::isfinite(error)) break;
    eliminate(m, rest);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += rest[i];
  }
  return std::vector<Wide>(y.size(), kUnknown);
}

/// Pivots from one end; a pivot that vanishes is one that rounding leaves.
std::vector<Wide> pivots(const std::vector<Wide>& towards, const std::vector<Wide>& diag,
                         const std::vector<Wide>& away) {
  std::vector<Wide> p(diag.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Wide filled = i > 0 ? towards[i] * away[i - 1] / p[i - 1] : 0;
    p[i] = diag[i] - filled;
    if (p[i] == 0) p[i] = std::numeric_limits<Wide>::epsilon() * std::max(std::abs(filled), Wide{1e-300L});
  }
  return p;
}

template <typename S>
void reverse(std::vector<S>& numbers) {
  std::reverse(numbers.begin(), numbers.end());
}

/// p + q - b; NaN where they cancel so far that what is left is not known to three digits.
Wide left_of(Wide p, Wide q, Wide b) {
  const Wide rest = q - b, left = p + rest;
  return std::abs(left) >= std::ldexp(std::max(std::abs(p), std::abs(rest)), -50) ? left : kUnknown;
}

/// |A^-1| w: the inverse's column j is 1 / (p_j + q_j - b_j) on the diagonal, with pivots p from above and q from
/// below, and falls by c_i / p_i upwards and a_i / q_i downwards.
std::vector<Wide> inverse_times(const Rows<Wide>& m, const std::vector<Wide>& w) {
  const std::size_t n = m.size();
  const std::vector<Wide> p = pivots(m.lower, m.diag, m.upper);
  Rows<Wide> turned = m;
  for (std::vector<Wide>* band : {&turned.lower, &turned.diag, &turned.upper}) reverse(*band);
  std::vector<Wide> q = pivots(turned.upper, turned.diag, turned.lower);
  reverse(q);
  std::vector<Wide> sum(n);
  Wide carried = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Wide own = std::abs(w[i] / left_of(p[i], q[i], m.diag[i]));
    carried = (i > 0 ? std::abs(m.lower[i] / q[i]) * carried : 0) + own;
    sum[i] = carried - own;
  }
  carried = 0;
  for (std::size_t i = n; i-- > 0;) {
    const Wide own = std::abs(w[i] / left_of(p[i], q[i], m.diag[i]));
    carried = (i + 1 < n ? std::abs(m.upper[i] / p[i]) * carried : 0) + own;
    sum[i] += carried;
  }
  return sum;
}

/// Raise units to the least ones in which all rows are dominant, or set them to 0 if there are none. Rows that are
/// dominant keep theirs; runs of others get what solves |b_i| d_i = |a_i| d_(i-1) + |c_i| d_(i+1), and grow by the rows
/// beside them that then are not.
void raise_units(const Rows<Wide>& m, std::vector<Wide>& units) {
  constexpr Wide kRounded = 1 + 16 * std::numeric_limits<Wide>::epsilon();
  const std::size_t n = m.size();
  const std::vector<Wide> least = units;
  std::vector<bool> moved(n);
  std::vector<Wide> pivot(n);
  const auto above = [&](std::size_t i) { return i > 0 ? std::abs(m.lower[i]) * units[i - 1] : 0; };
  const auto below = [&](std::size_t i) { return i + 1 < n ? std::abs(m.upper[i]) * units[i + 1] : 0; };
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < n; ++i) {
      if (moved[i] || above(i) + below(i) <= kRounded * std::abs(m.diag[i]) * least[i]) continue;
      moved[i] = more = true;
    }
    for (std::size_t i = 0; i < n; ++i) {  // down: units become right-hand sides
      if (!moved[i]) continue;
      const bool inside = i > 0 && moved[i - 1];
      const Wide multiplier = inside ? std::abs(m.lower[i]) / pivot[i - 1] : 0;
      pivot[i] = std::abs(m.diag[i]) - (inside ? multiplier * std::abs(m.upper[i - 1]) : 0);
      units[i] = inside ? multiplier * units[i - 1] : above(i);
      if (pivot[i] > 0) continue;
      std::fill(units.begin(), units.end(), 0);
      return;
    }
    for (std::size_t i = n; i-- > 0;) {
      if (moved[i]) units[i] = (units[i] + below(i)) / pivot[i];
    }
  }
}

int lapack(std::vector<float>& l, std::vector<float>& d, std::vector<float>& u, std::vector<float>& x) {
  std::vector<float> second(d.size());
  std::vector<lapack_int> swaps(d.size());
  const auto n = static_cast<lapack_int>(d.size());
  const int failed = LAPACKE_sgttrf_work(n, l.data() + 1, d.data(), u.data(), second.data(), swaps.data());
  return failed != 0 ? failed
                     : LAPACKE_sgttrs_work(LAPACK_COL_MAJOR, 'N', n, 1, l.data() + 1, d.data(), u.data(), second.data(),
                                           swaps.data(), x.data(), n);
}
int lapack(std::vector<double>& l, std::vector<double>& d, std::vector<double>& u, std::vector<double>& x) {
  std::vector<double> second(d.size());
  std::vector<lapack_int> swaps(d.size());
  const auto n = static_cast<lapack_int>(d.size());
  const int failed = LAPACKE_dgttrf_work(n, l.data() + 1, d.data(), u.data(), second.data(), swaps.data());
  return failed != 0 ? failed
                     : LAPACKE_dgttrs_work(LAPACK_COL_MAJOR, 'N', n, 1, l.data() + 1, d.data(), u.data(), second.data(),
                                           swaps.data(), x.data(), n);
}

}  // namespace

template <typename T>
std::vector<long double> solve_exactly(const Bands<T>& bands, const std::vector<Piece>& pieces,
                                       const std::vector<T>& y) {
  std::vector<Wide> x(y.size());
  for (const Piece& piece : pieces) {
    scatter(piece, solve(Rows<Wide>(bands.view(), piece), gather<Wide>(piece, y.data())), x.data());
  }
  return x;
}

template <typename T>
std::vector<long double> spread_of(const Bands<T>& bands, const std::vector<Piece>& pieces,
                                   const std::vector<long double>& x) {
  // Underflow of an unknown, and of a product with it, is as good as a rounding.
  constexpr Wide tiny = Wide{std::numeric_limits<T>::denorm_min()} / std::numeric_limits<T>::epsilon();
  std::vector<Wide> spread(x.size());
  for (const Piece& piece : pieces) {
    const Rows<Wide> m(bands.view(), piece);
    const std::vector<Wide> of = gather<Wide>(piece, x.data());
    std::vector<Wide> sizes(of.size());
    const auto size = [&](const std::vector<Wide>& band, std::size_t row, std::size_t column) {
      return std::abs(band[row]) * (std::abs(of[column]) + tiny);
    };
    for (std::size_t i = 0; i < of.size(); ++i) {
      sizes[i] = tiny + size(m.diag, i, i) + (i > 0 ? size(m.lower, i, i - 1) : 0) +
                 (i + 1 < of.size() ? size(m.upper, i, i + 1) : 0);
    }
    scatter(piece, inverse_times(m, sizes), spread.data());
  }
  return spread;
}

Truth Truth::averaged(const std::vector<long double>& other) const {
  Truth mean = *this;
  for (std::size_t i = 0; i < x.size(); ++i) mean.spread[i] = (spread[i] + other[i]) / 2;
  return mean;
}

template <typename T>
std::vector<double> dominant_units(const Bands<T>& bands, const std::vector<Piece>& pieces, std::vector<double> hint) {
  for (const Piece& piece : pieces) {
    std::vector<Wide> units = gather<Wide>(piece, hint.data());
    if (std::all_of(units.begin(), units.end(), [](Wide unit) { return unit == 1; })) continue;
    raise_units(Rows<Wide>(bands.view(), piece), units);
    for (Index i = 0; i < piece.rows; ++i)
      hint[piece.place(i)] = static_cast<double>(units[static_cast<std::size_t>(i)]);
  }
  return hint;
}

template <typename T>
std::vector<T> solve_by_lapack(const Bands<T>& bands, const std::vector<Piece>& pieces, const std::vector<T>& y) {
  std::vector<T> x(y.size());
  for (const Piece& piece : pieces) {
    Rows<T> m(bands.view(), piece);
    std::vector<T> of_piece = gather<T>(piece, y.data());
    const int failed = lapack(m.lower, m.diag, m.upper, of_piece);
    if (failed != 0) std::fill(of_piece.begin(), of_piece.end(), std::numeric_limits<T>::quiet_NaN());
    scatter(piece, of_piece, x.data());
  }
  return x;
}

template <typename T>
std::vector<double> forward_errors(const std::vector<Piece>& pieces, const T* x,
                                   const std::vector<long double>& exact) {
  std::vector<double> errors;
  for (const Piece& piece : pieces) {
    Wide most = 0, scale = 0;
    for (Index i = 0; i < piece.rows; ++i) {
      const std::size_t at = piece.place(i);
      enlarge(most, std::abs(x[at] - exact[at]));
      enlarge(scale, std::abs(exact[at]));
    }
    const bool known = std::isfinite(scale) && scale > 0;
    errors.push_back(known ? static_cast<double>(most / scale / Wide{std::numeric_limits<T>::epsilon()})
                           : std::numeric_limits<double>::quiet_NaN());
  }
  return errors;
}

template <typename T>
double unit_error(const std::vector<Piece>& pieces, const std::vector<int>& decade, const T* x, const Truth& truth,
                  double allowed) {
  struct OfUnit {
    Wide error = 0, size = 0, spread = 0;
  };
  Wide worst = 0;
  for (const Piece& piece : pieces) {
    std::map<int, OfUnit> units;
    for (Index i = 0; i < piece.rows; ++i) {
      const std::size_t at = piece.place(i);
      OfUnit& unit = units[decade[at]];
      enlarge(unit.error, std::abs(x[at] - truth.x[at]));
      enlarge(unit.size, std::abs(truth.x[at]));
      enlarge(unit.spread, truth.spread[at]);
    }
    for (const auto& [of, unit] : units) {
      if (!std::isfinite(unit.size) || !std::isfinite(unit.spread)) continue;
      const Wide error = unit.error - allowed * unit.size;
      if (error > 0 || std::isnan(error)) enlarge(worst, error / unit.spread);
    }
  }
  return std::isnan(worst) ? std::numeric_limits<double>::infinity()
                           : static_cast<double>(worst / Wide{std::numeric_limits<T>::epsilon()});
}

#define OCLSPKT_TRUTH(T)                                                                                              \
  template std::vector<long double> solve_exactly(const Bands<T>&, const std::vector<Piece>&, const std::vector<T>&); \
  template std::vector<long double> spread_of(const Bands<T>&, const std::vector<Piece>&,                             \
                                              const std::vector<long double>&);                                       \
  template std::vector<double> dominant_units(const Bands<T>&, const std::vector<Piece>&, std::vector<double>);       \
  template std::vector<T> solve_by_lapack(const Bands<T>&, const std::vector<Piece>&, const std::vector<T>&);         \
  template std::vector<double> forward_errors(const std::vector<Piece>&, const T*, const std::vector<long double>&);  \
  template double unit_error(const std::vector<Piece>&, const std::vector<int>&, const T*, const Truth&, double);
OCLSPKT_TRUTH(float)
OCLSPKT_TRUTH(double)

}  // namespace oclspkt::attack
