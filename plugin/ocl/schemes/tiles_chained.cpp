// SPDX-License-Identifier: BSD-2-Clause
// exact-factored by work-groups and stored factors, for lines laid end to end: kernels/gpu/tile_total.cl,
// tile_chain.cl, tile_chained.cl.
#include "geometry.hpp"
#include "schemes/table.hpp"
#include "schemes/tiles.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class TilesChained final : public StoredTilePart<T> {
 public:
  static Needs needs(const Plan&, const LineSet&, int, Index) { return {}; }

  bool nan_safe_at_once(const Plan&, std::int64_t) const override { return true; }
  void make_kernels(const Site& s) override {
    const std::string safe = " -D NAN_SAFE=1", of_tiles = "-D GROUP_ITEMS=" + std::to_string(s.plan.items) +
                                                          " -D ITEM_ROWS=" + std::to_string(s.plan.item_rows) +
                                                          this->form(s.plan) + safe + " -D BLOCK_TILES=" +
                                                          std::to_string(s.plan.as<Levels>().block);
    this->make(s, total_, "tile_total", of_tiles);
    this->make(s, chain_, "tile_chain", "-D GROUP_ITEMS=" + std::to_string(s.plan.as<Levels>().items) + safe);
    this->make(s, chained_, "tile_chained", of_tiles);
  }
  std::int64_t bring(const Site& s, const BandsView<T>&) override {
    std::int64_t bytes = 0;
    const auto buffer = [&](Buffer& to, Index size) {
      to = make_buffer(s.device, Access::read_write, size);
      bytes += size;
    };
    const Index tiles = std::max<Index>(1, s.plan.tiles());
    buffer(totals_, 2 * tiles * kWord);
    buffer(entering_, tiles * kWord);
    buffer(told_, told_words(s.plan, tiles) * kWord);
    buffer(ticket_, sizeof(Int));
    return bytes;
  }
  void rehearse(const Site& s) override {
    // Nothing waits where there are no tiles; the first pass clears what the others count by.
    s.waiter.wait(launch_all(s, s.bands.front(), s.y, s.x, 0));
  }
  Event finish(const Site& s, const Tiles& t) override { return launch_all(s, t.bands, t.y, t.x, s.plan.tiles()); }

 private:
  static constexpr Index kWord = sizeof(T);

  static Index told_words(const Plan& plan, Index tiles) {
    return 2 * tiles + quotient_up(tiles, Index{plan.as<Levels>().block});
  }

  Event launch_all(const Site& s, const ChunkBands& f, const Buffer& y, const Buffer& x, Index tiles) {
    const Index all = std::max<Index>(1, tiles);
    const Geometry groups = this->geometry(s.plan, tiles);
    const auto local = local_memory(groups.local_bytes);
    const Long n = s.plan.n, count = tiles;
    const std::int64_t array = (tiles > 0 ? s.plan.n : 0) * kWord;
    const auto need = [&](const char* name, const Buffer& buffer) {
      return BufferNeed{name, &buffer, array, kVectorBytes};
    };
    const BufferNeed totals{"totals", &totals_, 2 * all * kWord, kWord},
        entering{"entering", &entering_, all * kWord, kWord},
        told{"told", &told_, told_words(s.plan, all) * kWord, kWord}, ticket{"ticket", &ticket_, sizeof(Int), sizeof(Int)};
    s.earlier.clear();
    set_arguments(s.device, total_, f.lower, f.upper, y, totals_, told_, ticket_, n, count, local);
    s.earlier.push_back(launch(s.device, total_, groups,
                               {need("multiplier", f.lower), need("coupling", f.upper), need("y", y), totals, told,
                                ticket}));
    const int items = s.plan.as<Levels>().items;
    const Geometry one{1, static_cast<std::size_t>(items), size(4 * items) * sizeof(T)};
    set_arguments(s.device, chain_, totals_, entering_, count, Long{quotient_up(all, items)},
                  local_memory(one.local_bytes));
    s.earlier.push_back(launch(s.device, chain_, one, {totals, entering}));
    set_arguments(s.device, chained_, f.lower, f.diag, f.upper, y, x, entering_, told_, ticket_, n, count, local);
    return launch(s.device, chained_, groups,
                  {need("multiplier", f.lower), need("reciprocal", f.diag), need("coupling", f.upper), need("y", y),
                   need("x", x), entering, told, ticket});
  }

  Kernel total_, chain_, chained_;
  Buffer totals_, entering_, told_, ticket_;
};

}  // namespace

Carrier tiles_chained() { return carrier<TilesChained>("tiles-chained"); }

}  // namespace oclspkt::ocl
