// SPDX-License-Identifier: BSD-2-Clause
// Runs exact-twopass by work-groups. Tiles are reduced to their last rows, level by level, until all rows fit in one
// tile. This tile is solved, and then the tiles of every level, from the last level to the first. Kernels:
// kernels/gpu/tile_reduce.cl, tile_solve.cl, tile_substitute.cl.
#include "build_program.hpp"
#include "schemes/table.hpp"
#include "schemes/tiles/tile_plans.hpp"

namespace oclspkt::ocl {
namespace {

/// kLeftWords: numbers that a tile passes to the next level. kKeptWords: numbers that the first pass stores for each
/// work-item (kernels/gpu/tile_excess.clh).
constexpr Index kLeftWords = 6, kKeptWords = 3;

/// A level of the reduction. The first level has y and x of the system. The rows of each other level are the last rows
/// of the previous level's tiles; they are in double if the device has double. The last level is one tile.
struct ReducedLevel {
  Index rows = 0, tiles = 0;
  Buffer y, left, kept, x;
};

template <typename T>
class TilesTwopass final : public Worker<T> {
 public:
  static Needs needs(const Plan&, const LineSet&, int, Index) { return {.arrays = 6}; }

  /// Build the kernels that the levels need, and allocate the buffers of the levels. A level of one tile needs one
  /// kernel; other levels need two.
  std::int64_t build(const Site& s, const BandsView<T>&) override {
    const Index tiles = s.plan.tiles(), level_rows = s.plan.as<Levels>().items * kLevelItemRows;
    if (tiles > 1) make_passes(s, true);
    if (tiles > level_rows) make_passes(s, false);
    make(s, solve_, "tile_solve", tiles == 1);
    const Index wide = wide_levels(s) ? sizeof(double) : sizeof(T);
    std::int64_t bytes = 0;
    const auto buffer = [&](Index words, Index word) {
      bytes += words * word;
      return make_buffer(s.device, Access::read_write, words * word);
    };
    const auto add = [&](Index rows, Index items, Index item_rows, Index word) {
      ReducedLevel& level = levels_.emplace_back();
      level.rows = rows;
      level.tiles = quotient_up(rows, items * item_rows);
      if (level.tiles > 1) level.kept = buffer(level.tiles * items * kKeptWords, word);
    };
    levels_.clear();
    add(s.plan.n, s.plan.items, s.plan.item_rows, sizeof(T));
    levels_.front().y = s.y;
    levels_.front().x = s.x;
    while (levels_.back().tiles > 1) {
      add(levels_.back().tiles, s.plan.as<Levels>().items, kLevelItemRows, wide);
      levels_.back().left = buffer(levels_.back().rows * kLeftWords, wide);
      levels_.back().x = buffer(levels_.back().rows, wide);
    }
    return bytes;
  }

  /// Launch every kernel over no tiles, or over no rows.
  void rehearse(const Site& s) override {
    for (std::size_t i = 0; i < std::min<std::size_t>(2, levels_.size() - 1); ++i) {
      s.waiter.wait(launch_reduce(s, i, 0));
      s.waiter.wait(launch_substitute(s, i, 0));
    }
    s.waiter.wait(launch_solve(s, 0));
  }

  Event enqueue(const Site& s, const Tiles& t) override {
    levels_.front().y = t.y;
    levels_.front().x = t.x;
    const std::size_t last = levels_.size() - 1;
    return launch_down_and_back(
        s, last, last + 1, [&](std::size_t i) { return launch_reduce(s, i, levels_[i].tiles); },
        [&](std::size_t i) {
          return i == last ? launch_solve(s, levels_[i].rows) : launch_substitute(s, i, levels_[i].tiles);
        });
  }

 private:
  /// Build a kernel: for the first level, or for all other levels.
  static void make(const Site& s, Kernel& kernel, const char* name, bool first, const std::string& more = "") {
    const Plan& plan = s.plan;
    const bool wide = wide_levels(s);
    const std::string options = "-D GROUP_ITEMS=" + std::to_string(first ? plan.items : plan.as<Levels>().items) +
                                " -D ITEM_ROWS=" + std::to_string(first ? plan.item_rows : kLevelItemRows) +
                                (first && plan.symmetric() ? " -D SYMMETRIC" : "") +
                                (!first ? " -D LEVEL"
                                 : wide ? " -D WIDE"
                                        : "") +
                                more;
    Worker<T>::make(s, kernel, name, options, sizeof(T) == sizeof(double) || (wide && !first));
  }
  void make_passes(const Site& s, bool first) {
    const bool few = sizeof(T) == sizeof(float) && s.plan.symmetric();
    const Index groups = figures_of(s.plan).count("tiles.reduce_items", few) / s.plan.items;
    const std::string more = first ? core_groups(s.device.found(), s.plan.items, std::max<Index>(1, groups)) : "";
    make(s, reduce_[!first], "tile_reduce", first, more);
    make(s, substitute_[!first], "tile_substitute", first, more);
  }

  static bool wide_levels(const Site& s) { return sizeof(T) < sizeof(double) && s.device.info().fp64; }

  static Geometry geometry(const Site& s, bool first, Index tiles) {
    const std::size_t word = !first && wide_levels(s) ? sizeof(double) : sizeof(T);
    const int items = first ? s.plan.items : s.plan.as<Levels>().items;
    return {std::max<Index>(1, tiles), static_cast<std::size_t>(items),
            size(reduce_local_words(items, first ? s.plan.item_rows : kLevelItemRows)) * word};
  }

  /// The buffers of a level, as arguments of launches.
  struct LevelNeeds {
    BufferNeed y, rows_left, left, kept, x, outer;
  };
  LevelNeeds needs_of(const Site& s, std::size_t level) const {
    const ReducedLevel &here = levels_[level], &next = levels_[std::min(level + 1, levels_.size() - 1)];
    const Index wide = wide_levels(s) ? sizeof(double) : sizeof(T), word = level > 0 ? wide : sizeof(T);
    const Index items = level > 0 ? s.plan.as<Levels>().items : s.plan.items;
    return {.y = {"y", &here.y, here.rows * word, kVectorBytes},
            .rows_left = {"rows_left", &here.left, here.rows * kLeftWords * wide, size(wide)},
            .left = {"left", &next.left, here.tiles * kLeftWords * wide, size(wide)},
            .kept = {"kept", &here.kept, here.tiles * items * kKeptWords * word, size(word)},
            .x = {"x", &here.x, here.rows * word, kVectorBytes},
            .outer = {"outer", &next.x, here.tiles * wide, size(wide)}};
  }

  /// Launch a kernel over the rows of a level. The first level reads bands and y. Each other level reads the reduced
  /// rows of the previous level.
  template <typename... Args>
  Event launch_level(const Site& s, std::size_t level, Kernel& kernel, Index groups, const Args&... args) const {
    const LevelNeeds b = needs_of(s, level);
    const Geometry shape = geometry(s, level == 0, groups);
    if (level > 0) return launch(s.device, kernel, shape, b.rows_left, args...);
    const ChunkBands& bands = s.bands.front();
    const auto band = [&](const char* name, const Buffer& buffer) {
      return BufferNeed{name, &buffer, b.y.bytes, kVectorBytes};
    };
    return launch(s.device, kernel, shape, band("lower", bands.lower), band("diag", bands.diag),
                  band("upper", bands.upper), b.y, args...);
  }

  /// Reduce the first `tiles` tiles of a level to rows of the next level.
  Event launch_reduce(const Site& s, std::size_t level, Index tiles) {
    const LevelNeeds b = needs_of(s, level);
    return launch_level(s, level, reduce_[level > 0], tiles, b.left, b.kept, Long{levels_[level].rows}, Long{tiles});
  }

  /// Solve the first `tiles` tiles of a level. The next level has solved the last unknowns of these tiles.
  Event launch_substitute(const Site& s, std::size_t level, Index tiles) {
    const LevelNeeds b = needs_of(s, level);
    return launch_level(s, level, substitute_[level > 0], tiles, b.kept, b.x, b.outer, Long{levels_[level].rows},
                        Long{tiles});
  }

  /// Solve the first `rows` rows of the last level, which is one tile.
  Event launch_solve(const Site& s, Index rows) {
    const std::size_t level = levels_.size() - 1;
    return launch_level(s, level, solve_, 1, needs_of(s, level).x, Long{rows});
  }

  Kernel reduce_[2], substitute_[2];  ///< [0] for the first level, [1] for other levels
  Kernel solve_;                      ///< solves the last level
  std::vector<ReducedLevel> levels_;
};

}  // namespace

Carrier tiles_twopass() { return carrier<TilesTwopass>("tiles-twopass"); }

}  // namespace oclspkt::ocl
