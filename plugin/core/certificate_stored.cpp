// SPDX-License-Identifier: BSD-2-Clause
// Certificates of stored factors, and how much solving their interface systems amplifies rounding errors.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "certificate.hpp"
#include "parallel.hpp"
#include "sweep_down.hpp"
#include "sweep_rows.hpp"

namespace oclspkt {
namespace {

/// How rounding errors grow in the interface systems of partitions with stored factors, see certify_stored().
class InterfaceGrowth {
 public:
  void begin_partition() {
    down_ = 0;
    up_ = 1;
  }
  /// @param ratio   |a_i p_i|
  /// @param c_above |c p| of the row before, c of this one
  void see(double ratio, double c_above, double c) {
    down_ = times(std::max(down_, 1 + c_above), ratio);
    up_ = times(up_, c);
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

/// The relative difference up to which two sweeps that began in different rows count as converged.
constexpr double kForgotten = 1e-12;

/// The values that a sweep down hands from a row to the next one.
struct Handed {
  double c = 0;        ///< c_i p_i
  double upwards = 1;  ///< the largest of 1 and the products of |c p| that end with the row
  InterfaceGrowth interfaces;
  void begin_piece() { interfaces.growth = 1; }
  bool agrees(const Handed& other) const {
    return std::abs(c - other.c) <= kForgotten * std::abs(c) &&
           std::abs(upwards - other.upwards) <= kForgotten * upwards;
  }
};

/// Run sweep_down(). @return growth in the interface systems
template <typename F>
double growth_of_sweep(Index n, Index piece, Index lead_in, const F& sweep) {
  double growth = 1;
  for (const Handed& handed : sweep_down<Handed>(n, piece, lead_in, sweep)) {
    if (!(handed.interfaces.growth <= growth)) growth = handed.interfaces.growth;
  }
  return growth;
}

/// The truncation errors of a tile, see certify_stored().
struct OfTile {
  double below = 0;   ///< how much of an error below the tile reaches the rows above it, at most
  double left = 0;    ///< the rest, behind the tile, of an error 1 + |c p| that enters it from above
  double amount = 0;  ///< the sum of that error over the tile's rows, times the largest growth on the way up
};

/// Sweep down whole tiles. @param tiles  their errors, shape [plan.tiles()], or null
template <typename T>
void see_tiles(const Plan& plan, const SweepRows<T>& rows, Index begin, Index end, Handed& h, OfTile* tiles) {
  const Index tile_rows = plan.tile_rows();
  for (Index first = begin, after = 0; first < end; first = after) {
    const Index k = first / tile_rows;
    after = std::min(end, (k + 1) * tile_rows);
    OfTile tile{h.upwards, k > 0 ? 1 + std::abs(h.c) : 0, 0};
    double nothing = 0;  // an infinite diagonal would hide behind a ratio of 0
    for (Index i = first; i < after;) {
      h.interfaces.begin_partition();
      for (const Index next = std::min(after, i + plan.m); i < next; ++i) {
        const double diag = rows.diag(i), reciprocal = 1 / (diag - rows.lower(i) * h.c);
        const double ratio = std::abs(rows.lower(i) * reciprocal), c_above = std::abs(h.c);
        tile.left = times(tile.left, ratio);
        tile.amount += tile.left * h.upwards;
        nothing += 0 * diag;
        h.c = rows.upper(i) * reciprocal;
        tile.below = times(tile.below, std::abs(h.c));
        h.interfaces.see(ratio, c_above, std::abs(h.c));
        h.upwards = std::max(1.0, h.upwards * std::abs(h.c));
      }
      h.interfaces.end_partition(i < plan.n);
    }
    tile.amount += nothing;
    // No tile above the first one depends on the unknown below it, and nothing is below the last one.
    if (k == 0 || k + 1 == plan.tiles()) tile.below = 0;
    if (tiles != nullptr) tiles[k] = tile;
  }
}

}  // namespace

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
  // A run may start at any tile; the tile before it is swept alone.
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

namespace {

/// How a block of rows damps the errors that pass through it, see certify_runs().
struct Block {
  double down = 1;     ///< product of |a_i p_i|
  double up = 1;       ///< product of |c_i p_i|
  double entered = 0;  ///< size of an error that begins with the block: 1 + |c p| of the row above
  double begun = 0;    ///< the rest, behind the block, of an error that begins in it
  double amount = 0;   ///< sum of an error of 1 from above over the rows, times the largest growth on the way up
  double upwards = 1;  ///< the largest of 1 and the products of |c p| that end with the row above the block
  bool finite = true;
};

/// Sweep down rows [begin, end). @param blocks  to be filled, or null
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
      const double diag = rows.diag(i), reciprocal = 1 / (diag - rows.lower(i) * h.c);
      const double ratio = std::abs(rows.lower(i) * reciprocal), c_above = std::abs(h.c);
      block.down = times(block.down, ratio);
      block.begun = times(std::max(block.begun, 1 + c_above), ratio);
      block.amount += block.down * h.upwards + 0 * diag;  // an infinite diagonal would hide behind a ratio of 0
      h.c = rows.upper(i) * reciprocal;
      block.up = times(block.up, std::abs(h.c));
      h.interfaces.see(ratio, c_above, std::abs(h.c));
      h.upwards = std::max(1.0, h.upwards * std::abs(h.c));
    }
    block.finite = block.finite && std::isfinite(block.amount + h.c);
  }
}

}  // namespace

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
  const Index whole = (runs.window - block_rows + 1) / block_rows;  // blocks that any window holds
  Certificate below, start;
  double amount = 0;  // Block::amount of an error of 1 that enters behind the window, in all rows below
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

#define OCLSPKT_INSTANTIATE(T)                                           \
  template Certificate certify_stored(const Plan&, const BandsView<T>&); \
  template Certificate certify_runs(const TileRuns&, const BandsView<T>&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
