// SPDX-License-Identifier: BSD-2-Clause
#include "forgiven.hpp"

#include <atomic>
#include <cmath>
#include <vector>

#include "factors.hpp"
#include "interface.hpp"
#include "parallel.hpp"
#include "rounding.hpp"

namespace oclspkt {
namespace {

/// Solve M z = phi for one line, see forgiven_effect(). All numbers are positive. @return the largest z
template <typename T>
double sweep_line(const LineSet& lines, const BandsView<T>& bands, const FactorsView<T>& f, Index line,
                  std::vector<double>& swept) {
  const Index n = lines.length(line), first = lines.first(line), stride = lines.row_stride();
  swept.resize(static_cast<std::size_t>(n));
  double d = 0, z = 0, worst = 0;
  for (Index i = 0, at = first; i < n; ++i, at += stride) {
    const T excess = exact_excess(bands.lower[at], bands.diag[at], bands.upper[at]);
    const double phi = is_forgiven(excess, bands.diag[at]) ? -static_cast<double>(excess) : 0;
    d = phi + std::abs(static_cast<double>(f.multiplier[at])) * d;
    swept[static_cast<std::size_t>(i)] = d * std::abs(static_cast<double>(f.reciprocal[at]));
  }
  for (Index i = n - 1, at = first + i * stride; i >= 0; --i, at -= stride) {
    z = swept[static_cast<std::size_t>(i)] + std::abs(static_cast<double>(f.coupling[at])) * z;
    worst = larger(worst, z);
  }
  return worst;
}

template <typename T>
bool forgives_any(const LineSet& lines, const BandsView<T>& bands) {
  std::atomic<bool> found = false;
  for_pieces(lines.extent(), kPieceRows, [&](Index begin, Index end) {
    bool any = false;
    for (Index i = begin; i < end; ++i) {
      any |= is_forgiven(exact_excess(bands.lower[i], bands.diag[i], bands.upper[i]), bands.diag[i]);
    }
    if (any) found = true;
  });
  return found;
}

template <typename T>
bool sums_to_zero(T a, T b, T c) {
  constexpr Real<T> kRounding = 2 * kEpsOf<T>;
  if constexpr (kIsComplex<T>) {
    return modulus((b + a) + c) <= kRounding * modulus(b);
  } else {
    const T sign = std::copysign(T(1), b);
    return sign * a <= 0 && sign * c <= 0 && std::abs(exact_excess(a, b, c)) <= kRounding * std::abs(b);
  }
}

}  // namespace

template <typename T>
double forgiven_effect(const LineSet& lines, const BandsView<T>& bands) {
  if (!forgives_any(lines, bands)) return 0;
  Bands<T> comparison(lines);
  for_pieces(lines.extent(), kPieceRows, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      comparison.lower()[i] = -std::abs(bands.lower[i]);
      comparison.diag()[i] = std::abs(bands.diag[i]);
      comparison.upper()[i] = -std::abs(bands.upper[i]);
    }
  });
  Factors<T> factors;
  factors.forgive_always();
  factors.factor(lines, comparison.view(), Form::general);
  std::vector<double> worst(static_cast<std::size_t>(lines.count()));
  for_pieces(lines.count(), lines_a_piece(lines), [&](Index begin, Index end) {
    std::vector<double> swept;
    for (Index l = begin; l < end; ++l) {
      worst[static_cast<std::size_t>(l)] = sweep_line(lines, bands, factors.view(), l, swept);
    }
  });
  double largest = 0;
  for (const double of_line : worst) largest = larger(largest, of_line);
  return largest;
}

template <typename T>
bool sums_are_zero(const LineSet& lines, const BandsView<T>& bands, Index line) {
  const Index n = lines.length(line), stride = lines.row_stride();
  return n > 0 && all_of_pieces(n, kPieceRows, [&](Index begin, Index end) {
           for (Index i = begin, at = lines.first(line) + begin * stride; i < end; ++i, at += stride) {
             if (!sums_to_zero(bands.lower[at], bands.diag[at], bands.upper[at])) return false;
           }
           return true;
         });
}

template <typename T>
std::vector<Index> lines_of_zero_sums(const LineSet& lines, const BandsView<T>& bands) {
  std::vector<char> zero(static_cast<std::size_t>(lines.count()), 0);
  for_pieces(lines.count(), lines_a_piece(lines), [&](Index first, Index end) {
    for (Index l = first; l < end; ++l) zero[static_cast<std::size_t>(l)] = sums_are_zero(lines, bands, l);
  });
  std::vector<Index> found;
  for (Index l = 0; l < lines.count(); ++l) {
    if (zero[static_cast<std::size_t>(l)] != 0) found.push_back(l);
  }
  return found;
}

#define OCLSPKT_INSTANTIATE(T)                                             \
  template bool sums_are_zero(const LineSet&, const BandsView<T>&, Index); \
  template std::vector<Index> lines_of_zero_sums(const LineSet&, const BandsView<T>&);
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)
template double forgiven_effect(const LineSet&, const BandsView<float>&);
template double forgiven_effect(const LineSet&, const BandsView<double>&);

}  // namespace oclspkt
