// SPDX-License-Identifier: BSD-2-Clause
// Workers for lines side by side, by lanes.
#include <algorithm>

#include "geometry.hpp"
#include "schemes/lane_needs.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

/// Kernel arguments and geometry of a launch by lanes over blocks of lines side by side.
struct BesideCounts {
  /// @param pieces  number of pieces of a bundle; a work-group takes one piece
  BesideCounts(const Site& s, const Tiles& t, Index pieces)
      : blocks{t.chunk.tile_end - t.chunk.tile_begin},
        block_stride{s.lines.block_stride()},
        block_lines{s.lines.block_lines()},
        row_stride{s.lines.row_stride()},
        slot{s.layout.needs.slot},
        length{static_cast<Int>(s.lines.length(0))},
        bundle{static_cast<Int>(s.plan.as<Beside>().bundle)},
        bundles{static_cast<Int>(s.plan.as<Beside>().bundles)},
        groups{std::clamp<Index>(s.layout.runs, 1, std::max<Index>(1, blocks * bundles * pieces))} {}
  Long blocks, block_stride, block_lines, row_stride, slot;
  Int length, bundle, bundles;
  Geometry groups;  ///< as many work-groups as the layout allows, but at most one for each piece
};

Needs window_of(const Plan& plan) { return {.slot = plan.as<Beside>().window / plan.lanes}; }

/// Runs exact-factored for lines side by side (kernels/cpu/strided_factored.cl, strided_shared.cl).
template <typename T>
class BesideFactored final : public FactorWorker<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int, Index) { return window_of(plan); }

  double rounding() const override { return this->factors_.pivots().rounding; }

  std::int64_t build(const Site& s, const BandsView<T>&) override {
    this->make(s, kernel_, this->factors_.shared() ? "strided_shared" : "strided_factored",
               s.plan.narrow ? "-D NARROW_FACTORS " : "");
    return 0;
  }

  Event enqueue(const Site& s, const Tiles& t) override {
    const bool shared = this->factors_.shared();
    const BesideCounts c(s, t, 1);
    const LaneNeeds<T> b(s, t);
    const Index kept = c.blocks == 0 ? 0 : shared ? s.lines.length(0) : t.chunk.rows();
    const int word = s.plan.factor_word(sizeof(T));
    const auto factor = [&](const char* name, const Buffer& buffer) {
      return BufferNeed{name, &buffer, kept * word, size(word)};
    };
    const auto start = [&](const auto&... above) {
      return launch(s.device, kernel_, c.groups, factor("multiplier", t.bands.lower),
                    factor("reciprocal", t.bands.diag), factor("coupling", t.bands.upper), b.y, b.x, b.scratch,
                    c.blocks, c.block_stride, c.block_lines, c.length, c.row_stride, c.bundle, c.bundles, c.slot,
                    above...);
    };
    return shared ? start() : start(Long{s.plan.symmetric() ? s.lines.row_stride() : 0});
  }

 private:
  Kernel kernel_;
};

/// Runs truncated-halo for lines side by side that are cut into segments (kernels/cpu/strided_halo.cl).
template <typename T>
class BesideHalo final : public Worker<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int, Index) { return window_of(plan); }

  std::int64_t build(const Site& s, const BandsView<T>&) override {
    this->make(s, kernel_, "strided_halo");
    return 0;
  }

  Event enqueue(const Site& s, const Tiles& t) override {
    const Index segments = s.plan.as<Beside>().segments;
    const BesideCounts c(s, t, segments);
    const LaneNeeds<T> b(s, t);
    return launch(s.device, kernel_, c.groups, b.lower, b.diag, b.upper, b.y, b.x, b.scratch, c.blocks, c.block_stride,
                  c.block_lines, c.length, c.row_stride, c.bundle, c.bundles, static_cast<Int>(s.plan.m),
                  static_cast<Int>(s.plan.halo), static_cast<Int>(segments), c.slot);
  }

 private:
  Kernel kernel_;
};

}  // namespace

Carrier beside_factored() { return carrier<BesideFactored>("beside-factored"); }
Carrier beside_halo() { return carrier<BesideHalo>("beside-halo"); }

}  // namespace oclspkt::ocl
