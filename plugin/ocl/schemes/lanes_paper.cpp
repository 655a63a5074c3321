// SPDX-License-Identifier: BSD-2-Clause
// truncated SPIKE in the form of 2019 for CPUs, by lanes over marshalled arrays: as in the paper an apply marshals and
// factors anew, and set-up keeps nothing but the bands. kernels/cpu/paper_lanes_*.cl.
#include "paper_lanes.hpp"
#include "schemes/lane_needs.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

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
    std::int64_t bytes = 0;
    for (Buffer* buffer : {&lower_, &diag_, &upper_, &y_, &reciprocals_, &left_}) {
      bytes += ensure(s.device, *buffer, Access::read_write, tiles * s.plan.tile_rows() * kWord);
    }
    for (Buffer* tips : {&v_, &bottom_, &w_, &top_}) {
      bytes += ensure(s.device, *tips, Access::read_write, tips_of(s.plan, tiles) * kWord);
    }
    return bytes;
  }

  /// The four launches over some tiles; the event is that of the last.
  Event finish(const Site& s, const Tiles& t) override {
    const Plan& plan = s.plan;
    const Chunk& chunk = t.chunk;
    const LaneNeeds<T> needs(s, t);
    const Index tiles = paper_lanes_tiles(plan, chunk.tile_end - chunk.tile_begin);
    const std::int64_t marshalled = tiles * plan.tile_rows() * kWord, tips = tips_of(plan, tiles) * kWord;
    const std::size_t vector = size(plan.lanes * kWord);
    const auto need = [&](const char* name, const Buffer& buffer) {
      return BufferNeed{name, &buffer, marshalled, vector};
    };
    const auto tip = [&](const char* name, const Buffer& buffer) { return BufferNeed{name, &buffer, tips, sizeof(T)}; };
    // The first partition of a launch is that of the neighbour above, if there is one.
    const Long first{std::max<Index>(0, chunk.tile_begin * plan.lanes - 1) * plan.m}, n{plan.n}, count{tiles},
        origin{chunk.first};
    const Int m{static_cast<Int>(plan.m)}, m_min{static_cast<Int>(plan.as<PaperLanes>().m_min)};
    const Geometry groups{s.layout.runs};
    const BufferNeed lower = need("lower", lower_), upper = need("upper", upper_), solved = need("marshalled y", y_),
                     left = need("left", left_), reciprocals = need("reciprocals", reciprocals_), v = tip("v", v_),
                     w = tip("w", w_), bottom = tip("f_bottom", bottom_), top = tip("f_top", top_);
    set_arguments(s.device, marshal_, t.bands.lower, t.bands.diag, t.bands.upper, t.y, lower_, diag_, upper_, y_,
                  s.scratch, n, origin, Long{chunk.end}, first, m, count);
    s.earlier.push_back(launch(
        s.device, marshal_, groups,
        {needs.lower, needs.diag, needs.upper, needs.y, lower, need("diag", diag_), upper, solved, needs.scratch}));
    set_arguments(s.device, spkfact_, lower_, diag_, upper_, y_, reciprocals_, left_, v_, bottom_, w_, top_, m, m_min,
                  count);
    s.earlier.push_back(launch(s.device, spkfact_, groups, {reciprocals, left, v, w, bottom, top}));
    set_arguments(s.device, spktrrec_, lower_, upper_, reciprocals_, left_, v_, bottom_, w_, top_, y_, m, m_min, count);
    s.earlier.push_back(
        launch(s.device, spktrrec_, groups, {lower, upper, reciprocals, left, v, w, bottom, top, solved}));
    set_arguments(s.device, unmarshal_, y_, t.x, s.scratch, n, origin, Long{chunk.kept_first}, Long{chunk.kept_end},
                  first, m, count);
    return launch(s.device, unmarshal_, groups, {solved, needs.x, needs.scratch});
  }

 private:
  static constexpr auto kWord = static_cast<std::int64_t>(sizeof(T));
  Kernel marshal_, spkfact_, spktrrec_, unmarshal_;
  Buffer lower_, diag_, upper_, y_;  ///< marshalled; y then takes x
  Buffer reciprocals_, left_;        ///< marshalled: reciprocal pivots, what the sweeps leave of y
  Buffer v_, bottom_, w_, top_;      ///< tips of spikes
};

}  // namespace

Carrier lanes_paper() { return carrier<LanesPaper>("lanes-paper"); }

}  // namespace oclspkt::ocl
