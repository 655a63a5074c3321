// SPDX-License-Identifier: BSD-2-Clause
// exact-twopass by work-groups: tiles are reduced to their last rows, level by level, until one tile holds all, which
// is solved; the way back solves the tiles of every level. kernels/gpu/tile_reduce.cl, tile_solve.cl,
// tile_substitute.cl.
#include "build_program.hpp"
#include "schemes/table.hpp"
#include "schemes/tiles/tile_plans.hpp"
#include "schemes/work_groups.hpp"

namespace oclspkt::ocl {
namespace {

/// Numbers that are left of a tile, and that the first pass keeps of a work-item's place (kernels/gpu/tile_excess.clh).
constexpr Index kLeftWords = 6, kKeptWords = 3;

/// The first level has the y and x of the system, the rows of the others are what is left of the tiles of the level
/// before, double where the device has that. The last is one tile.
struct ReducedLevel {
  Index rows = 0, tiles = 0;
  Buffer y, left, kept, x;
};

template <typename T>
class TilesTwopass final : public GroupPart<T> {
 public:
  static Needs needs(const Plan&, const LineSet&, int, Index) { return {.arrays = 6}; }

  /// Those that the levels need: a level of one tile is solved at once, the others take two passes.
  void make_kernels(const Site& s) override {
    const Index tiles = s.plan.tiles(), level_rows = s.plan.as<Levels>().items * kLevelItemRows;
    if (tiles > 1) make_passes(s, true);
    if (tiles > level_rows) make_passes(s, false);
    make(s, solve_, "tile_solve", tiles == 1);
  }

  /// Levels up to that of one tile.
  std::int64_t bring(const Site& s, const BandsView<T>&) override {
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

  /// Launch every kernel over no tiles, or no rows.
  void rehearse(const Site& s) override {
    for (std::size_t i = 0; i < std::min<std::size_t>(2, levels_.size() - 1); ++i) {
      s.waiter.wait(launch_reduce(s, i, 0));
      s.waiter.wait(launch_substitute(s, i, 0));
    }
    s.waiter.wait(launch_solve(s, 0));
  }

  /// All levels, down and back.
  Event finish(const Site& s, const Tiles& t) override {
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
  /// Bytes of a number of a level and of the next one, and of what the kernels touch.
  struct Sizes {
    std::size_t word, wide;
    std::int64_t array, rows_left, left, kept, outer;
  };

  /// Build a kernel for the first level, or for the others.
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
    Part<T>::make(s, kernel, name, options, 1, sizeof(T) == sizeof(double) || (wide && !first));
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

  Sizes sizes(const Site& s, std::size_t level) const {
    const ReducedLevel& here = levels_[level];
    const Index wide = wide_levels(s) ? sizeof(double) : sizeof(T), word = level > 0 ? wide : sizeof(T);
    const Index items = level > 0 ? s.plan.as<Levels>().items : s.plan.items;
    return {.word = size(word),
            .wide = size(wide),
            .array = here.rows * word,
            .rows_left = here.rows * kLeftWords * wide,
            .left = here.tiles * kLeftWords * wide,
            .kept = here.tiles * items * kKeptWords * word,
            .outer = here.tiles * wide};
  }

  /// Reduce the first `tiles` tiles of a level to rows of the next.
  Event launch_reduce(const Site& s, std::size_t level, Index tiles) {
    const ReducedLevel &from = levels_[level], &to = levels_[level + 1];
    const Geometry groups = geometry(s, level == 0, tiles);
    const Sizes bytes = sizes(s, level);
    const BufferNeed left{"left", &to.left, bytes.left, bytes.wide}, kept{"kept", &from.kept, bytes.kept, bytes.word};
    Kernel& kernel = reduce_[level > 0];
    const Long n = from.rows, all = tiles;
    const auto local = local_memory(groups.local_bytes);
    if (level > 0) {
      set_arguments(s.device, kernel, from.left, to.left, from.kept, n, all, local);
      return launch(s.device, kernel, groups, {{"rows_left", &from.left, bytes.rows_left, bytes.wide}, left, kept});
    }
    const ChunkBands& bands = s.bands.front();
    set_arguments(s.device, kernel, bands.lower, bands.diag, bands.upper, from.y, to.left, from.kept, n, all, local);
    return launch(s.device, kernel, groups,
                  {{"lower", &bands.lower, bytes.array, kVectorBytes},
                   {"diag", &bands.diag, bytes.array, kVectorBytes},
                   {"upper", &bands.upper, bytes.array, kVectorBytes},
                   {"y", &from.y, bytes.array, kVectorBytes},
                   left,
                   kept});
  }

  /// Solve the first `tiles` tiles of a level, their last unknowns being known from the next level.
  Event launch_substitute(const Site& s, std::size_t level, Index tiles) {
    const ReducedLevel &here = levels_[level], &next = levels_[level + 1];
    const Geometry groups = geometry(s, level == 0, tiles);
    const Sizes bytes = sizes(s, level);
    const BufferNeed kept{"kept", &here.kept, bytes.kept, bytes.word}, x{"x", &here.x, bytes.array, kVectorBytes},
        outer{"outer", &next.x, bytes.outer, bytes.wide};
    Kernel& kernel = substitute_[level > 0];
    const Long n = here.rows, all = tiles;
    const auto local = local_memory(groups.local_bytes);
    if (level > 0) {
      set_arguments(s.device, kernel, here.left, here.kept, here.x, next.x, n, all, local);
      return launch(s.device, kernel, groups, {{"rows_left", &here.left, bytes.rows_left, bytes.wide}, kept, x, outer});
    }
    const ChunkBands& bands = s.bands.front();
    set_arguments(s.device, kernel, bands.lower, bands.diag, bands.upper, here.y, here.kept, here.x, next.x, n, all,
                  local);
    return launch(s.device, kernel, groups,
                  {{"lower", &bands.lower, bytes.array, kVectorBytes},
                   {"diag", &bands.diag, bytes.array, kVectorBytes},
                   {"upper", &bands.upper, bytes.array, kVectorBytes},
                   {"y", &here.y, bytes.array, kVectorBytes},
                   kept,
                   x,
                   outer});
  }

  /// Solve the first `rows` rows of the last level, which is one tile.
  Event launch_solve(const Site& s, Index rows) {
    const std::size_t level = levels_.size() - 1;
    const ReducedLevel& here = levels_[level];
    const Geometry groups = geometry(s, level == 0, 1);
    const Sizes bytes = sizes(s, level);
    const BufferNeed x{"x", &here.x, bytes.array, kVectorBytes};
    const Long n = rows;
    const auto local = local_memory(groups.local_bytes);
    if (level > 0) {
      set_arguments(s.device, solve_, here.left, here.x, n, local);
      return launch(s.device, solve_, groups, {{"rows_left", &here.left, bytes.rows_left, bytes.wide}, x});
    }
    const ChunkBands& bands = s.bands.front();
    set_arguments(s.device, solve_, bands.lower, bands.diag, bands.upper, here.y, here.x, n, local);
    return launch(s.device, solve_, groups,
                  {{"lower", &bands.lower, bytes.array, kVectorBytes},
                   {"diag", &bands.diag, bytes.array, kVectorBytes},
                   {"upper", &bands.upper, bytes.array, kVectorBytes},
                   {"y", &here.y, bytes.array, kVectorBytes},
                   x});
  }

  Kernel reduce_[2], substitute_[2];  ///< the second of each for levels but the first
  Kernel solve_;                      ///< for the last one
  std::vector<ReducedLevel> levels_;
};

}  // namespace

Carrier tiles_twopass() { return carrier<TilesTwopass>("tiles-twopass"); }

}  // namespace oclspkt::ocl
