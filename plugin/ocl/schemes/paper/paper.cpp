// SPDX-License-Identifier: BSD-2-Clause
// Truncated SPIKE of Macintosh, Banks and Kelson (2019) over marshalled arrays: by lanes (kernels/cpu/paper_lanes_*.cl)
// and by work-items (kernels/gpu/paper_*.cl). As in the paper, each apply marshals and factors again. Set-up stores
// only the bands.
#include "schemes/lane_needs.hpp"
#include "schemes/paper/paper_form.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

/// Base of both workers: their arrays on a device.
template <typename T>
class PaperWorker : public Worker<T> {
 protected:
  static constexpr auto kWord = static_cast<std::int64_t>(sizeof(T));

  /// @param marshalled, tips  bytes of each marshalled array, and of each array of tips
  std::int64_t make_arrays(const Site& s, std::int64_t marshalled, std::int64_t tips) {
    std::int64_t bytes = 0;
    for (Buffer* buffer : {&lower_, &diag_, &upper_, &y_, &reciprocals_, &left_}) {
      bytes += ensure(s.device, *buffer, Access::read_write, marshalled);
    }
    for (Buffer* buffer : {&v_, &bottom_, &w_, &top_}) {
      bytes += ensure(s.device, *buffer, Access::read_write, tips);
    }
    return bytes;
  }

  struct Arrays {
    BufferNeed lower, diag, upper, y;  ///< marshalled arrays; x overwrites y
    BufferNeed reciprocals, left;      ///< marshalled arrays: reciprocal pivots, and y after the sweeps
    BufferNeed v, bottom, w, top;      ///< tips of spikes, one number for each partition
  };
  /// @param vector  alignment of marshalled arrays, in bytes
  Arrays arrays(std::int64_t marshalled, std::int64_t tips, std::size_t vector) const {
    return {{"lower", &lower_, marshalled, vector},
            {"diag", &diag_, marshalled, vector},
            {"upper", &upper_, marshalled, vector},
            {"marshalled y", &y_, marshalled, vector},
            {"reciprocals", &reciprocals_, marshalled, vector},
            {"left", &left_, marshalled, vector},
            {"v", &v_, tips, sizeof(T)},
            {"f_bottom", &bottom_, tips, sizeof(T)},
            {"w", &w_, tips, sizeof(T)},
            {"f_top", &top_, tips, sizeof(T)}};
  }

  Kernel marshal_, spkfact_, unmarshal_;

 private:
  Buffer lower_, diag_, upper_, y_, reciprocals_, left_, v_, bottom_, w_, top_;
};

template <typename T>
class LanesPaper final : public PaperWorker<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int word, Index chunk_tiles) {
    const Index tiles = paper_lanes_tiles(plan, chunk_tiles);
    const std::int64_t marshalled = tiles * plan.tile_rows() * word, tips = tips_of(plan, tiles) * word;
    return {.slot = plan.lanes, .largest = std::max(marshalled, tips), .all = 6 * marshalled + 4 * tips};
  }

  std::int64_t build(const Site& s, const BandsView<T>&) override {
    this->make(s, this->marshal_, "paper_lanes_marshal");
    this->make(s, this->spkfact_, "paper_lanes_spkfact");
    this->make(s, spktrrec_, "paper_lanes_spktrrec");
    this->make(s, this->unmarshal_, "paper_lanes_unmarshal");
    const Index tiles = paper_lanes_tiles(s.plan, s.layout.chunk_tiles);
    return this->make_arrays(s, tiles * s.plan.tile_rows() * this->kWord, tips_of(s.plan, tiles) * this->kWord);
  }

  /// Enqueue the four launches over some tiles. @return the event of the last launch
  Event enqueue(const Site& s, const Tiles& t) override {
    const Plan& plan = s.plan;
    const Chunk& chunk = t.chunk;
    const LaneNeeds<T> b(s, t);
    const Index tiles = paper_lanes_tiles(plan, chunk.tile_end - chunk.tile_begin);
    const auto a = this->arrays(tiles * plan.tile_rows() * this->kWord, tips_of(plan, tiles) * this->kWord,
                                size(plan.lanes * this->kWord));
    // The first partition of a launch belongs to the previous launch, if there is one.
    const Long first{std::max<Index>(0, chunk.tile_begin * plan.lanes - 1) * plan.m}, n{plan.n}, count{tiles},
        origin{chunk.first};
    const Int m{static_cast<Int>(plan.m)}, m_min{static_cast<Int>(plan.as<PaperLanes>().m_min)};
    const Geometry groups{s.layout.runs};
    s.earlier.push_back(launch(s.device, this->marshal_, groups, b.lower, b.diag, b.upper, b.y, a.lower, a.diag,
                               a.upper, a.y, b.scratch, n, origin, Long{chunk.end}, first, m, count));
    s.earlier.push_back(launch(s.device, this->spkfact_, groups, a.lower, a.diag, a.upper, a.y, a.reciprocals, a.left,
                               a.v, a.bottom, a.w, a.top, m, m_min, count));
    s.earlier.push_back(launch(s.device, spktrrec_, groups, a.lower, a.upper, a.reciprocals, a.left, a.v, a.bottom, a.w,
                               a.top, a.y, m, m_min, count));
    return launch(s.device, this->unmarshal_, groups, a.y, b.x, b.scratch, n, origin, Long{chunk.kept_first},
                  Long{chunk.kept_end}, first, m, count);
  }

 private:
  /// How many numbers an array of tips has: one for each partition of the tiles, and one for each of two neighbours.
  static Index tips_of(const Plan& plan, Index tiles) { return tiles * plan.lanes + 2; }

  Kernel spktrrec_;
};

template <typename T>
class TilesPaper final : public PaperWorker<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int word, Index chunk_tiles) {
    const std::int64_t tip = paper_partitions(plan, chunk_tiles) * word;  // bytes of one number for each partition
    return {.largest = tip * plan.m, .all = 6 * tip * plan.m + 4 * tip};
  }

  std::int64_t build(const Site& s, const BandsView<T>&) override {
    const auto make = [&](Kernel& kernel, const char* name, const std::string& more) {
      Worker<T>::make(s, kernel, name, "-D GROUP_ITEMS=" + std::to_string(s.plan.items) + more);
    };
    const std::string block = " -D BLOCK_ROWS=" + std::to_string(paper_block_rows(sizeof(T))),
                      rows = " -D PARTITION_ROWS=" + std::to_string(s.plan.m);
    make(this->marshal_, "paper_marshal", block);
    make(this->spkfact_, "paper_spkfact", rows + (s.plan.as<PaperForm>().staged ? " -D STAGED=1" : " -D STAGED=0"));
    make(spktrrecl_, "paper_spktrrecl", rows);
    make(spktrrecul_, "paper_spktrrecul", rows);
    make(this->unmarshal_, "paper_unmarshal", block);
    const std::int64_t marshalled = s.layout.needs.largest;
    return this->make_arrays(s, marshalled, marshalled / s.plan.m);
  }

  /// Enqueue the five launches over some tiles. @return the event of the last launch
  Event enqueue(const Site& s, const Tiles& t) override {
    const Plan& plan = s.plan;
    const Chunk& chunk = t.chunk;
    const Index tiles = chunk.tile_end - chunk.tile_begin, partitions = paper_partitions(plan, tiles);
    const auto groups = [&](Index local_words) {
      return Geometry{partitions / plan.items, size(plan.items), size(local_words * this->kWord)};
    };
    const Geometry turning = groups(plan.items * (paper_block_rows(sizeof(T)) + 1)),
                   factoring = groups(plan.as<PaperForm>().staged ? 4 * plan.m * plan.items : 1), sweeping = groups(0);
    // The first partition of a launch belongs to the previous launch.
    const Long origin{chunk.first}, end{chunk.end}, first{(chunk.tile_begin * plan.lanes - 1) * plan.m},
        own{tiles * plan.items};
    const auto m = static_cast<Int>(plan.m);
    const auto rows = [&](const char* name, const Buffer& buffer) {
      return BufferNeed{name, &buffer, chunk.rows() * this->kWord, sizeof(T)};
    };
    const auto a = this->arrays(partitions * plan.m * this->kWord, partitions * this->kWord, sizeof(T));
    s.earlier.push_back(launch(s.device, this->marshal_, turning, rows("lower in rows", t.bands.lower),
                               rows("diag in rows", t.bands.diag), rows("upper in rows", t.bands.upper), rows("y", t.y),
                               a.lower, a.diag, a.upper, a.y, origin, end, first, m));
    s.earlier.push_back(launch(s.device, this->spkfact_, factoring, a.lower, a.diag, a.upper, a.y, a.reciprocals,
                               a.left, a.v, a.bottom, a.w, a.top));
    s.earlier.push_back(
        launch(s.device, spktrrecl_, sweeping, a.upper, a.reciprocals, a.left, a.v, a.bottom, a.w, a.top, a.y, own));
    s.earlier.push_back(
        launch(s.device, spktrrecul_, sweeping, a.lower, a.reciprocals, a.left, a.v, a.bottom, a.w, a.top, a.y, own));
    return launch(s.device, this->unmarshal_, turning, a.y, rows("x", t.x), origin, Long{chunk.kept_first},
                  Long{chunk.kept_end}, first, m);
  }

 private:
  Kernel spktrrecl_, spktrrecul_;
};

}  // namespace

Carrier lanes_paper() { return carrier<LanesPaper>("lanes-paper"); }
Carrier tiles_paper() { return carrier<TilesPaper>("tiles-paper"); }

}  // namespace oclspkt::ocl
