// SPDX-License-Identifier: BSD-2-Clause
// Runs exact-factored by work-groups, for lines side by side that are cut into segments. The launches down condense
// segments to their first rows, level by level. The launches back solve the inner rows. Kernels:
// kernels/gpu/grid_condense.cl, grid_whole.cl, grid_shared_condense.cl, grid_shared_back.cl.
#include "geometry.hpp"
#include "schemes/grids/grid_factors.hpp"
#include "schemes/grids/grid_plan.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

/// A level of GridFactors on the device. The first level uses y and x of a launch. Its factors are the chunks' bands;
/// if lines are symmetric, it has multipliers of its own. In the other levels, `taken` is subtracted from y.
struct GridLevel {
  Index rows = 0, tiles = 0;
  Buffer multiplier, reciprocal, coupling, weight, y, taken, x;
};

/// The common arguments of launches over the first `blocks` blocks of a level.
template <typename T>
struct LevelLaunch {
  LevelLaunch(const LineSet& all, const Plan& plan, const GridLevel& level, bool first, Index some_blocks)
      : lines(first ? all : lines_of_level(all, level.rows)),
        blocks(some_blocks),
        symmetric(first && plan.symmetric()) {
    const UpperTiles upper = upper_tiles(plan, all.block_lines());
    const auto items = static_cast<std::size_t>(first ? plan.items : upper.bundle * upper.down);
    bundles = quotient_up(all.block_lines(), first ? plan.as<Beside>().bundle : upper.bundle);
    geometry = {std::max<Index>(1, blocks * bundles * level.tiles), items, 4 * items * sizeof(T)};
    if (blocks == 0) return;
    constexpr auto kWord = static_cast<Index>(sizeof(T));
    vector = lines.extent() * kWord;
    factor = plan.form == Form::shared ? level.rows * kWord : vector;
    alignment = plan.form == Form::shared ? kVectorBytes : sizeof(T);
  }
  BufferNeed factors(const char* name, const Buffer& buffer) const { return {name, &buffer, factor, alignment}; }
  BufferNeed numbers(const char* name, const Buffer& buffer) const { return {name, &buffer, vector, sizeof(T)}; }
  LineSet lines;
  Index blocks, bundles = 1;
  bool symmetric;  ///< couplings serve as multipliers
  Geometry geometry;
  std::int64_t vector = 0, factor = 0;  ///< bytes of an array of numbers, and of an array of factors
  std::size_t alignment = sizeof(T);    ///< alignment of the factors in bytes
};

/// Returns the geometry with one work-group for each run. Tiles are in the order of segments, and in a segment in the
/// order of bundles.
template <typename T>
Geometry shared_geometry(const Plan& plan, const LevelLaunch<T>& level) {
  const Index tiles = level.blocks * level.bundles * plan.as<Beside>().segments;
  return {std::max<Index>(1, quotient_up(tiles, plan.run_tiles)), static_cast<std::size_t>(plan.items), 0};
}

template <typename T>
class GridsCondensed final : public Worker<T> {
 public:
  /// Memory needs, in numbers per row: one in the first level, seven in each other level. Of these seven, four are for
  /// factors and weights, two for y and one for x.
  static Needs needs(const Plan& plan, const LineSet& lines, int word, Index) {
    Index words = lines.extent(), tiles = plan.as<Beside>().segments;
    const Index upper = upper_tiles(plan, lines.block_lines()).rows;
    for (; tiles > 1; tiles = quotient_up(tiles, upper)) words += 7 * tiles * lines.count();
    return {.slot = plan.as<Beside>().window / plan.lanes, .all = words * word};
  }

  Stored store(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, bool) override {
    factors_.factor(lines, bands, plan.form, grid_cut(plan, lines.block_lines()));
    const auto& level = factors_.levels().front();
    return {level.multiplier.data(), level.reciprocal.data(), level.coupling.data(), sizeof(T)};
  }

  /// Build the kernels. Copy to the device the arrays that chunks do not split. The buffers of the last set-up are
  /// released.
  std::int64_t build(const Site& s, const BandsView<T>&) override {
    make_kernels(s);
    std::int64_t bytes = 0;
    levels_.clear();
    for (const auto& level : factors_.levels()) bytes += bring_level(s, level);
    factors_ = {};
    return bytes;
  }

  Event enqueue(const Site& s, const Tiles& t) override {
    const Index blocks = t.chunk.tile_end - t.chunk.tile_begin;
    levels_.front().y = t.y;
    levels_.front().x = t.x;
    return launch_down_and_back(
        s, levels_.size() - 1, levels_.size(), [&](std::size_t i) { return launch_down(s, i, blocks); },
        [&](std::size_t i) { return launch_back(s, i, blocks); });
  }

 private:
  void make_kernels(const Site& s) {
    const Plan& plan = s.plan;
    const auto make = [&](Kernel& kernel, const char* name, Index bundle, int down, const std::string& more) {
      Worker<T>::make(s, kernel, name,
                      "-D BUNDLE=" + std::to_string(bundle) + " -D ITEMS_DOWN=" + std::to_string(down) +
                          " -D ITEM_ROWS=" + std::to_string(plan.item_rows) + more +
                          (plan.form == Form::shared ? " -D SHARED_FACTORS" : ""));
    };
    const int down = grid_items_down(plan);
    const bool symmetric = plan.symmetric();
    if (grid_condenses_at_once(plan)) {
      const std::string lines = " -D LINES=" + std::to_string(plan.as<GridTiles>().item_lines);
      make(back_, "grid_shared_back", plan.as<Beside>().bundle, down, lines);
      make(down_, "grid_shared_condense", plan.as<Beside>().bundle, down, lines);
    } else {
      make(back_, "grid_whole", plan.as<Beside>().bundle, down,
           symmetric ? " -D SEGMENTS -D SYMMETRIC" : " -D SEGMENTS");
      make(down_, "grid_condense", plan.as<Beside>().bundle, down, symmetric ? " -D SYMMETRIC" : "");
    }
    const UpperTiles upper = upper_tiles(plan, s.lines.block_lines());
    make(last_, "grid_whole", upper.bundle, upper.down, " -D IN_TURN -D LEFT");
    if (plan.as<Beside>().segments <= upper.rows) return;
    make(upper_back_, "grid_whole", upper.bundle, upper.down, " -D SEGMENTS -D LEFT");
    make(upper_down_, "grid_condense", upper.bundle, upper.down, " -D LEFT");
  }

  std::int64_t bring_level(const Site& s, const typename GridFactors<T>::Level& level) {
    GridLevel& on_device = levels_.emplace_back();
    on_device.rows = level.rows;
    on_device.tiles = level.segments;
    std::int64_t bytes = this->bring_array(s, on_device.weight, level.weight);
    if (levels_.size() == 1) {
      const ChunkBands& bands = s.bands.front();
      if (s.plan.symmetric()) {
        bytes += this->bring_array(s, on_device.multiplier, level.multiplier);
      } else {
        on_device.multiplier = bands.lower;
      }
      on_device.reciprocal = bands.diag;
      on_device.coupling = bands.upper;
      return bytes;
    }
    bytes += this->bring_array(s, on_device.multiplier, level.multiplier);
    bytes += this->bring_array(s, on_device.reciprocal, level.reciprocal);
    bytes += this->bring_array(s, on_device.coupling, level.coupling);
    const std::int64_t vector = level.rows * s.lines.count() * static_cast<Index>(sizeof(T));
    for (Buffer* buffer : {&on_device.y, &on_device.taken, &on_device.x}) {
      *buffer = make_buffer(s.device, Access::read_write, vector);
    }
    return bytes + 3 * vector;
  }

  /// Launch the pass down over the first level of lines with equal bands, by concurrent sweeps.
  Event launch_shared_condense(const Site& s, Index blocks) {
    const GridLevel &from = levels_[0], &to = levels_[1];
    const LevelLaunch<T> here(s.lines, s.plan, from, true, blocks), next(s.lines, s.plan, to, false, blocks);
    return launch(s.device, down_, shared_geometry(s.plan, here), here.factors("multiplier", from.multiplier),
                  here.factors("weight", from.weight), here.numbers("y", from.y), next.numbers("left", to.y),
                  next.numbers("left_taken", to.taken), Long{blocks}, Long{s.lines.block_stride()},
                  Long{s.lines.block_lines()}, static_cast<Int>(from.rows), Long{s.lines.row_stride()},
                  static_cast<Int>(s.plan.as<Beside>().bundles), static_cast<Int>(from.tiles),
                  static_cast<Int>(s.plan.run_tiles));
  }

  Event launch_shared_back(const Site& s, Index blocks) {
    const GridLevel &at = levels_[0], &above = levels_[1];
    const LevelLaunch<T> here(s.lines, s.plan, at, true, blocks), next(s.lines, s.plan, above, false, blocks);
    return launch(s.device, back_, shared_geometry(s.plan, here), here.factors("multiplier", at.multiplier),
                  here.factors("reciprocal", at.reciprocal), here.factors("coupling", at.coupling),
                  here.numbers("y", at.y), here.numbers("x", at.x), next.numbers("known", above.x), Long{blocks},
                  Long{s.lines.block_stride()}, Long{s.lines.block_lines()}, static_cast<Int>(at.rows),
                  Long{s.lines.row_stride()}, static_cast<Int>(s.plan.as<Beside>().bundles), static_cast<Int>(at.tiles),
                  static_cast<Int>(s.plan.run_tiles));
  }

  /// Launch the pass down: condense the segments of the first `blocks` blocks of a level to rows of the next level.
  Event launch_down(const Site& s, std::size_t level, Index blocks) {
    if (level == 0 && grid_condenses_at_once(s.plan)) return launch_shared_condense(s, blocks);
    const GridLevel &from = levels_[level], &to = levels_[level + 1];
    const LevelLaunch<T> here(s.lines, s.plan, from, level == 0, blocks), next(s.lines, s.plan, to, false, blocks);
    return launch(s.device, level == 0 ? down_ : upper_down_, here.geometry,
                  here.factors("multiplier", here.symmetric ? from.coupling : from.multiplier),
                  here.factors("weight", from.weight), here.numbers("y", from.y),
                  here.numbers("taken", level > 0 ? from.taken : from.y), next.numbers("left", to.y),
                  next.numbers("left_taken", to.taken), Long{blocks}, Long{here.lines.block_stride()},
                  Long{s.lines.block_lines()}, static_cast<Int>(from.rows), Long{here.lines.row_stride()},
                  static_cast<Int>(here.bundles), static_cast<Int>(from.tiles));
  }

  /// Launch the pass back: solve the inner rows of segments. The next level has solved the first unknowns of the
  /// segments.
  Event launch_back(const Site& s, std::size_t level, Index blocks) {
    if (level == 0 && grid_condenses_at_once(s.plan)) return launch_shared_back(s, blocks);
    const GridLevel& at = levels_[level];
    const bool last = level + 1 == levels_.size();
    const LevelLaunch<T> here(s.lines, s.plan, at, level == 0, blocks);
    BufferNeed multiplier = here.factors("multiplier", at.multiplier);
    if (here.symmetric && blocks > 0) multiplier.bytes = at.tiles * s.lines.count() * static_cast<Index>(sizeof(T));
    return launch(s.device,
                  level == 0 ? back_
                  : last     ? last_
                             : upper_back_,
                  here.geometry, multiplier, here.factors("reciprocal", at.reciprocal),
                  here.factors("coupling", at.coupling), here.numbers("y", at.y), here.numbers("x", at.x), Long{blocks},
                  Long{here.lines.block_stride()}, Long{s.lines.block_lines()}, static_cast<Int>(at.rows),
                  Long{here.lines.row_stride()}, static_cast<Int>(here.bundles), static_cast<Int>(at.tiles),
                  last ? at.y : levels_[level + 1].x, here.numbers("taken", level > 0 ? at.taken : at.y));
  }

  /// down_ and back_ are for the first level, last_ for the last level, upper_down_ and upper_back_ for other levels.
  Kernel down_, back_, upper_down_, upper_back_, last_;
  GridFactors<T> factors_;
  std::vector<GridLevel> levels_;
};

}  // namespace

Carrier grids_condensed() { return carrier<GridsCondensed>("grids-condensed"); }

}  // namespace oclspkt::ocl
