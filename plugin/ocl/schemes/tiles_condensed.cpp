// SPDX-License-Identifier: BSD-2-Clause
// exact-factored by work-groups, for lines laid end to end: tiles are condensed to their first rows, level by level,
// and solved on the way back. kernels/gpu/tile_fold.cl, tile_stored.cl, tile_last.cl.
#include "geometry.hpp"
#include "schemes/table.hpp"
#include "schemes/tiles.hpp"
#include "segment_factors.hpp"

namespace oclspkt::ocl {
namespace {

/// Rows of a work-item of the last level.
Index item_rows_of(Index rows, int items) { return std::max<Index>(1, quotient_up(rows, items)); }

/// A level of SegmentFactors on the device. The first finds its factors among the chunks' bands (but for multipliers
/// where couplings serve), and its y and x there, too; of others `taken` is to be taken off y.
struct TileLevel {
  Index rows = 0, tiles = 0;
  Int item_rows = 1, items = 0;  ///< how vectors are turned, see kernels/gpu/tile_level.clh
  Buffer multiplier, reciprocal, coupling, weight, y, taken, x;
};

template <typename T>
class TilesCondensed final : public TilePart<T> {
 public:
  static Needs needs(const Plan&, const LineSet&, int, Index) { return {}; }

  Resident store(const Plan& plan, const LineSet&, const BandsView<T>& bands, bool) override {
    factors_.factor(plan.n, bands, fold_cut(plan));
    const auto& level = factors_.levels().front();
    return {level.multiplier.data(), level.reciprocal.data(), level.coupling.data(), sizeof(T)};
  }

  void make_kernels(const Site& s) override {
    const Plan& plan = s.plan;
    const std::string form = this->form(plan);
    const auto [levels, rows_of_last] = fold_cut(plan).depth(plan.n);
    const std::string left = levels > 1 ? " -D LEFT" : "";
    const Index last_rows = item_rows_of(rows_of_last, plan.as<Levels>().items);
    const bool g = s.guarded;
    this->make(s, last_[g], "tile_last", this->shape(s, left, plan.as<Levels>().items, last_rows));
    if (levels == 1) return;
    this->make(s, down_[g], "tile_fold", this->shape(s, form));
    this->make(s, back_[g], "tile_stored", this->shape(s, " -D STREAMED=0" + form));
    if (levels == 2) return;
    // What is left of a symmetric matrix is symmetric but for rounding.
    this->make(s, upper_down_[g], "tile_fold", this->shape(s, left));
    this->make(s, upper_back_[g], "tile_stored", this->shape(s, " -D STREAMED=0" + left));
  }

  /// Bring to the device what is not by rows of the system, and give back what it has now.
  std::int64_t bring(const Site& s, const BandsView<T>& bands) override {
    std::int64_t bytes = TilePart<T>::bring(s, bands);
    levels_.clear();
    for (const auto& level : factors_.levels()) bytes += bring_level(s, level);
    factors_ = {};
    return bytes;
  }

  void rehearse(const Site& s) override {
    if (levels_.size() > 1) {
      s.waiter.wait(launch_down(s, 0, 0));
      s.waiter.wait(launch_back(s, 0, 0));
    }
    s.waiter.wait(launch_last(s, 0));
  }

  /// All levels, down and back.
  Event finish(const Site& s, const Tiles& t) override {
    levels_.front().y = t.y;
    levels_.front().x = t.x;
    const std::size_t last = levels_.size() - 1;
    return launch_down_and_back(
        s, last, last + 1, [&](std::size_t i) { return launch_down(s, i, levels_[i].tiles); },
        [&](std::size_t i) {
          return i == last ? launch_last(s, levels_[i].rows) : launch_back(s, i, levels_[i].tiles);
        });
  }

 private:
  using HostLevel = typename SegmentFactors<T>::Level;

  std::int64_t bring_level(const Site& s, const HostLevel& level) {
    TileLevel& on_device = levels_.emplace_back();
    on_device.rows = level.rows;
    on_device.tiles = level.segments;
    const bool last = levels_.size() == factors_.levels().size();
    std::int64_t bytes = this->bring_array(s, on_device.weight, level.weight);
    if (levels_.size() == 1) {
      const ChunkBands& bands = s.bands.front();
      on_device.multiplier = bands.lower;
      if (s.plan.couplings_serve()) bytes += this->bring_array(s, on_device.multiplier, level.multiplier);
      on_device.reciprocal = bands.diag;
      on_device.coupling = bands.upper;
      on_device.y = s.y;
      on_device.x = s.x;
      return bytes;
    }
    if (last) {
      on_device.items = s.plan.as<Levels>().items;
      on_device.item_rows = static_cast<Int>(item_rows_of(level.rows, s.plan.as<Levels>().items));
    }
    const auto bring_turned = [&](Buffer& buffer, const AlignedArray<T>& array) {
      bytes +=
          last ? this->bring_array(s, buffer, turned_to_items(array, on_device)) : this->bring_array(s, buffer, array);
    };
    bring_turned(on_device.multiplier, level.multiplier);
    bring_turned(on_device.reciprocal, level.reciprocal);
    bring_turned(on_device.coupling, level.coupling);
    const std::int64_t vector = bytes_of(on_device.reciprocal);
    AlignedArray<T> zeros(vector / static_cast<Index>(sizeof(T)));  // what is beyond the rows of the last level
    std::fill_n(zeros.data(), zeros.size(), T(0));
    for (Buffer* buffer : {&on_device.y, &on_device.taken, &on_device.x}) {
      *buffer = make_buffer(s.device, Access::read_write, vector, zeros.data());
    }
    return bytes + 3 * vector;
  }

  /// Row r of the last level to where its work-items read side by side.
  static AlignedArray<T> turned_to_items(const AlignedArray<T>& array, const TileLevel& level) {
    AlignedArray<T> turned(Index{level.item_rows} * level.items);
    std::fill_n(turned.data(), turned.size(), T(0));
    for (Index row = 0; row < array.size(); ++row) {
      turned[row % level.item_rows * level.items + row / level.item_rows] = array[row];
    }
    return turned;
  }

  static std::int64_t bytes(Index rows) { return rows * static_cast<Index>(sizeof(T)); }

  /// Down: condense the first `tiles` tiles of a level to rows of the next.
  Event launch_down(const Site& s, std::size_t level, Index tiles) {
    const TileLevel &from = levels_[level], &to = levels_[level + 1];
    const bool serve = level == 0 && s.plan.couplings_serve();
    const Buffer &multiplier = serve ? from.coupling : from.multiplier, &taken = level > 0 ? from.taken : from.y;
    Kernel& kernel = (level > 0 ? upper_down_ : down_)[s.guarded];
    const Geometry groups = this->geometry(s.plan, tiles);
    const std::int64_t array = bytes(from.rows), left = bytes(to.rows);
    set_arguments(s.device, kernel, multiplier, from.weight, from.y, taken, to.y, to.taken, Long{from.rows},
                  Long{tiles}, to.item_rows, to.items, local_memory(groups.local_bytes));
    return launch(s.device, kernel, groups,
                  {{"multiplier", &multiplier, array, kVectorBytes},
                   {"weight", &from.weight, array, kVectorBytes},
                   {"y", &from.y, array, kVectorBytes},
                   {"taken", &taken, array, kVectorBytes},
                   {"left", &to.y, left, sizeof(T)},
                   {"left_taken", &to.taken, left, sizeof(T)}});
  }

  /// And back: solve the first `tiles` tiles with the unknowns of the next level around them.
  Event launch_back(const Site& s, std::size_t level, Index tiles) {
    const TileLevel &here = levels_[level], &next = levels_[level + 1];
    const Buffer& taken = level > 0 ? here.taken : here.y;
    const Geometry groups = this->geometry(s.plan, tiles);
    const std::int64_t array = bytes(here.rows);
    const bool serve = level == 0 && s.plan.couplings_serve();
    const std::int64_t multipliers = serve ? bytes(here.tiles) : array;
    Kernel& kernel = (level > 0 ? upper_back_ : back_)[s.guarded];
    set_arguments(s.device, kernel, here.multiplier, here.reciprocal, here.coupling, here.y, here.x, next.x,
                  s.non_finite.flag(), Long{here.rows}, Long{0}, Long{0}, Long{tiles}, Long{s.plan.group_rows()},
                  Int{1}, Int{0}, Int{0}, taken, next.item_rows, next.items, local_memory(groups.local_bytes));
    return launch(s.device, kernel, groups,
                  {{"multiplier", &here.multiplier, multipliers, serve ? sizeof(T) : kVectorBytes},
                   {"reciprocal", &here.reciprocal, array, kVectorBytes},
                   {"coupling", &here.coupling, array, kVectorBytes},
                   {"y", &here.y, array, kVectorBytes},
                   {"x", &here.x, array, kVectorBytes},
                   {"outer", &next.x, bytes(next.rows), sizeof(T)},
                   {"taken", &taken, array, kVectorBytes}});
  }

  /// The last level, whole, or its first `rows`.
  Event launch_last(const Site& s, Index rows) {
    const TileLevel& here = levels_.back();
    const bool first = levels_.size() == 1;
    const Buffer& taken = first ? here.y : here.taken;
    const auto items = static_cast<std::size_t>(s.plan.as<Levels>().items);
    const auto item_rows = static_cast<Int>(item_rows_of(here.rows, s.plan.as<Levels>().items));
    const Geometry groups{1, items, size(group_local_words(s.plan.as<Levels>().items, 0)) * sizeof(T)};
    const std::int64_t array = bytes(here.rows);
    Kernel& kernel = last_[s.guarded];
    set_arguments(s.device, kernel, here.multiplier, here.reciprocal, here.coupling, here.y, taken, here.x,
                  s.non_finite.flag(), static_cast<Int>(rows), first ? Int{1} : here.items, first ? item_rows : Int{1},
                  local_memory(groups.local_bytes));
    return launch(s.device, kernel, groups,
                  {{"multiplier", &here.multiplier, array, sizeof(T)},
                   {"reciprocal", &here.reciprocal, array, sizeof(T)},
                   {"coupling", &here.coupling, array, sizeof(T)},
                   {"y", &here.y, array, sizeof(T)},
                   {"taken", &taken, array, sizeof(T)},
                   {"x", &here.x, array, sizeof(T)}});
  }

  /// The second of each propagates non-finite numbers exactly; `upper` are for levels between the first and the last.
  Kernel down_[2], back_[2], upper_down_[2], upper_back_[2], last_[2];
  SegmentFactors<T> factors_;
  std::vector<TileLevel> levels_;
};

}  // namespace

Carrier tiles_condensed() { return carrier<TilesCondensed>("tiles-condensed"); }

}  // namespace oclspkt::ocl
