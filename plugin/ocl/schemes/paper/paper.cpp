// SPDX-License-Identifier: BSD-2-Clause
// truncated SPIKE in the form of 2019 over marshalled arrays, by lanes (kernels/cpu/paper_lanes_*.cl) and by work-items
// (kernels/gpu/paper_*.cl): as in the paper an apply marshals and factors anew, and set-up keeps nothing but the bands.
#include "schemes/lane_needs.hpp"
#include "schemes/paper/paper_form.hpp"
#include "schemes/table.hpp"
#include "schemes/work_groups.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
struct PaperArrays {
  Buffer lower, diag, upper, y;  ///< marshalled; y then takes x
  Buffer reciprocals, left;      ///< marshalled: reciprocal pivots, what the sweeps leave of y
  Buffer v, bottom, w, top;      ///< a number for each partition: tips of spikes

  /// @param marshalled, tips  bytes of each array
  std::int64_t make(const Site& s, std::int64_t marshalled, std::int64_t tips) {
    std::int64_t bytes = 0;
    for (Buffer* buffer : {&lower, &diag, &upper, &y, &reciprocals, &left}) {
      bytes += ensure(s.device, *buffer, Access::read_write, marshalled);
    }
    for (Buffer* buffer : {&v, &bottom, &w, &top}) bytes += ensure(s.device, *buffer, Access::read_write, tips);
    return bytes;
  }
};

/// What launches need of them.
struct PaperNeeds {
  template <typename T>
  PaperNeeds(const PaperArrays<T>& a, std::int64_t marshalled, std::int64_t tips, std::size_t vector, std::size_t word)
      : lower{"lower", &a.lower, marshalled, vector},
        diag{"diag", &a.diag, marshalled, vector},
        upper{"upper", &a.upper, marshalled, vector},
        solved{"marshalled y", &a.y, marshalled, vector},
        left{"left", &a.left, marshalled, vector},
        reciprocals{"reciprocals", &a.reciprocals, marshalled, vector},
        v{"v", &a.v, tips, word},
        w{"w", &a.w, tips, word},
        bottom{"f_bottom", &a.bottom, tips, word},
        top{"f_top", &a.top, tips, word} {}
  BufferNeed lower, diag, upper, solved, left, reciprocals, v, w, bottom, top;
};

/// Numbers of an array of tips: one for each partition, and one on either side.
Index tips_of(const Plan& plan, Index tiles) { return tiles * plan.lanes + 2; }

template <typename T>
class LanesPaper final : public Part<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int word, Index chunk_tiles) {
    const Index tiles = paper_lanes_tiles(plan, chunk_tiles);
    const std::int64_t marshalled = tiles * plan.tile_rows() * word, tips = tips_of(plan, tiles) * word;
    return {.slot = plan.lanes, .largest = std::max(marshalled, tips), .all = 6 * marshalled + 4 * tips};
  }

  void make_kernels(const Site& s) override {
    const auto make = [&](Kernel& kernel, const char* name) { Part<T>::make(s, kernel, name, "", s.plan.lanes); };
    make(marshal_, "paper_lanes_marshal");
    make(spkfact_, "paper_lanes_spkfact");
    make(spktrrec_, "paper_lanes_spktrrec");
    make(unmarshal_, "paper_lanes_unmarshal");
  }

  std::int64_t make_buffers(const Site& s) override {
    const Index tiles = paper_lanes_tiles(s.plan, s.layout.chunk_tiles);
    return arrays_.make(s, tiles * s.plan.tile_rows() * kWord, tips_of(s.plan, tiles) * kWord);
  }

  /// The four launches over some tiles; the event is that of the last.
  Event finish(const Site& s, const Tiles& t) override {
    const Plan& plan = s.plan;
    const Chunk& chunk = t.chunk;
    const LaneNeeds<T> needs(s, t);
    const Index tiles = paper_lanes_tiles(plan, chunk.tile_end - chunk.tile_begin);
    const std::int64_t marshalled = tiles * plan.tile_rows() * kWord, tips = tips_of(plan, tiles) * kWord;
    const PaperNeeds a(arrays_, marshalled, tips, size(plan.lanes * kWord), sizeof(T));
    // The first partition of a launch is that of the neighbour above, if there is one.
    const Long first{std::max<Index>(0, chunk.tile_begin * plan.lanes - 1) * plan.m}, n{plan.n}, count{tiles},
        origin{chunk.first};
    const Int m{static_cast<Int>(plan.m)}, m_min{static_cast<Int>(plan.as<PaperLanes>().m_min)};
    const Geometry groups{s.layout.runs};
    set_arguments(s.device, marshal_, t.bands.lower, t.bands.diag, t.bands.upper, t.y, arrays_.lower, arrays_.diag,
                  arrays_.upper, arrays_.y, s.scratch, n, origin, Long{chunk.end}, first, m, count);
    s.earlier.push_back(
        launch(s.device, marshal_, groups,
               {needs.lower, needs.diag, needs.upper, needs.y, a.lower, a.diag, a.upper, a.solved, needs.scratch}));
    set_arguments(s.device, spkfact_, arrays_.lower, arrays_.diag, arrays_.upper, arrays_.y, arrays_.reciprocals,
                  arrays_.left, arrays_.v, arrays_.bottom, arrays_.w, arrays_.top, m, m_min, count);
    s.earlier.push_back(launch(s.device, spkfact_, groups, {a.reciprocals, a.left, a.v, a.w, a.bottom, a.top}));
    set_arguments(s.device, spktrrec_, arrays_.lower, arrays_.upper, arrays_.reciprocals, arrays_.left, arrays_.v,
                  arrays_.bottom, arrays_.w, arrays_.top, arrays_.y, m, m_min, count);
    s.earlier.push_back(launch(s.device, spktrrec_, groups,
                               {a.lower, a.upper, a.reciprocals, a.left, a.v, a.w, a.bottom, a.top, a.solved}));
    set_arguments(s.device, unmarshal_, arrays_.y, t.x, s.scratch, n, origin, Long{chunk.kept_first},
                  Long{chunk.kept_end}, first, m, count);
    return launch(s.device, unmarshal_, groups, {a.solved, needs.x, needs.scratch});
  }

 private:
  static constexpr auto kWord = static_cast<std::int64_t>(sizeof(T));
  Kernel marshal_, spkfact_, spktrrec_, unmarshal_;
  PaperArrays<T> arrays_;
};

template <typename T>
class TilesPaper final : public GroupPart<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int word, Index chunk_tiles) {
    const std::int64_t tip = paper_partitions(plan, chunk_tiles) * word;  // a number for each partition
    return {.largest = tip * plan.m, .all = 6 * tip * plan.m + 4 * tip};
  }

  void make_kernels(const Site& s) override {
    const auto make = [&](Kernel& kernel, const char* name, const std::string& more) {
      GroupPart<T>::make(s, kernel, name, "-D GROUP_ITEMS=" + std::to_string(s.plan.items) + more);
    };
    const std::string block = " -D BLOCK_ROWS=" + std::to_string(paper_block_rows(sizeof(T))),
                      rows = " -D PARTITION_ROWS=" + std::to_string(s.plan.m);
    make(marshal_, "paper_marshal", block);
    make(spkfact_, "paper_spkfact", rows + (s.plan.as<PaperForm>().staged ? " -D STAGED=1" : " -D STAGED=0"));
    make(spktrrecl_, "paper_spktrrecl", rows);
    make(spktrrecul_, "paper_spktrrecul", rows);
    make(unmarshal_, "paper_unmarshal", block);
  }

  std::int64_t make_buffers(const Site& s) override {
    const std::int64_t marshalled = needs(s.plan, s.lines, sizeof(T), s.layout.chunk_tiles).largest;
    return arrays_.make(s, marshalled, marshalled / s.plan.m);
  }

  /// The five launches over some tiles; the event is that of the last.
  Event finish(const Site& s, const Tiles& t) override {
    const Plan& plan = s.plan;
    const Chunk& chunk = t.chunk;
    const Index tiles = chunk.tile_end - chunk.tile_begin, partitions = paper_partitions(plan, tiles);
    constexpr auto kWord = static_cast<std::int64_t>(sizeof(T));
    const std::int64_t array = chunk.rows() * kWord, marshalled = partitions * plan.m * kWord,
                       tips = partitions * kWord;
    const auto groups = [&](Index local_words) {
      return Geometry{partitions / plan.items, size(plan.items), size(local_words * kWord)};
    };
    const Geometry turning = groups(plan.items * (paper_block_rows(sizeof(T)) + 1)),
                   factoring = groups(plan.as<PaperForm>().staged ? 4 * plan.m * plan.items : 1), sweeping = groups(0);
    // The first partition of a launch is that of the neighbour above.
    const Long origin{chunk.first}, end{chunk.end}, first{(chunk.tile_begin * plan.lanes - 1) * plan.m},
        own{tiles * plan.items};
    const auto m = static_cast<Int>(plan.m);
    const auto need = [&](const char* name, const Buffer& buffer, std::int64_t bytes) {
      return BufferNeed{name, &buffer, bytes, sizeof(T)};
    };
    const PaperNeeds a(arrays_, marshalled, tips, sizeof(T), sizeof(T));
    set_arguments(s.device, marshal_, t.bands.lower, t.bands.diag, t.bands.upper, t.y, arrays_.lower, arrays_.diag,
                  arrays_.upper, arrays_.y, origin, end, first, m, local_memory(turning.local_bytes));
    s.earlier.push_back(launch(
        s.device, marshal_, turning,
        {need("lower in rows", t.bands.lower, array), need("diag in rows", t.bands.diag, array),
         need("upper in rows", t.bands.upper, array), need("y", t.y, array), a.lower, a.diag, a.upper, a.solved}));
    set_arguments(s.device, spkfact_, arrays_.lower, arrays_.diag, arrays_.upper, arrays_.y, arrays_.reciprocals,
                  arrays_.left, arrays_.v, arrays_.bottom, arrays_.w, arrays_.top, local_memory(factoring.local_bytes));
    s.earlier.push_back(launch(s.device, spkfact_, factoring, {a.reciprocals, a.left, a.v, a.w, a.bottom, a.top}));
    set_arguments(s.device, spktrrecl_, arrays_.upper, arrays_.reciprocals, arrays_.left, arrays_.v, arrays_.bottom,
                  arrays_.w, arrays_.top, arrays_.y, own);
    s.earlier.push_back(
        launch(s.device, spktrrecl_, sweeping, {a.upper, a.reciprocals, a.left, a.v, a.w, a.bottom, a.top, a.solved}));
    set_arguments(s.device, spktrrecul_, arrays_.lower, arrays_.reciprocals, arrays_.left, arrays_.v, arrays_.bottom,
                  arrays_.w, arrays_.top, arrays_.y, own);
    s.earlier.push_back(
        launch(s.device, spktrrecul_, sweeping, {a.lower, a.reciprocals, a.left, a.v, a.w, a.bottom, a.top, a.solved}));
    set_arguments(s.device, unmarshal_, arrays_.y, t.x, origin, Long{chunk.kept_first}, Long{chunk.kept_end}, first, m,
                  local_memory(turning.local_bytes));
    return launch(s.device, unmarshal_, turning, {a.solved, need("x", t.x, array)});
  }

 private:
  Kernel marshal_, spkfact_, spktrrecl_, spktrrecul_, unmarshal_;
  PaperArrays<T> arrays_;
};

}  // namespace

Carrier lanes_paper() { return carrier<LanesPaper>("lanes-paper"); }
Carrier tiles_paper() { return carrier<TilesPaper>("tiles-paper"); }

}  // namespace oclspkt::ocl
