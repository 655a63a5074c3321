// SPDX-License-Identifier: BSD-2-Clause
#include "stored_model.hpp"
#include "geometry.hpp"

#include <algorithm>

#include "interface.hpp"

namespace oclspkt {
namespace {

/// What goes on to the next partition: what leaves this one by itself, and what passes through it.
template <typename T>
T pass(T leaving, T through, T value) {
  return leaving + coupled(through, value);
}

}  // namespace

template <typename T>
void StoredModel<T>::set_up(const Plan& plan, const Bands<T>& bands) {
  plan_ = plan;
  factors_.factor(bands.lines(), bands.view(), Form::general);
  const FactorsView<T> f = factors_.view();
  const auto partitions = static_cast<std::size_t>(plan.tiles() * plan.lanes);
  down_.assign(partitions, plan.as<StoredFactors>().reach >= plan.m ? T(1) : T(0));
  up_ = down_;
  for (Index i = 0; i < plan.n; ++i) {
    const Index below = plan.n - 1 - i;
    down_[static_cast<std::size_t>(i / plan.m)] *= -f.multiplier[i];
    up_[static_cast<std::size_t>(below / plan.m)] *= -f.coupling[below];
  }
  for (Tile& tile : kept_) {
    tile.d.resize(static_cast<std::size_t>(plan.tile_rows()));
    tile.tops.resize(static_cast<std::size_t>(plan.lanes));
  }
}

template <typename T>
auto StoredModel<T>::partition(Index k) const -> Partition {
  return {std::min(plan_.n, k * plan_.m), std::min(plan_.n, (k + 1) * plan_.m)};
}

/// d of partition k of a tile.
template <typename T>
T* StoredModel<T>::kept_d(Index tile, Index k) {
  return kept_[static_cast<std::size_t>(tile % 2)].d.data() + (k - tile * plan_.lanes) * plan_.m;
}

/// Sweep every partition down from 0, then its first rows again from what enters it.
/// @return what leaves the tile
template <typename T>
T StoredModel<T>::sweep(Index tile, T above, const T* y) {
  const T* const multiplier = factors_.view().multiplier;
  for (Index k = tile * plan_.lanes; k < (tile + 1) * plan_.lanes; ++k) {
    const Partition rows = partition(k);
    T* const d = kept_d(tile, k);
    T value = 0;
    for (Index i = rows.first; i < rows.end; ++i) d[i - rows.first] = value = y[i] - coupled(multiplier[i], value);
    const T entered = above;
    above = pass(value, down_[static_cast<std::size_t>(k)], entered);
    value = entered;
    for (Index i = rows.first; i < std::min(rows.end, rows.first + plan_.as<StoredFactors>().reach); ++i) {
      d[i - rows.first] = value = y[i] - coupled(multiplier[i], value);
    }
  }
  return above;
}

/// Find the tops of a tile's partitions by their first rows.
/// @return the first unknown of the tile if nothing came from below it
template <typename T>
T StoredModel<T>::find_tops(Index tile) {
  const FactorsView<T> f = factors_.view();
  std::vector<T>& tops = kept_[static_cast<std::size_t>(tile % 2)].tops;
  T below = 0;
  for (Index k = (tile + 1) * plan_.lanes - 1; k >= tile * plan_.lanes; --k) {
    const Partition rows = partition(k);
    const T* const d = kept_d(tile, k);
    T top = 0;
    for (Index i = std::min(rows.end, rows.first + plan_.as<StoredFactors>().reach) - 1; i >= rows.first; --i) {
      top = d[i - rows.first] * f.reciprocal[i] - coupled(f.coupling[i], top);
    }
    tops[static_cast<std::size_t>(k - tile * plan_.lanes)] = top;
    below = pass(top, up_[static_cast<std::size_t>(k)], below);
  }
  return below;
}

/// Substitute back from the unknown below a tile.
template <typename T>
void StoredModel<T>::substitute(Index tile, T below, T* x) {
  const FactorsView<T> f = factors_.view();
  const std::vector<T>& tops = kept_[static_cast<std::size_t>(tile % 2)].tops;
  for (Index k = (tile + 1) * plan_.lanes - 1; k >= tile * plan_.lanes; --k) {
    const Partition rows = partition(k);
    const T* const d = kept_d(tile, k);
    T value = below;
    below = pass(tops[static_cast<std::size_t>(k - tile * plan_.lanes)], up_[static_cast<std::size_t>(k)], below);
    for (Index i = rows.end - 1; i >= rows.first; --i) {
      x[i] = value = d[i - rows.first] * f.reciprocal[i] - coupled(f.coupling[i], value);
    }
  }
}

/// Solve tiles [begin, end) of a run, the sweep down one tile ahead of the substitution.
template <typename T>
void StoredModel<T>::stream_run(Index begin, Index end, const T* y, T* x) {
  T above = 0;
  for (Index tile = std::max<Index>(0, begin - 1); tile <= end; ++tile) {
    T top = 0;
    if (tile < plan_.tiles()) {
      above = sweep(tile, above, y);
      if (tile >= begin) top = find_tops(tile);
    }
    if (tile > begin) substitute(tile - 1, top, x);
  }
}

template <typename T>
void StoredModel<T>::apply(const T* y, T* x) {
  const auto begin = [&](Index run) { return run * plan_.tiles() / plan_.runs; };
  for (Index run = 0; run < plan_.runs; ++run) {
    if (begin(run) < begin(run + 1)) stream_run(begin(run), begin(run + 1), y, x);
  }
}

template <typename T>
std::int64_t StoredModel<T>::bytes() const {
  const std::size_t words = down_.size() + up_.size() + 2 * (kept_[0].d.size() + kept_[0].tops.size());
  return factors_.bytes() + static_cast<std::int64_t>(words * sizeof(T));
}

template class StoredModel<float>;
template class StoredModel<double>;

}  // namespace oclspkt
