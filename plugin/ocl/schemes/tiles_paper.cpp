// SPDX-License-Identifier: BSD-2-Clause
// truncated SPIKE in the form of 2019, by work-items over marshalled arrays: as in the paper an apply marshals and
// factors anew, and set-up keeps nothing but the bands on the device. kernels/gpu/paper_*.cl.
#include "paper_form.hpp"
#include "schemes/table.hpp"
#include "schemes/tiles.hpp"

namespace oclspkt::ocl {
namespace {

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
    std::int64_t bytes = 0;
    for (Buffer* buffer : {&lower_, &diag_, &upper_, &y_, &reciprocals_, &left_}) {
      bytes += ensure(s.device, *buffer, Access::read_write, marshalled);
    }
    for (Buffer* tips : {&v_, &bottom_, &w_, &top_}) {
      bytes += ensure(s.device, *tips, Access::read_write, marshalled / s.plan.m);
    }
    return bytes;
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
    const BufferNeed lower = need("lower", lower_, marshalled), upper = need("upper", upper_, marshalled),
                     solved = need("marshalled y", y_, marshalled), left = need("left", left_, marshalled),
                     reciprocals = need("reciprocals", reciprocals_, marshalled), v = need("v", v_, tips),
                     w = need("w", w_, tips), bottom = need("f_bottom", bottom_, tips), top = need("f_top", top_, tips);
    set_arguments(s.device, marshal_, t.bands.lower, t.bands.diag, t.bands.upper, t.y, lower_, diag_, upper_, y_,
                  origin, end, first, m, local_memory(turning.local_bytes));
    s.earlier.push_back(launch(s.device, marshal_, turning,
                               {need("lower in rows", t.bands.lower, array), need("diag in rows", t.bands.diag, array),
                                need("upper in rows", t.bands.upper, array), need("y", t.y, array), lower,
                                need("diag", diag_, marshalled), upper, solved}));
    set_arguments(s.device, spkfact_, lower_, diag_, upper_, y_, reciprocals_, left_, v_, bottom_, w_, top_,
                  local_memory(factoring.local_bytes));
    s.earlier.push_back(launch(s.device, spkfact_, factoring, {reciprocals, left, v, w, bottom, top}));
    set_arguments(s.device, spktrrecl_, upper_, reciprocals_, left_, v_, bottom_, w_, top_, y_, own);
    s.earlier.push_back(launch(s.device, spktrrecl_, sweeping, {upper, reciprocals, left, v, w, bottom, top, solved}));
    set_arguments(s.device, spktrrecul_, lower_, reciprocals_, left_, v_, bottom_, w_, top_, y_, own);
    s.earlier.push_back(launch(s.device, spktrrecul_, sweeping, {lower, reciprocals, left, v, w, bottom, top, solved}));
    set_arguments(s.device, unmarshal_, y_, t.x, origin, Long{chunk.kept_first}, Long{chunk.kept_end}, first, m,
                  local_memory(turning.local_bytes));
    return launch(s.device, unmarshal_, turning, {solved, need("x", t.x, array)});
  }

 private:
  Kernel marshal_, spkfact_, spktrrecl_, spktrrecul_, unmarshal_;
  Buffer lower_, diag_, upper_, y_;  ///< marshalled; y then takes x
  Buffer reciprocals_, left_;        ///< marshalled: reciprocal pivots, what the sweeps leave of y
  Buffer v_, bottom_, w_, top_;      ///< a number for each partition: tips of spikes
};

}  // namespace

Carrier tiles_paper() { return carrier<TilesPaper>("tiles-paper"); }

}  // namespace oclspkt::ocl
