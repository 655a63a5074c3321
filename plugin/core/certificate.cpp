// SPDX-License-Identifier: BSD-2-Clause
#include "certificate.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "partition_sweeps.hpp"

namespace oclspkt {
namespace {

/// The ratios whose running products are the spikes of a segment with a cut above and below. down[i] = |upper_i / u_i|,
/// u the pivots of LU from its top; up[i] = |lower_i / u'_i|, u' the pivots of UL from its bottom.
struct Ratios {
  std::vector<double> down, up;

  template <typename T>
  void fill(const SweepRows<T>& rows, Index first, Index end) {
    const auto size = static_cast<std::size_t>(end - first);
    down.resize(size);
    up.resize(size);
    double c = 0, a_up = 0;
    // The two chains of divisions do not wait for each other.
    for (Index i = first, j = end - 1; i < end; ++i, --j) {
      // With an infinite diagonal the ratio is 0; 0 * diag makes it NaN.
      c = rows.upper(i) / (static_cast<double>(rows.diag(i)) - rows.lower(i) * c) +
          0 * static_cast<double>(rows.diag(i));
      a_up = rows.lower(j) / (static_cast<double>(rows.diag(j)) - rows.upper(j) * a_up);
      down[static_cast<std::size_t>(i - first)] = std::abs(c);
      up[static_cast<std::size_t>(j - first)] = std::abs(a_up);
    }
  }
};

/// |w_i| (above) and |v_i| (below) of the rows of a segment.
struct Spikes {
  std::vector<double> above, below;

  /// Compute the spikes from the ratios of the segment. A side at the end of the line has no cut and no spike.
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

/// certify_halo() for partitions [begin, end).
template <typename T>
Certificate certify_partitions(const SweepRows<T>& rows, Index m, Index halo, RowRange asked, Index begin, Index end) {
  Certificate worst;
  Ratios ratios;
  Spikes spikes;
  for (Index k = begin; k < end; ++k) {
    // Rows outside of `asked` have no influence. Skipping them saves time if lines are short.
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

Index cuts_a_piece(Index m) { return std::max<Index>(1, kPieceRows / m); }

/// Both sweeps of a partition. In `up`, rows count from the partition's last row.
struct TwoSweeps {
  ForwardSweep down, up;
};

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

/// How rounding errors grow in the interface systems of partitions with stored factors, see certify_stored().
class InterfaceGrowth {
 public:
  void begin_partition() {
    down_ = 0;
    up_ = 1;
  }
  /// @param ratio   |a_i p_i|, in the notation of certify_stored()
  /// @param c_above |c p| of the row above
  /// @param c       |c p| of this row
  void see(double ratio, double c_above, double c) {
    down_ = times(std::max(down_, 1 + c_above), ratio);
    up_ = times(up_, c);
    if (!(up_ <= growth)) growth = up_;
  }
  /// @param more  whether more partitions follow
  void end_partition(bool more) {
    if (more && !(down_ <= growth)) growth = down_;
  }
  double growth = 1;

 private:
  double down_ = 0, up_ = 1;
};

/// The relative difference up to which two sweeps that began in different rows count as converged.
constexpr double kForgotten = 1e-12;

/// The values that a row of a sweep down passes on to the next row. Notation: certify_stored().
struct Handed {
  double c = 0;        ///< scaled coupling c_i p_i
  double upwards = 1;  ///< the largest product of |c p| of consecutive rows up to this row; at least 1
  InterfaceGrowth interfaces;
  /// `ratio` is |a_i p_i| of a row; `c_above` and `upwards` are |c p| and `upwards` of the row above. `nothing` is 0
  /// times the diagonal: NaN for an infinite diagonal.
  struct Row {
    double ratio, c_above, nothing, upwards;
  };
  template <typename T>
  Row next(const SweepRows<T>& rows, Index i) {
    const double diag = rows.diag(i), reciprocal = 1 / (diag - rows.lower(i) * c);
    const Row row{std::abs(rows.lower(i) * reciprocal), std::abs(c), 0 * diag, upwards};
    c = rows.upper(i) * reciprocal;
    interfaces.see(row.ratio, row.c_above, std::abs(c));
    upwards = std::max(1.0, upwards * std::abs(c));
    return row;
  }
  void begin_piece() { interfaces.growth = 1; }
  bool agrees(const Handed& other) const {
    return std::abs(c - other.c) <= kForgotten * std::abs(c) &&
           std::abs(upwards - other.upwards) <= kForgotten * upwards;
  }
};

/// Run sweep_down(). @return the growth in the interface systems
template <typename F>
double growth_of_sweep(Index n, Index piece, Index lead_in, const F& sweep) {
  double growth = 1;
  for (const Handed& handed : sweep_down<Handed>(n, piece, lead_in, sweep)) {
    if (!(handed.interfaces.growth <= growth)) growth = handed.interfaces.growth;
  }
  return growth;
}

/// The truncation errors of a tile, see certify_stored(). The error from above is 1 + |c p| in the row above the tile.
struct OfTile {
  double below = 0;   ///< largest factor by which an error of the unknown below the tile enters a row above the tile
  double left = 0;    ///< size of the error from above, at the end of the tile
  double amount = 0;  ///< error from above in a row, times its largest growth upwards; sum over the rows
};

/// Sweep down whole tiles. @param tiles  shape [plan.tiles()] or null; overwritten with the errors of the swept tiles
template <typename T>
void see_tiles(const Plan& plan, const SweepRows<T>& rows, Index begin, Index end, Handed& h, OfTile* tiles) {
  const Index tile_rows = plan.tile_rows();
  for (Index first = begin, after = 0; first < end; first = after) {
    const Index k = first / tile_rows;
    after = std::min(end, (k + 1) * tile_rows);
    OfTile tile{h.upwards, k > 0 ? 1 + std::abs(h.c) : 0, 0};
    double nothing = 0;
    for (Index i = first; i < after;) {
      h.interfaces.begin_partition();
      for (const Index next = std::min(after, i + plan.m); i < next; ++i) {
        const Handed::Row row = h.next(rows, i);
        tile.left = times(tile.left, row.ratio);
        tile.amount += tile.left * row.upwards;
        nothing += row.nothing;
        tile.below = times(tile.below, std::abs(h.c));
      }
      h.interfaces.end_partition(i < plan.n);
    }
    tile.amount += nothing;
    // The first tile has no tile above, and the last tile has no unknown below.
    if (k == 0 || k + 1 == plan.tiles()) tile.below = 0;
    if (tiles != nullptr) tiles[k] = tile;
  }
}

/// How a block of rows damps errors that pass through it, see certify_runs(). Notation: certify_stored().
struct Block {
  double down = 1;     ///< product of |a_i p_i| over the block's rows
  double up = 1;       ///< product of |c_i p_i| over the block's rows
  double entered = 0;  ///< size of an error at the top of the block: 1 + |c p| of the row above
  double begun = 0;    ///< the largest error that begins in the block, at the end of the block
  double amount = 0;   ///< error in a row from an error of 1 at the top, times Handed::upwards; sum over the rows
  double upwards = 1;  ///< the largest of 1 and the products of |c p| that end with the row above the block
  bool finite = true;
};

/// Sweep down rows [begin, end). @param blocks  the blocks of the swept rows, overwritten; or null
template <typename T>
void see_blocks(const SweepRows<T>& rows, Index begin, Index end, Index block_rows, Index tile_rows, Handed& h,
                Block* blocks) {
  Block lead_in;
  for (Index i = begin; i < end;) {
    const Index of_block = i % block_rows, of_tile = i % tile_rows;
    if (of_tile == 0) {
      if (i > 0) h.interfaces.end_partition(true);
      h.interfaces.begin_partition();
    }
    Block& block = blocks != nullptr ? blocks[i / block_rows] : lead_in;
    if (of_block == 0) block = {.entered = 1 + std::abs(h.c), .upwards = h.upwards};
    for (const Index next = std::min({end, i + block_rows - of_block, i + tile_rows - of_tile}); i < next; ++i) {
      const Handed::Row row = h.next(rows, i);
      block.down = times(block.down, row.ratio);
      block.begun = times(std::max(block.begun, 1 + row.c_above), row.ratio);
      block.amount += block.down * row.upwards + row.nothing;
      block.up = times(block.up, std::abs(h.c));
    }
    block.finite = block.finite && std::isfinite(block.amount + h.c);
  }
}

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

template <typename T>
Certificate certify_halves(const Plan& plan, const BandsView<T>& bands, double limit) {
  const SweepRows<T> rows(bands, plan.n, false), upwards(bands, plan.n, true);
  const Index partitions = plan.partitions();
  const auto sweep = [&](Index k, TwoSweeps& sweeps) {
    const Index first = k * plan.m, end = std::min(plan.n, first + plan.m);
    sweeps.down.fill(rows, first, end);
    sweeps.up.fill(upwards, plan.n - end, plan.n - first);
  };
  TwoSweeps current, next;
  Certificate worst;
  if (partitions > 0) sweep(0, next);
  double error_above = 0;  // error of the unknowns at the cut above partition k
  for (Index k = 0; k < partitions; ++k) {
    std::swap(current, next);
    double error_below = current.down.entered.back();
    if (k + 1 < partitions) {
      sweep(k + 1, next);
      const double v_b = current.down.coupling.back(), w_t = next.up.coupling.back();
      // Ratios have no signs, so the sign of v_b w_t is unknown; the smaller denominator is safe.
      const double amplified = 1 / std::abs(1 - v_b * w_t);
      error_below = (current.up.spike + next.down.spike) * (1 + std::max(v_b, w_t)) * amplified;
      if (!(amplified <= worst.growth)) worst.growth = amplified;
    }
    if (k == 0) error_above = current.up.entered.back();
    const std::size_t size = current.down.coupling.size(), top = std::min(size, static_cast<std::size_t>(plan.m / 2));
    const double bottom_half = current.down.largest_error(error_below, top);
    const double top_half = current.up.largest_error(error_above, size - top);
    const bool known = std::isfinite(bottom_half + top_half);
    const double bound = known ? std::max(bottom_half, top_half) : std::numeric_limits<double>::quiet_NaN();
    if (!(bound <= worst.bound)) {
      worst = {bound, k, k * plan.m, std::min(plan.n, (k + 1) * plan.m) - 1, bottom_half > top_half, worst.growth};
      if (!known || bound > limit) break;
    }
    error_above = error_below;
  }
  return worst;
}

double bound_halves(double d, Index m) {
  if (!(d > 1)) return std::numeric_limits<double>::infinity();
  const Index kept_away = m / 2 + 1;  // rows from a truncated unknown to the nearest row that it affects
  const double half = std::pow(d, -static_cast<double>(kept_away));
  return std::isinf(d) ? half : half + 2 * std::pow(d, 1 - static_cast<double>(m)) / (d - 1);
}

template <typename T>
Certificate certify_stored(const Plan& plan, const BandsView<T>& bands) {
  const SweepRows<T> rows(bands, plan.n, false);
  const Index tiles = plan.tiles(), tile_rows = plan.tile_rows();
  std::vector<OfTile> found(static_cast<std::size_t>(tiles));
  const auto at = [&](Index k) -> const OfTile& { return found[static_cast<std::size_t>(k)]; };
  const double growth = growth_of_sweep(plan.n, round_up(kPieceRows, tile_rows), round_up(kLeadIn, tile_rows),
                                        [&](Index first, Index end, Handed& handed, bool keep) {
                                          see_tiles(plan, rows, first, end, handed, keep ? found.data() : nullptr);
                                        });
  const auto certificate = [&](double bound, Index first_tile, Index k, bool above) {
    return Certificate{bound, k, first_tile * tile_rows, std::min(plan.n, (k + 1) * tile_rows) - 1, above};
  };
  Certificate worst;
  for (Index k = 0; k < tiles; ++k) {
    if (!std::isfinite(at(k).below + at(k).amount)) {
      return certificate(kNothingKnown, std::max<Index>(0, k - 1), k, false);
    }
    if (at(k).below > worst.bound) worst = certificate(at(k).below, std::max<Index>(0, k - 1), k, false);
  }
  // A run may start below any tile k. It also sweeps tile k, and truncates the unknown above tile k.
  double amount = 0;
  Certificate start;
  for (Index k = tiles - 1; k > 0; --k) {
    const double bound = at(k).left * amount;
    if (!(bound <= start.bound)) start = certificate(bound, k, std::min(k + 1, tiles - 1), true);
    amount = at(k).amount + at(k).left * amount;
  }
  Certificate both = start.bound > worst.bound ? start : worst;
  both.bound = start.bound + worst.bound;
  both.growth = growth;
  return both;
}

template <typename T>
Certificate certify_runs(const TileRuns& runs, const BandsView<T>& bands) {
  const SweepRows<T> rows(bands, runs.n, false);
  const Index block_rows = std::max<Index>(1, runs.window / kWindowBlocks), count = quotient_up(runs.n, block_rows);
  std::vector<Block> blocks(static_cast<std::size_t>(count));
  const double growth = growth_of_sweep(runs.n, round_up(kPieceRows, block_rows), kLeadIn + runs.tile_rows,
                                        [&](Index first, Index end, Handed& handed, bool keep) {
                                          see_blocks(rows, first, end, block_rows, runs.tile_rows, handed,
                                                     keep ? blocks.data() : nullptr);
                                        });
  if (!std::all_of(blocks.begin(), blocks.end(), [](const Block& b) { return b.finite; })) {
    return {kNothingKnown, 0, 0, 0};
  }
  const auto at = [&](Index k) -> const Block& { return blocks[static_cast<std::size_t>(k)]; };
  const auto certificate = [&](double bound, Index k, bool above) {
    return Certificate{bound, k, k * block_rows, std::min(runs.n, (k + kWindowBlocks) * block_rows) - 1, above};
  };
  const Index whole = (runs.window - block_rows + 1) / block_rows;  // the least number of whole blocks in a window
  Certificate below, start;
  double amount = 0;  // Block::amount for an error of 1 at the end of the window, summed over all rows below
  for (Index k = runs.below ? count - whole - 1 : -1; k >= 0; --k) {
    double up = at(k).upwards, down = k > 0 ? std::max(at(k - 1).begun, at(k).entered) : 0;
    for (Index j = k; j < k + whole; ++j) {
      up *= at(j).up;
      down *= at(j).down;
    }
    const Block& behind = at(k + whole);
    amount = behind.amount + behind.down * amount;
    if (k > 0 && !(up <= below.bound)) below = certificate(up, k, false);
    if (runs.above && k > 0 && !(down * amount <= start.bound)) {
      start = certificate(down * amount, k, true);
    }
  }
  Certificate both = start.bound > below.bound ? start : below;
  both.bound = start.bound + below.bound;
  both.growth = growth;
  return both;
}

#define OCLSPKT_INSTANTIATE(T)                                                           \
  template Certificate certify_halo(Index, const BandsView<T>&, Index, Index, RowRange); \
  template Index find_halo(Index, const BandsView<T>&, Index, double, Index, RowRange);  \
  template Certificate certify_halves(const Plan&, const BandsView<T>&, double);         \
  template Certificate certify_stored(const Plan&, const BandsView<T>&);                 \
  template Certificate certify_runs(const TileRuns&, const BandsView<T>&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
