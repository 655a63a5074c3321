// SPDX-License-Identifier: BSD-2-Clause
#include "certificate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "walk.hpp"

namespace oclspkt {
namespace {

constexpr double kNothingKnown = std::numeric_limits<double>::quiet_NaN();

/// Ratios whose running products are the spikes, of a segment cut off above and below:
/// down[i] = |upper_i / u_i| (LU from its top), up[i] = |lower_i / u'_i| (UL from its bottom).
struct Ratios {
  std::vector<double> down, up;

  template <typename T>
  void fill(const Walk<T>& a, Index first, Index end) {
    const auto size = static_cast<std::size_t>(end - first);
    down.resize(size);
    up.resize(size);
    double c = 0;
    for (Index i = first; i < end; ++i) {
      // An infinite diagonal would hide behind a ratio of 0: 0 * diag makes it NaN.
      c = a.upper(i) / (static_cast<double>(a.diag(i)) - a.lower(i) * c) + 0 * static_cast<double>(a.diag(i));
      down[static_cast<std::size_t>(i - first)] = std::abs(c);
    }
    c = 0;
    for (Index i = end - 1; i >= first; --i) {
      c = a.lower(i) / (static_cast<double>(a.diag(i)) - a.upper(i) * c);
      up[static_cast<std::size_t>(i - first)] = std::abs(c);
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
  /// NaN if there is one.
  double largest() const {
    double largest = 0;
    bool known = true;
    for (std::size_t i = 0; i < above.size(); ++i) {
      known = known && !std::isnan(sum(i));
      largest = std::max(largest, sum(i));
    }
    return known ? largest : kNothingKnown;
  }
};

/// What becomes of rounding where the partitions of stored factors settle each other, see certify_stored().
class Settling {
 public:
  void begin_partition() {
    down_ = 0;
    up_ = 1;
  }
  /// @param ratio   |a_i p_i|
  /// @param c_above |c p| of the row before, c of this one
  void see(double ratio, double c_above, double c) {
    down_ = std::max(down_, 1 + c_above) * ratio;
    up_ *= c;
    if (!(up_ <= growth)) growth = up_;
  }
  /// @param more  partitions follow
  void end_partition(bool more) {
    if (more && !(down_ <= growth)) growth = down_;
  }
  double growth = 1;

 private:
  double down_ = 0, up_ = 1;
};

}  // namespace

template <typename T>
Certificate certify_halo(Index n, const BandsView<T>& bands, Index m, Index halo, RowRange asked) {
  const Walk<T> rows(bands, n, false);
  Certificate worst;
  Ratios ratios;
  Spikes spikes;
  for (Index k = asked.first / m; k * m < asked.end; ++k) {
    // Nothing couples beyond the lines asked for, and short lines must not pay for the partitions that they lie in.
    const Index first = std::max(asked.first, k * m - halo), end = std::min(asked.end, (k + 1) * m + halo);
    const Index kept_first = std::max(asked.first, k * m), kept_end = std::min(asked.end, (k + 1) * m);
    ratios.fill(rows, first, end);
    spikes.fill(ratios, first > asked.first, end < asked.end);
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

template <typename T>
Certificate certify_streamed(const Plan& plan, const BandsView<T>& bands) {
  // As walked: x_top of tile k lacks v_t(k) x_below, and x_bottom of tile k-1 carries the error of the interface before
  // it. At the start of a run the tile before is swept alone, so that w_b(k-1) x_above is lacking as a whole, unless
  // the start is solved for.
  const Walk<T> rows(bands, plan.n, plan.walk_up);
  const Index tiles = plan.partitions();
  double growth = 1;
  Certificate worst;
  Ratios above, below;
  Spikes spikes;
  /// Fill `below` with tile k. @return the largest |w_i| + |v_i| in it
  const auto next_tile = [&](Index k) {
    below.fill(rows, k * plan.m, std::min(plan.n, (k + 1) * plan.m));
    spikes.fill(below, k > 0, k + 1 < tiles);
    return spikes.largest();
  };
  const auto product = [](const std::vector<double>& ratios) {
    return std::accumulate(ratios.begin(), ratios.end(), 1.0, std::multiplies<>());
  };
  /// A bound that tiles first_tile ... k give together.
  const auto bound_of = [&](double bound, Index first_tile, Index k, bool from_above) {
    const Index one = rows.at(first_tile * plan.m), other = rows.at(std::min(plan.n, (k + 1) * plan.m) - 1);
    return Certificate{bound, k, std::min(one, other), std::max(one, other), from_above != plan.walk_up};
  };
  double largest_below = tiles > 0 ? next_tile(0) : 0.0;
  if (!std::isfinite(largest_below)) return bound_of(kNothingKnown, 0, 0, plan.walk_up);
  double error_above = 0;  // of the settled unknown before tile k-1
  for (Index k = 1, run = 1; k < tiles; ++k) {
    std::swap(above, below);
    const double largest_above = std::exchange(largest_below, next_tile(k));
    if (!std::isfinite(largest_below)) return bound_of(kNothingKnown, k, k, plan.walk_up);
    const bool starts_run = run < plan.runs && k == run * tiles / plan.runs;
    if (starts_run) ++run;
    const double w_b = product(above.up), v_t = k + 1 < tiles ? product(below.down) : 0.0;
    const double v_b = above.down.back(), w_t = below.up.front();
    const double start = plan.exact_starts ? 0.0 : 1.0;
    const double lost_above = w_b * (starts_run && k > 1 ? std::max(start, error_above) : error_above);
    const double lost = v_t + lost_above;
    // The sign of v_b w_t is lost in the ratios; the smaller of both denominators is safe.
    const double amplified = 1 / std::abs(1 - v_b * w_t);
    if (!(amplified <= growth)) growth = amplified;
    const double interface_error = lost * (1 + std::max(v_b, w_t)) * amplified;
    const double bound = interface_error * std::max({largest_above, largest_below, 1.0});
    if (!std::isfinite(bound)) return bound_of(kNothingKnown, k - 1, k, plan.walk_up);
    if (bound > worst.bound) worst = bound_of(bound, k - 1, k, lost_above > v_t);
    error_above = interface_error;
  }
  worst.growth = growth;
  return worst;
}

template <typename T>
Certificate certify_stored(const Plan& plan, const BandsView<T>& bands) {
  const Walk<T> rows(bands, plan.n, false);
  const Index tiles = plan.tiles(), tile_rows = plan.tile_rows();
  /// What is left after a tile of an error of 1 that comes to it from above, and what it amounts to in the tile and,
  /// carried up, before it.
  struct Passage {
    double left, amount;
  };
  std::vector<Passage> passages(static_cast<std::size_t>(tiles));
  const auto certificate = [&](double bound, Index first_tile, Index k, bool above) {
    return Certificate{bound, k, first_tile * tile_rows, std::min(plan.n, (k + 1) * tile_rows) - 1, above};
  };
  Certificate worst;
  Settling settling;
  double c = 0, upwards = 1;  // upwards: the largest of 1 and the products of |c| that end with the row above
  for (Index k = 0; k < tiles; ++k) {
    const double upwards_before = upwards;
    // Below the first tile nothing is truncated: no tile above it would ask.
    double below = k > 0 && k + 1 < tiles ? 1 : 0, entered = k > 0 ? 1 + std::abs(c) : 0, amount = 0;
    const Index end = std::min(plan.n, (k + 1) * tile_rows);
    for (Index first = k * tile_rows; first < end; first += plan.m) {
      settling.begin_partition();
      for (Index i = first; i < std::min(end, first + plan.m); ++i) {
        const auto diag = static_cast<double>(rows.diag(i));
        const double u = diag - rows.lower(i) * c, ratio = std::abs(rows.lower(i) / u);
        entered *= ratio;
        const double c_above = std::abs(c);
        amount += entered * upwards;
        // An infinite diagonal would hide behind a ratio of 0.
        c = rows.upper(i) / u + 0 * diag;
        below *= std::abs(c);
        settling.see(ratio, c_above, std::abs(c));
        upwards = std::max(1.0, upwards * std::abs(c));
      }
      settling.end_partition(first + plan.m < plan.n);
    }
    passages[static_cast<std::size_t>(k)] = {entered, amount};
    const double bound = below * upwards_before;
    if (!std::isfinite(bound + amount)) return certificate(kNothingKnown, std::max<Index>(0, k - 1), k, false);
    if (bound > worst.bound) worst = certificate(bound, std::max<Index>(0, k - 1), k, false);
  }
  // A run may start at any tile; the one before is swept alone.
  double amount = 0;
  Certificate start;
  for (Index k = tiles - 1; k > 0; --k) {
    const Passage& passage = passages[static_cast<std::size_t>(k)];
    const double bound = passage.left * amount;
    if (!(bound <= start.bound)) start = certificate(bound, k, std::min(k + 1, tiles - 1), true);
    amount = passage.amount + passage.left * amount;
  }
  Certificate both = start.bound > worst.bound ? start : worst;
  both.bound = start.bound + worst.bound;
  both.growth = settling.growth;
  return both;
}

namespace {

/// What a block of rows does to errors that pass through it: see certify_runs().
struct Block {
  double down = 1;     ///< product of |a_i p_i|
  double up = 1;       ///< product of |c_i p_i|
  double entered = 0;  ///< what an error begins as that begins with the block: 1 + |c p| of the row above
  double begun = 0;    ///< what is left behind the block of one that begins in it
  double amount = 0;   ///< sum of what an error of 1 from above amounts to in its rows and, carried up, before them
  double upwards = 1;  ///< the largest of 1 and the products of |c p| that end with the row above the block
};

/// @return false if a number is not finite
template <typename T>
bool fill_blocks(const Walk<T>& rows, Index n, Index block_rows, Index tile_rows, std::vector<Block>& blocks,
                 Settling& settling) {
  double c = 0, upwards = 1;
  for (Index i = 0; i < n; ++i) {
    if (i % tile_rows == 0) {
      if (i > 0) settling.end_partition(true);
      settling.begin_partition();
    }
    Block& block = blocks[static_cast<std::size_t>(i / block_rows)];
    const auto diag = static_cast<double>(rows.diag(i));
    const double u = diag - rows.lower(i) * c, ratio = std::abs(rows.lower(i) / u), c_above = std::abs(c);
    if (i % block_rows == 0) {
      block.upwards = upwards;
      block.entered = 1 + c_above;
    }
    block.down *= ratio;
    block.begun = std::max(block.begun, 1 + c_above) * ratio;
    block.amount += block.down * upwards;
    // An infinite diagonal would hide behind a ratio of 0.
    c = rows.upper(i) / u + 0 * diag;
    block.up *= std::abs(c);
    if (!std::isfinite(block.amount + c)) return false;
    settling.see(ratio, c_above, std::abs(c));
    upwards = std::max(1.0, upwards * std::abs(c));
  }
  return true;
}

}  // namespace

template <typename T>
Certificate certify_runs(const Plan& plan, const BandsView<T>& bands) {
  const Walk<T> rows(bands, plan.n, false);
  const Index block_rows = std::max<Index>(1, plan.halo / kWindowBlocks), count = quotient_up(plan.n, block_rows);
  std::vector<Block> blocks(static_cast<std::size_t>(count));
  Settling settling;
  if (!fill_blocks(rows, plan.n, block_rows, plan.group_rows(), blocks, settling)) return {kNothingKnown, 0, 0, 0};
  const auto at = [&](Index k) -> const Block& { return blocks[static_cast<std::size_t>(k)]; };
  const auto certificate = [&](double bound, Index k, bool above) {
    return Certificate{bound, k, k * block_rows, std::min(plan.n, (k + kWindowBlocks) * block_rows) - 1, above};
  };
  const Index whole = (plan.halo - block_rows + 1) / block_rows;  // blocks that any plan.halo rows hold
  Certificate below, start;
  double amount = 0;  // of an error of 1 that enters the block behind the window
  for (Index k = count - whole - 1; k >= 0; --k) {
    double up = at(k).upwards, down = k > 0 ? std::max(at(k - 1).begun, at(k).entered) : 0;
    for (Index j = k; j < k + whole; ++j) {
      up *= at(j).up;
      down *= at(j).down;
    }
    const Block& behind = at(k + whole);
    amount = behind.amount + behind.down * amount;
    if (k > 0 && !(up <= below.bound)) below = certificate(up, k, false);
    if (k > 0 && !(down * amount <= start.bound)) start = certificate(down * amount, k, true);
  }
  Certificate both = start.bound > below.bound ? start : below;
  both.bound = start.bound + below.bound;
  both.growth = settling.growth;
  return both;
}

/// settling_growth() of tiles whose rows but the first are eliminated, from the second one down.
template <typename T>
static double folding_growth(const Plan& plan, const BandsView<T>& bands) {
  const Walk<T> rows(bands, plan.n, false);
  Settling settling;
  double c = 0;
  for (Index i = 0; i < plan.n; ++i) {
    const Index within = i % plan.m;
    if (within == 0) {
      settling.begin_partition();
      continue;
    }
    const bool second = within == 1;
    const auto diag = static_cast<double>(rows.diag(i));
    const double u = diag - (second ? 0 : rows.lower(i) * c), c_above = second ? 0 : std::abs(c);
    c = rows.upper(i) / u;
    settling.see(second ? 0 : std::abs(rows.lower(i) / u), c_above, std::abs(c));
    // Work-items find what enters them in another order than that of the rows.
    if ((within + 1) % plan.item_rows == 0) settling.end_partition(i + 1 < plan.n);
  }
  return settling.growth;
}

template <typename T>
double settling_growth(const Plan& plan, const BandsView<T>& bands) {
  if (plan.folds()) return folding_growth(plan, bands);
  const Index above = std::min(plan.n, plan.meeting * plan.tile_rows());
  const Index first_piece = plan.from_ends ? plan.first_piece() : plan.m;
  Settling settling;
  for (const bool up : {false, true}) {
    const Walk<T> rows(bands, plan.n, up);
    const Index end = up ? plan.n - above : above;
    // From below the rows that fill the last partition are met first.
    const Index filled = up ? plan.partitions() * plan.m - plan.n : 0;
    double c = 0;
    for (Index i = 0; i < end;) {
      const Index begun = (filled + i) % plan.m, length = (begun < first_piece ? first_piece : plan.m) - begun;
      settling.begin_partition();
      for (const Index next = std::min(end, i + length); i < next; ++i) {
        const auto diag = static_cast<double>(rows.diag(i));
        const double u = diag - rows.lower(i) * c, c_above = std::abs(c);
        c = rows.upper(i) / u;
        settling.see(std::abs(rows.lower(i) / u), c_above, std::abs(c));
      }
      settling.end_partition(i < end);
    }
  }
  return settling.growth;
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
  const Walk<T> rows(bands, n, false);
  Ratios ratios;
  Index needed = 0;
  for (Index cut = (asked.first / m + 1) * m; cut < asked.end; cut += m) {
    const Index first = std::max(asked.first, cut - h_max), end = std::min(asked.end, cut + h_max);
    ratios.fill(rows, first, end);
    double below = ratios.down[static_cast<std::size_t>(cut - 1 - first)];
    double above = ratios.up[static_cast<std::size_t>(cut - first)];
    Index h = 0;
    for (; h < h_max && !(below + above <= tol); ++h) {
      below *= cut + h < end ? ratios.down[static_cast<std::size_t>(cut + h - first)] : 0.0;
      above *= cut - 1 - h >= first ? ratios.up[static_cast<std::size_t>(cut - 1 - h - first)] : 0.0;
    }
    if (!(below + above <= tol)) return -1;
    needed = std::max(needed, h);
  }
  return needed;
}

#define OCLSPKT_INSTANTIATE(T)                                                           \
  template Certificate certify_halo(Index, const BandsView<T>&, Index, Index, RowRange); \
  template Certificate certify_streamed(const Plan&, const BandsView<T>&);               \
  template Certificate certify_stored(const Plan&, const BandsView<T>&);                 \
  template Certificate certify_runs(const Plan&, const BandsView<T>&);                   \
  template double settling_growth(const Plan&, const BandsView<T>&);                     \
  template Index find_halo(Index, const BandsView<T>&, Index, double, Index, RowRange);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
