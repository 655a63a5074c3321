// SPDX-License-Identifier: BSD-2-Clause
#include "certificate.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "parallel.hpp"
#include "sweep_rows.hpp"

namespace oclspkt {
namespace {

/// The ratios whose running products are the spikes of a segment that is cut off above and below:
/// down[i] = |upper_i / u_i| (LU from its top), up[i] = |lower_i / u'_i| (UL from its bottom).
struct Ratios {
  std::vector<double> down, up;

  template <typename T>
  void fill(const SweepRows<T>& rows, Index first, Index end) {
    const auto size = static_cast<std::size_t>(end - first);
    down.resize(size);
    up.resize(size);
    double c = 0, a_up = 0;
    // Two chains of divisions, neither of which waits for the other.
    for (Index i = first, j = end - 1; i < end; ++i, --j) {
      // An infinite diagonal would hide behind a ratio of 0: 0 * diag makes it NaN.
      c = rows.upper(i) / (static_cast<double>(rows.diag(i)) - rows.lower(i) * c) +
          0 * static_cast<double>(rows.diag(i));
      a_up = rows.lower(j) / (static_cast<double>(rows.diag(j)) - rows.upper(j) * a_up);
      down[static_cast<std::size_t>(i - first)] = std::abs(c);
      up[static_cast<std::size_t>(j - first)] = std::abs(a_up);
    }
  }
};

/// |w_i| and |v_i| of the rows of a segment.
struct Spikes {
  std::vector<double> above, below;

  /// From the ratios of the segment; a side that ends where the line ends has no spike.
  void fill(const Ratios& r, bool cut_above, bool cut_below) {
    const std::size_t size = r.down.size();
    above.resize(size);
    below.resize(size);
    double product = cut_above ? 1.0 : 0.0;
    for (std::size_t i = 0; i < size; ++i) above[i] = product *= r.up[i];
    product = cut_below ? 1.0 : 0.0;
    for (std::size_t i = size; i-- > 0;) below[i] = product *= r.down[i];
  }
  double sum(std::size_t i) const { return above[i] + below[i]; }
};

/// certify_halo() of the partitions [begin, end).
template <typename T>
Certificate certify_partitions(const SweepRows<T>& rows, Index m, Index halo, RowRange asked, Index begin, Index end) {
  Certificate worst;
  Ratios ratios;
  Spikes spikes;
  for (Index k = begin; k < end; ++k) {
    // Nothing couples beyond the lines asked for, and short lines must not pay for the partitions that they lie in.
    const Index first = std::max(asked.first, k * m - halo), last = std::min(asked.end, (k + 1) * m + halo);
    const Index kept_first = std::max(asked.first, k * m), kept_end = std::min(asked.end, (k + 1) * m);
    ratios.fill(rows, first, last);
    spikes.fill(ratios, first > asked.first, last < asked.end);
    for (Index i = kept_first; i < kept_end; ++i) {
      const auto at = static_cast<std::size_t>(i - first);
      const double s = spikes.sum(at);
      if (s <= worst.bound) continue;
      worst = {s, k, kept_first, kept_end - 1, spikes.above[at] > spikes.below[at]};
      if (!std::isfinite(s)) return {kNothingKnown, k, kept_first, kept_end - 1};
    }
  }
  return worst;
}

/// How many cuts, or partitions between them, one piece of work covers.
Index cuts_a_piece(Index m) { return std::max<Index>(1, kPieceRows / m); }

}  // namespace

template <typename T>
Certificate certify_halo(Index n, const BandsView<T>& bands, Index m, Index halo, RowRange asked) {
  const SweepRows<T> rows(bands, n, false);
  const Index begin = asked.first / m, count = quotient_up(asked.end, m) - begin, piece = cuts_a_piece(m);
  std::vector<Certificate> of_pieces(static_cast<std::size_t>(std::max<Index>(0, quotient_up(count, piece))));
  for_pieces(count, piece, [&](Index from, Index to) {
    of_pieces[static_cast<std::size_t>(from / piece)] =
        certify_partitions(rows, m, halo, asked, begin + from, begin + to);
  });
  Certificate worst;
  for (const Certificate& c : of_pieces) {
    if (c.bound <= worst.bound) continue;
    worst = c;
    if (std::isnan(c.bound)) break;
  }
  return worst;
}

double bound_stored(double d, Index rows) {
  const double left = std::pow(d, -static_cast<double>(rows));
  return std::isinf(d) ? left : (d + 1) / (d - 1) * left / (1 - left);
}

double growth_stored(double d) { return d > 1 ? std::max(1.0, 1 / (d - 1)) : std::numeric_limits<double>::infinity(); }

Index halo_from_dominance(double d, double tol) {
  if (!(d > 1) || !(tol > 0)) return -1;
  if (std::isinf(d)) return 0;
  const double rows = std::ceil(std::log(2 / tol) / std::log(d)) - 1;
  return rows < 1e9 ? std::max<Index>(0, static_cast<Index>(rows)) : -1;
}

namespace {

/// Rows of halo that a cut needs; -1 if `longest` rows do not suffice.
template <typename T>
Index halo_of_cut(const SweepRows<T>& rows, Index cut, double tol, Index longest, RowRange asked, Ratios& ratios) {
  const Index first = std::max(asked.first, cut - longest), end = std::min(asked.end, cut + longest);
  ratios.fill(rows, first, end);
  double below = ratios.down[static_cast<std::size_t>(cut - 1 - first)];
  double above = ratios.up[static_cast<std::size_t>(cut - first)];
  Index h = 0;
  for (; h < longest && !(below + above <= tol); ++h) {
    below *= cut + h < end ? ratios.down[static_cast<std::size_t>(cut + h - first)] : 0.0;
    above *= cut - 1 - h >= first ? ratios.up[static_cast<std::size_t>(cut - 1 - h - first)] : 0.0;
  }
  return below + above <= tol ? h : -1;
}

}  // namespace

template <typename T>
Index find_halo(Index n, const BandsView<T>& bands, Index m, double tol, Index h_max, RowRange asked) {
  const SweepRows<T> rows(bands, n, false);
  const Index first_cut = asked.first / m + 1;
  std::atomic<Index> needed{0};
  std::atomic<bool> enough{true};
  for_pieces(quotient_up(asked.end, m) - first_cut, cuts_a_piece(m), [&](Index begin, Index end) {
    Ratios ratios;
    Index most = 0;
    for (Index k = begin; k < end && enough; ++k) {
      const Index h = halo_of_cut(rows, (first_cut + k) * m, tol, h_max, asked, ratios);
      if (h < 0) enough = false;
      most = std::max(most, h);
    }
    for (Index known = needed; known < most && !needed.compare_exchange_weak(known, most);) {
    }
  });
  return enough ? needed.load() : -1;
}

#define OCLSPKT_INSTANTIATE(T)                                                           \
  template Certificate certify_halo(Index, const BandsView<T>&, Index, Index, RowRange); \
  template Index find_halo(Index, const BandsView<T>&, Index, double, Index, RowRange);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
